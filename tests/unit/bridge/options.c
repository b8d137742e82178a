/* The command line: what it takes, what it refuses, and what stands there without being said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/options.h"

enum { WORDS_MAX = 16 };

static dunlin_status read_words(struct dln_options *out, dunlin_error *err, ...) {
    char *words[WORDS_MAX] = {(char[]){"dunlind"}};
    int count = 1;
    va_list more;
    char *word;

    va_start(more, err);
    while ((word = va_arg(more, char *)) != NULL && count < WORDS_MAX) {
        words[count++] = word;
    }
    va_end(more);
    return dln_options_read(out, count, words, err);
}

#define READ(...) read_words(&options, &err, __VA_ARGS__, (char *)NULL)
#define SERVE "--store", "sqlite:x", "--insecure"

static void plain_serving(void **state) {
    struct dln_options options;
    dunlin_error err;
    (void)state;
    assert_int_equal(READ(SERVE), DUNLIN_OK);
    assert_int_equal(options.command, DLN_COMMAND_SERVE);
    assert_string_equal(options.store, "sqlite:x");
    assert_string_equal(options.listen, "127.0.0.1:8765");
    assert_true(options.insecure);
    assert_null(options.tls_cert);
    assert_int_equal(options.threads, 4);
    assert_int_equal(options.drain_seconds, 20);
    assert_int_equal(READ(SERVE, "--threads=7", "--listen", "[::1]:0", "--prefix", "/a/b"),
                     DUNLIN_OK);
    assert_int_equal(options.threads, 7);
    assert_string_equal(options.listen, "[::1]:0");
    assert_string_equal(options.prefix, "/a/b");
}

static void commands(void **state) {
    struct dln_options options;
    dunlin_error err;
    (void)state;
    assert_int_equal(READ("token", "--auth-secret-file", "f", "--user", "u"), DUNLIN_OK);
    assert_int_equal(options.command, DLN_COMMAND_TOKEN);
    assert_int_equal(options.ttl_seconds, 3600);
    assert_int_equal(READ("restored", "--store", "sqlite:x", "--fuzzy"), DUNLIN_OK);
    assert_int_equal(options.command, DLN_COMMAND_RESTORED);
    assert_true(options.fuzzy);
    assert_int_equal(READ("dump", "--store", "sqlite:x", "--user", "u"), DUNLIN_OK);
    assert_int_equal(options.command, DLN_COMMAND_DUMP);
    assert_int_equal(READ("--help"), DUNLIN_OK);
    assert_int_equal(options.command, DLN_COMMAND_HELP);
    assert_int_equal(READ("--version"), DUNLIN_OK);
    assert_int_equal(options.command, DLN_COMMAND_VERSION);
}

static void times(void **state) {
    static const struct {
        const char *text;
        int64_t seconds; /* 0: refused */
    } rows[] = {{"1", 1},
                {"90s", 90},
                {"15m", 900},
                {"1h", 3600},
                {"30d", 2592000},
                {"0", 0},
                {"-1", 0},
                {"1w", 0},
                {"h", 0},
                {"1.5h", 0},
                {" 1h", 0},
                {"1 h", 0},
                {"3650d", INT64_C(315360000)},
                {"3651d", 0},
                {"999999999999999d", 0},
                {"99999999999999999999", 0}};
    struct dln_options options;
    dunlin_error err;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        dunlin_status status =
            READ("token", "--auth-secret-file", "f", "--user", "u", "--ttl", rows[i].text);
        assert_int_equal(status, rows[i].seconds != 0 ? DUNLIN_OK : DUNLIN_MISUSE);
        if (status == DUNLIN_OK) {
            assert_int_equal(options.ttl_seconds, rows[i].seconds);
        }
    }
}

static void wrong(void **state) {
    struct dln_options options;
    dunlin_error err;
    char *alone[] = {(char[]){"dunlind"}};
    (void)state;
    assert_int_equal(dln_options_read(&options, 1, alone, &err), DUNLIN_MISUSE);
    assert_int_equal(READ("dance"), DUNLIN_MISUSE);
    assert_int_equal(READ("--insecure"), DUNLIN_MISUSE);          /* no store */
    assert_int_equal(READ("--store", "sqlite:x"), DUNLIN_MISUSE); /* nobody says who may come in */
    assert_int_equal(READ(SERVE, "--auth-jwks", "f"), DUNLIN_MISUSE);
    assert_int_equal(READ("--store", "sqlite:x", "--auth-jwks", "f", "--auth-secret-file", "f"),
                     DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--tls-key", "f"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--prefix", "a"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--prefix", "/a/"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--prefix", "/"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--threads"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--threads", "0"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--threads", "65"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--threads", "4x"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--threads", ""), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--thread", "4"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--insecure=yes"), DUNLIN_MISUSE);
    assert_int_equal(READ(SERVE, "--fuzzy"), DUNLIN_MISUSE); /* another command's */
    assert_non_null(strstr(err.message, "--fuzzy"));
    assert_int_equal(READ(SERVE, "more"), DUNLIN_MISUSE);
    assert_int_equal(READ("token", "--user", "u"), DUNLIN_MISUSE);
    assert_int_equal(READ("restored"), DUNLIN_MISUSE);
    assert_int_equal(READ("dump", "--store", "sqlite:x"), DUNLIN_MISUSE);
}

static void help_names_every_option(void **state) {
    static const char *const names[] = {
        "--store",    "--listen",  "--auth-secret-file", "--auth-jwks", "--insecure", "--audience",
        "--tls-cert", "--threads", "--listeners",        "--ttl",       "--fuzzy"};
    struct dln_buf text = DLN_BUF_INIT(64 * 1024);
    (void)state;
    dln_options_help(&text);
    assert_int_equal(text.status, DUNLIN_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_non_null(strstr(text.data, names[i]));
    }
    dln_buf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_serving), cmocka_unit_test(commands),
                                       cmocka_unit_test(times), cmocka_unit_test(wrong),
                                       cmocka_unit_test(help_names_every_option)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
