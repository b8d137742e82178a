#include "tests/support/refuse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { OUT_BYTES = 512, UNTOUCHED = 0x5a };

#define OK(call) assert_int_equal((call), DUNLIN_OK)

struct bench {
    struct scene scene;
    char *state; /* as it was */
    void *out;   /* OUT_BYTES, where results go */
};

static void bench_open(struct bench *bench) {
    scene_open(&bench->scene);
    bench->state = scene_state(&bench->scene);
    bench->out = malloc(OUT_BYTES);
    assert_non_null(bench->out);
}

static void bench_close(struct bench *bench) {
    free(bench->state);
    free(bench->out);
    scene_close(&bench->scene);
}

static size_t fill_good(struct bench *bench, const struct function *function,
                        struct argument *arguments) {
    size_t count = 0;
    while (count < PARAMETERS_MAX && function->parameters[count].kind != PARAMETER_NONE) {
        arguments[count] = parameter_good(&bench->scene, &function->parameters[count], bench->out);
        count++;
    }
    return count;
}

static void check_unchanged(struct bench *bench, const char *what) {
    char *state = scene_state(&bench->scene);
    if (strcmp(state, bench->state) != 0) {
        fail_msg("%s changed this:\n%s\ninto this:\n%s", what, bench->state, state);
    }
    free(state);
    if (access(bench->scene.new_path, F_OK) == 0) {
        fail_msg("%s made a file", what);
    }
}

static void *pointer_in(const void *place) {
    void *pointer;
    memcpy(&pointer, place, sizeof(pointer));
    return pointer;
}

/* A refused call gives nothing that the caller might free, and leaves a value as it was. */
static void check_out(struct bench *bench, const struct function *function,
                      const struct argument *arguments, const char *what) {
    const unsigned char *bytes = bench->out;
    for (size_t i = 0; i < PARAMETERS_MAX; i++) {
        enum parameter_kind kind = function->parameters[i].kind;
        if (kind == PARAMETER_OUT && arguments[i].at) {
            for (size_t j = 0; j < OUT_BYTES; j++) {
                if (bytes[j] != UNTOUCHED) {
                    fail_msg("%s: the result is filled", what);
                }
            }
        } else if (kind >= PARAMETER_OUT_ROW && kind <= PARAMETER_OUT_REMOTE && arguments[i].at &&
                   pointer_in(bench->out) != NULL) {
            fail_msg("%s: the result is not NULL", what);
        }
    }
}

static void refuse(struct bench *bench, const struct function *function,
                   const struct argument *arguments, dunlin_status expected, const char *what) {
    dunlin_error err = {0};
    memset(bench->out, UNTOUCHED, OUT_BYTES);
    dunlin_status status = function->call(arguments, &err);
    if (status != expected) {
        fail_msg("%s: %s (%s), not %s", what, dunlin_status_name(status), err.message,
                 dunlin_status_name(expected));
    }
    if (err.code != status || err.domain == DUNLIN_DOMAIN_NONE || err.message[0] == '\0') {
        fail_msg("%s: the error says %s: \"%s\"", what, dunlin_status_name(err.code), err.message);
    }
    check_out(bench, function, arguments, what);
    assert_int_equal(function->call(arguments, NULL), expected);
    check_unchanged(bench, what);
}

static void refuse_all(struct bench *bench, const struct function *function, bool inside) {
    bool closed = inside && function->when == ALONE; /* whatever else is wrong */
    struct argument arguments[PARAMETERS_MAX] = {{0}};
    size_t parameters = fill_good(bench, function, arguments);
    char what[128];
    for (size_t i = 0; i < parameters; i++) {
        size_t count;
        struct argument good = arguments[i];
        const struct wrong *wrong =
            parameter_wrong(&bench->scene, &function->parameters[i], &count);
        for (size_t j = 0; j < count; j++) {
            (void)snprintf(what, sizeof(what), "%s, wrong argument %zu, number %zu", function->name,
                           i, j);
            arguments[i] = wrong[j].value;
            refuse(bench, function, arguments, closed ? DUNLIN_MISUSE : wrong[j].status, what);
        }
        arguments[i] = good;
    }
}

static void release(enum parameter_kind kind, void *given) {
    switch (kind) {
    case PARAMETER_OUT_ITER:
        dunlin_iter_free(given);
        break;
    case PARAMETER_OUT_GROUP:
        dunlin_group_free(given);
        break;
    case PARAMETER_OUT_STORE:
        dunlin_store_close(given);
        break;
    case PARAMETER_OUT_CENTRAL:
        dunlin_central_close(given);
        break;
    case PARAMETER_OUT_REMOTE:
        dunlin_remote_close(given);
        break;
    default:
        break;
    }
}

/* What the call gave is freed, and the file that it may have made is removed. */
static void take_back(struct bench *bench, const struct function *function) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    char path[600];
    for (size_t i = 0; i < PARAMETERS_MAX; i++) {
        release(function->parameters[i].kind, pointer_in(bench->out));
    }
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", bench->scene.new_path, endings[i]);
        (void)unlink(path);
    }
}

/* The call with nothing wrong in it. */
static void accept(struct bench *bench, const struct function *function, bool inside) {
    struct argument arguments[PARAMETERS_MAX] = {{0}};
    dunlin_error err = {0};
    (void)fill_good(bench, function, arguments);
    if (function->when == (inside ? ALONE : INSIDE)) {
        refuse(bench, function, arguments, DUNLIN_MISUSE,
               inside ? "a call inside a transaction" : "a call outside one");
        return;
    }
    memset(bench->out, 0, OUT_BYTES);
    dunlin_status status = function->call(arguments, &err);
    if (status != function->good) {
        fail_msg("%s with nothing wrong: %s (%s)", function->name, dunlin_status_name(status),
                 err.message);
    }
    take_back(bench, function);
}

void refuse_function(const struct function *function) {
    struct bench bench;
    bench_open(&bench);
    char *theirs = device_dump_remote(bench.scene.device);

    OK(dunlin_begin(bench.scene.store, NULL));
    refuse_all(&bench, function, true);
    OK(dunlin_commit(bench.scene.store, NULL));
    check_unchanged(&bench, "a transaction of refused calls");
    OK(dunlin_begin(bench.scene.store, NULL));
    accept(&bench, function, true);
    dunlin_rollback(bench.scene.store);
    check_unchanged(&bench, "a call that was rolled back");

    refuse_all(&bench, function, false);
    char *theirs_after = device_dump_remote(bench.scene.device);
    assert_string_equal(theirs, theirs_after);
    accept(&bench, function, false);
    dunlin_rollback(bench.scene.store);
    free(theirs);
    free(theirs_after);
    bench_close(&bench);
}
