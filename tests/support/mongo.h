/* The MongoDB that tests run on. Which server it is: tests/support/mongo_server. Whatever is sent
 * to it is heard: tests/support/mongo_ear.h. */
#ifndef DLN_TESTS_MONGO_H
#define DLN_TESTS_MONGO_H

#include <stdbool.h>
#include <stddef.h>

#include "central/mongo/link.h"
#include "tests/support/mongo_ear.h"

/* Whether this run of the test is to open central over MongoDB (DUNLIN_TEST_ENGINE=mongo). */
bool mongo_is_chosen(void);

/* The server's uri without a database's name. A test that runs by itself starts a server of its
 * own, which ends with the process. */
const char *mongo_server(void);
/* Whether that server is known to scan a collection where others walk an index: what takes
 * thousands of documents is then left out. */
bool mongo_scans(void);
/* From now on this process's tests run on a server of its own that is no replica set. False: there
 * is none to start. */
bool mongo_stand_alone(void);
/* The url of a new database, the caller's to give back by mongo_drop(). */
char *mongo_new(void);
/* Drops the database, soon, and frees the url; centrals over it must have been closed. NULL is
 * legal. */
void mongo_drop(char *url);

/* Opens a deployment, and a central over one. */
struct dln_mongo *mongo_connect(const char *url);
dunlin_central *mongo_central(const char *url, const dunlin_central_options *options);

/* Runs a command given as JSON, on the url's database or on "admin". */
bool mongo_try(const char *url, bool admin, const char *json);

#endif
