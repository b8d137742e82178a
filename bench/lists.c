/* W1, W2, W5 and W6: a list of items. Both sides get the same items and take turns, a slice each,
 * so that whatever else the machine does meets both. */
#include "bench/workload.h"

#include <stdio.h>
#include <string.h>

#include "bench/device.h"
#include "bench/raw.h"

/* Where a commit waits long for the disk, fewer items than SINGLE_ITEMS tell enough. */
static const double run_s = 8;

enum {
    SINGLE_ITEMS = 10000, /* each its own commit */
    SINGLE_ITEMS_LEAST = 1000,
    SINGLE_SLICE = 50,
    BATCH_ITEMS = 100000,
    BATCH = 1000,
    PAGE = 50,
    PAGES = 2000,
    ID_SIZE = 25,
    TITLE_SIZE = 41
};

static const char list_id[] = "65a1b2c3d4e5f6a7b8c9d001";
static const char item_type[] = "artist";

struct lists {
    char dunlin_path[4096];
    char raw_path[4096];
    dunlin_store *store;
    struct raw *raw;
    struct bench_log dunlin_log;
    struct bench_log raw_log;
};

struct item {
    char id[ID_SIZE];
    char title[TITLE_SIZE];
    int64_t created_at;
};

/* Of the slice that is being added. */
static struct item items[BATCH];

static void make_items(int first, int count) {
    for (int i = 0; i < count; i++) {
        struct item *item = &items[i];
        int index = first + i;
        item->created_at = INT64_C(1700000000000) + index * INT64_C(37);
        (void)snprintf(item->id, sizeof(item->id), "%012llx%06x%06x",
                       (unsigned long long)item->created_at, 0x1a2b3cu, (unsigned)index);
        (void)snprintf(item->title, sizeof(item->title), "A title of forty bytes, number %09d",
                       index);
    }
}

static void lists_open(struct lists *lists, const char *folder, dunlin_durability durability,
                       bool search) {
    bench_path(lists->dunlin_path, sizeof(lists->dunlin_path), folder, "lists-dunlin.db");
    bench_path(lists->raw_path, sizeof(lists->raw_path), folder, "lists-raw.db");
    bench_remove(lists->dunlin_path);
    bench_remove(lists->raw_path);
    lists->store = device_open(lists->dunlin_path, durability, search);
    device_list_make(lists->store, list_id);
    lists->raw = raw_open(lists->raw_path, durability == DUNLIN_DURABILITY_FULL);
    raw_items_make(lists->raw);
    raw_items_prepare(lists->raw);
    lists->dunlin_log = bench_log_open(lists->dunlin_path);
    lists->raw_log = bench_log_open(lists->raw_path);
}

static void lists_close(struct lists *lists) {
    dunlin_store_close(lists->store);
    raw_close(lists->raw);
    bench_log_close(&lists->dunlin_log);
    bench_log_close(&lists->raw_log);
}

static void lists_remove(struct lists *lists) {
    bench_remove(lists->dunlin_path);
    bench_remove(lists->raw_path);
}

/* ---- adding: the first `count` of items, a commit each or all in one */

static void dunlin_slice(struct lists *lists, int count, bool batch, struct bench_side *side) {
    bench_log_start(&lists->dunlin_log);
    struct bench_time start = bench_now();
    if (batch) {
        device_begin(lists->store);
    }
    for (int i = 0; i < count; i++) {
        device_item_add(lists->store, list_id, item_type, items[i].id, items[i].title,
                        items[i].created_at);
    }
    if (batch) {
        device_commit(lists->store);
    }
    bench_add_since(&side->time, start);
    bench_log_count(&lists->dunlin_log, side, batch ? 1 : (uint64_t)count);
}

static void raw_slice(struct lists *lists, int count, bool batch, struct bench_side *side) {
    bench_log_start(&lists->raw_log);
    struct bench_time start = bench_now();
    for (int i = 0; i < count; i++) {
        if (!batch || i == 0) {
            raw_begin(lists->raw);
        }
        raw_item_add(lists->raw, items[i].id, list_id, item_type, items[i].created_at,
                     items[i].title);
        if (!batch || i == count - 1) {
            raw_commit(lists->raw);
        }
    }
    bench_add_since(&side->time, start);
    bench_log_count(&lists->raw_log, side, batch ? 1 : (uint64_t)count);
}

static bool is_enough(const struct bench_pair *pair) {
    return pair->operations >= SINGLE_ITEMS_LEAST &&
           pair->dunlin.time.wall_s + pair->raw.time.wall_s > run_s;
}

static void add_items(struct lists *lists, int count, int slice, bool batch,
                      struct bench_pair *pair) {
    for (int first = 0; first < count && (batch || !is_enough(pair)); first += slice) {
        make_items(first, slice);
        if (first / slice % 2 == 0) {
            dunlin_slice(lists, slice, batch, &pair->dunlin);
            raw_slice(lists, slice, batch, &pair->raw);
        } else {
            raw_slice(lists, slice, batch, &pair->raw);
            dunlin_slice(lists, slice, batch, &pair->dunlin);
        }
        pair->operations += (uint64_t)slice;
    }
}

/* ---- W1 */

static void single(const struct bench_options *options, const char *name,
                   dunlin_durability durability, bool search, double target) {
    struct bench_result result = {.name = name, .unit = "us", .per_second = 1e6, .target = target};
    for (size_t run = 0; run < BENCH_RUNS; run++) {
        struct lists lists;
        lists_open(&lists, options->folder, durability, search);
        add_items(&lists, SINGLE_ITEMS, SINGLE_SLICE, false, &result.runs[result.run_count++]);
        lists_close(&lists);
        lists_remove(&lists);
    }
    bench_print(options, &result);
}

void bench_w1(const struct bench_options *options) {
    single(options, "W1 N: add, a commit each", DUNLIN_DURABILITY_NORMAL, false, 1.8);
    single(options, "W1 F: the same, durable", DUNLIN_DURABILITY_FULL, false, 1.15);
    single(options, "W1 N with search", DUNLIN_DURABILITY_NORMAL, true, 0);
}

/* ---- W2, W5, W6 */

struct page_times {
    double dunlin[PAGES];
    double raw[PAGES];
};

static void read_pages(struct lists *lists, struct page_times *times) {
    for (int i = 0; i < PAGES; i++) {
        struct bench_time dunlin = {0};
        struct bench_time raw = {0};
        struct bench_time start = bench_now();
        int count = device_items_newest(lists->store, list_id, PAGE);
        bench_add_since(&dunlin, start);
        start = bench_now();
        int raw_count = raw_items_newest(lists->raw, PAGE);
        bench_add_since(&raw, start);
        if (count != PAGE || raw_count != PAGE) {
            bench_fail("W5", "a page is not full");
        }
        times->dunlin[i] = dunlin.wall_s;
        times->raw[i] = raw.wall_s;
    }
}

static void note(struct bench_result *result, double dunlin, double raw) {
    struct bench_pair *pair = &result->runs[result->run_count++];
    pair->dunlin.time.wall_s = dunlin;
    pair->raw.time.wall_s = raw;
    pair->operations = 1;
}

void bench_w2_w5_w6(const struct bench_options *options, bool w2, bool w5, bool w6) {
    static struct page_times times;
    struct bench_result add = {
        .name = "W2 N: add in batches of 1,000", .unit = "us", .per_second = 1e6, .target = 2};
    struct bench_result median = {
        .name = "W5: newest 50 of 100,000, p50", .unit = "us", .per_second = 1e6};
    struct bench_result worst = {
        .name = "W5: newest 50 of 100,000, p99", .unit = "us", .per_second = 1e6};
    struct bench_result size = {.name = "W6: the file after W2", .unit = "MB", .per_second = 1e-6};
    for (size_t run = 0; run < (w2 || w5 ? BENCH_RUNS : 1); run++) {
        struct lists lists;
        lists_open(&lists, options->folder, DUNLIN_DURABILITY_NORMAL, false);
        add_items(&lists, BATCH_ITEMS, BATCH, true, &add.runs[add.run_count++]);
        if (w5) {
            read_pages(&lists, &times);
            note(&median, bench_quantile(times.dunlin, PAGES, 0.5),
                 bench_quantile(times.raw, PAGES, 0.5));
            note(&worst, bench_quantile(times.dunlin, PAGES, 0.99),
                 bench_quantile(times.raw, PAGES, 0.99));
        }
        lists_close(&lists);
        raw_checkpoint(lists.dunlin_path);
        raw_checkpoint(lists.raw_path);
        note(&size, (double)bench_file_bytes(lists.dunlin_path),
             (double)bench_file_bytes(lists.raw_path));
        lists_remove(&lists);
    }
    if (w2) {
        bench_print(options, &add);
    }
    if (w5) {
        bench_print(options, &median);
        bench_print(options, &worst);
    }
    if (w6) {
        bench_print(options, &size);
    }
}
