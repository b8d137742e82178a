/* Arguments and their values. Times are read by hand: strptime() depends on the locale. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/values.h"

static const char *const kind_names[] = {"user", "group"};
static const char *const join_names[] = {"open", "closed"};
static const char *const role_names[] = {"member", "admin"};

void dln_format_time(char out[DLN_TIME_SIZE], int64_t unix_ms) {
    int64_t second = unix_ms / 1000;
    int ms = (int)(unix_ms % 1000);
    time_t moment;
    struct tm parts;
    size_t len;

    if (ms < 0) {
        ms += 1000;
        second--;
    }
    moment = (time_t)second;
    if (!gmtime_r(&moment, &parts) || parts.tm_year < -1900 || parts.tm_year > 8099) {
        (void)snprintf(out, DLN_TIME_SIZE, "%" PRId64 " ms", unix_ms);
        return;
    }
    len = strftime(out, DLN_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    if (ms) {
        len += (size_t)snprintf(out + len, DLN_TIME_SIZE - len, ".%03d", ms);
    }
    (void)snprintf(out + len, DLN_TIME_SIZE - len, "Z");
}

/* Takes exactly `digits` digits off *text. */
static int take_digits(const char **text, int digits, int *out) {
    int value = 0;

    for (int i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)(*text)[i])) {
            return 0;
        }
        value = value * 10 + ((*text)[i] - '0');
    }
    *text += digits;
    *out = value;
    return 1;
}

static int take(const char **text, char character) {
    if (**text != character) {
        return 0;
    }
    (*text)++;
    return 1;
}

/* Days since 1970 in the Gregorian calendar; years begin in March here, so that a leap day is last.
 */
static int64_t days_since_1970(int year, int month, int day) {
    int64_t shifted_year = year - (month <= 2);
    int64_t shifted_month = (month + 9) % 12;

    return 365 * shifted_year + shifted_year / 4 - shifted_year / 100 + shifted_year / 400 +
           (153 * shifted_month + 2) / 5 + day - 1 - 719468;
}

static int days_in(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static int take_date(const char **text, int *separated, int64_t *days) {
    int year, month, day;

    if (!take_digits(text, 4, &year) || year < 1) {
        return 0;
    }
    *separated = take(text, '-');
    if (!take_digits(text, 2, &month) || (*separated && !take(text, '-')) ||
        !take_digits(text, 2, &day) || month < 1 || month > 12 || day < 1 ||
        day > days_in(year, month)) {
        return 0;
    }
    *days = days_since_1970(year, month, day);
    return 1;
}

static int take_clock(const char **text, int separated, int64_t *ms) {
    int hour, minute, second;

    if (!take_digits(text, 2, &hour) || (separated && !take(text, ':')) ||
        !take_digits(text, 2, &minute) || (separated && !take(text, ':')) ||
        !take_digits(text, 2, &second) || hour > 23 || minute > 59 || second > 59) {
        return 0;
    }
    *ms = ((hour * 60 + minute) * 60 + second) * (int64_t)1000;
    if (take(text, '.')) {
        int scale = 100;

        if (!isdigit((unsigned char)**text)) {
            return 0;
        }
        for (; isdigit((unsigned char)**text); (*text)++, scale /= 10) {
            *ms += (int64_t)(**text - '0') * scale;
        }
    }
    return 1;
}

static int take_zone(const char **text, int64_t *offset_ms) {
    int hour, minute, sign;

    *offset_ms = 0;
    if (take(text, 'Z')) {
        return 1;
    }
    sign = **text == '-' ? -1 : 1;
    if (!take(text, '+') && !take(text, '-')) {
        return 0;
    }
    if (!take_digits(text, 2, &hour)) {
        return 0;
    }
    (void)take(text, ':');
    if (!take_digits(text, 2, &minute) || hour > 23 || minute > 59) {
        return 0;
    }
    *offset_ms = (int64_t)sign * (hour * 60 + minute) * 60000;
    return 1;
}

dunlin_status dln_read_time(struct dln_app *app, int64_t *out, const char *text) {
    const char *rest = text;
    int64_t days = 0, clock_ms = 0, offset_ms = 0;
    int separated = 0;
    int good = take_date(&rest, &separated, &days);

    if (good && *rest) {
        good = take(&rest, 'T') && take_clock(&rest, separated, &clock_ms) &&
               take_zone(&rest, &offset_ms);
    }
    if (!good || *rest) {
        return dln_fail(app, DUNLIN_INVALID_VALUE,
                        "a time looks like 2020-01-01T00:00:00Z, or with +09:00 instead of Z");
    }
    *out = days * 86400000 + clock_ms - offset_ms;
    return DUNLIN_OK;
}

/* One of two names, as its index. */
static dunlin_status read_name(struct dln_app *app, int *out, const char *const names[2],
                               const char *text) {
    for (int i = 0; i < 2; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return DUNLIN_OK;
        }
    }
    return dln_fail(app, DUNLIN_INVALID_VALUE, "it must be \"%s\" or \"%s\", not \"%s\"", names[0],
                    names[1], text);
}

dunlin_status dln_read_kind(struct dln_app *app, dunlin_kind *out, const char *text) {
    int index = 0;
    dunlin_status status = read_name(app, &index, kind_names, text);

    *out = index ? DUNLIN_GROUP : DUNLIN_USER;
    return status;
}

dunlin_status dln_read_join(struct dln_app *app, dunlin_join *out, const char *text) {
    int index = 0;
    dunlin_status status = read_name(app, &index, join_names, text);

    *out = index ? DUNLIN_JOIN_CLOSED : DUNLIN_JOIN_OPEN;
    return status;
}

dunlin_status dln_read_role(struct dln_app *app, dunlin_role *out, const char *text) {
    int index = 0;
    dunlin_status status = read_name(app, &index, role_names, text);

    *out = index ? DUNLIN_ROLE_ADMIN : DUNLIN_ROLE_MEMBER;
    return status;
}

const char *dln_kind_name(dunlin_kind kind) {
    return kind_names[kind == DUNLIN_GROUP];
}

const char *dln_join_name(dunlin_join join) {
    return join_names[join == DUNLIN_JOIN_CLOSED];
}

const char *dln_role_name(dunlin_role role) {
    return role_names[role == DUNLIN_ROLE_ADMIN];
}

dunlin_status dln_read_number(struct dln_app *app, int64_t *out, const char *text) {
    char *end = NULL;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || number <= 0) {
        return dln_fail(app, DUNLIN_INVALID_VALUE, "\"%s\" is not a number", text);
    }
    *out = number;
    return DUNLIN_OK;
}

/* Whether the list has that item. */
static dunlin_status find_item(struct dln_app *app, int *found, const char *list,
                               const struct dln_neighbour *item) {
    dunlin_iter *iter = NULL;
    const dunlin_item *row = NULL;
    dunlin_status status =
        dunlin_item_get(app->store, &iter, list, item->type, item->id, &app->err);

    if (!status) {
        status = dunlin_items_next(iter, &row, &app->err);
    }
    *found = !status && row;
    dunlin_iter_free(iter);
    return status;
}

dunlin_status dln_read_neighbour(struct dln_app *app, struct dln_neighbour *out, const char *list,
                                 const char *text) {
    const char *first = strchr(text, ':');
    char *type = NULL;

    if (!first) {
        return dln_fail(app, DUNLIN_INVALID_VALUE, "an item is named TYPE:ID, not \"%s\"", text);
    }
    type = strdup(text);
    if (!type) {
        return dln_fail(app, DUNLIN_OUT_OF_MEMORY, "%s", dunlin_status_text(DUNLIN_OUT_OF_MEMORY));
    }
    for (const char *colon = first; colon; colon = strchr(colon + 1, ':')) {
        struct dln_neighbour item = {type, type + (colon - text) + 1};
        int found = 0;
        dunlin_status status;

        type[colon - text] = '\0';
        status = find_item(app, &found, list, &item);
        if (found) {
            *out = item;
            return DUNLIN_OK;
        }
        type[colon - text] = ':';
        if (status && dunlin_status_is_retryable(status)) {
            free(type);
            return status;
        }
    }
    type[first - text] = '\0';
    *out = (struct dln_neighbour){type, type + (first - text) + 1};
    return DUNLIN_OK;
}

dunlin_status dln_read_place(struct dln_app *app, dunlin_place_kind *out, int *given, int first,
                             int last, const char *before) {
    int count = (first != 0) + (last != 0) + (before != NULL);

    if (count > 1) {
        return dln_fail(app, DUNLIN_INVALID_VALUE,
                        "only one of \"first\", \"last\" and \"before\" can be the place");
    }
    *given = count;
    *out = first ? DUNLIN_PLACE_FIRST : before ? DUNLIN_PLACE_BEFORE : DUNLIN_PLACE_LAST;
    return DUNLIN_OK;
}
