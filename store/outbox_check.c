/* Puts rows and their places in the outbox in step again, counting what was not: the oracle beside
 * outbox.c, as recompute.c is beside derive.c. */
#include "store/outbox.h"

enum { ROWS_AT_ONCE = 100, CHECK_BYTES = 64 << 20 };

#define CHECKS(upper) DLN_STORE_ASTRAY_##upper, DLN_STORE_VACANT_##upper, DLN_STORE_HOMELESS_##upper

static const struct check {
    enum dln_collection_id collection;
    int first_stage, last_stage;
    enum dln_store_query astray, vacant, homeless;
} checks[] = {
    {DLN_FOLLOW, DLN_STAGE_FOLLOW, DLN_STAGE_FOLLOW, CHECKS(FOLLOW)},
    {DLN_MYGROUP, DLN_STAGE_MYGROUP, DLN_STAGE_MYGROUP, CHECKS(MYGROUP)},
    {DLN_LIST, DLN_STAGE_LIST, DLN_STAGE_LIST, CHECKS(LIST)},
    {DLN_ITEM, DLN_STAGE_ITEM, DLN_STAGE_ITEM, CHECKS(ITEM)},
    {DLN_GROUP, DLN_STAGE_GROUP, DLN_STAGE_GROUP, CHECKS(GRP)},
    {DLN_MEMBER, DLN_STAGE_MEMBER, DLN_STAGE_OWN_MEMBER, CHECKS(MEMBER)},
    {DLN_OTHER, DLN_STAGE_OTHER, DLN_STAGE_OTHER, CHECKS(OTHER)},
};

/* Gives places to rows that wait without one, some at once; *count tells how many. */
static dunlin_status house_some(struct dln_store *store, const struct check *check,
                                struct dln_arena *arena, size_t *count, dunlin_error *err) {
    struct dln_row_reader reader = {
        .store = store, .arena = arena, .table = dln_table_by_id(check->collection)};
    struct dln_row *rows = dln_arena_alloc(arena, ROWS_AT_ONCE * sizeof(*rows));
    *count = 0;
    if (!rows) {
        return dln_no_memory(err);
    }
    struct dln_statement statement = dln_use(store, check->homeless);
    dln_bind_int(&statement, ROWS_AT_ONCE);
    dunlin_status status = dln_read_rows(&reader, &statement, rows, ROWS_AT_ONCE, count, err);
    for (size_t i = 0; i < *count && status == DUNLIN_OK; i++) {
        status = dln_row_mark(store, &rows[i], err);
    }
    return status;
}

static dunlin_status house(struct dln_store *store, const struct check *check, int64_t *off,
                           dunlin_error *err) {
    struct dln_arena arena = DLN_ARENA_INIT(CHECK_BYTES);
    dunlin_status status = DUNLIN_OK;
    for (size_t count = ROWS_AT_ONCE; count == ROWS_AT_ONCE && status == DUNLIN_OK;) {
        dln_arena_clear(&arena);
        status = house_some(store, check, &arena, &count, err);
        *off += (int64_t)count;
    }
    dln_arena_free(&arena);
    return status;
}

dunlin_status dln_outbox_repair(struct dln_store *store, int64_t *off, dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && status == DUNLIN_OK; i++) {
        struct dln_statement statement = dln_use(store, checks[i].astray);
        status = dln_run(&statement, err);
        if (status == DUNLIN_OK) {
            statement = dln_use(store, checks[i].vacant);
            dln_bind_int(&statement, INT64_C(2) * checks[i].first_stage << DLN_RANGE_BITS);
            dln_bind_int(&statement, INT64_C(2) * (checks[i].last_stage + 1) << DLN_RANGE_BITS);
            status = dln_run(&statement, err);
        }
        if (status == DUNLIN_OK) {
            *off += dln_changed(store);
            status = house(store, &checks[i], off, err);
        }
    }
    return status;
}
