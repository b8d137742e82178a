/* An app's JSON: what is taken is a value that travels as it is, and is taken again. */
#include <string.h>

#include "sync/json.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct dln_text text = {(const char *)data, size};
    struct dln_buf line = DLN_BUF_INIT(8 * DLN_DATA_MAX);
    if (dln_check_json(text, NULL) == DUNLIN_OK) {
        struct dln_value value = dln_value_json(text);
        HOLDS(size <= DLN_DATA_MAX && memchr(data, 0, size) == NULL);
        dln_json_value(&line, &value);
        HOLDS(dln_buf_status(&line, NULL) == DUNLIN_OK);
        HOLDS(dln_check_json((struct dln_text){line.data, line.len}, NULL) != DUNLIN_INVALID_JSON);
    }
    dln_buf_free(&line);
    return 0;
}
