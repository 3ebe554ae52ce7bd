/* Courts by the rules of their games. Strokes are the middles of the painted lines: rules give
 * outer edges for most of them, and half of the line's width is taken off or added here.
 * docs/courts.md names the rules and says which edge they measure to. */
#include "court/court.h"

#define LIST(list) (list), sizeof(list) / sizeof *(list)

/* ---- basketball: the field is measured to the inner edges of its boundary lines ---- */

static const psfm_court_mark basketball_marks[] = {
    {"corner", 14.0, 7.5}, {"half", 0.0, 7.5},
    {"circle", 0.0, 1.8}, /* the halfway line meets the centre circle */
    {"three", 14.0, 6.6}, /* the three-point line meets the baseline */
    {"key", 14.0, 2.45},  /* the restricted area at the baseline */
    {"elbow", 8.2, 2.45}, /* and at the free-throw line */
};

/* FIBA: lines of 5 cm, baskets 1.575 m from the baseline. */
static const psfm_court_stroke basketball_strokes[] = {
    {{0.0, 7.525}, {14.05, 7.525}, 0.0},      {{14.025, 0.0}, {14.025, 7.55}, 0.0},
    {{0.0, 0.0}, {0.0, 7.65}, 0.0},           {{0.0, 0.0}, {0.0, 90.0}, 1.775},
    {{14.0, 2.425}, {8.2, 2.425}, 0.0},       {{8.225, 0.0}, {8.225, 2.45}, 0.0},
    {{8.225, 0.0}, {90.0, 180.0}, 1.775},     {{14.0, 6.575}, {11.0125, 6.575}, 0.0},
    {{12.425, 0.0}, {102.124, 180.0}, 6.725}, {{12.425, 0.0}, {90.0, 180.0}, 1.275},
    {{12.8, 1.275}, {12.425, 1.275}, 0.0},
};

static const psfm_court_mark nba_marks[] = {
    {"corner", 14.3256, 7.62},  {"half", 0.0, 7.62},      {"circle", 0.0, 1.8288},
    {"three", 14.3256, 6.7056}, {"key", 14.3256, 2.4384}, {"elbow", 8.5344, 2.4384},
};

/* NBA: 94 x 50 feet, lines of 2 inches, baskets 5 feet 3 inches from the baseline. */
static const psfm_court_stroke nba_strokes[] = {
    {{0.0, 7.6454}, {14.3764, 7.6454}, 0.0},
    {{14.351, 0.0}, {14.351, 7.6708}, 0.0},
    {{0.0, 0.0}, {0.0, 7.6454}, 0.0},
    {{0.0, 0.0}, {0.0, 90.0}, 1.8034},
    {{0.0, 0.0}, {0.0, 90.0}, 0.5842},
    {{14.3256, 2.413}, {8.5344, 2.413}, 0.0},
    {{8.5598, 0.0}, {8.5598, 2.4384}, 0.0},
    {{8.5598, 0.0}, {90.0, 180.0}, 1.8034},
    {{14.3256, 6.6802}, {10.0031, 6.6802}, 0.0},
    {{12.7254, 0.0}, {112.172, 180.0}, 7.2136},
    {{12.7254, 0.0}, {90.0, 180.0}, 1.2446},
};

static const psfm_court_mark ncaa_marks[] = {
    {"corner", 14.3256, 7.62},  {"half", 0.0, 7.62},      {"circle", 0.0, 1.8288},
    {"three", 14.3256, 6.6008}, {"key", 14.3256, 1.8288}, {"elbow", 8.5344, 1.8288},
};

/* NCAA: the same field, a lane of 12 feet, the three-point line 22 feet 1 3/4 inches away. */
static const psfm_court_stroke ncaa_strokes[] = {
    {{0.0, 7.6454}, {14.3764, 7.6454}, 0.0},    {{14.351, 0.0}, {14.351, 7.6708}, 0.0},
    {{0.0, 0.0}, {0.0, 7.6454}, 0.0},           {{0.0, 0.0}, {0.0, 90.0}, 1.8034},
    {{14.3256, 1.8034}, {8.5344, 1.8034}, 0.0}, {{8.5598, 0.0}, {8.5598, 1.8288}, 0.0},
    {{8.5598, 0.0}, {90.0, 180.0}, 1.8034},     {{14.3256, 6.5754}, {11.3162, 6.5754}, 0.0},
    {{12.7254, 0.0}, {102.096, 180.0}, 6.7247}, {{12.7254, 0.0}, {90.0, 180.0}, 1.2446},
};

/* ---- net games: measured to outer edges ---- */

static const psfm_court_mark tennis_marks[] = {
    {"corner", 11.885, 5.485}, {"single", 11.885, 4.115}, {"service", 6.4, 4.115},
    {"tee", 6.4, 0.0},         {"mark", 11.885, 0.0},     {"net", 0.0, 5.485},
};

static const psfm_court_stroke tennis_strokes[] = {
    {{0.0, 5.46}, {11.885, 5.46}, 0.0},  {{0.0, 4.09}, {11.885, 4.09}, 0.0},
    {{11.86, 0.0}, {11.86, 5.485}, 0.0}, {{6.375, 0.0}, {6.375, 4.115}, 0.0},
    {{0.0, 0.0}, {6.4, 0.0}, 0.0},
};

static const psfm_court_mark volleyball_marks[] = {
    {"corner", 9.0, 4.5},
    {"attack", 3.0, 4.5},
    {"net", 0.0, 4.5},
};

static const psfm_court_stroke volleyball_strokes[] = {
    {{0.0, 4.475}, {9.0, 4.475}, 0.0},
    {{8.975, 0.0}, {8.975, 4.5}, 0.0},
    {{2.975, 0.0}, {2.975, 4.5}, 0.0},
    {{0.0, 0.0}, {0.0, 4.5}, 0.0},
};

static const psfm_court_mark badminton_marks[] = {
    {"corner", 6.7, 3.05},
    {"single", 6.7, 2.59},
    {"short", 1.98, 3.05},
    {"net", 0.0, 3.05},
};

static const psfm_court_stroke badminton_strokes[] = {
    {{0.0, 3.03}, {6.7, 3.03}, 0.0},  {{0.0, 2.57}, {6.7, 2.57}, 0.0},
    {{6.68, 0.0}, {6.68, 3.05}, 0.0}, {{5.92, 0.0}, {5.92, 3.05}, 0.0},
    {{2.0, 0.0}, {2.0, 3.05}, 0.0},   {{1.98, 0.0}, {6.7, 0.0}, 0.0},
};

/* ---- goal games: measured to outer edges, lines belong to what they enclose ---- */

static const psfm_court_mark handball_marks[] = {
    {"corner", 20.0, 10.0},
    {"half", 0.0, 10.0},
    {"post", 20.0, 1.5},
};

static const psfm_court_stroke handball_strokes[] = {
    {{0.0, 9.975}, {20.0, 9.975}, 0.0},
    {{19.975, 0.0}, {19.975, 10.0}, 0.0},
    {{0.0, 0.0}, {0.0, 10.0}, 0.0},
    {{14.025, 0.0}, {14.025, 1.5}, 0.0}, /* goal area */
    {{20.0, 1.5}, {90.0, 180.0}, 5.975},
    {{11.025, 0.0}, {11.025, 1.5}, 0.0}, /* free throws; broken */
    {{20.0, 1.5}, {109.22, 180.0}, 8.975},
    {{13.025, 0.0}, {13.025, 0.5}, 0.0}, /* 7 metres */
};

static const psfm_court_mark futsal_marks[] = {
    {"corner", 20.0, 10.0},
    {"half", 0.0, 10.0},
    {"circle", 0.0, 3.0},
    {"post", 20.0, 1.5},
};

static const psfm_court_stroke futsal_strokes[] = {
    {{0.0, 9.96}, {20.0, 9.96}, 0.0},   {{19.96, 0.0}, {19.96, 10.0}, 0.0},
    {{0.0, 0.0}, {0.0, 10.0}, 0.0},     {{0.0, 0.0}, {0.0, 90.0}, 2.96},
    {{14.04, 0.0}, {14.04, 1.58}, 0.0}, {{20.0, 1.58}, {90.0, 180.0}, 5.96},
};

static const psfm_court_mark soccer_marks[] = {
    {"corner", 52.5, 34.0},   {"half", 0.0, 34.0},     {"circle", 0.0, 9.15},
    {"center", 0.0, 0.0},     {"spot", 41.5, 0.0}, /* the penalty mark */
    {"box", 36.0, 20.16},                          /* the penalty area's inner corner */
    {"boxline", 52.5, 20.16}, {"goalbox", 47.0, 9.16}, {"goalboxline", 52.5, 9.16},
    {"arc", 36.0, 7.312489}, /* the penalty arc meets the penalty area: sqrt(9.15^2 - 5.5^2) */
    {"post", 52.5, 3.66},
};

/* Lines of 12 cm. */
static const psfm_court_stroke soccer_strokes[] = {
    {{0.0, 33.94}, {52.5, 33.94}, 0.0},   {{52.44, 0.0}, {52.44, 34.0}, 0.0},
    {{0.0, 0.0}, {0.0, 34.0}, 0.0},       {{0.0, 0.0}, {0.0, 90.0}, 9.09},
    {{52.5, 20.1}, {36.0, 20.1}, 0.0},    {{36.06, 0.0}, {36.06, 20.16}, 0.0},
    {{52.5, 9.1}, {47.0, 9.1}, 0.0},      {{47.06, 0.0}, {47.06, 9.16}, 0.0},
    {{41.5, 0.0}, {126.76, 180.0}, 9.09},
};

/* ---- ice and gridiron ---- */

static const psfm_court_mark hockey_marks[] = {
    {"spot", 20.0, 7.0},
    {"center", 0.0, 0.0},
    {"circle", 0.0, 4.5},
};

/* IIHF: a rink of 60 x 30 m with corners of 8.5 m; goal lines of 5 cm, the others of 30 cm. The
 * foot of the boards, with its yellow band, is seen as a line, too, and the only one along the
 * rink. */
static const psfm_court_stroke hockey_strokes[] = {
    {{0.0, 0.0}, {0.0, 15.0}, 0.0},     {{7.14, 0.0}, {7.14, 15.0}, 0.0},
    {{26.0, 0.0}, {26.0, 13.71}, 0.0},  {{0.0, 0.0}, {0.0, 90.0}, 4.475},
    {{20.0, 7.0}, {0.0, 360.0}, 4.475}, {{26.0, 0.0}, {90.0, 180.0}, 1.805},
    {{0.0, 15.0}, {21.5, 15.0}, 0.0},   {{21.5, 6.5}, {0.0, 90.0}, 8.5},
    {{30.0, 0.0}, {30.0, 6.5}, 0.0},
};

static const psfm_court_mark nhl_marks[] = {
    {"spot", 21.0312, 6.7056},
    {"center", 0.0, 0.0},
    {"circle", 0.0, 4.572},
};

/* NHL: 200 x 85 feet with corners of 28 feet; goal lines of 2 inches, the others of a foot. */
static const psfm_court_stroke nhl_strokes[] = {
    {{0.0, 0.0}, {0.0, 12.954}, 0.0},          {{7.7724, 0.0}, {7.7724, 12.954}, 0.0},
    {{27.1272, 0.0}, {27.1272, 11.2}, 0.0},    {{0.0, 0.0}, {0.0, 90.0}, 4.5466},
    {{21.0312, 6.7056}, {0.0, 360.0}, 4.5466}, {{0.0, 12.954}, {21.9456, 12.954}, 0.0},
    {{21.9456, 4.4196}, {0.0, 90.0}, 8.5344},  {{30.48, 0.0}, {30.48, 4.4196}, 0.0},
};

static const psfm_court_mark gridiron_marks[] = {
    {"corner", 54.864, 24.384},
    {"goal", 45.72, 24.384},
    {"half", 0.0, 24.384},
};

#define YARDS(x) \
    { {(x)*0.9144, 0.0}, {(x)*0.9144, 24.384}, 0.0 }

/* 120 x 53 1/3 yards, a line every five yards, all of 4 inches. */
static const psfm_court_stroke gridiron_strokes[] = {
    YARDS(0),
    YARDS(5),
    YARDS(10),
    YARDS(15),
    YARDS(20),
    YARDS(25),
    YARDS(30),
    YARDS(35),
    YARDS(40),
    YARDS(45),
    YARDS(50),
    {{54.9148, 0.0}, {54.9148, 24.384}, 0.0},
    {{0.0, 24.4348}, {54.864, 24.4348}, 0.0},
};

#define FIXED \
    {0}, {    \
        0     \
    }

#define BETWEEN(length0, width0, length1, width1) \
    {length0, width0}, {                          \
        length1, width1                           \
    }

const psfm_court psfm_courts[] = {
    {"basketball", "FIBA", 28.0, 15.0, LIST(basketball_marks), LIST(basketball_strokes), 28.0, 15.0,
     FIXED},
    {"basketball-nba", "NBA", 28.6512, 15.24, LIST(nba_marks), LIST(nba_strokes), 28.6512, 15.24,
     FIXED},
    {"basketball-ncaa", "NCAA", 28.6512, 15.24, LIST(ncaa_marks), LIST(ncaa_strokes), 28.6512,
     15.24, FIXED},
    {"volleyball", "FIVB", 18.0, 9.0, LIST(volleyball_marks), LIST(volleyball_strokes), 18.0, 9.0,
     FIXED},
    {"handball", "IHF", 40.0, 20.0, LIST(handball_marks), LIST(handball_strokes), 40.0, 20.0,
     FIXED},
    {"futsal", "FIFA", 40.0, 20.0, LIST(futsal_marks), LIST(futsal_strokes), 40.0, 20.0, FIXED},
    {"tennis", "ITF", 23.77, 10.97, LIST(tennis_marks), LIST(tennis_strokes), 23.77, 10.97, FIXED},
    {"badminton", "BWF", 13.4, 6.1, LIST(badminton_marks), LIST(badminton_strokes), 13.4, 6.1,
     FIXED},
    {"soccer", "IFAB", 105.0, 68.0, LIST(soccer_marks), LIST(soccer_strokes), 105.0, 68.0,
     BETWEEN(90.0, 45.0, 120.0, 90.0)},
    {"ice-hockey", "IIHF", 60.0, 30.0, LIST(hockey_marks), LIST(hockey_strokes), 60.0, 30.0, FIXED},
    {"ice-hockey-nhl", "NHL", 60.96, 25.908, LIST(nhl_marks), LIST(nhl_strokes), 60.96, 25.908,
     FIXED},
    {"american-football", "NFL", 109.728, 48.768, LIST(gridiron_marks), LIST(gridiron_strokes),
     109.728, 48.768, FIXED},
};

const size_t psfm_num_courts = sizeof psfm_courts / sizeof *psfm_courts;
