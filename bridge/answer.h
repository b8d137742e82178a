/* Filling and sending a request's answer. */
#ifndef DLN_BRIDGE_ANSWER_H
#define DLN_BRIDGE_ANSWER_H

#include "bridge/request.h"

/* The HTTP status that an error of the whole request travels with. */
int dln_answer_http_status(dunlin_status status);
/* Makes the answer a failure's. Where a body is there, its nonce is echoed. http_status 0: by the
 * code. */
void dln_answer_fail(struct dln_request *request, int http_status, const dunlin_error *why,
                     int64_t retry_after_ms);
/* Hands it to the HTTP library. */
enum MHD_Result dln_answer_send(struct dln_request *request);
/* The stream of /v1/live. */
enum MHD_Result dln_answer_stream(struct dln_request *request);

#endif
