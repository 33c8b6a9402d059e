/* suggest.c - see suggest.h. */
#include "suggest.h"

#include <string.h>

#define MAX_LENGTH 15
#define MAX_EDITS 2

static size_t least(size_t a, size_t b, size_t c) {
    size_t const ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* The Levenshtein distance: how many letters must be inserted, deleted or changed to turn a into b.
 * The matrix is computed row by row. */
static size_t edits(const char *a, const char *b) {
    size_t row[MAX_LENGTH + 1];
    for (size_t j = 0; j <= strlen(b); j++) row[j] = j;
    for (size_t i = 1; i <= strlen(a); i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= strlen(b); j++) {
            size_t const change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, change);
        }
    }
    return row[strlen(b)];
}

const char *suggest(const char *text, name_at *names) {
    const char *best = NULL;
    size_t      best_edits = MAX_EDITS + 1;
    for (size_t i = 0; names(i) != NULL; i++) {
        const char *const name = names(i);
        if (strlen(name) > MAX_LENGTH || strlen(text) > MAX_LENGTH) continue;
        if (strlen(text) >= 2 && strncmp(text, name, strlen(text)) == 0) return name;
        size_t const distance = edits(text, name);
        if (distance >= best_edits || distance >= strlen(name)) continue;
        best = name;
        best_edits = distance;
    }
    return best;
}
