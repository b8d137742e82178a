#include "store/search_text.h"

#include "store/fold.h"

void dln_search_text(struct dln_buf *out, struct dln_text title, struct dln_text id,
                     struct dln_text data) {
    struct dln_buf texts = DLN_BUF_INIT(DLN_SEARCH_TEXT_MAX);
    dln_buf_append(&texts, title.data, title.len);
    dln_buf_append_byte(&texts, '\n');
    dln_buf_append(&texts, id.data, id.len);
    dln_json_texts(&texts, data);
    if (texts.status == DUNLIN_OK) {
        dln_fold(out, (struct dln_text){texts.data, texts.len});
    } else {
        out->status = texts.status;
    }
    dln_buf_free(&texts);
}

void dln_search_pairs(struct dln_buf *out, struct dln_text text) {
    size_t at = 0;
    while (at < text.len && out->status == DUNLIN_OK) {
        size_t start = at;
        if (dln_is_space(dln_next_character(text, &at))) {
            continue;
        }
        size_t end = at;
        if (at < text.len && dln_is_space(dln_next_character(text, &end))) {
            end = at;
        }
        dln_buf_append_byte(out, ' ');
        dln_buf_append(out, text.data + start, end - start);
    }
}

void dln_search_quote(struct dln_buf *out, struct dln_text pair) {
    dln_buf_append_byte(out, '"');
    for (size_t i = 0; i < pair.len; i++) {
        if (pair.data[i] == '"') {
            dln_buf_append_byte(out, '"');
        }
        dln_buf_append_byte(out, pair.data[i]);
    }
    dln_buf_append_byte(out, '"');
}
