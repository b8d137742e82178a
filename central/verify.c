#include "central/verify.h"
dunlin_status dln_verify_body(struct dunlin_central *central, struct dln_text user,
                              struct dln_text body, struct dln_buf *out, dunlin_error *err) {
    (void)central; (void)user; (void)body; (void)out;
    return dln_fail(err, DUNLIN_UNSUPPORTED, DUNLIN_DOMAIN_CENTRAL, "not yet");
}
