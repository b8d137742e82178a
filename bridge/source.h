/* Where centrals come from: the store that --store names. */
#ifndef DLN_BRIDGE_SOURCE_H
#define DLN_BRIDGE_SOURCE_H

#include <dunlin/central.h>

struct dln_source;

/* Connects where there is something to connect to. The url and the options, which
 * may be NULL, are borrowed until close.
 * MISUSE, UNSUPPORTED, and what the engine returns. */
DUNLIN_MUST_USE dunlin_status dln_source_open(struct dln_source **out, const char *url,
                                              const dunlin_central_options *options,
                                              dunlin_error *err);
/* Another central over the same store, for one thread; closed before the source. Any thread. */
DUNLIN_MUST_USE dunlin_status dln_source_central(struct dln_source *source, dunlin_central **out,
                                                 dunlin_error *err);
void dln_source_close(struct dln_source *source); /* NULL is allowed */

#endif
