/* The name that was meant, where one was mistyped: the nearest by letters to insert, drop, change
 * or exchange with their neighbour. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { LONGEST = 80 };

static int min_int(int a, int b) {
    return a < b ? a : b;
}

/* Number of changes from one word to the other. Three rows of the usual table, the third for
 * neighbours that change places. */
static int num_changes(const char *a, const char *b) {
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    int length_a = (int)strlen(a), length_b = (int)strlen(b);
    if (length_a > LONGEST || length_b > LONGEST)
        return LONGEST;
    for (int j = 0; j <= length_b; ++j)
        last[j] = j;
    for (int i = 1; i <= length_a; ++i) {
        row[0] = i;
        for (int j = 1; j <= length_b; ++j) {
            row[j] =
                min_int(min_int(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min_int(row[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[length_b];
}

void cli_suggestion_try(cli_suggestion *suggestion, const char *name) {
    int changes = num_changes(suggestion->mistyped, name);
    if (suggestion->best[0] != '\0' && changes >= suggestion->changes)
        return;
    suggestion->changes = changes;
    snprintf(suggestion->best, sizeof suggestion->best, "%s", name);
}

/* A third of its letters may be wrong; more are another word. */
const char *cli_suggestion_text(cli_suggestion *suggestion) {
    int most = min_int((int)strlen(suggestion->mistyped), (int)strlen(suggestion->best)) / 3;
    suggestion->text[0] = '\0';
    if (suggestion->best[0] != '\0' && suggestion->changes <= most)
        snprintf(suggestion->text, sizeof suggestion->text, "; did you mean %s?", suggestion->best);
    return suggestion->text;
}
