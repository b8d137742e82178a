/* A chained hash table. Somebody who picks ids to land in one bucket makes only chains of people
 * who are here at the same time: as many as there may be connections. */
#include "bridge/people.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct dln_person {
    struct dln_person *next;
    long counts[DLN_PRESENCE_KINDS];
    char user[];
};

/* The link that leads to the user's entry, or to the end of his chain. FNV-1a. */
static struct dln_person **person_find(struct dln_people *people, const char *user) {
    uint32_t hash = UINT32_C(2166136261);
    struct dln_person **link;

    for (const char *at = user; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT32_C(16777619);
    }
    link = &people->buckets[hash % DLN_PEOPLE_BUCKETS];
    while (*link != NULL && strcmp((*link)->user, user) != 0) {
        link = &(*link)->next;
    }
    return link;
}

static struct dln_person *person_add(struct dln_person **link, const char *user) {
    size_t size = strlen(user) + 1;
    struct dln_person *person = calloc(1, sizeof(*person) + size);

    if (person != NULL) {
        memcpy(person->user, user, size);
        *link = person;
    }
    return person;
}

void dln_people_init(struct dln_people *people) {
    memset(people, 0, sizeof(*people));
    (void)pthread_mutex_init(&people->lock, NULL);
}

void dln_people_free(struct dln_people *people) {
    (void)pthread_mutex_destroy(&people->lock);
}

bool dln_people_enter(struct dln_people *people, const char *user, enum dln_presence kind,
                      long max) {
    struct dln_person **link, *person;
    bool may = false;

    (void)pthread_mutex_lock(&people->lock);
    link = person_find(people, user);
    person = *link != NULL ? *link : person_add(link, user);
    if (person != NULL && person->counts[kind] < max) {
        person->counts[kind]++;
        may = true;
    }
    (void)pthread_mutex_unlock(&people->lock);
    return may;
}

void dln_people_leave(struct dln_people *people, const char *user, enum dln_presence kind) {
    struct dln_person **link, *person;

    (void)pthread_mutex_lock(&people->lock);
    link = person_find(people, user);
    person = *link;
    assert(person != NULL && person->counts[kind] > 0);
    person->counts[kind]--;
    if (person->counts[DLN_PRESENCE_REQUEST] == 0 && person->counts[DLN_PRESENCE_LISTENER] == 0) {
        *link = person->next;
        free(person);
    }
    (void)pthread_mutex_unlock(&people->lock);
}
