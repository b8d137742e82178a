/* What requests ask for, done. */
#ifndef DLN_BRIDGE_WORK_H
#define DLN_BRIDGE_WORK_H

#include "bridge/request.h"

/* Whether the request needs the store; then its job is set. */
bool dln_work_is_for_pool(struct dln_request *request);
/* Fills in the answer of a page that needs none. */
void dln_work_page(struct dln_request *request);

#endif
