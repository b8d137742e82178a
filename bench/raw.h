/* The limit: what the same work costs in SQLite with nothing around it. No change tracking, no
 * derived counts, integer keys in the graph; prepared statements, and the settings that dunlin
 * has. */
#ifndef DUNLIN_BENCH_RAW_H
#define DUNLIN_BENCH_RAW_H

#include <stdbool.h>
#include <stdint.h>

struct raw;

struct raw *raw_open(const char *path, bool full_durability);
void raw_close(struct raw *raw);
void raw_begin(struct raw *raw);
void raw_commit(struct raw *raw);
/* Runs statements that give no rows and stand for themselves. */
void raw_execute(struct raw *raw, const char *sql);
/* Brings everything into the file itself and empties the log of a file that nobody else has open.
 */
void raw_checkpoint(const char *path);
/* Writes a compact copy, as dunlin's backup does. */
void raw_compact(struct raw *raw, const char *path);

/* ---- items: 24 hex digits in the order of time, list, type, time, title; an index by time and id
 */

void raw_items_make(struct raw *raw);
void raw_items_prepare(struct raw *raw);
void raw_item_add(struct raw *raw, const char *id, const char *list, const char *type,
                  int64_t created_at, const char *title);
/* Reads the newest, every column; returns how many there were. */
int raw_items_newest(struct raw *raw, int limit);

/* ---- the graph: follow (kind, target), member (group, user), origin (user, group or 0) */

void raw_graph_make(struct raw *raw);
void raw_graph_prepare(struct raw *raw);
void raw_follow(struct raw *raw, int kind, int target);
void raw_member_row(struct raw *raw, int group, int user); /* without its origin */
/* A member and his origin, in or out. */
void raw_member_add(struct raw *raw, int group, int user);
void raw_member_remove(struct raw *raw, int group, int user);
/* Fills the table of origins, which must be empty, in one transaction. */
void raw_recompute(struct raw *raw);
int64_t raw_subscriptions(struct raw *raw);

#endif
