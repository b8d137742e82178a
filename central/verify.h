/* Digests of scopes, for devices that compare themselves with central. */
#ifndef DLN_CENTRAL_VERIFY_H
#define DLN_CENTRAL_VERIFY_H

#include "central/central.h"

DUNLIN_MUST_USE dunlin_status dln_verify_body(struct dunlin_central *central, struct dln_text user,
                                              struct dln_text body, struct dln_buf *out,
                                              dunlin_error *err);

#endif
