#include "tests/support/wrong.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dunlin/http.h>

enum { WRONG_MAX = 512, TOKEN_ROOM = 128 };

#define TEXT(wrong_text, name)                                                                     \
    { {.text = (wrong_text)}, DUNLIN_##name }
#define NUMBER(wrong_number, name)                                                                 \
    { {.number = (wrong_number)}, DUNLIN_##name }
#define GIVEN(name, ...)                                                                           \
    { {.given = &(__VA_ARGS__)}, DUNLIN_##name }
#define NOTHING(name)                                                                              \
    { {.at = NULL}, DUNLIN_##name }

/* One byte over the limit each; filled by fill_long_texts(). */
static char long_id[DUNLIN_ID_MAX + 2];
static char long_name[DUNLIN_NAME_MAX + 2];
static char long_json[DUNLIN_DATA_MAX + 2];
static char long_url[1026];
static char long_option[4098];
static char long_value[DUNLIN_NAME_MAX + 32];

static void fill_long_texts(void) {
    static const char https[] = "https://example.org/";
    memset(long_id, 'x', sizeof(long_id) - 1);
    memset(long_name, 'x', sizeof(long_name) - 1);
    memset(long_json, '1', sizeof(long_json) - 1);
    memset(long_url, 'x', sizeof(long_url) - 1);
    memcpy(long_url, https, sizeof(https) - 1);
    memset(long_option, 'x', sizeof(long_option) - 1);
    memcpy(long_option, "sha256//", 8);
    (void)snprintf(long_value, sizeof(long_value), "{\"name\":\"%s\"}", long_name);
}

/* ---- handles, places */

static const struct wrong nothing[] = {NOTHING(MISUSE)};

static dunlin_remote mute; /* has no exchange */
static const struct wrong remotes[] = {NOTHING(MISUSE), {{.at = &mute}, DUNLIN_MISUSE}};

/* ---- texts: cut, an overlong U+0000, a surrogate, no start of anything */

#define NOT_UTF8                                                                                   \
    TEXT("\xf0\x9f\x91", INVALID_TEXT), TEXT("\xc0\x80", INVALID_TEXT),                            \
        TEXT("a\xed\xa0\x80", INVALID_TEXT), TEXT("\xff", INVALID_TEXT),                           \
        TEXT("\xc3(", INVALID_TEXT)
#define NO_ID TEXT("", INVALID_ID), NOT_UTF8, TEXT(long_id, TOO_LONG)

static const struct wrong ids[] = {NOTHING(MISUSE), NO_ID};
static const struct wrong groups[] = {NOTHING(MISUSE), NO_ID, TEXT("!", INVALID_ID)};
static const struct wrong owners[] = {NOTHING(NOT_FOUND), NO_ID};
static const struct wrong names[] = {NOTHING(MISUSE), NOT_UTF8, TEXT(long_name, TOO_LONG)};
static const struct wrong names_given[] = {NOT_UTF8, TEXT(long_name, TOO_LONG)};
static const struct wrong any_text[] = {TEXT("l2", MISUSE), TEXT("", MISUSE)};
static const struct wrong values[] = {
    TEXT("", INVALID_JSON),
    TEXT("[]", INVALID_JSON),
    TEXT("{\"name\":\"a\",\"name\":\"b\"}", INVALID_JSON),
    TEXT("{\"name\":\"\xff\"}", INVALID_JSON),
    TEXT("{\"colour\":\"teal\"}", NOT_FOUND),
    TEXT("{\"name\":5}", INVALID_VALUE),
    TEXT("{\"name\":{\"i\":\"5\"}}", INVALID_VALUE),
    TEXT("{\"deleted\":null}", INVALID_VALUE),
    TEXT("{\"rank\":\"\"}", INVALID_VALUE),
    TEXT(long_value, TOO_LONG),
};
static const struct wrong paths[] = {NOTHING(MISUSE), TEXT("", MISUSE)};
static const struct wrong central_urls[] = {
    NOTHING(MISUSE),
    TEXT("", UNSUPPORTED),
    TEXT("sqlite:", MISUSE),
    TEXT("mongodb://127.0.0.1/db", UNSUPPORTED),
};
static const struct wrong http_urls[] = {
    NOTHING(MISUSE),
    TEXT("", MISUSE),
    TEXT("example.org", MISUSE),
    TEXT("https://", MISUSE),
    TEXT("https://a b", MISUSE),
    TEXT("https://example.org/\r\nX: y", MISUSE),
    TEXT("https://example.org:99999", MISUSE),
    TEXT("https://user@example.org", MISUSE),
    TEXT("https://:secret@example.org", MISUSE),
    TEXT("https://example.org/?a=b", MISUSE),
    TEXT("https://example.org/#a", MISUSE),
    TEXT("ftp://example.org", UNSUPPORTED),
    TEXT("file:///etc/passwd", UNSUPPORTED),
    TEXT("https://example.org/\xff", INVALID_TEXT),
    TEXT(long_url, TOO_LONG),
};
static const struct wrong mongo_urls[] = {
    NOTHING(MISUSE),
    TEXT("", UNSUPPORTED),
    TEXT("http://127.0.0.1/db", UNSUPPORTED),
    TEXT("mongodb://127.0.0.1/", MISUSE),
    TEXT("mongodb://127.0.0.1/a\xff", INVALID_TEXT),
};

/* ---- numbers */

static const struct wrong letters[] = {
    NUMBER(0, NOT_FOUND),         NUMBER(-1, NOT_FOUND),        NUMBER(3, NOT_FOUND),
    NUMBER(INT64_MAX, NOT_FOUND), NUMBER(INT64_MIN, NOT_FOUND),
};
static const struct wrong timeouts[] = {NUMBER(-1, MISUSE), NUMBER(INT64_MIN, MISUSE)};

/* ---- structs */

#define JOIN(number) ((const dunlin_join){(dunlin_join)(number)})
static const struct wrong joins[] = {GIVEN(MISUSE, JOIN(2)), GIVEN(MISUSE, JOIN(-1))};

#define OPTIONS(version, title, data)                                                              \
    ((const dunlin_item_options){(version), (title), (data), NULL})
static const struct wrong item_options[] = {
    GIVEN(MISUSE, OPTIONS(0, NULL, NULL)),
    GIVEN(MISUSE, OPTIONS(2, NULL, NULL)),
    GIVEN(INVALID_TEXT, OPTIONS(1, "\xff", NULL)),
    GIVEN(TOO_LONG, OPTIONS(1, long_name, NULL)),
    GIVEN(INVALID_JSON, OPTIONS(1, NULL, "{")),
    GIVEN(INVALID_JSON, OPTIONS(1, NULL, "")),
    GIVEN(INVALID_TEXT, OPTIONS(1, NULL, "\"\xff\"")),
    GIVEN(TOO_LONG, OPTIONS(1, NULL, long_json)),
};

#define PLACE(version, to_list, kind, type, id)                                                    \
    ((const dunlin_item_place){(version), (to_list), (kind), (type), (id)})
#define BEFORE(type, id) PLACE(1, NULL, DUNLIN_PLACE_BEFORE, type, id)
#define TO_LIST(list) PLACE(1, list, DUNLIN_PLACE_LAST, NULL, NULL)
static const struct wrong item_places[] = {
    NOTHING(MISUSE),
    GIVEN(MISUSE, PLACE(0, NULL, DUNLIN_PLACE_LAST, NULL, NULL)),
    GIVEN(MISUSE, PLACE(2, NULL, DUNLIN_PLACE_LAST, NULL, NULL)),
    GIVEN(MISUSE, PLACE(1, NULL, (dunlin_place_kind)3, NULL, NULL)),
    GIVEN(MISUSE, PLACE(1, NULL, (dunlin_place_kind)-1, NULL, NULL)),
    GIVEN(MISUSE, PLACE(1, NULL, DUNLIN_PLACE_FIRST, "v", "b")),
    GIVEN(MISUSE, BEFORE(NULL, NULL)),
    GIVEN(MISUSE, BEFORE("v", NULL)),
    GIVEN(MISUSE, BEFORE(NULL, "b")),
    GIVEN(INVALID_ID, BEFORE("", "b")),
    GIVEN(INVALID_ID, BEFORE("v", "")),
    GIVEN(INVALID_TEXT, BEFORE("\xff", "b")),
    GIVEN(INVALID_TEXT, BEFORE("v", "\xff")),
    GIVEN(TOO_LONG, BEFORE(long_id, "b")),
    GIVEN(TOO_LONG, BEFORE("v", long_id)),
    GIVEN(NOT_FOUND, BEFORE("v", "none")),
    GIVEN(NOT_FOUND, PLACE(1, "l2", DUNLIN_PLACE_BEFORE, "v", "b")),
    GIVEN(INVALID_ID, TO_LIST("")),
    GIVEN(INVALID_TEXT, TO_LIST("\xff")),
    GIVEN(TOO_LONG, TO_LIST(long_id)),
    GIVEN(NOT_FOUND, TO_LIST("none")),
};

static int64_t constant_ms(void *self) {
    (void)self;
    return 5;
}

static void no_random(void *self, void *out, size_t len) {
    (void)self;
    memset(out, 0, len);
}

static const dunlin_ports without_random = {NULL, constant_ms, NULL};
static const dunlin_ports without_clock = {NULL, NULL, no_random};

#define OPEN(version, must_exist, durability, timeout, ports)                                      \
    ((const dunlin_open_options){(version), (must_exist), (dunlin_durability)(durability), 0,      \
                                 (timeout), (ports)})
static const struct wrong open_options[] = {
    GIVEN(MISUSE, OPEN(0, 0, 0, 0, NULL)),
    GIVEN(MISUSE, OPEN(2, 0, 0, 0, NULL)),
    GIVEN(NOT_FOUND, OPEN(1, 1, 0, 0, NULL)),
    GIVEN(MISUSE, OPEN(1, 0, 2, 0, NULL)),
    GIVEN(MISUSE, OPEN(1, 0, -1, 0, NULL)),
    GIVEN(MISUSE, OPEN(1, 0, 0, -1, NULL)),
    GIVEN(MISUSE, OPEN(1, 0, 0, 0, &without_random)),
    GIVEN(MISUSE, OPEN(1, 0, 0, 0, &without_clock)),
};

#define CENTRAL(...) ((const dunlin_central_options){__VA_ARGS__})
static const struct wrong central_options[] = {
    GIVEN(MISUSE, CENTRAL(0, NULL, 0, 0, 0, 0, 0, 0)),
    GIVEN(MISUSE, CENTRAL(2, NULL, 0, 0, 0, 0, 0, 0)),
    GIVEN(MISUSE, CENTRAL(1, &without_random, 0, 0, 0, 0, 0, 0)),
    GIVEN(MISUSE, CENTRAL(1, &without_clock, 0, 0, 0, 0, 0, 0)),
    GIVEN(MISUSE, CENTRAL(1, NULL, -1, 0, 0, 0, 0, 0)),
    GIVEN(MISUSE, CENTRAL(1, NULL, 0, 86399999, 0, 0, 0, 0)),
    GIVEN(MISUSE, CENTRAL(1, NULL, 0, -1, 0, 0, 0, 0)),
    GIVEN(MISUSE, CENTRAL(1, NULL, 0, 0, -1, 0, 0, 0)),
    GIVEN(MISUSE, CENTRAL(1, NULL, 0, 0, 0, -1, 0, 0)),
    GIVEN(MISUSE, CENTRAL(1, NULL, 0, 0, 0, 0, -1, 0)),
    GIVEN(MISUSE, CENTRAL(1, NULL, 0, 0, 0, 0, 0, -1)),
};

#define HTTP(number, ...) ((const dunlin_http_options){.version = (number), __VA_ARGS__})
static const struct wrong http_options[] = {
    GIVEN(MISUSE, HTTP(0, .user = NULL)),
    GIVEN(MISUSE, HTTP(2, .user = NULL)),
    GIVEN(MISUSE, HTTP(1, .connect_timeout_ms = -1)),
    GIVEN(MISUSE, HTTP(1, .stall_timeout_ms = -1)),
    GIVEN(MISUSE, HTTP(1, .pinned = "md5//x")),
    GIVEN(INVALID_ID, HTTP(1, .user = "")),
    GIVEN(INVALID_TEXT, HTTP(1, .user = "\xff")),
    GIVEN(TOO_LONG, HTTP(1, .user = long_id)),
    GIVEN(INVALID_TEXT, HTTP(1, .proxy = "http://\xff")),
    GIVEN(TOO_LONG, HTTP(1, .proxy = long_option)),
    GIVEN(INVALID_TEXT, HTTP(1, .ca_file = "\xff")),
    GIVEN(TOO_LONG, HTTP(1, .ca_file = long_option)),
    GIVEN(INVALID_TEXT, HTTP(1, .pinned = "sha256//\xff")),
    GIVEN(TOO_LONG, HTTP(1, .pinned = long_option)),
};

/* ---- the kinds */

#define ROWS(table)                                                                                \
    { (table), sizeof(table) / sizeof((table)[0]) }

static const struct {
    const struct wrong *rows;
    size_t count;
} by_kind[PARAMETER_KINDS] = {
    [PARAMETER_STORE] = ROWS(nothing),
    [PARAMETER_ITER] = ROWS(nothing),
    [PARAMETER_REMOTE] = ROWS(remotes),
    [PARAMETER_CENTRAL] = ROWS(nothing),
    [PARAMETER_OUT] = ROWS(nothing),
    [PARAMETER_OUT_ROW] = ROWS(nothing),
    [PARAMETER_OUT_ITER] = ROWS(nothing),
    [PARAMETER_OUT_GROUP] = ROWS(nothing),
    [PARAMETER_OUT_STORE] = ROWS(nothing),
    [PARAMETER_OUT_CENTRAL] = ROWS(nothing),
    [PARAMETER_OUT_REMOTE] = ROWS(nothing),
    [PARAMETER_ID] = ROWS(ids),
    [PARAMETER_GROUP] = ROWS(groups),
    [PARAMETER_OWNER] = ROWS(owners),
    [PARAMETER_NAME] = ROWS(names),
    [PARAMETER_NAME_OR_NULL] = ROWS(names_given),
    [PARAMETER_NO_TEXT] = ROWS(any_text),
    [PARAMETER_VALUES] = ROWS(values),
    [PARAMETER_NEW_FILE] = ROWS(paths),
    [PARAMETER_STORE_FILE] = ROWS(paths),
    [PARAMETER_CENTRAL_URL] = ROWS(central_urls),
    [PARAMETER_HTTP_URL] = ROWS(http_urls),
    [PARAMETER_MONGO_URL] = ROWS(mongo_urls),
    [PARAMETER_LETTER] = ROWS(letters),
    [PARAMETER_TIMEOUT] = ROWS(timeouts),
    [PARAMETER_JOIN_OR_NULL] = ROWS(joins),
    [PARAMETER_ITEM_OPTIONS] = ROWS(item_options),
    [PARAMETER_ITEM_PLACE] = ROWS(item_places),
    [PARAMETER_OPEN_OPTIONS] = ROWS(open_options),
    [PARAMETER_CENTRAL_OPTIONS] = ROWS(central_options),
    [PARAMETER_HTTP_OPTIONS] = ROWS(http_options),
    [PARAMETER_LINE_CALLBACK] = ROWS(nothing),
};

static dunlin_status ignore_line(const char *line, size_t len, void *payload) {
    (void)line;
    (void)len;
    (void)payload;
    return DUNLIN_OK;
}

struct argument parameter_good(struct scene *scene, const struct parameter *parameter, void *out) {
    struct argument argument = parameter->good;
    switch (parameter->kind) {
    case PARAMETER_STORE:
        argument.at = scene->store;
        break;
    case PARAMETER_ITER:
        argument.at = scene->iters[parameter->good.number];
        break;
    case PARAMETER_REMOTE:
        argument.at = &scene->device->remote;
        break;
    case PARAMETER_CENTRAL:
        argument.at = scene->world.central;
        break;
    case PARAMETER_NEW_FILE:
    case PARAMETER_STORE_FILE:
        argument.text = scene->new_path;
        break;
    case PARAMETER_CENTRAL_URL:
        argument.text = scene->new_url;
        break;
    case PARAMETER_LINE_CALLBACK:
        argument.callback = ignore_line;
        break;
    default:
        if (parameter->kind >= PARAMETER_OUT && parameter->kind <= PARAMETER_OUT_REMOTE) {
            argument.at = out;
        }
    }
    return argument;
}

/* ---- what is wrong only in the scene, or for the parameter */

static struct wrong all[WRONG_MAX];
static size_t all_count;

static void add(const struct wrong *wrong) {
    assert_true(all_count < WRONG_MAX);
    all[all_count++] = *wrong;
}

static void add_range(dunlin_status status, int version, const char *after, const char *before,
                      int backwards) {
    static dunlin_range ranges[WRONG_MAX];
    assert_true(all_count < WRONG_MAX);
    dunlin_range *range = &ranges[all_count];
    *range = (dunlin_range){version, 0, after, before, backwards};
    add(&(struct wrong){{.given = range}, status});
}

/* The token with each byte in turn another one: it is none then, or one of another listing. */
static void add_broken_tokens(const char *token) {
    static char broken[WRONG_MAX][TOKEN_ROOM];
    size_t count = 0;
    for (size_t i = 0; token[i] != '\0'; i++) {
        const char others[] = {token[i] == '.' ? '0' : '.', 'G'};
        for (size_t j = 0; j < sizeof(others); j++) {
            char *copy = broken[count++];
            (void)memcpy(copy, token, strlen(token) + 1);
            copy[i] = others[j];
            add_range(DUNLIN_INVALID_CURSOR, DUNLIN_RANGE_VERSION, copy, NULL, 0);
        }
    }
}

static void add_ranges(struct scene *scene, enum listing own) {
    static const char *const none[] = {
        "", "x", "items", "items-", "items-00000000.61.62.63", "\xff", long_name};
    const char *token = scene->tokens[own];
    add_range(DUNLIN_MISUSE, 0, NULL, NULL, 0);
    add_range(DUNLIN_MISUSE, 2, NULL, NULL, 0);
    add_range(DUNLIN_MISUSE, DUNLIN_RANGE_VERSION, token, token, 0);
    add_range(DUNLIN_MISUSE, DUNLIN_RANGE_VERSION, token, NULL, 1);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        add_range(DUNLIN_INVALID_CURSOR, DUNLIN_RANGE_VERSION, none[i], NULL, 0);
        add_range(DUNLIN_INVALID_CURSOR, DUNLIN_RANGE_VERSION, NULL, none[i], 0);
    }
    for (size_t i = 0; i < LISTING_COUNT; i++) {
        if (i != own) {
            add_range(DUNLIN_INVALID_CURSOR, DUNLIN_RANGE_VERSION, scene->tokens[i], NULL, 0);
            add_range(DUNLIN_INVALID_CURSOR, DUNLIN_RANGE_VERSION, NULL, scene->tokens[i], 0);
        }
    }
    add_broken_tokens(token);
}

static void add_iterators(struct scene *scene, enum listing own) {
    for (size_t i = 0; i < LISTING_COUNT; i++) {
        if (scene_rows((enum listing)i) != own) {
            add(&(struct wrong){{.at = scene->iters[i]}, DUNLIN_MISUSE});
        }
    }
}

const struct wrong *parameter_wrong(struct scene *scene, const struct parameter *parameter,
                                    size_t *count) {
    int64_t number = parameter->good.number;
    fill_long_texts();
    all_count = 0;
    for (size_t i = 0; i < by_kind[parameter->kind].count; i++) {
        add(&by_kind[parameter->kind].rows[i]);
    }
    if (parameter->kind == PARAMETER_ITER) {
        add_iterators(scene, (enum listing)number);
    } else if (parameter->kind == PARAMETER_RANGE) {
        add_ranges(scene, (enum listing)number);
    } else if (parameter->kind == PARAMETER_ENUM) {
        add(&(struct wrong){{.number = number + 1}, DUNLIN_MISUSE});
        add(&(struct wrong){{.number = -1}, DUNLIN_MISUSE});
    } else if (parameter->kind == PARAMETER_NEW_FILE) {
        add(&(struct wrong){{.text = scene->device->path}, DUNLIN_EXISTS});
    } else if (parameter->kind == PARAMETER_STORE_FILE) {
        add(&(struct wrong){{.text = scene->world.dir}, DUNLIN_NOT_A_STORE});
    }
    if (parameter->besides.status != DUNLIN_OK) {
        add(&parameter->besides);
    }
    assert_true(all_count > 0);
    *count = all_count;
    return all;
}
