/* How much each user has under way here, so that one of them cannot take everything. */
#ifndef DLN_BRIDGE_PEOPLE_H
#define DLN_BRIDGE_PEOPLE_H

#include <pthread.h>
#include <stdbool.h>

enum dln_presence { DLN_PRESENCE_REQUEST, DLN_PRESENCE_LISTENER, DLN_PRESENCE_KINDS };

enum { DLN_PEOPLE_BUCKETS = 4096 };

struct dln_person;

/* Only who has something under way is kept. */
struct dln_people {
    pthread_mutex_t lock;
    struct dln_person *buckets[DLN_PEOPLE_BUCKETS];
};

void dln_people_init(struct dln_people *people);
void dln_people_free(struct dln_people *people);
/* False at that user's ceiling, or out of memory. Any thread. */
bool dln_people_enter(struct dln_people *people, const char *user, enum dln_presence kind,
                      long max);
void dln_people_leave(struct dln_people *people, const char *user, enum dln_presence kind);

#endif
