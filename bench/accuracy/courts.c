/* Photographs registered one by one to the lines of a court, and photographs and drawings that must
 * be refused:
 *
 *     bench_courts --court basketball [--painted volleyball,handball] SET... [--without SET...]
 *
 * A SET holds images/ and gt/, a COLMAP model in the frame of the court. Sets before --without show
 * the court (and maybe those that --painted lists), the others none. Poses are compared with the
 * truth up to the court's own turn; right is below 3 degrees and 1 m. Seconds are CPU seconds a
 * photograph. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "court/register.h"
#include "court/turns.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"
#include "planarsfm/model.h"

#define MAX_SETS 64
#define MAX_PHOTOS 1000

static psfm_context *ctx;
static bool verbose;

typedef struct {
    const char *name; /* of the set */
    const char *what; /* drawing and focal length */
    int num, right, accepted, wrong;
    double deg[MAX_PHOTOS], m[MAX_PHOTOS], focal[MAX_PHOTOS]; /* of those accepted */
    double seconds;
} row;

static void check(psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "%s\n", psfm_context_message(ctx));
    exit(1);
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int num) {
    if (num == 0)
        return NAN;
    qsort(values, (size_t)num, sizeof *values, ascending);
    return values[num / 2];
}

static void print_head(void) {
    printf("%-24s %-28s %6s %6s %8s %8s %8s %8s %8s %7s\n", "set", "drawing", "photos", "right",
           "accepted", "wrongly", "deg", "m", "focal %", "CPU s");
}

static void print_row(row *r) {
    printf("%-24s %-28s %6d %6d %8d %8d %8.2f %8.3f %8.2f %7.2f\n", r->name, r->what, r->num,
           r->right, r->accepted, r->wrong, median(r->deg, r->accepted - r->wrong),
           median(r->m, r->accepted - r->wrong), median(r->focal, r->accepted - r->wrong),
           r->seconds / (r->num > 0 ? r->num : 1));
    fflush(stdout);
}

/* The turned copy nearest to the truth: angle and distance. */
static void compare(const psfm_drawing *drawing, const psfm_court_pose *pose,
                    const psfm_model_image *truth, double *deg, double *m) {
    double R_true[9], center_true[3];
    psfm_rotation_from_quat(truth->cam_from_world_q, R_true);
    psfm_model_image_center(truth, center_true);
    *deg = *m = INFINITY;
    for (int k = 0; k < pose->num_turns; ++k) {
        double R[9], t[3], center[3], away[3];
        psfm_court_pose_turn(drawing, pose->turns[k], pose, R, t);
        psfm_mat3_tmul_vec(R, t, center);
        psfm_scale3(-1.0, center, center);
        psfm_sub3(center, center_true, away);
        double angle = psfm_degrees(psfm_rotation_angle(R, R_true));
        if (angle < *deg) {
            *deg = angle;
            *m = psfm_norm3(away);
        }
    }
}

/* Registers one photograph; is_there: the drawing is on its floor. */
static void try_drawing(const psfm_court_view *view, const psfm_drawing *drawing,
                        const psfm_drawing *rivals, size_t num_rivals, bool is_there,
                        const psfm_model_image *truth, double true_focal, row *r) {
    psfm_court_pose pose;
    double deg, m, start = cpu_seconds();
    check(psfm_court_register(ctx, view, drawing, NULL, &pose));
    for (size_t k = 0; k < num_rivals; ++k)
        check(psfm_court_challenge(ctx, view, &rivals[k], NULL, &pose));
    r->seconds += cpu_seconds() - start;
    compare(drawing, &pose, truth, &deg, &m);
    bool accepted = pose.verdict == PSFM_COURT_ACCEPTED, right = is_there && deg < 3.0 && m < 1.0;
    if (verbose)
        printf("  %-14s %-8s %-8s %6.2f deg %6.3f m, score %6.0f, runner-up %4.2f, confirmed %3.0f "
               "%%, sigma %.3f m: %s\n",
               truth->name, right ? "right" : "", accepted ? "accepted" : "", deg, m, pose.score,
               pose.runner_up / pose.score, 100.0 * pose.hit, psfm_norm3(pose.sigma_center),
               psfm_court_verdict_text(pose.verdict));
    int at = r->accepted - r->wrong;
    if (accepted && right && at < MAX_PHOTOS) {
        r->deg[at] = deg;
        r->m[at] = m;
        r->focal[at] = 100.0 * fabs(pose.camera.params[0] / true_focal - 1.0);
    }
    ++r->num;
    r->right += right;
    r->accepted += accepted;
    r->wrong += accepted && !right;
    psfm_court_pose_free(&pose);
}

/* Drawings to try on a set: the court, or those that are not there. */
typedef struct {
    psfm_drawing drawings[32];
    size_t num_rivals[32];
    psfm_drawing rival_list[32][8];
    size_t num;
    bool are_there;
} drawing_list;

static void add_drawing(drawing_list *list, const psfm_court *court) {
    size_t at = list->num++;
    check(psfm_drawing_from_court(ctx, court, &list->drawings[at]));
    for (size_t k = 0; k < psfm_num_courts; ++k)
        if (psfm_court_is_related(court, &psfm_courts[k]))
            check(psfm_drawing_from_court(ctx, &psfm_courts[k],
                                          &list->rival_list[at][list->num_rivals[at]++]));
}

static bool is_listed(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *p = list; p != NULL && (p = strstr(p, name)) != NULL; p += n)
        if ((p == list || p[-1] == ',') && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

/* All photographs of a set with all drawings of a list. */
static void run_set(const char *folder, const drawing_list *list, bool free_focal) {
    static row rows[32];
    static char what[32][64];
    psfm_model gt;
    char path[4096];
    const char *slash = strrchr(folder, '/');
    memset(rows, 0, sizeof rows);
    snprintf(path, sizeof path, "%s/gt", folder);
    check(psfm_model_read(ctx, path, &gt));
    for (size_t d = 0; d < list->num; ++d) {
        rows[d].name = slash == NULL ? folder : slash + 1;
        rows[d].what = what[d];
        snprintf(what[d], sizeof *what, "%s%s%s", list->are_there ? "" : "not ",
                 list->drawings[d].name, free_focal ? ", focal unknown" : "");
    }
    for (size_t k = 0; k < gt.num_images && k < MAX_PHOTOS; ++k) {
        const psfm_camera *camera = psfm_model_camera(&gt, gt.images[k].camera_id);
        psfm_image image;
        psfm_court_view view;
        snprintf(path, sizeof path, "%s/images/%s", folder, gt.images[k].name);
        check(psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &image));
        double start = cpu_seconds();
        check(psfm_court_view_init(ctx, &image, free_focal ? NULL : camera, PSFM_FOCAL_FIXED, NULL,
                                   &view));
        double seconds = cpu_seconds() - start;
        for (size_t d = 0; d < list->num; ++d) {
            rows[d].seconds += seconds;
            try_drawing(&view, &list->drawings[d], list->rival_list[d], list->num_rivals[d],
                        list->are_there, &gt.images[k], camera->params[0], &rows[d]);
        }
        psfm_court_view_free(&view);
        psfm_image_free(&image);
    }
    for (size_t d = 0; d < list->num; ++d)
        print_row(&rows[d]);
    psfm_model_free(&gt);
}

int main(int argc, char **argv) {
    static drawing_list there = {.are_there = true}, absent;
    const char *court_name = "basketball", *painted = NULL;
    const char *sets[MAX_SETS];
    int num = 0, num_with = -1;
    psfm_court court;
    for (int k = 1; k < argc && num < MAX_SETS; ++k) {
        if (strcmp(argv[k], "--court") == 0 && k + 1 < argc)
            court_name = argv[++k];
        else if (strcmp(argv[k], "--painted") == 0 && k + 1 < argc)
            painted = argv[++k];
        else if (strcmp(argv[k], "--verbose") == 0)
            verbose = true;
        else if (strcmp(argv[k], "--without") == 0)
            num_with = num;
        else
            sets[num++] = argv[k];
    }
    num_with = num_with < 0 ? num : num_with;
    ctx = psfm_context_create();
    if (ctx == NULL || num == 0 || !psfm_court_get(court_name, &court)) {
        fprintf(
            stderr,
            "usage: bench_courts --court KIND SET... [--painted KIND,...] [--without SET...]\n");
        return 2;
    }
    add_drawing(&there, &court);
    for (size_t k = 0; k < psfm_num_courts; ++k)
        if (strcmp(psfm_courts[k].name, court_name) != 0 &&
            !is_listed(painted, psfm_courts[k].name))
            add_drawing(&absent, &psfm_courts[k]);
    print_head();
    for (int k = 0; k < num; ++k) {
        drawing_list *list = &there;
        list->are_there = k < num_with;
        for (int free_focal = 0; free_focal < 2; ++free_focal)
            run_set(sets[k], list, free_focal == 1);
        if (k < num_with)
            run_set(sets[k], &absent, false);
    }
    psfm_context_destroy(&ctx);
    return 0;
}
