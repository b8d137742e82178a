/* An answer's status line and headers, as far as they matter. */
#ifndef DLN_CLIENT_HTTP_REPLY_H
#define DLN_CLIENT_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dln_coding { DLN_CODING_NONE, DLN_CODING_GZIP, DLN_CODING_OTHER };

enum dln_media { DLN_MEDIA_NONE, DLN_MEDIA_NDJSON, DLN_MEDIA_EVENTS, DLN_MEDIA_HTML };

enum { DLN_LOCATION_MAX = 2000 }; /* bytes of a redirection's target */

/* Retry-After is heeded up to that. */
#define DLN_RETRY_AFTER_MAX_MS INT64_C(900000)

struct dln_reply {
    int status;    /* 0: no status line yet */
    bool ended;    /* the empty line behind the headers was there */
    bool protocol; /* Dunlin-Protocol: 1 */
    enum dln_media media;
    enum dln_coding coding;
    int64_t retry_after_s;               /* in seconds; -1: none such */
    int64_t retry_at_s;                  /* as a date, Unix seconds; -1: none such */
    int64_t date_s;                      /* when it was sent, by the sender's clock; -1: unknown */
    bool location_too_long;              /* and left out */
    char location[DLN_LOCATION_MAX + 1]; /* "": none */
    size_t header_bytes;
};

void dln_reply_init(struct dln_reply *reply);
/* Takes one line, its end included; a status line starts over. */
void dln_reply_line(struct dln_reply *reply, const char *line, size_t len);
/* How long the sender asks to wait, up to the ceiling; 0: it does not. now_s stands in for a
 * sender's clock that it did not show. */
int64_t dln_reply_retry_after_ms(const struct dln_reply *reply, int64_t now_s);

#endif
