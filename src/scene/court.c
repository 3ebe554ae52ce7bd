/* Courts by the rules of their games: FIBA (basketball, 2024: court measured to the inner edge of
 * the boundary lines), ITF (tennis), FIVB (volleyball), IFAB (soccer, on the usual pitch of
 * 105 x 68 m). */
#include "scene/court.h"

#include <stdio.h>
#include <string.h>

static const psfm_court_mark basketball[] = {
    {"corner", 14.0, 7.5}, {"half", 0.0, 7.5},
    {"circle", 0.0, 1.8}, /* the halfway line meets the centre circle */
    {"three", 14.0, 6.6}, /* the three-point line meets the baseline */
    {"key", 14.0, 2.45},  /* the restricted area at the baseline */
    {"elbow", 8.2, 2.45}, /* and at the free-throw line */
};

static const psfm_court_mark tennis[] = {
    {"corner", 11.885, 5.485}, {"single", 11.885, 4.115}, {"service", 6.4, 4.115},
    {"tee", 6.4, 0.0},         {"mark", 11.885, 0.0},     {"net", 0.0, 5.485},
};

static const psfm_court_mark volleyball[] = {
    {"corner", 9.0, 4.5},
    {"attack", 3.0, 4.5},
    {"net", 0.0, 4.5},
};

static const psfm_court_mark soccer[] = {
    {"corner", 52.5, 34.0},   {"half", 0.0, 34.0},     {"circle", 0.0, 9.15},
    {"center", 0.0, 0.0},     {"spot", 41.5, 0.0}, /* the penalty mark */
    {"box", 36.0, 20.16},                          /* the penalty area's inner corner */
    {"boxline", 52.5, 20.16}, {"goalbox", 47.0, 9.16}, {"goalboxline", 52.5, 9.16},
    {"arc", 36.0, 7.312489}, /* the penalty arc meets the penalty area: sqrt(9.15^2 - 5.5^2) */
    {"post", 52.5, 3.66},
};

#define MARKS(list) (list), sizeof(list) / sizeof *(list)

static const psfm_court courts[] = {
    {"basketball", 28.0, 15.0, MARKS(basketball), 28.0, 15.0},
    {"tennis", 23.77, 10.97, MARKS(tennis), 23.77, 10.97},
    {"volleyball", 18.0, 9.0, MARKS(volleyball), 18.0, 9.0},
    {"soccer", 105.0, 68.0, MARKS(soccer), 105.0, 68.0},
};

bool psfm_court_get(const char *name, psfm_court *court) {
    for (size_t k = 0; k < sizeof courts / sizeof *courts; ++k) {
        if (strcmp(courts[k].name, name) == 0) {
            *court = courts[k];
            return true;
        }
    }
    return false;
}

/* Point k (0 to 3) of a mark: its label and place; false if the mark has fewer. */
static bool mark_point(const psfm_court *court, const psfm_court_mark *mark, int k, char *label,
                       size_t size, double at[3]) {
    bool has_x = mark->x != 0.0, has_y = mark->y != 0.0;
    bool east = k & 1, south = (k & 2) != 0;
    if ((east && !has_x) || (south && !has_y))
        return false;
    snprintf(label, size, "%s%s%s", mark->label,
             !has_x ? ""
             : east ? "-e"
                    : "-w",
             !has_y  ? ""
             : south ? "-s"
                     : "-n");
    double x = has_x ? mark->x + 0.5 * (court->length - court->rule_length) : 0.0;
    bool on_side = 2.0 * mark->y == court->rule_width;
    double y = on_side ? 0.5 * court->width : mark->y;
    at[0] = has_x && !east ? -x : x;
    at[1] = south ? -y : y;
    at[2] = 0.0;
    return true;
}

bool psfm_court_find(const psfm_court *court, const char *label, double at[3]) {
    for (size_t m = 0; m < court->num_marks; ++m) {
        for (int k = 0; k < 4; ++k) {
            char name[64];
            double place[3];
            if (mark_point(court, &court->marks[m], k, name, sizeof name, place) &&
                strcmp(name, label) == 0) {
                memcpy(at, place, sizeof place);
                return true;
            }
        }
    }
    return false;
}

void psfm_court_labels(const psfm_court *court, char *text, size_t size) {
    size_t used = 0;
    for (size_t m = 0; m < court->num_marks; ++m) {
        for (int k = 0; k < 4; ++k) {
            char name[64];
            double place[3];
            if (!mark_point(court, &court->marks[m], k, name, sizeof name, place) || used >= size)
                continue;
            int printed = snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", name);
            used += printed > 0 ? (size_t)printed : 0;
        }
    }
}
