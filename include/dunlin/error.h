/* Statuses and errors: what every fallible function of dunlin answers with. */
#ifndef DUNLIN_ERROR_H
#define DUNLIN_ERROR_H

#include <dunlin/sys/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What holds for every function, whether or not it says so: MISUSE where an argument that it needs
 * is NULL, an enum or a version is unknown, or a number is out of range; INVALID_ID, INVALID_TEXT
 * and TOO_LONG for ids; INVALID_TEXT and TOO_LONG for other texts. A call that is refused for its
 * arguments changes nothing, and a pointer that it would have filled (an iterator, a row, a
 * remote) is NULL.
 *
 * Classes of statuses. A status is 0 (success) or negative; its class says what to do:
 *   usage      -1 ..  -99   the call is wrong; calling it again changes nothing
 *   retryable  -100 .. -199 nothing is wrong with the call; try again later
 *   permanent  -200 .. -299 refused for good by the file, by central or by a rule
 *   corrupt    -300 .. -399 stored or received bytes are damaged
 * X(symbol, value, text). The symbol without DUNLIN_ is the code's name in JSON, on the wire and
 * in dunlin_status_name(). */
#define DUNLIN_STATUSES(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    /* usage */                                                                                    \
    X(MISUSE, -1, "an argument is missing, or the handle does not allow this call")                \
    X(INVALID_ID, -2, "an id is empty or reserved")                                                \
    X(INVALID_TEXT, -3, "text is not UTF-8 or holds U+0000")                                       \
    X(INVALID_VALUE, -4, "a value has the wrong type or is out of range")                          \
    X(TOO_LONG, -5, "an id, a name or a value is longer than its limit")                           \
    X(NOT_FOUND, -6, "there is no such record")                                                    \
    X(EXISTS, -7, "there is such a record already")                                                \
    X(SELF, -8, "nobody follows himself")                                                          \
    X(INVALID_JSON, -9, "JSON cannot be read")                                                     \
    X(INVALID_CURSOR, -10, "a page token was not made by this library for this order")             \
    /* retryable */                                                                                \
    X(BUSY, -100, "another connection holds the file's write lock")                                \
    X(OUT_OF_MEMORY, -101, "memory could not be allocated")                                        \
    X(IO, -102, "reading or writing a file failed")                                                \
    X(DISK_FULL, -103, "the disk is full")                                                         \
    X(OFFLINE, -104, "no connection to the remote was made")                                       \
    X(CONN_CLOSED, -105, "the connection broke before the whole answer was here")                  \
    X(NOT_OUR_SERVER, -106, "what answered is not a dunlin remote, or its answer is cut")          \
    X(STALE_REPLY, -107, "the answer belongs to another request")                                  \
    X(NEED_LOGIN, -108, "the remote wants a new token")                                            \
    X(UNAVAILABLE, -109, "the remote cannot serve now")                                            \
    X(HELD, -110, "central has lost history; the scope waits until it is restored")                \
    X(RESYNC_FAILED, -111, "central asks again and again to start over")                           \
    X(AHEAD, -114, "a stamp is too far ahead of central's clock")                                  \
    X(INTERRUPTED, -115, "the call was stopped")                                                   \
    X(REDIRECTED, -116, "the remote points elsewhere, where the request must not go")              \
    X(PROXY_AUTH, -117, "a proxy asks for a password")                                             \
    X(TLS_TIME, -118, "a certificate is not valid at this device's time")                          \
    X(TLS_UNTRUSTED, -119, "the server's certificate is not trusted for this host")                \
    /* permanent */                                                                                \
    X(NOT_A_STORE, -200, "the file is not a dunlin store")                                         \
    X(NEWER_SCHEMA, -201, "the file was written by a newer version of dunlin")                     \
    X(WRONG_OWNER, -202, "the file belongs to another user")                                       \
    X(NOT_ALLOWED, -203, "central does not allow this change")                                     \
    X(GONE, -204, "central does not hold the record that was edited")                              \
    X(NO_LIST, -205, "central does not know the item's list")                                      \
    X(NO_GROUP, -206, "central does not know the group")                                           \
    X(QUOTA, -207, "a quota is used up")                                                           \
    X(TOO_LARGE, -208, "a record, a request or an answer is larger than its limit")                \
    X(UNSUPPORTED, -209, "the other side lacks something that is needed")                          \
    X(UNSENT, -210, "there are changes that central has not taken")                                \
    X(READ_ONLY, -211, "the file cannot be written")                                               \
    /* corrupt */                                                                                  \
    X(CORRUPT, -300, "stored bytes are damaged")                                                   \
    X(BAD_MESSAGE, -301, "a message does not follow the protocol")

typedef enum dunlin_status {
#define DUNLIN_STATUS_ENUM(symbol, value, text) DUNLIN_##symbol = (value),
    DUNLIN_STATUSES(DUNLIN_STATUS_ENUM)
#undef DUNLIN_STATUS_ENUM
} dunlin_status;

/* Where an error comes from. */
typedef enum dunlin_domain {
    DUNLIN_DOMAIN_NONE = 0,
    DUNLIN_DOMAIN_API,    /* the arguments of the call */
    DUNLIN_DOMAIN_STORE,  /* the device's SQLite file */
    DUNLIN_DOMAIN_SYNC,   /* the protocol */
    DUNLIN_DOMAIN_REMOTE, /* the way to central */
    DUNLIN_DOMAIN_CENTRAL /* central itself */
} dunlin_domain;

/* Owned by the caller, who may pass NULL instead. Written only when a call fails; never needs to be
 * initialised or freed. `message` is one English sentence without a newline, for logs and
 * developers; it may name ids, never contents. */
typedef struct dunlin_error {
    dunlin_status code;
    dunlin_domain domain;
    char message[240];
} dunlin_error;

/* The status's name without DUNLIN_, for example "TOO_LONG"; "UNKNOWN" for a number that is none.
 * Static storage. Any thread. */
DUNLIN_API const char *dunlin_status_name(dunlin_status status);

/* One English sentence about the status. Static storage. Any thread. */
DUNLIN_API const char *dunlin_status_text(dunlin_status status);

/* Whether trying the same call again later can succeed (the retryable class). Any thread. */
DUNLIN_API int dunlin_status_is_retryable(dunlin_status status);

#ifdef __cplusplus
}
#endif
#endif
