/* Social networks in the form of SNAP's ego networks (J. McAuley and J. Leskovec, "Learning to
 * Discover Social Circles in Ego Networks", 2012): central is built from them through the public
 * interface, then every user's subscriptions are compared with what the files alone give. */
#ifndef DLN_TESTS_EGO_H
#define DLN_TESTS_EGO_H

/* Reads every E.edges and E.circles of the folder and runs the comparison. Fails the cmocka test
 * where a user's subscriptions differ. */
void ego_compare(const char *folder);

#endif
