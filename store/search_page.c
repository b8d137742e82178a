/* Pages of search hits.
 *
 * The text is folded and parted at white space into words. Few candidates by pairs are looked at
 * one by one and sorted, for every page anew; where there are more than CANDIDATES_MAX, so many
 * rows hold the words that going through all rows in the order of hits soon fills a page. */
#include <string.h>

#include "store/fold.h"
#include "store/lists.h"
#include "store/page_rows.h"
#include "store/search_text.h"

enum { CANDIDATES_MAX = 4000, QUERY_PAIRS_MAX = 32 };

struct words {
    struct dln_buf json;  /* an array of them */
    struct dln_buf pairs; /* in FTS5's query language */
    int pair_count;
};

/* Control characters are white space here, so only two characters need an escape. */
static void append_json_word(struct dln_buf *out, struct dln_text word) {
    dln_buf_append_text(out, out->len == 0 ? "[\"" : ",\"");
    for (size_t i = 0; i < word.len; i++) {
        if (word.data[i] == '"' || word.data[i] == '\\') {
            dln_buf_append_byte(out, '\\');
        }
        dln_buf_append_byte(out, word.data[i]);
    }
    dln_buf_append_byte(out, '"');
}

static void append_pair(struct words *words, struct dln_text pair, bool prefix) {
    if (words->pair_count < QUERY_PAIRS_MAX) {
        dln_search_quote(&words->pairs, pair);
        dln_buf_append_text(&words->pairs, prefix ? " * " : " ");
        words->pair_count++;
    }
}

static void add_word(struct words *words, struct dln_text word) {
    size_t at = 0;
    append_json_word(&words->json, word);
    (void)dln_next_character(word, &at);
    if (at == word.len) { /* one character: whatever pair starts with it */
        append_pair(words, word, true);
    }
    for (size_t start = 0; at < word.len;) {
        size_t end = at;
        (void)dln_next_character(word, &end);
        append_pair(words, (struct dln_text){word.data + start, end - start}, false);
        start = at;
        at = end;
    }
}

static dunlin_status part_words(struct words *out, struct dln_text text, dunlin_error *err) {
    struct dln_buf folded = DLN_BUF_INIT(DLN_SEARCH_TEXT_MAX);
    *out = (struct words){DLN_BUF_INIT(DLN_SEARCH_TEXT_MAX), DLN_BUF_INIT(DLN_SEARCH_TEXT_MAX), 0};
    dln_fold(&folded, text);
    struct dln_text all = {folded.data, folded.len};
    size_t start = 0;
    for (size_t at = 0; at < all.len;) {
        size_t here = at;
        bool space = dln_is_space(dln_next_character(all, &at));
        size_t end = space ? here : at;
        if (end > start && (space || at == all.len)) {
            add_word(out, (struct dln_text){all.data + start, end - start});
        }
        start = space ? at : start;
    }
    dln_buf_append_byte(&out->json, ']');
    dunlin_status status = dln_buf_status(&folded, err);
    status = status != DUNLIN_OK ? status : dln_buf_status(&out->json, err);
    status = status != DUNLIN_OK ? status : dln_buf_status(&out->pairs, err);
    dln_buf_free(&folded);
    return status;
}

static enum dln_page_take fill_hit(struct dln_page *page, const struct dln_statement *statement,
                                   void *out, struct dln_page_key *key) {
    struct dunlin_hit *row = out;
    struct dln_text texts[6];
    for (int i = 0; i < 6; i++) {
        texts[i] = dln_arena_text(page->arena, dln_column_text(statement, i));
        if (!texts[i].data) {
            return DLN_PAGE_NO_MEMORY;
        }
    }
    bool item = texts[0].data[0] == '1';
    row->list = texts[1].data;
    row->name = texts[4].data;
    row->type = item ? texts[2].data : NULL;
    row->id = item ? texts[3].data : NULL;
    row->title = item && !dln_column_is_null(statement, 5) ? texts[5].data : NULL;
    *key = (struct dln_page_key){4, {texts[0], texts[1], texts[2], texts[3]}};
    return DLN_PAGE_TAKEN;
}

static dunlin_status read_hits(struct dln_store *store, struct dln_page *page, bool few,
                               const struct words *words, dunlin_error *err) {
    static const enum dln_store_query queries[2][2] = {
        {DLN_STORE_SEARCH_MANY_FORWARD, DLN_STORE_SEARCH_MANY_BACKWARD},
        {DLN_STORE_SEARCH_FEW_FORWARD, DLN_STORE_SEARCH_FEW_BACKWARD}};
    struct dln_statement statement = dln_use(store, queries[few][page->backwards]);
    dln_bind_text(&statement, (struct dln_text){words->json.data, words->json.len});
    if (page->from) {
        dln_bind_int(&statement, dln_text_equal(page->from->parts[0], DLN_TEXT("1")));
    } else {
        dln_bind_int(&statement, page->backwards ? 2 : -1);
    }
    for (int i = 1; i < 4; i++) {
        dln_page_bind_from(&statement, page, i);
    }
    dln_bind_int(&statement, (int64_t)page->limit);
    if (few) {
        dln_bind_text(&statement, (struct dln_text){words->pairs.data, words->pairs.len});
    }
    return dln_page_run(page, &statement, sizeof(dunlin_hit), fill_hit, err);
}

dunlin_status dln_page_hits(struct dln_store *store, struct dln_page *page, dunlin_error *err) {
    struct words words;
    int64_t candidates = 0;
    dunlin_status status = part_words(&words, page->arguments[0], err);
    if (status != DUNLIN_OK) {
        goto done;
    }
    if (words.pair_count == 0) { /* no word is in nothing */
        status = dln_page_start(page, sizeof(dunlin_hit), err);
        goto done;
    }
    struct dln_statement statement = dln_use(store, DLN_STORE_SEARCH_CANDIDATES);
    dln_bind_text(&statement, (struct dln_text){words.pairs.data, words.pairs.len});
    dln_bind_int(&statement, CANDIDATES_MAX + 1);
    status = dln_get_int(&statement, &candidates, err);
    if (status == DUNLIN_OK) {
        status = read_hits(store, page, candidates <= CANDIDATES_MAX, &words, err);
    }
done:
    dln_buf_free(&words.json);
    dln_buf_free(&words.pairs);
    return status;
}

bool dln_store_has_search(const struct dln_store *store) {
    return store->search;
}
