/* A central of its own for one test, on clocks that only the test moves, and requests built record
 * by record, without a device and without the wire. */
#ifndef DLN_TESTS_SHARED_SIDE_H
#define DLN_TESTS_SHARED_SIDE_H

#include "central/exchange.h"
#include "tests/support/random.h"

#define SHARED_START_MS INT64_C(1767225600000) /* 2026-01-01 */
#define SHARED_DAY_MS INT64_C(86400000)

struct shared {
    char *dir;
    char
        *url; /* "sqlite:" and a file in dir, or a database of MongoDB, as mongo_is_chosen() says */
    dunlin_ports ports;
    dunlin_central_options options;
    dunlin_central *central;
    int64_t now_ms; /* the server's clock */
    int64_t steady_ms;
    struct test_random random;
    struct dln_arena arena; /* of the request */
    struct dln_sync_request request;
    struct dln_sync_answer answer;
};

/* options may be NULL; its ports are replaced. */
void shared_open(struct shared *shared, const dunlin_central_options *options);
void shared_reopen(struct shared *shared);
/* Leaves the test out where thousands of documents would take minutes. */
void shared_needs_speed(void);
void shared_close(struct shared *shared);
/* Both clocks go on. */
void shared_pass(struct shared *shared, int64_t ms);
void shared_pass_days(struct shared *shared, int64_t days);
/* A round of upkeep. */
dunlin_maintenance shared_maintain(struct shared *shared);
/* A stamp of the server's present, plus some. */
dln_stamp shared_stamp(const struct shared *shared, int64_t more);

/* A new, empty request. */
void shared_begin(struct shared *shared);
/* A scope of it, in the present epoch, at the start, with a page wanted. */
struct dln_scope_ask *shared_ask(struct shared *shared, const char *scope);
/* A record of it; key as "list/l1". The scope is added where it is missing. */
struct dln_record *shared_record(struct shared *shared, const char *scope, const char *key);
/* A field of the last record, by name. Values: "true", "false", "null", "#12" (an integer), "{…" or
 * "[…" (JSON), else text. */
void shared_set(struct shared *shared, const char *name, dln_stamp stamp, const char *value);

/* Sends it; the test fails unless there is an answer. */
void shared_send(struct shared *shared, const char *user);
dunlin_status shared_try(struct shared *shared, const char *user);

/* Of the answer: the acknowledged seq, 0: none; the refusal, NULL: none; its code, OK: none. */
int64_t shared_ack(const struct shared *shared, size_t index);
const struct dln_refusal *shared_refusal(const struct shared *shared, size_t index);
dunlin_status shared_code(const struct shared *shared, size_t index);
/* Whether that field is among the refusal's. */
const struct dln_refused_field *shared_refused(const struct shared *shared, size_t index,
                                               const char *name);
const struct dln_scope_answer *shared_scope(const struct shared *shared, const char *scope);

/* One record with one to three fields pushed in a request of its own, without a page; NULL ends the
 * names. Returns the code of its refusal, OK where it was acknowledged. */
dunlin_status shared_push(struct shared *shared, const char *user, const char *scope,
                          const char *key, dln_stamp stamp, const char *const *names_and_values);
#define SHARED_PUSH(shared, user, scope, key, stamp, ...)                                          \
    shared_push(shared, user, scope, key, stamp, (const char *const[]){__VA_ARGS__, NULL})

/* aoi's scope gets that many lists, l000, l001, …, one an exchange. */
void shared_fill(struct shared *shared, int lists);
/* The place of the entry at that seq, which must stand. */
struct dln_cursor shared_cursor(struct shared *shared, const char *scope, int64_t seq);

/* Central's version of a record, read around all rules; seq 0: it has none. Lives until the next.
 */
const struct dln_stored *shared_stored(struct shared *shared, const char *scope, const char *key);
/* The stored value as text, "" where it is none: "true", "false", or the text. */
const char *shared_value(struct shared *shared, const char *scope, const char *key,
                         const char *field);
int64_t shared_floor(struct shared *shared, const char *scope);
/* Whether the entry at that seq is still in the log. */
bool shared_stands(struct shared *shared, const char *scope, int64_t seq);
int64_t shared_last(struct shared *shared, const char *scope);
/* How many versions the scope's log holds. */
size_t shared_versions(struct shared *shared, const char *scope);

#endif
