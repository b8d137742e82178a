/* dunlin's side: the public API, every failure of which ends the program with a sentence. */
#ifndef DUNLIN_BENCH_DEVICE_H
#define DUNLIN_BENCH_DEVICE_H

#include <stdbool.h>

#include <dunlin/central.h>
#include <dunlin/dunlin.h>

#include "bench/measure.h"

extern const char device_owner[];

dunlin_store *device_open(const char *path, dunlin_durability durability, bool search);
void device_begin(dunlin_store *store);
void device_commit(dunlin_store *store);

void device_list_make(dunlin_store *store, const char *list);
void device_item_add(dunlin_store *store, const char *list, const char *type, const char *id,
                     const char *title, int64_t created_at);
/* Reads the last items of the list, backwards; returns how many there were. */
int device_items_newest(dunlin_store *store, const char *list, size_t limit);

void device_follow(dunlin_store *store, dunlin_kind kind, const char *id);
void device_group_make(dunlin_store *store, const char *group);
void device_member_add(dunlin_store *store, const char *group, const char *user);
void device_member_remove(dunlin_store *store, const char *group, const char *user);
int64_t device_subscriptions(dunlin_store *store);

/* Syncs with a central in this process. *time, which may be NULL, grows by what the device took
 * for itself: central's share is taken off. */
void device_sync(dunlin_store *store, dunlin_central *central, struct bench_time *time);
dunlin_central *device_central_open(const char *path);
void device_copy(dunlin_store *store, const char *path);

#endif
