/* A rank is found between the two neighbours of the place. Where no rank of a legal length is left
 * between them (or where two devices gave both the same), the siblings around the place are keyed
 * anew, as few as give short ranks: a window that grows by the same number on both sides, until the
 * ranks spread over it are short or it has reached both ends. */
#include "client/place.h"

#include <assert.h>

#include "store/lists.h"

enum {
    WINDOW_FIRST = 4,  /* siblings on each side */
    WINDOW_GROWTH = 4, /* times */
    SHORT_BYTES = 32,  /* of a rank that leaves enough room for what comes */
    PAGE_BYTES_MAX = 64 << 20
};

/* Siblings on one side of the place, nearest first. */
struct side {
    struct dln_page_key *keys;
    size_t count;
};

struct gap {
    const struct dln_siblings *siblings;
    const struct dln_page_key *before; /* NULL: at an end */
    bool first;                        /* at the start */
    struct side left, right;
};

static dunlin_status no_memory(dunlin_error *err) {
    return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_STORE, "out of memory");
}

struct dln_text dln_rank_text(const struct dln_rank *rank) {
    return (struct dln_text){rank->data, rank->len};
}

dunlin_status dln_check_place(dunlin_place_kind place, bool neighbour, dunlin_error *err) {
    switch (place) {
    case DUNLIN_PLACE_LAST:
    case DUNLIN_PLACE_FIRST:
        return neighbour ? dln_misuse(err, "this place has no neighbour") : DUNLIN_OK;
    case DUNLIN_PLACE_BEFORE:
        return neighbour ? DUNLIN_OK : dln_misuse(err, "the place lacks its neighbour");
    }
    return dln_misuse(err, "there is no such place");
}

struct dln_page_key dln_place_key(const struct dln_row *row) {
    const struct dln_key *key = &row->record.key;
    bool list = key->collection->id == DLN_LIST;
    struct dln_text rank = dln_row_text(row, list ? DLN_LIST_RANK : DLN_ITEM_RANK);
    rank = rank.data ? rank : DLN_TEXT("");
    return list ? (struct dln_page_key){2, {rank, key->parts[0]}}
                : (struct dln_page_key){3, {rank, key->parts[2], key->parts[1]}};
}

/* The order of the listing. */
static int compare(const struct dln_page_key *a, const struct dln_page_key *b) {
    int order = 0;
    assert(a->count == b->count);
    for (int i = 0; i < a->count && order == 0; i++) {
        order = dln_text_compare(a->parts[i], b->parts[i]);
    }
    return order;
}

static bool is_self(const struct dln_siblings *siblings, const struct dln_page_key *key) {
    return siblings->self.count != 0 && compare(&siblings->self, key) == 0;
}

static bool copy_key(struct dln_arena *arena, struct dln_page_key *out,
                     const struct dln_page_key *key) {
    out->count = key->count;
    for (int i = 0; i < key->count; i++) {
        out->parts[i] = dln_arena_text(arena, key->parts[i]);
        if (!out->parts[i].data) {
            return false;
        }
    }
    return true;
}

/* Appends siblings behind (backwards: before) `from` to a side until it has `want`. */
static dunlin_status read_side(struct dln_edit *edit, const struct gap *gap,
                               const struct dln_page_key *from, bool backwards, size_t want,
                               struct side *out, dunlin_error *err) {
    struct dln_arena arena = DLN_ARENA_INIT(PAGE_BYTES_MAX);
    struct dln_page page = {.arguments = &gap->siblings->list, .from = from, .more = true};
    struct dln_page_key last;
    dunlin_status status = DUNLIN_OK;
    while (status == DUNLIN_OK && page.more && out->count < want) {
        dln_arena_clear(&arena);
        page.arena = &arena;
        page.backwards = backwards;
        page.limit = want - out->count + 1; /* one of them may be the one that is placed */
        status = gap->siblings->collection == DLN_LIST ? dln_page_lists(edit->store, &page, err)
                                                       : dln_page_items(edit->store, &page, err);
        for (size_t i = 0; status == DUNLIN_OK && i < page.count && out->count < want; i++) {
            if (is_self(gap->siblings, &page.keys[i])) {
                continue;
            }
            if (!copy_key(&edit->arena, &out->keys[out->count++], &page.keys[i])) {
                status = no_memory(err);
            }
        }
        if (status == DUNLIN_OK && page.count > 0) {
            status = copy_key(&edit->arena, &last, &page.keys[page.count - 1]) ? DUNLIN_OK
                                                                               : no_memory(err);
            page.from = &last;
        }
    }
    dln_arena_free(&arena);
    return status;
}

/* Reads up to `want` siblings on each side of the place. */
static dunlin_status read_gap(struct dln_edit *edit, struct gap *gap, size_t want,
                              dunlin_error *err) {
    dunlin_status status = DUNLIN_OK;
    gap->left = (struct side){dln_arena_alloc(&edit->arena, want * sizeof(*gap->left.keys)), 0};
    gap->right = (struct side){dln_arena_alloc(&edit->arena, want * sizeof(*gap->right.keys)), 0};
    if (!gap->left.keys || !gap->right.keys) {
        return no_memory(err);
    }
    if (!gap->first) {
        status = read_side(edit, gap, gap->before, true, want, &gap->left, err);
    }
    if (status == DUNLIN_OK && (gap->first || gap->before)) {
        if (gap->before) {
            gap->right.keys[gap->right.count++] = *gap->before;
        }
        status = read_side(edit, gap, gap->before, false, want, &gap->right, err);
    }
    return status;
}

static struct dln_text rank_of(const struct side *side, size_t index) {
    return index < side->count ? side->keys[index].parts[0] : (struct dln_text){NULL, 0};
}

/* A sibling without a rank stands before all ranks: as a left end it is none. */
static struct dln_text left_end(const struct gap *gap, size_t index) {
    struct dln_text rank = rank_of(&gap->left, index);
    return rank.len > 0 ? rank : (struct dln_text){NULL, 0};
}

static dunlin_status write_rank(struct dln_edit *edit, const struct dln_siblings *siblings,
                                const struct dln_page_key *key, const struct dln_rank *rank,
                                dunlin_error *err) {
    const struct dln_text none = {NULL, 0};
    struct dln_text item[] = {siblings->list, key->parts[2], key->parts[1]};
    bool list = siblings->collection == DLN_LIST;
    struct dln_row row;
    uint32_t fields = 0;
    dunlin_status status =
        dln_edit_row(edit, &row, siblings->collection, none, list ? &key->parts[1] : item, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    dln_row_change(&row, &fields, list ? DLN_LIST_RANK : DLN_ITEM_RANK,
                   dln_value_string(dln_rank_text(rank)));
    return dln_edit_write(edit, &row, fields, err);
}

/* Ranks for `left` siblings, the one that is placed, and `right` siblings, in their order; false
 * where they would not be short, though a wider window could make them so. */
static bool spread(const struct gap *gap, size_t left, size_t right, struct dln_rank *ranks) {
    bool whole = left == gap->left.count && right == gap->right.count;
    struct dln_text from = left_end(gap, left);
    struct dln_text to = rank_of(&gap->right, right);
    for (size_t i = 0; i < left + 1 + right; i++) {
        if (!dln_rank_spread(&ranks[i], from, to, i, left + 1 + right) ||
            (!whole && ranks[i].len > SHORT_BYTES)) {
            return false;
        }
    }
    return true;
}

static dunlin_status key_anew(struct dln_edit *edit, struct gap *gap, struct dln_rank *out,
                              dunlin_error *err) {
    dunlin_status status;
    struct dln_rank *ranks;
    size_t left, right;
    for (size_t window = WINDOW_FIRST;; window *= WINDOW_GROWTH) {
        status = read_gap(edit, gap, window + 1, err);
        if (status != DUNLIN_OK) {
            return status;
        }
        left = gap->left.count > window ? window : gap->left.count;
        right = gap->right.count > window ? window : gap->right.count;
        ranks = dln_arena_alloc(&edit->arena, (left + 1 + right) * sizeof(*ranks));
        if (!ranks) {
            return no_memory(err);
        }
        if (spread(gap, left, right, ranks)) {
            break;
        }
        assert(gap->left.count > window || gap->right.count > window);
    }
    for (size_t i = 0; i < left && status == DUNLIN_OK; i++) {
        status = write_rank(edit, gap->siblings, &gap->left.keys[i], &ranks[left - 1 - i], err);
    }
    for (size_t i = 0; i < right && status == DUNLIN_OK; i++) {
        status = write_rank(edit, gap->siblings, &gap->right.keys[i], &ranks[left + 1 + i], err);
    }
    *out = ranks[left];
    return status;
}

dunlin_status dln_place(struct dln_edit *edit, const struct dln_siblings *siblings,
                        dunlin_place_kind place, const struct dln_page_key *before,
                        struct dln_rank *out, bool *stays, dunlin_error *err) {
    struct gap gap = {.siblings = siblings,
                      .before = place == DUNLIN_PLACE_BEFORE ? before : NULL,
                      .first = place == DUNLIN_PLACE_FIRST};
    const struct dln_page_key *self = &siblings->self;
    *stays = false;
    assert(place != DUNLIN_PLACE_BEFORE || !is_self(siblings, before));
    dunlin_status status = read_gap(edit, &gap, 1, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    if (self->count != 0 && (gap.left.count == 0 || compare(&gap.left.keys[0], self) < 0) &&
        (gap.right.count == 0 || compare(self, &gap.right.keys[0]) < 0)) {
        *stays = true;
        return DUNLIN_OK;
    }
    /* A sibling without a rank on the right leaves no gap either. */
    return dln_rank_between(out, left_end(&gap, 0), rank_of(&gap.right, 0),
                            dln_store_random(edit->store))
               ? DUNLIN_OK
               : key_anew(edit, &gap, out, err);
}
