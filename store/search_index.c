/* The search index: any sequence of characters, from one on, in whatever script.
 *
 * What is searched of a list or an item stands folded in search_doc, one row each. search_pair is
 * an FTS5 index over its pairs of neighbouring characters: a text holds a word only if it holds all
 * of the word's pairs. That names candidates, few mostly, whose text is then looked at for the word
 * itself, so results are exact and the index needs neither positions nor words. It has no content
 * of its own; a row's old pairs are made again from search_doc to take them out.
 *
 * The items of a deleted list stay indexed and are left out when searching: deleting and restoring
 * a list costs one row. */
#include <string.h>

#include "store/derive_parts.h"
#include "store/search_text.h"

struct doc_key {
    bool item;
    struct dln_text list;
    struct dln_text type;
    struct dln_text id;
};

struct doc {
    int64_t number; /* 0: there is none */
    struct dln_buf text;
};

static struct doc_key key_of(const struct dln_key *key) {
    const struct dln_text none = DLN_TEXT("");
    if (key->collection->id == DLN_LIST) {
        return (struct doc_key){false, key->parts[0], none, none};
    }
    return (struct doc_key){true, key->parts[0], key->parts[1], key->parts[2]};
}

static struct dln_text text_of(const struct dln_row *row, int field) {
    const struct dln_value *value = &row->record.fields[field].value;
    bool is_text = value->type == DLN_STRING || value->type == DLN_JSON;
    return is_text ? value->as.text : (struct dln_text){NULL, 0};
}

static bool exists(const struct dln_row *row) {
    return row->stored && dln_record_exists(&row->record);
}

static struct dln_text title_of(const struct dln_row *row) {
    return text_of(row,
                   row->record.key.collection->id == DLN_LIST ? DLN_LIST_NAME : DLN_ITEM_TITLE);
}

static struct dln_text data_of(const struct dln_row *row) {
    return row->record.key.collection->id == DLN_LIST ? (struct dln_text){NULL, 0}
                                                      : text_of(row, DLN_ITEM_DATA);
}

static dunlin_status get_doc(struct dln_store *store, const struct doc_key *key, struct doc *out,
                             dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SEARCH_DOC_GET);
    bool row;
    out->number = 0;
    out->text = DLN_BUF_INIT(DLN_SEARCH_TEXT_MAX);
    dln_bind_int(&statement, key->item);
    dln_bind_text(&statement, key->list);
    dln_bind_text(&statement, key->type);
    dln_bind_text(&statement, key->id);
    dunlin_status status = dln_step(&statement, &row, err);
    if (status == DUNLIN_OK && row) {
        struct dln_text text = dln_column_text(&statement, 1);
        out->number = dln_column_int(&statement, 0);
        dln_buf_append(&out->text, text.data, text.len);
        dln_done(&statement);
        status = dln_buf_status(&out->text, err);
    }
    return status;
}

static dunlin_status write_pairs(struct dln_store *store, enum dln_store_query query, int64_t doc,
                                 struct dln_text text, dunlin_error *err) {
    struct dln_buf pairs = DLN_BUF_INIT(DLN_SEARCH_PAIRS_MAX);
    dln_search_pairs(&pairs, text);
    dunlin_status status = dln_buf_status(&pairs, err);
    if (status == DUNLIN_OK && pairs.len > 0) {
        struct dln_statement statement = dln_use(store, query);
        dln_bind_int(&statement, doc);
        dln_bind_text(&statement, (struct dln_text){pairs.data, pairs.len});
        status = dln_run(&statement, err);
    }
    dln_buf_free(&pairs);
    return status;
}

/* Makes the row say `text`, or removes it where there is none. */
static dunlin_status write_doc(struct dln_store *store, const struct doc_key *key, int64_t *number,
                               struct dln_text text, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, !text.data     ? DLN_STORE_SEARCH_DOC_REMOVE
                                                    : *number == 0 ? DLN_STORE_SEARCH_DOC_INSERT
                                                                   : DLN_STORE_SEARCH_DOC_UPDATE);
    if (text.data && *number == 0) {
        dln_bind_int(&statement, key->item);
        dln_bind_text(&statement, key->list);
        dln_bind_text(&statement, key->type);
        dln_bind_text(&statement, key->id);
    } else {
        dln_bind_int(&statement, *number);
    }
    if (text.data) {
        dln_bind_text(&statement, text);
    }
    dunlin_status status = dln_run(&statement, err);
    if (status == DUNLIN_OK && *number == 0) {
        *number = sqlite3_last_insert_rowid(store->db);
    }
    return status;
}

/* Brings one row and its pairs from what they are to `text` (none: not to be found any more). */
static dunlin_status put_doc(struct dln_store *store, const struct doc_key *key,
                             struct dln_text text, dunlin_error *err) {
    struct doc doc;
    dunlin_status status = get_doc(store, key, &doc, err);
    struct dln_text old = {doc.text.data, doc.text.len};
    bool same = doc.number == 0 ? !text.data : text.data && dln_text_equal(old, text);
    if (status != DUNLIN_OK || same) {
        goto done;
    }
    if (doc.number != 0) {
        status = write_pairs(store, DLN_STORE_SEARCH_PAIR_REMOVE, doc.number, old, err);
    }
    if (status == DUNLIN_OK) {
        status = write_doc(store, key, &doc.number, text, err);
    }
    if (status == DUNLIN_OK && text.data) {
        status = write_pairs(store, DLN_STORE_SEARCH_PAIR_ADD, doc.number, text, err);
    }
done:
    dln_buf_free(&doc.text);
    return dln_poison(store, status, err);
}

static bool nothing_changed(const struct dln_row *before, const struct dln_row *after) {
    if (exists(before) != exists(after)) {
        return false;
    }
    return !exists(after) || (dln_text_equal(title_of(before), title_of(after)) &&
                              dln_text_equal(data_of(before), data_of(after)));
}

dunlin_status dln_search_derive(struct dln_store *store, const struct dln_row *before,
                                const struct dln_row *after, dunlin_error *err) {
    struct doc_key key = key_of(&after->record.key);
    if (nothing_changed(before, after)) {
        return DUNLIN_OK;
    }
    if (!exists(after)) {
        return put_doc(store, &key, (struct dln_text){NULL, 0}, err);
    }
    struct dln_buf text = DLN_BUF_INIT(DLN_SEARCH_TEXT_MAX);
    dln_search_text(&text, title_of(after), key.id, data_of(after));
    dunlin_status status = dln_poison(store, dln_buf_status(&text, err), err);
    if (status == DUNLIN_OK) {
        status = put_doc(store, &key, (struct dln_text){text.data, text.len}, err);
    }
    dln_buf_free(&text);
    return status;
}

static dunlin_status run(struct dln_store *store, enum dln_store_query query, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, query);
    return dln_run(&statement, err);
}

dunlin_status dln_search_make(struct dln_store *store, dunlin_error *err) {
    int64_t modules = 0;
    struct dln_statement statement = dln_use(store, DLN_STORE_SEARCH_AVAILABLE);
    dunlin_status status = dln_get_int(&statement, &modules, err);
    if (status != DUNLIN_OK) {
        return status;
    }
    store->search = modules > 0;
    if (!store->search) { /* this SQLite has no FTS5: the file is as one made without search */
        return dln_store_setting_put(store, "search", 0, err);
    }
    status = run(store, DLN_STORE_SEARCH_MAKE_DOC, err);
    return status != DUNLIN_OK ? status : run(store, DLN_STORE_SEARCH_MAKE_PAIR, err);
}

dunlin_status dln_search_clear(struct dln_store *store, dunlin_error *err) {
    dunlin_status status = run(store, DLN_STORE_SEARCH_DOC_CLEAR, err);
    return status != DUNLIN_OK ? status : run(store, DLN_STORE_SEARCH_PAIR_CLEAR, err);
}

/* ---- the recompute: rows first, then the pairs of all rows where anything was off */

/* Compares the row of one record with what it should be; writes it without its pairs. */
static dunlin_status check_doc(struct dln_store *store, const struct doc_key *key,
                               struct dln_text title, struct dln_text data, int64_t *off,
                               dunlin_error *err) {
    struct doc doc;
    struct dln_buf text = DLN_BUF_INIT(DLN_SEARCH_TEXT_MAX);
    dunlin_status status = get_doc(store, key, &doc, err);
    if (status == DUNLIN_OK) {
        dln_search_text(&text, title, key->id, data);
        status = dln_buf_status(&text, err);
    }
    struct dln_text wanted = {text.data, text.len};
    struct dln_text found = {doc.text.data, doc.text.len};
    if (status == DUNLIN_OK && (doc.number == 0 || !dln_text_equal(wanted, found))) {
        *off += 1;
        status = write_doc(store, key, &doc.number, wanted, err);
    }
    dln_buf_free(&text);
    dln_buf_free(&doc.text);
    return status;
}

static dunlin_status check_docs(struct dln_store *store, bool item, int64_t *off,
                                dunlin_error *err) {
    const struct dln_text none = DLN_TEXT("");
    struct dln_statement statement =
        dln_use(store, item ? DLN_STORE_SEARCH_ITEMS : DLN_STORE_SEARCH_LISTS);
    dunlin_status status;
    bool row;
    while ((status = dln_step(&statement, &row, err)) == DUNLIN_OK && row) {
        struct doc_key key = {item, dln_column_text(&statement, 0),
                              item ? dln_column_text(&statement, 1) : none,
                              item ? dln_column_text(&statement, 2) : none};
        status =
            check_doc(store, &key, dln_column_text(&statement, item ? 3 : 1),
                      item ? dln_column_text(&statement, 4) : (struct dln_text){NULL, 0}, off, err);
        if (status != DUNLIN_OK) {
            dln_done(&statement);
            break;
        }
    }
    return status;
}

/* Whether the pair index has the row: asked of the text's first pair only, which finds an index
 * that lost rows, not one whose every page was forged. */
static dunlin_status has_pairs(struct dln_store *store, int64_t doc, struct dln_text text,
                               bool *out, dunlin_error *err) {
    struct dln_buf pairs = DLN_BUF_INIT(DLN_SEARCH_PAIRS_MAX);
    struct dln_buf query = DLN_BUF_INIT(DLN_SEARCH_PAIRS_MAX);
    int64_t count = 0;
    dln_search_pairs(&pairs, text);
    if (pairs.len > 0) {
        dln_search_quote(&query, (struct dln_text){pairs.data + 1, strcspn(pairs.data + 1, " ")});
    }
    dunlin_status status = dln_buf_status(pairs.status != DUNLIN_OK ? &pairs : &query, err);
    if (status == DUNLIN_OK && query.len > 0) {
        struct dln_statement statement = dln_use(store, DLN_STORE_SEARCH_PAIR_HAS);
        dln_bind_text(&statement, (struct dln_text){query.data, query.len});
        dln_bind_int(&statement, doc);
        status = dln_get_int(&statement, &count, err);
    }
    *out = count > 0 || query.len == 0;
    dln_buf_free(&pairs);
    dln_buf_free(&query);
    return status;
}

static dunlin_status check_pairs(struct dln_store *store, int64_t *off, dunlin_error *err) {
    struct dln_statement statement = dln_use(store, DLN_STORE_SEARCH_DOCS);
    dunlin_status status;
    bool row;
    while ((status = dln_step(&statement, &row, err)) == DUNLIN_OK && row) {
        bool has;
        status = has_pairs(store, dln_column_int(&statement, 0), dln_column_text(&statement, 1),
                           &has, err);
        if (status != DUNLIN_OK) {
            dln_done(&statement);
            break;
        }
        *off += has ? 0 : 1;
    }
    return status;
}

static dunlin_status rebuild_pairs(struct dln_store *store, dunlin_error *err) {
    dunlin_status status = run(store, DLN_STORE_SEARCH_PAIR_CLEAR, err);
    bool row = false;
    if (status != DUNLIN_OK) {
        return status;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_SEARCH_DOCS);
    while ((status = dln_step(&statement, &row, err)) == DUNLIN_OK && row) {
        status = write_pairs(store, DLN_STORE_SEARCH_PAIR_ADD, dln_column_int(&statement, 0),
                             dln_column_text(&statement, 1), err);
        if (status != DUNLIN_OK) {
            dln_done(&statement);
            break;
        }
    }
    return status;
}

dunlin_status dln_search_recompute(struct dln_store *store, int64_t *off, dunlin_error *err) {
    dunlin_status status = check_docs(store, false, off, err);
    if (status == DUNLIN_OK) {
        status = check_docs(store, true, off, err);
    }
    if (status == DUNLIN_OK) {
        status = run(store, DLN_STORE_SEARCH_DOC_REMOVE_STRAYS, err);
        *off += status == DUNLIN_OK ? dln_changed(store) : 0;
    }
    if (status == DUNLIN_OK && *off == 0) {
        status = check_pairs(store, off, err);
    }
    if (status == DUNLIN_OK && *off > 0) {
        status = rebuild_pairs(store, err);
    }
    return dln_poison(store, status, err);
}
