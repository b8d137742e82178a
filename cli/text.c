/* Text on a terminal. Ill-formed bytes are shown as U+FFFD, one for each byte. */
#include <string.h>

#include <utf8proc.h>

#include "cli/text.h"

enum { CHARACTER_BYTES_MAX = 4, SPELLED_WIDTH = 6, WORD_MAX = 32 };

/* Reads one character; returns its bytes, or 1 and *character = -1 where they are ill-formed. */
static size_t next_character(const char *text, utf8proc_int32_t *character) {
    size_t len = strnlen(text, CHARACTER_BYTES_MAX);
    utf8proc_ssize_t taken =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, character);

    if (taken > 0) {
        return (size_t)taken;
    }
    *character = -1;
    return 1;
}

static int is_spelled_out(utf8proc_int32_t character) {
    return (character >= 0 && character < 0x20) || (character >= 0x7f && character < 0xa0) ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

size_t dln_text_width(const char *text) {
    size_t width = 0;

    while (*text) {
        utf8proc_int32_t character;

        text += next_character(text, &character);
        if (is_spelled_out(character)) {
            width += SPELLED_WIDTH;
        } else if (character < 0) {
            width += 1;
        } else {
            width += (size_t)utf8proc_charwidth(character);
        }
    }
    return width;
}

void dln_text_print(FILE *stream, const char *text) {
    while (*text) {
        utf8proc_int32_t character;
        size_t taken = next_character(text, &character);

        if (is_spelled_out(character)) {
            (void)fprintf(stream, "\\u%04x", (unsigned)character);
        } else if (character < 0) {
            (void)fputs("\xef\xbf\xbd", stream);
        } else {
            (void)fwrite(text, 1, taken, stream);
        }
        text += taken;
    }
}

void dln_text_cut(char *text) {
    size_t len = strlen(text);
    size_t start = len;

    while (start > 0 && len - start < CHARACTER_BYTES_MAX) {
        utf8proc_int32_t character;

        start--;
        if (((unsigned char)text[start] & 0xc0) == 0x80) {
            continue; /* inside a character */
        }
        if (next_character(text + start, &character) != len - start || character < 0) {
            text[start] = '\0';
        }
        return;
    }
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

size_t dln_text_distance(const char *word, const char *other) {
    size_t row[WORD_MAX + 1];
    size_t word_len = strnlen(word, WORD_MAX);
    size_t other_len = strnlen(other, WORD_MAX);

    for (size_t column = 0; column <= other_len; column++) {
        row[column] = column;
    }
    for (size_t line = 1; line <= word_len; line++) {
        size_t diagonal = row[0];

        row[0] = line;
        for (size_t column = 1; column <= other_len; column++) {
            size_t change = diagonal + (word[line - 1] != other[column - 1]);

            diagonal = row[column];
            row[column] = least(change, least(row[column], row[column - 1]) + 1);
        }
    }
    return row[other_len];
}
