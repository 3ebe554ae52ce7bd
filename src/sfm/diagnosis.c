/* Every cause has one rule; the first that holds is the diagnosis, and its remedy the next command.
 * So no two pieces of advice contradict each other, and none asks for what was done already: a rule
 * knows the options of the run. What stands first explains what comes after it: photographs that
 * show nothing in common cannot have focal lengths, and wrong focal lengths make pairs contradict
 * each other. */
#include "sfm/diagnosis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/json.h"

#define BETTER 0.9     /* of the error, from which another focal length is worth a run */
#define MANY_IMAGES 20 /* from which pairs of neighbours alone can hold a model together */

typedef struct {
    const cJSON *summary;
    const psfm_photo_findings *photos;
    double images, posed, pairs;
    psfm_diagnosis *out;
} patient;

static double number_of(const cJSON *object, const char *name) {
    double value = NAN;
    (void)psfm_json_get_number(cJSON_GetObjectItemCaseSensitive(object, name), &value);
    return value;
}

static const char *text_of(const cJSON *object, const char *name) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text == NULL ? "" : text;
}

static const cJSON *part_of(const patient *p, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(p->summary, name);
}

static bool name_cause(patient *p, const char *kind, const char *advice, const char *flag,
                       const char *value) {
    p->out->kind = kind;
    p->out->advice = advice;
    p->out->flag = flag;
    snprintf(p->out->value, sizeof p->out->value, "%s", value == NULL ? "" : value);
    return true;
}

/* The rule of pairs was followed for all of them; without a front end nobody knows. */
static bool all_pairs_tried(const patient *p) {
    const cJSON *matching = part_of(p, "matching");
    return matching != NULL &&
           number_of(matching, "pairs") >= 0.5 * p->images * (p->images - 1.0) - 0.5;
}

static bool is_by_lines(const patient *p) {
    const cJSON *photographs = cJSON_GetObjectItemCaseSensitive(part_of(p, "court"), "photographs"),
                *photograph;
    cJSON_ArrayForEach(photograph, photographs) {
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(photograph, "in_model")))
            return true;
    }
    return false;
}

static size_t count_state(const patient *p, const char *state, const char **first) {
    const cJSON *image;
    size_t num = 0;
    cJSON_ArrayForEach(image, part_of(p, "images")) {
        if (strcmp(text_of(image, "state"), state) != 0)
            continue;
        if (num++ == 0)
            *first = text_of(image, "name");
    }
    return num;
}

/* Whether a warning of one of these kinds was given. */
static bool is_warned(const patient *p, const char *const *kinds) {
    const cJSON *warning;
    cJSON_ArrayForEach(warning, part_of(p, "warnings")) {
        for (const char *const *kind = kinds; *kind != NULL; ++kind)
            if (strcmp(text_of(warning, "kind"), *kind) == 0)
                return true;
    }
    return false;
}

/* ---- the photographs ---- */

static bool is_court(patient *p) {
    if (p->photos->court == NULL)
        return false;
    snprintf(p->out->text, sizeof p->out->text,
             "hardly any photographs match, but their floor shows the lines of a court (%s)",
             p->photos->court);
    return name_cause(p, "court", "let the lines of the court hold the photographs", "--court",
                      p->photos->court);
}

static bool is_blurred(patient *p) {
    const size_t num = p->photos->num_blurred;
    if (num == 0)
        return false;
    snprintf(p->out->text, sizeof p->out->text, "%s%s blurred, much more than the others",
             p->photos->blurred[0], num == 1 ? " is" : " and others are");
    return name_cause(p, "blurred",
                      "take it again, or leave it out; the other poses do not need it", NULL, NULL);
}

static bool is_unrelated(patient *p) {
    const char *first = "";
    size_t num = count_state(p, "no_matches", &first) + count_state(p, "few_matches", &first);
    if (num == 0 || !all_pairs_tried(p) || p->posed < 2.0)
        return false;
    snprintf(p->out->text, sizeof p->out->text,
             "%s%s with no other photograph, though all pairs were tried", first,
             num == 1 ? " shares nothing" : " and others share nothing");
    return name_cause(p, "unrelated",
                      "if it belongs to this scene, take photographs between it and the others; if "
                      "not, leave it out",
                      NULL, NULL);
}

static bool is_without_matches(patient *p) {
    const double matched = number_of(part_of(p, "input"), "pairs");
    if (p->posed > 0.0 || matched > 0.0)
        return false;
    snprintf(p->out->text, sizeof p->out->text, "no two photographs have anything in common%s",
             all_pairs_tried(p) ? ", though all pairs were tried" : "");
    if (part_of(p, "matching") != NULL && !all_pairs_tried(p))
        return name_cause(p, "few_pairs", "let all pairs be tried", "--pairs", "exhaustive");
    return name_cause(p, "no_overlap", "take photographs that overlap by two thirds", NULL, NULL);
}

/* ---- the command ---- */

/* Pieces, and images that hang on little, while pairs are left that nobody tried. */
static bool is_sparse(patient *p) {
    static const char *const kinds[] = {"two_edge_cuts", "weak_connection", "left_out", NULL};
    const double models = cJSON_GetArraySize(part_of(p, "models"));
    if (part_of(p, "matching") == NULL || all_pairs_tried(p) || is_by_lines(p))
        return false;
    if (!(is_warned(p, kinds) || models > 1.0 || p->posed < p->images) || p->images > 200.0)
        return false;
    snprintf(p->out->text, sizeof p->out->text,
             "%.0f of %.0f pairs were tried (--pairs %s), and what they say holds too little "
             "together",
             number_of(part_of(p, "matching"), "pairs"), 0.5 * p->images * (p->images - 1.0),
             text_of(part_of(p, "matching"), "pairs_rule"));
    return name_cause(p, "few_pairs", "let all pairs be tried", "--pairs", "exhaustive");
}

/* ---- the cameras ---- */

/* Whether some camera was given, and none is refined already. */
static bool has_fixed_cameras(const patient *p) {
    const cJSON *camera, *groups = part_of(p, "options");
    const cJSON *refine = cJSON_GetObjectItemCaseSensitive(groups, "bundle");
    const char *what = text_of(refine, "refine");
    cJSON_ArrayForEach(camera, part_of(p, "cameras")) {
        if (strcmp(text_of(camera, "source"), "given") == 0)
            return strstr(what, "focal") == NULL;
    }
    return false;
}

/* Never where the error rises without the given value. */
static bool has_wrong_intrinsics(patient *p) {
    static const char *const kinds[] = {"focal_shift_deg", NULL};
    const cJSON *given = part_of(p, "given_intrinsics");
    const double before = number_of(given, "mean_error_px");
    const double after = number_of(given, "mean_error_px_if_free");
    if (number_of(given, "wrong") > 0.0 && after < BETTER * before) {
        snprintf(p->out->text, sizeof p->out->text,
                 "the given focal length of camera %.0f is wrong: without it the error falls from "
                 "%.2f to %.2f px",
                 number_of(given, "worst_camera"), before, after);
        return name_cause(p, "intrinsics", "let the focal lengths be refined", "--refine", "focal");
    }
    if (after >= before || !has_fixed_cameras(p) || !is_warned(p, kinds) || is_by_lines(p))
        return false;
    snprintf(p->out->text, sizeof p->out->text,
             "poses move when the given focal lengths are free, so these may be wrong");
    return name_cause(p, "intrinsics", "let the focal lengths be refined", "--refine", "focal");
}

/* Cameras of one size that do not share their intrinsics yet. */
static bool may_share(const patient *p) {
    const cJSON *cameras = part_of(p, "cameras"), *camera;
    const cJSON *first = cameras == NULL ? NULL : cameras->child;
    int num = 0;
    cJSON_ArrayForEach(camera, cameras) {
        const char *source = text_of(camera, "source");
        if (number_of(camera, "width") != number_of(first, "width") ||
            number_of(camera, "height") != number_of(first, "height") ||
            strcmp(source, "given") == 0)
            return false;
        ++num;
    }
    return num > 1;
}

static bool has_open_focal_lengths(patient *p) {
    const cJSON *calibration = part_of(p, "calibration");
    const double open = number_of(calibration, "unknown") - number_of(calibration, "determined");
    if (!(open > 0.0))
        return false;
    snprintf(p->out->text, sizeof p->out->text,
             "%.0f of %.0f focal lengths are not determined by the photographs", open,
             number_of(calibration, "unknown"));
    if (may_share(p))
        return name_cause(p, "focal_lengths", "if one camera took them all, let them share it",
                          "--share-cameras", "all");
    return name_cause(
        p, "focal_lengths",
        "give the focal length (--camera or --cameras), or take photographs at a slant "
        "to the plane and with the camera turned",
        NULL, NULL);
}

/* ---- the pairs ---- */

static bool has_low_effort(patient *p) {
    const cJSON *photographs = part_of(p, "photographs");
    const cJSON *again = cJSON_GetObjectItemCaseSensitive(photographs, "second_pass");
    if (strcmp(text_of(photographs, "effort"), "low") != 0 || is_by_lines(p))
        return false;
    if (cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(again, "normal")) > 0 ||
        cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(again, "high")) > 0)
        return false; /* low was where it began */
    snprintf(p->out->text, sizeof p->out->text,
             "features of low effort are too few: %.0f of %.0f photographs have a pose", p->posed,
             p->images);
    return name_cause(p, "weak", "look for more features", "--effort", "high");
}

static bool is_repeated(patient *p) {
    static const char *const kinds[] = {"common_rotation", "shifted",     "runner_up",
                                        "ambiguity",       "unexplained", NULL};
    const char *rule = text_of(part_of(p, "matching"), "pairs_rule");
    if (!is_warned(p, kinds) || is_by_lines(p))
        return false;
    snprintf(p->out->text, sizeof p->out->text,
             "pairs contradict each other as they do where a scene looks the same from two places");
    if (strcmp(rule, "exhaustive") == 0 && p->images >= MANY_IMAGES)
        return name_cause(p, "repeated",
                          "if the names are in the order in which they were taken, let neighbours "
                          "alone be matched",
                          "--pairs", "sequential:3");
    return name_cause(p, "repeated",
                      "take photographs in between, which show what tells the places "
                      "apart",
                      NULL, NULL);
}

static bool is_weak(patient *p) {
    const char *effort = text_of(part_of(p, "photographs"), "effort");
    const double open = p->images - p->posed;
    const char *verdict = text_of(p->summary, "verdict");
    const bool is_doubtful = strcmp(verdict, "doubtful") == 0 || strcmp(verdict, "plausible") == 0;
    if ((open <= 0.0 && !is_doubtful) || is_by_lines(p))
        return false;
    if (open > 0.0)
        snprintf(p->out->text, sizeof p->out->text, "%.0f of %.0f photographs have no pose", open,
                 p->images);
    else
        snprintf(p->out->text, sizeof p->out->text,
                 "the poses rest on little, and nobody would notice if some were wrong");
    if (effort[0] != '\0' && strcmp(effort, "high") != 0)
        return name_cause(p, "weak", "look for more features in all photographs", "--effort",
                          "high");
    return name_cause(p, "weak", "take photographs in between", NULL, NULL);
}

bool psfm_diagnosis_find(const cJSON *summary, const psfm_photo_findings *photos,
                         psfm_diagnosis *out) {
    static bool (*const rules[])(patient *) = {
        is_court,    is_blurred,   is_without_matches,     has_wrong_intrinsics,
        is_sparse,   is_unrelated, has_open_focal_lengths, has_low_effort,
        is_repeated, is_weak,
    };
    *out = (psfm_diagnosis){0};
    patient p = {.summary = summary,
                 .photos = photos,
                 .images = number_of(summary, "images_total"),
                 .posed = number_of(summary, "images_posed"),
                 .out = out};
    const bool is_right = strcmp(text_of(summary, "verdict"), "right") == 0;
    if (is_right && p.posed == p.images)
        return false;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; ++k)
        if (rules[k](&p))
            return true;
    return false;
}
