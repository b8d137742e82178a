/* Keys have one text form, the one by which central finds them: parsing refuses every other. The
 * key of a known collection has exactly its descriptor's parts; whether those are legal is
 * dln_check_key()'s to say. Parsing fails only for malformed text and for memory. */
#include "base/record.h"

#include <assert.h>
#include <string.h>

enum {
    ENCODED_ID_MAX = 3 * DLN_ID_MAX,
    SCOPE_MAX = ENCODED_ID_MAX + 8 /* "group/" and some */
};

static const struct dln_text scope_prefixes[] = {
    [DLN_SCOPE_USER] = {"user/", 5},
    [DLN_SCOPE_GROUP] = {"group/", 6},
};

static struct dln_text scope_text(struct dln_arena *arena, enum dln_scope_kind kind,
                                  struct dln_text id) {
    struct dln_text made = {NULL, 0};
    struct dln_buf buf = DLN_BUF_INIT(SCOPE_MAX);
    dln_buf_append(&buf, scope_prefixes[kind].data, scope_prefixes[kind].len);
    dln_percent_encode(&buf, id);
    if (buf.status == DUNLIN_OK) {
        made = dln_arena_text(arena, (struct dln_text){buf.data, buf.len});
    }
    dln_buf_free(&buf);
    return made;
}

struct dln_text dln_scope_user(struct dln_arena *arena, struct dln_text user) {
    return scope_text(arena, DLN_SCOPE_USER, user);
}

struct dln_text dln_scope_group(struct dln_arena *arena, struct dln_text group) {
    return scope_text(arena, DLN_SCOPE_GROUP, group);
}

/* Decodes one part of a scope or key into the arena. Empty parts are for the caller to refuse. */
static bool decode_part(struct dln_arena *arena, struct dln_text *out, struct dln_text encoded) {
    bool ok = false;
    struct dln_buf buf = DLN_BUF_INIT(DLN_ID_MAX);
    dln_buf_append(&buf, "", 0);
    if (dln_percent_decode(&buf, encoded) && buf.status == DUNLIN_OK) {
        struct dln_text decoded = {buf.data, buf.len};
        if (dln_text_is_utf8(decoded)) {
            *out = dln_arena_text(arena, decoded);
            ok = out->data != NULL;
        }
    }
    dln_buf_free(&buf);
    return ok;
}

bool dln_scope_parse(struct dln_arena *arena, struct dln_text scope, enum dln_scope_kind *kind,
                     struct dln_text *id) {
    for (int i = DLN_SCOPE_USER; i <= DLN_SCOPE_GROUP; i++) {
        struct dln_text prefix = scope_prefixes[i];
        if (scope.len <= prefix.len || memcmp(scope.data, prefix.data, prefix.len) != 0) {
            continue;
        }
        struct dln_text encoded = {scope.data + prefix.len, scope.len - prefix.len};
        if (!decode_part(arena, id, encoded)) {
            return false;
        }
        *kind = (enum dln_scope_kind)i;
        return i == DLN_SCOPE_USER || !dln_text_equal(*id, DLN_TEXT("!"));
    }
    return false;
}

void dln_key_text(struct dln_buf *out, const struct dln_key *key) {
    assert(key->part_count >= 0 && key->part_count <= DLN_KEY_MAX);
    assert(key->name.len > 0);
    assert(key->collection == NULL || key->collection->key_count == key->part_count);
    dln_percent_encode(out, key->name);
    for (int i = 0; i < key->part_count; i++) {
        dln_buf_append_byte(out, '/');
        dln_percent_encode(out, key->parts[i]);
    }
}

/* Takes what stands before the next '/', and that '/'. False when nothing is left. */
static bool next_part(struct dln_text *rest, struct dln_text *part) {
    if (rest->data == NULL) {
        return false;
    }
    const char *slash = rest->len > 0 ? memchr(rest->data, '/', rest->len) : NULL;
    if (slash == NULL) {
        *part = *rest;
        *rest = (struct dln_text){NULL, 0};
        return true;
    }
    *part = (struct dln_text){rest->data, (size_t)(slash - rest->data)};
    *rest = (struct dln_text){slash + 1, rest->len - part->len - 1};
    return true;
}

bool dln_key_parse(struct dln_arena *arena, struct dln_key *out, struct dln_text text) {
    struct dln_text rest = text;
    struct dln_text part;
    if (!next_part(&rest, &part) || part.len == 0 || !decode_part(arena, &out->name, part)) {
        return false;
    }
    out->collection = dln_collection_by_name(out->name);
    out->part_count = 0;
    while (next_part(&rest, &part)) {
        if (out->part_count == DLN_KEY_MAX ||
            !decode_part(arena, &out->parts[out->part_count], part)) {
            return false;
        }
        out->part_count++;
    }
    return out->collection == NULL || out->collection->key_count == out->part_count;
}

int dln_key_compare(const struct dln_key *a, const struct dln_key *b) {
    int order = dln_text_compare(a->scope, b->scope);
    if (order == 0) {
        order = dln_text_compare(a->name, b->name);
    }
    for (int i = 0; order == 0 && i < a->part_count && i < b->part_count; i++) {
        order = dln_text_compare(a->parts[i], b->parts[i]);
    }
    if (order == 0) {
        order = (a->part_count > b->part_count) - (a->part_count < b->part_count);
    }
    return order;
}

bool dln_key_equal(const struct dln_key *a, const struct dln_key *b) {
    return dln_key_compare(a, b) == 0;
}

static const struct dln_field *find_extra(const struct dln_record *record, struct dln_text name) {
    for (size_t i = 0; i < record->extra_count; i++) {
        if (record->extras[i].field.stamp != 0 && dln_text_equal(record->extras[i].name, name)) {
            return &record->extras[i].field;
        }
    }
    return NULL;
}

const struct dln_field *dln_record_existence(const struct dln_record *record) {
    const struct dln_collection *collection = record->key.collection;
    if (collection != NULL) {
        const struct dln_field *field = &record->fields[collection->existence];
        return field->stamp != 0 ? field : NULL;
    }
    const struct dln_field *present = find_extra(record, DLN_TEXT("present"));
    return present != NULL ? present : find_extra(record, DLN_TEXT("deleted"));
}

bool dln_record_exists(const struct dln_record *record) {
    const struct dln_collection *collection = record->key.collection;
    const struct dln_field *field = dln_record_existence(record);
    if (field == NULL) {
        /* A known collection has the field, so it is not set: a part of a record, not one. */
        return collection == NULL;
    }
    bool exists_when = collection != NULL ? collection->exists_when
                                          : field == find_extra(record, DLN_TEXT("present"));
    return field->value.type == (exists_when ? DLN_TRUE : DLN_FALSE);
}

dln_stamp dln_record_newest(const struct dln_record *record) {
    dln_stamp newest = 0;
    for (int i = 0; i < DLN_FIELD_MAX; i++) {
        if (record->fields[i].stamp > newest) {
            newest = record->fields[i].stamp;
        }
    }
    for (size_t i = 0; i < record->extra_count; i++) {
        if (record->extras[i].field.stamp > newest) {
            newest = record->extras[i].field.stamp;
        }
    }
    return newest;
}

static bool copy_text(struct dln_arena *arena, struct dln_text *out, struct dln_text in) {
    if (in.data == NULL) {
        *out = in;
        return true;
    }
    *out = dln_arena_text(arena, in);
    return out->data != NULL;
}

static bool copy_field(struct dln_arena *arena, struct dln_field *out, const struct dln_field *in) {
    *out = *in;
    if (in->value.type != DLN_STRING && in->value.type != DLN_JSON) {
        return true;
    }
    return copy_text(arena, &out->value.as.text, in->value.as.text);
}

static bool copy_key(struct dln_arena *arena, struct dln_key *out, const struct dln_key *in) {
    *out = *in;
    bool ok = copy_text(arena, &out->name, in->name) && copy_text(arena, &out->scope, in->scope);
    for (int i = 0; ok && i < in->part_count; i++) {
        ok = copy_text(arena, &out->parts[i], in->parts[i]);
    }
    return ok;
}

static bool copy_extras(struct dln_arena *arena, struct dln_record *out,
                        const struct dln_record *in) {
    out->extras = NULL;
    out->extra_count = 0;
    if (in->extra_count == 0) {
        return true;
    }
    if (in->extra_count > SIZE_MAX / sizeof(struct dln_extra)) {
        return false;
    }
    out->extras = dln_arena_alloc(arena, in->extra_count * sizeof(struct dln_extra));
    if (out->extras == NULL) {
        return false;
    }
    for (size_t i = 0; i < in->extra_count; i++) {
        if (!copy_text(arena, &out->extras[i].name, in->extras[i].name) ||
            !copy_field(arena, &out->extras[i].field, &in->extras[i].field)) {
            return false;
        }
        out->extra_count++;
    }
    return true;
}

bool dln_record_copy(struct dln_arena *arena, struct dln_record *out, const struct dln_record *in) {
    assert(out != in);
    bool ok = copy_key(arena, &out->key, &in->key);
    for (int i = 0; ok && i < DLN_FIELD_MAX; i++) {
        ok = copy_field(arena, &out->fields[i], &in->fields[i]);
    }
    return ok && copy_extras(arena, out, in);
}

enum { NAME_LEN_SIZE = 2, STAMP_SIZE = 8, VALUE_LEN_SIZE = 4 };

static void append_number(struct dln_buf *out, uint64_t number, int size) {
    for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) {
        dln_buf_append_byte(out, (char)(unsigned char)(number >> shift & 0xff));
    }
}

/* Appends the value behind its length, which is only known once it is encoded. */
static void append_value(struct dln_buf *out, const struct dln_value *value) {
    append_number(out, 0, VALUE_LEN_SIZE);
    size_t from = out->len;
    dln_value_encode(out, value);
    if (out->status != DUNLIN_OK) {
        return;
    }
    size_t len = out->len - from;
    for (size_t i = 1; i <= VALUE_LEN_SIZE; i++) {
        out->data[from - i] = (char)(unsigned char)(len & 0xff);
        len >>= 8;
    }
    if (len > 0) {
        out->status = DUNLIN_TOO_LARGE;
    }
}

void dln_extras_encode(struct dln_buf *out, const struct dln_record *record) {
    if (record->extra_count > DLN_EXTRA_MAX && out->status == DUNLIN_OK) {
        out->status = DUNLIN_TOO_LARGE; /* it could not be read again */
    }
    for (size_t i = 0; i < record->extra_count; i++) {
        const struct dln_extra *extra = &record->extras[i];
        assert(extra->name.len > 0 && extra->name.len <= DLN_FIELD_NAME_MAX);
        assert(extra->field.stamp > 0 && extra->field.stamp <= DLN_STAMP_MAX);
        assert(i == 0 || dln_text_compare(record->extras[i - 1].name, extra->name) < 0);
        append_number(out, extra->name.len, NAME_LEN_SIZE);
        dln_buf_append(out, extra->name.data, extra->name.len);
        append_number(out, extra->field.stamp, STAMP_SIZE);
        append_value(out, &extra->field.value);
    }
}

/* Readers take bytes off the front of `rest`; false when there are too few. */
static bool take_bytes(struct dln_text *rest, size_t len, struct dln_text *out) {
    if (rest->len < len) {
        return false;
    }
    *out = (struct dln_text){rest->data, len};
    *rest = (struct dln_text){rest->data + len, rest->len - len};
    return true;
}

static bool take_number(struct dln_text *rest, size_t size, uint64_t *out) {
    struct dln_text bytes;
    if (!take_bytes(rest, size, &bytes)) {
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        *out = *out << 8 | (unsigned char)bytes.data[i];
    }
    return true;
}

static bool take_extra(struct dln_text *rest, struct dln_extra *out) {
    uint64_t name_len;
    uint64_t value_len;
    struct dln_text value;
    if (!take_number(rest, NAME_LEN_SIZE, &name_len) || name_len == 0 ||
        name_len > DLN_FIELD_NAME_MAX || !take_bytes(rest, (size_t)name_len, &out->name) ||
        !dln_text_is_utf8(out->name)) {
        return false;
    }
    if (!take_number(rest, STAMP_SIZE, &out->field.stamp) || out->field.stamp == 0 ||
        out->field.stamp > DLN_STAMP_MAX) {
        return false;
    }
    return take_number(rest, VALUE_LEN_SIZE, &value_len) &&
           take_bytes(rest, (size_t)value_len, &value) &&
           dln_value_decode(&out->field.value, value);
}

bool dln_extras_decode(struct dln_arena *arena, struct dln_record *out, struct dln_text bytes) {
    struct dln_extra extras[DLN_EXTRA_MAX];
    size_t count = 0;
    out->extras = NULL;
    out->extra_count = 0;
    while (bytes.len > 0) {
        if (count == DLN_EXTRA_MAX || !take_extra(&bytes, &extras[count])) {
            return false;
        }
        if (count > 0 && dln_text_compare(extras[count - 1].name, extras[count].name) >= 0) {
            return false;
        }
        count++;
    }
    if (count == 0) {
        return true;
    }
    out->extras = dln_arena_alloc(arena, count * sizeof(extras[0]));
    if (out->extras == NULL) {
        return false;
    }
    memcpy(out->extras, extras, count * sizeof(extras[0]));
    out->extra_count = count;
    return true;
}
