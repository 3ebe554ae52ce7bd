/* Photographs registered one by one to the lines of courts:
 *
 *     bench_courts --court basketball SET...       the court is on the floor of these sets
 *     bench_courts --absent tennis,handball SET... none of these is ("all": every one); each
 *                                                  acceptance is wrong, and is listed
 *
 *     --half                 drawings are cut at the halfway line: one end only
 *     --focal known|unknown  instead of both
 *     --every N              every N-th photograph of a set
 *     --verbose              a line a photograph
 *
 * A SET holds images/ and gt/, a COLMAP model in the frame of the court, and maybe cameras/, a
 * model with the intrinsics to be given instead of the true ones. Poses are compared with the truth
 * up to half a turn of the court; right is below 3 degrees and 1 m. Seconds are CPU seconds a
 * photograph, without reading it. */
#include <sys/resource.h>
#include <time.h>

#include "../court_truth.h"
#include "core/base/path.h"
#include "court/target.h"

#define MAX_PHOTOS 1000
#define MAX_DRAWINGS 16

typedef struct {
    int num, right, accepted, wrong;
    double deg[MAX_PHOTOS], m[MAX_PHOTOS], focal[MAX_PHOTOS]; /* of those rightly accepted */
    double seconds;
} row;

typedef struct {
    psfm_context *ctx;
    psfm_court_target targets[MAX_DRAWINGS];
    size_t num_targets;
    bool are_there, is_half, is_verbose;
    bool tries[2]; /* known and unknown focal lengths */
    size_t every;
    row rows[2][MAX_DRAWINGS]; /* of the set in work */
} bench;

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_row(const bench *b, const char *set, size_t target, bool is_free, row *r) {
    size_t num = (size_t)(r->accepted - r->wrong);
    char what[64];
    snprintf(what, sizeof what, "%s%s%s%s", b->are_there ? "" : "not ", b->is_half ? "half " : "",
             b->targets[target].drawing.name, is_free ? ", focal unknown" : "");
    printf("%-26s %-34s %6d %6d %8d %8d %8.2f %8.3f %8.2f %7.2f\n", set, what, r->num, r->right,
           r->accepted, r->wrong, court_median(r->deg, num), court_median(r->m, num),
           court_median(r->focal, num), r->seconds / (r->num > 0 ? r->num : 1));
    fflush(stdout);
}

/* The nearer of the truth and its half turn. */
static void compare(const psfm_court_pose *pose, const psfm_model_image *truth, double *deg,
                    double *m) {
    double other_deg, other_m;
    court_error(truth, 0, pose->R, pose->center, deg, m);
    court_error(truth, 2, pose->R, pose->center, &other_deg, &other_m);
    if (other_deg < *deg) {
        *deg = other_deg;
        *m = other_m;
    }
}

/* Registers one photograph to one drawing. */
static void try_target(const bench *b, const psfm_court_view *view, const psfm_court_target *target,
                       const psfm_model_image *truth, double true_focal, row *r) {
    psfm_court_pose pose;
    double deg, m, start = cpu_seconds();
    court_check(b->ctx, psfm_court_target_register_view(b->ctx, target, view, NULL, &pose));
    r->seconds += cpu_seconds() - start;
    compare(&pose, truth, &deg, &m);
    bool accepted = pose.verdict == PSFM_COURT_ACCEPTED;
    bool right = b->are_there && court_is_right(deg, m);
    if (b->is_verbose || (accepted && !right))
        printf("  %-14s %-18s %-8s %6.2f deg %6.3f m, score %6.0f, runner-up %4.2f, %2d lines, "
               "confirmed %3.0f %%, sigma %.3f m: %s\n",
               truth->name, target->drawing.name, right ? "right" : "", deg, m, pose.score,
               pose.runner_up / pose.score, pose.num_lines, 100.0 * pose.hit,
               psfm_norm3(pose.sigma_center), psfm_court_verdict_text(pose.verdict));
    if (accepted && right) {
        int at = r->accepted - r->wrong;
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

/* A photograph with known and unknown focal length, to all drawings. */
static void try_photo(bench *b, const psfm_image *image, const psfm_camera *camera,
                      const psfm_model_image *truth, double true_focal) {
    for (int is_free = 0; is_free < 2; ++is_free) {
        psfm_court_view view;
        double start = cpu_seconds();
        if (!b->tries[is_free])
            continue;
        court_check(b->ctx, psfm_court_view_init(b->ctx, image, is_free ? NULL : camera,
                                                 PSFM_FOCAL_FIXED, NULL, &view));
        double seconds = cpu_seconds() - start;
        for (size_t d = 0; d < b->num_targets; ++d) {
            b->rows[is_free][d].seconds += seconds;
            try_target(b, &view, &b->targets[d], truth, true_focal, &b->rows[is_free][d]);
        }
        psfm_court_view_free(&view);
    }
}

/* Registers all photographs; a set with cameras of its own is about them, so that unknown focal
 * lengths are left out. */
static void run_set(bench *b, const char *folder) {
    psfm_model gt, cameras = {0};
    char path[4096];
    const char *slash = strrchr(folder, '/');
    memset(b->rows, 0, sizeof b->rows);
    snprintf(path, sizeof path, "%s/gt", folder);
    court_check(b->ctx, psfm_model_read(b->ctx, path, &gt));
    snprintf(path, sizeof path, "%s/cameras", folder);
    bool has_cameras = psfm_path_is_folder(path);
    const bool asked = b->tries[1];
    if (has_cameras)
        court_check(b->ctx, psfm_model_read(b->ctx, path, &cameras));
    b->tries[1] = asked && !has_cameras;
    for (size_t k = 0; k < gt.num_images && k < MAX_PHOTOS; k += b->every) {
        uint32_t id = gt.images[k].camera_id;
        psfm_image image;
        snprintf(path, sizeof path, "%s/images/%s", folder, gt.images[k].name);
        court_check(b->ctx, psfm_image_read(b->ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &image));
        try_photo(b, &image, psfm_model_camera(has_cameras ? &cameras : &gt, id), &gt.images[k],
                  psfm_model_camera(&gt, id)->params[0]);
        psfm_image_free(&image);
    }
    for (size_t d = 0; d < b->num_targets; ++d)
        for (int is_free = 0; is_free < 2; ++is_free)
            if (b->tries[is_free])
                print_row(b, slash == NULL ? folder : slash + 1, d, is_free == 1,
                          &b->rows[is_free][d]);
    b->tries[1] = asked;
    psfm_model_free(&gt);
    psfm_model_free(&cameras);
}

/* Leaves the parts at x >= 0. */
static void cut_drawing(psfm_drawing *drawing) {
    size_t num = 0;
    for (size_t k = 0; k < drawing->num_parts; ++k) {
        double at[2];
        psfm_drawing_part_at(&drawing->parts[k], 0.5, at);
        if (at[0] > -1e-6)
            drawing->parts[num++] = drawing->parts[k];
    }
    drawing->num_parts = num;
}

static void add_target(bench *b, const psfm_court *court) {
    psfm_court_target *target = &b->targets[b->num_targets++];
    court_check(b->ctx, psfm_court_target_of_court(b->ctx, court, target));
    if (!b->is_half)
        return;
    cut_drawing(&target->drawing);
    for (size_t k = 0; k < target->num_rivals; ++k)
        cut_drawing(&target->rivals[k]);
}

/* Courts with commas between them, or all. */
static void add_targets(bench *b, const char *list) {
    for (size_t k = 0; k < psfm_num_courts && b->num_targets < MAX_DRAWINGS; ++k) {
        const char *name = psfm_courts[k].name;
        size_t n = strlen(name);
        bool listed = strcmp(list, "all") == 0;
        for (const char *p = list; !listed && (p = strstr(p, name)) != NULL; p += n)
            listed = (p == list || p[-1] == ',') && (p[n] == ',' || p[n] == '\0');
        if (listed)
            add_target(b, &psfm_courts[k]);
    }
}

/* Fills *b and the list of drawings; returns where the sets begin, 0 if something is wrong. */
static int parse(int argc, char **argv, bench *b, const char **list) {
    int k = 1;
    *b = (bench){.tries = {true, true}, .every = 1};
    for (; k < argc && argv[k][0] == '-'; ++k) {
        bool has_value = k + 1 < argc;
        if (strcmp(argv[k], "--half") == 0) {
            b->is_half = true;
        } else if (strcmp(argv[k], "--verbose") == 0) {
            b->is_verbose = true;
        } else if (has_value &&
                   (strcmp(argv[k], "--court") == 0 || strcmp(argv[k], "--absent") == 0)) {
            b->are_there = argv[k][2] == 'c';
            *list = argv[++k];
        } else if (has_value && strcmp(argv[k], "--focal") == 0) {
            ++k;
            b->tries[0] = strcmp(argv[k], "known") == 0;
            b->tries[1] = !b->tries[0];
        } else if (has_value && strcmp(argv[k], "--every") == 0) {
            b->every = (size_t)fmax(atof(argv[++k]), 1.0);
        } else {
            return 0;
        }
    }
    return k < argc && *list != NULL ? k : 0;
}

int main(int argc, char **argv) {
    static bench b;
    const char *list = NULL;
    struct rusage usage;
    int first = parse(argc, argv, &b, &list);
    b.ctx = psfm_context_create();
    if (b.ctx != NULL && first > 0)
        add_targets(&b, list);
    if (b.num_targets == 0) {
        fprintf(stderr, "usage: bench_courts --court KIND | --absent KIND,...|all [--half] "
                        "[--focal known|unknown] [--every N] [--verbose] SET...\n");
        return 2;
    }
    printf("%-26s %-34s %6s %6s %8s %8s %8s %8s %8s %7s\n", "set", "drawing", "photos", "right",
           "accepted", "wrongly", "deg", "m", "focal %", "CPU s");
    for (int k = first; k < argc; ++k)
        run_set(&b, argv[k]);
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory %.0f MB\n", (double)usage.ru_maxrss / 1024.0);
    for (size_t k = 0; k < b.num_targets; ++k)
        psfm_court_target_free(&b.targets[k]);
    psfm_context_destroy(&b.ctx);
    return 0;
}
