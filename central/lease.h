/* Leases: the right to be the only one who does something, for a while. */
#ifndef DLN_CENTRAL_LEASE_H
#define DLN_CENTRAL_LEASE_H

#include "central/central.h"

struct dln_lease_hold {
    struct dln_text name; /* borrowed */
    int64_t number;       /* 0: not held */
    int64_t term_ms;
};

/* hold->number stays 0 where somebody else holds it. */
DUNLIN_MUST_USE dunlin_status dln_lease_take(struct dunlin_central *central,
                                             struct dln_lease_hold *hold, struct dln_text name,
                                             int64_t term_ms, dunlin_error *err);
/* Looks whether it is still held, and prolongs it when half its term is over; hold->number becomes
 * 0 where it was lost. */
DUNLIN_MUST_USE dunlin_status dln_lease_renew(struct dunlin_central *central,
                                              struct dln_lease_hold *hold, dunlin_error *err);
DUNLIN_MUST_USE dunlin_status dln_lease_release(struct dunlin_central *central,
                                                struct dln_lease_hold *hold, dunlin_error *err);

#endif
