/* Several processes at one file. */
/* ctest: timeout=600 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "central/keymap.h"
#include "tests/support/shared_side.h"

enum { WRITERS = 4, PUSHES = 60, RECORDS_MAX = 4, KILLS = 12 };

/* Connections must not be carried over a fork: the parent's is closed before. */
static void detach(struct shared *shared) {
    dunlin_central_close(shared->central);
    shared->central = NULL;
}

static void pause_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

static void begin_at_the_end(struct shared *shared) {
    shared_begin(shared);
    struct dln_scope_ask *ask = shared_ask(shared, "user/aoi");
    ask->pull = false;
    assert_int_equal(
        shared->central->engine.last(shared->central->engine.self, ask->scope, &ask->cursor, NULL),
        DUNLIN_OK);
}

/* Pushes some new records of its own each time, and one that all fight for. */
static void write_records(struct shared *shared, int writer) {
    char text[64];
    int64_t last_ack = 0;
    for (int push = 0; push < PUSHES; push++) {
        int records = 1 + (int)test_random_below(&shared->random, RECORDS_MAX);
        begin_at_the_end(shared);
        (void)snprintf(text, sizeof(text), "w%d", writer);
        (void)shared_record(shared, "user/aoi", "list/common");
        shared_set(shared, "deleted", shared_stamp(shared, 0), "false");
        shared_set(shared, text, shared_stamp(shared, push), push % 2 ? "odd" : "even");
        for (int i = 0; i < records; i++) {
            (void)snprintf(text, sizeof(text), "follow/user/w%d-%d-%d", writer, push, i);
            (void)shared_record(shared, "user/aoi", text);
            shared_set(shared, "present", shared_stamp(shared, 0), "true");
        }
        shared_send(shared, "aoi");
        assert_int_equal(shared->answer.refusal_count, 0);
        assert_int_equal(shared->answer.ack_count, records + 1);
        for (int i = 1; i <= records; i++) {
            assert_true(shared_ack(shared, (size_t)i) > last_ack);
            last_ack = shared_ack(shared, (size_t)i);
        }
    }
}

static pid_t start_writer(struct shared *shared, int writer) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        shared->random.state = (uint64_t)writer + 100;
        shared_reopen(shared);
        write_records(shared, writer);
        dunlin_central_close(shared->central);
        dln_arena_free(&shared->arena);
        _exit(0);
    }
    return pid;
}

/* A reader that keeps, as a device does, the last version of each key. */
struct reader {
    struct dln_arena arena;
    struct dln_keymap keys;
    int64_t seqs[WRITERS * PUSHES * RECORDS_MAX + 8];
    size_t count;
    struct dln_cursor cursor;
};

static void read_page(struct shared *shared, struct reader *reader) {
    shared_begin(shared);
    shared->request.page_records = 7;
    shared_ask(shared, "user/aoi")->cursor = reader->cursor;
    shared_send(shared, "aoi");
    const struct dln_scope_answer *page = shared_scope(shared, "user/aoi");
    assert_int_equal(page->state, DLN_SCOPE_PAGE);
    assert_true(page->cursor.seq >= reader->cursor.seq);
    for (size_t i = 0; i < page->version_count; i++) {
        struct dln_text key = dln_central_key_text(&reader->arena, &page->versions[i].record.key);
        bool added;
        assert_true(page->versions[i].seq > reader->cursor.seq);
        size_t at = dln_keymap_put(&reader->keys, key, reader->count, &added);
        reader->count += added;
        assert_true(page->versions[i].seq > reader->seqs[at]);
        reader->seqs[at] = page->versions[i].seq;
    }
    reader->cursor = page->cursor;
}

static void assert_saw_everything(struct shared *shared, const struct reader *reader) {
    for (size_t slot = 0; slot < reader->keys.size; slot++) {
        const struct dln_keymap_slot *known = &reader->keys.slots[slot];
        if (known->key.data != NULL) {
            assert_int_equal(shared_stored(shared, "user/aoi", known->key.data)->place.seq,
                             reader->seqs[known->index]);
        }
    }
}

static void writers_lose_nothing_and_readers_miss_nothing(void **state) {
    (void)state;
    static struct shared shared;
    static struct reader reader;
    pid_t writers[WRITERS];
    int running = WRITERS;
    shared_open(&shared, NULL);
    detach(&shared);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = start_writer(&shared, i);
    }
    shared_reopen(&shared);
    reader.arena = DLN_ARENA_INIT(16 << 20);
    assert_true(dln_keymap_init(&reader.keys, &reader.arena, WRITERS * PUSHES * RECORDS_MAX + 8));
    while (running > 0) {
        for (int i = 0; i < WRITERS; i++) {
            int status;
            if (writers[i] != 0 && waitpid(writers[i], &status, WNOHANG) == writers[i]) {
                assert_true(WIFEXITED(status));
                assert_int_equal(WEXITSTATUS(status), 0);
                writers[i] = 0;
                running--;
            }
        }
        read_page(&shared, &reader);
    }
    for (int64_t last = shared_last(&shared, "user/aoi"); reader.cursor.seq < last;) {
        read_page(&shared, &reader);
    }
    /* No gap: as many versions as the last seq says. */
    assert_int_equal(shared_versions(&shared, "user/aoi"), shared_last(&shared, "user/aoi"));
    assert_saw_everything(&shared, &reader);
    for (int i = 0; i < WRITERS; i++) { /* no loss in the record that all changed */
        char field[8];
        (void)snprintf(field, sizeof(field), "w%d", i);
        assert_string_equal(shared_value(&shared, "user/aoi", "list/common", field),
                            PUSHES % 2 ? "even" : "odd");
    }
    assert_true(reader.count > WRITERS * PUSHES);
    dln_arena_free(&reader.arena);
    shared_close(&shared);
}

/* Tells of each acknowledgement only after it has it. */
static void write_until_killed(struct shared *shared, int out, int round) {
    shared->random.state = (uint64_t)round + 500;
    shared_reopen(shared);
    for (int32_t i = 0;; i++) {
        char key[64];
        begin_at_the_end(shared);
        (void)snprintf(key, sizeof(key), "follow/user/r%d-%d", round, (int)i);
        (void)shared_record(shared, "user/aoi", key);
        shared_set(shared, "present", shared_stamp(shared, 0), "true");
        shared_send(shared, "aoi");
        if (shared_ack(shared, 0) == 0 || write(out, &i, sizeof(i)) != sizeof(i)) {
            _exit(1);
        }
    }
}

static void killed_writer_loses_nothing_acknowledged(void **state) {
    (void)state;
    static struct shared shared;
    int32_t acknowledged = 0;
    shared_open(&shared, NULL);
    detach(&shared);
    for (int round = 0; round < KILLS; round++) {
        int ends[2];
        int32_t last = -1;
        int32_t seen;
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            (void)close(ends[0]);
            write_until_killed(&shared, ends[1], round);
        }
        (void)close(ends[1]);
        assert_int_equal(read(ends[0], &last, sizeof(last)), sizeof(last));
        pause_ms((long)test_random_below(&shared.random, 40));
        assert_int_equal(kill(pid, SIGKILL), 0);
        while (read(ends[0], &seen, sizeof(seen)) == (ssize_t)sizeof(seen)) {
            last = seen;
        }
        (void)close(ends[0]);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        shared_reopen(&shared);
        for (int32_t i = 0; i <= last; i++, acknowledged++) {
            char key[64];
            (void)snprintf(key, sizeof(key), "follow/user/r%d-%d", round, (int)i);
            assert_true(shared_stored(&shared, "user/aoi", key)->place.seq > 0);
        }
        assert_int_equal(shared_versions(&shared, "user/aoi"), shared_last(&shared, "user/aoi"));
        detach(&shared);
    }
    assert_true(acknowledged >= KILLS);
    shared_close(&shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_lose_nothing_and_readers_miss_nothing),
        cmocka_unit_test(killed_writer_loses_nothing_acknowledged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
