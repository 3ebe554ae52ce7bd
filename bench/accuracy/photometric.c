/* What aligning patches is worth to a pair: correspondences on a plane of known place, their error
 * against the true homography, the error of the fitted homography over the plane, and of the
 * rotation it gives, before and after.
 *
 *   bench_photometric DATABASE PHOTOS GT [x|y|z]
 *
 * GT is a COLMAP model with the true poses; the last argument names the axis of the plane through
 * the origin (z: the court of an arena, the ground of a field; y: the front of a facade). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "formats/colmap_model.h"
#include "images/photometric/refine_matches.h"
#include "store/colmap_database.h"

static void check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "%s\n", psfm_context_message(ctx));
    exit(1);
}

typedef struct {
    double R[9], c[3];
    bool found;
} pose;

/* Everything known about the truth. */
typedef struct {
    const psfm_match_set *set;
    pose *poses; /* per view */
    int axis;
    double low[3], high[3]; /* the part of the plane that pairs see */
} truth;

/* Facts of one pair; NAN where there is no plane. */
typedef struct {
    size_t num;          /* correspondences on the plane */
    double point_px;     /* median error of theirs */
    double transfer_px;  /* median error of the homography over the plane */
    double rotation_deg; /* of the better decomposition */
    double excess;       /* median of error over standard deviation, of aligned patches */
} facts;

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void read_poses(const psfm_model *model, truth *t) {
    for (size_t v = 0; v < t->set->num_views; ++v) {
        for (size_t k = 0; k < model->num_images; ++k) {
            if (strcmp(model->images[k].name, t->set->views[v].name) != 0)
                continue;
            psfm_rotation_from_quat(model->images[k].cam_from_world_q, t->poses[v].R);
            psfm_model_image_center(&model->images[k], t->poses[v].c);
            t->poses[v].found = true;
        }
    }
}

/* The point of the plane that a pixel of a view shows; false if it looks past it. */
static bool meet_plane(const truth *t, uint32_t v, const double xy[2], double X[3]) {
    const psfm_camera *camera = &t->set->cameras[t->set->views[v].camera_idx];
    double ray[3], d[3];
    if (!psfm_camera_unproject(camera, xy, ray))
        return false;
    psfm_mat3_tmul_vec(t->poses[v].R, ray, d);
    double depth = -t->poses[v].c[t->axis] / d[t->axis];
    psfm_axpy3(t->poses[v].c, depth, d, X);
    return depth > 0.0 && isfinite(depth);
}

static bool see(const truth *t, uint32_t v, const double X[3], double xy[2]) {
    const psfm_camera *camera = &t->set->cameras[t->set->views[v].camera_idx];
    double D[3], Y[3];
    psfm_sub3(X, t->poses[v].c, D);
    psfm_mat3_mul_vec(t->poses[v].R, D, Y);
    return psfm_camera_project(camera, Y, xy) && xy[0] > 0.0 && xy[1] > 0.0 &&
           xy[0] < (double)camera->width && xy[1] < (double)camera->height;
}

/* Error of a match against the plane, in image 2; INFINITY if it cannot be on it. */
static double match_error(const truth *t, const psfm_match_pair *pair, size_t m) {
    const double *xy1 = t->set->views[pair->view1].keypoints[pair->matches[m][0]];
    const double *xy2 = t->set->views[pair->view2].keypoints[pair->matches[m][1]];
    double X[3], at[2];
    if (!meet_plane(t, pair->view1, xy1, X) || !see(t, pair->view2, X, at))
        return INFINITY;
    return hypot(at[0] - xy2[0], at[1] - xy2[1]);
}

/* The homography with most inliers on the plane, from match `first` on; NULL if none has ten. */
static const psfm_homography *find_plane(const truth *t, const psfm_match_pair *pair,
                                         const psfm_two_view *view, double max_px) {
    const psfm_homography *best = NULL;
    size_t most = 9;
    for (size_t h = 0; h < view->num_homographies; ++h) {
        size_t on = 0;
        for (size_t k = 0; k < view->homographies[h].num_inliers; ++k)
            on += match_error(t, pair, view->homographies[h].inliers[k]) < max_px;
        if (on > most && 2 * on > view->homographies[h].num_inliers) {
            most = on;
            best = &view->homographies[h];
        }
    }
    return best;
}

/* Median error of the homography over the part of the plane that both images see. */
static double transfer_error(const truth *t, const psfm_match_pair *pair, const double H_21[9]) {
    enum { STEPS = 40 };
    double errors[STEPS * STEPS];
    size_t num = 0;
    int a = (t->axis + 1) % 3, b = (t->axis + 2) % 3;
    const psfm_camera *camera1 = &t->set->cameras[t->set->views[pair->view1].camera_idx];
    const psfm_camera *camera2 = &t->set->cameras[t->set->views[pair->view2].camera_idx];
    for (int k = 0; k < STEPS * STEPS; ++k) {
        double X[3] = {0}, xy1[2], xy2[2], at[2], ray[3], to[3];
        int column = k % STEPS, row = k / STEPS;
        X[a] = t->low[a] + (t->high[a] - t->low[a]) * (column + 0.5) / STEPS;
        X[b] = t->low[b] + (t->high[b] - t->low[b]) * (row + 0.5) / STEPS;
        if (!see(t, pair->view1, X, xy1) || !see(t, pair->view2, X, xy2) ||
            !psfm_camera_unproject(camera1, xy1, ray))
            continue;
        psfm_mat3_mul_vec(H_21, ray, to);
        errors[num++] =
            psfm_camera_project(camera2, to, at) ? hypot(at[0] - xy2[0], at[1] - xy2[1]) : INFINITY;
    }
    return num == 0 ? NAN : psfm_median(errors, num);
}

static facts measure(const truth *t, size_t index, const psfm_two_view *view, size_t first) {
    const psfm_match_pair *pair = &t->set->pairs[index];
    facts f = {0, NAN, NAN, NAN, NAN};
    const psfm_homography *h = find_plane(t, pair, view, 4.0);
    if (h == NULL)
        return f;
    double *errors = malloc((h->num_inliers + 1) * sizeof *errors), R_21[9];
    double *sigmas = malloc((h->num_inliers + 1) * sizeof *sigmas);
    size_t num_sigmas = 0;
    if (errors == NULL || sigmas == NULL)
        exit(1);
    for (size_t k = 0; k < h->num_inliers; ++k) {
        uint32_t m = h->inliers[k];
        double error = match_error(t, pair, m);
        if (m < first || !isfinite(error))
            continue;
        errors[f.num++] = error;
        const psfm_view *two = &t->set->views[pair->view2];
        if (two->sqrt_info != NULL) {
            const double *s = two->sqrt_info[pair->matches[m][1]];
            sigmas[num_sigmas++] = error * sqrt(s[0] * s[2]);
        }
    }
    f.point_px = f.num == 0 ? NAN : psfm_median(errors, f.num);
    f.excess = num_sigmas == 0 ? NAN : psfm_median(sigmas, num_sigmas);
    f.transfer_px = transfer_error(t, pair, h->H_21);
    psfm_mat3_mul_t(t->poses[pair->view2].R, t->poses[pair->view1].R, R_21);
    f.rotation_deg = INFINITY;
    for (int k = 0; k < h->num_motions; ++k)
        f.rotation_deg =
            fmin(f.rotation_deg, psfm_degrees(psfm_rotation_angle(h->motions[k].R_21, R_21)));
    free(errors);
    free(sigmas);
    return f;
}

/* The box of the plane that the raw matches on it span, without the outermost two per cent. */
static void find_extent(truth *t) {
    for (int c = 0; c < 3; ++c) {
        size_t num = 0, capacity = 0;
        double *values = NULL;
        for (size_t p = 0; p < t->set->num_pairs; ++p) {
            const psfm_match_pair *pair = &t->set->pairs[p];
            for (size_t m = 0; m < pair->num_matches; ++m) {
                double X[3];
                if (!(match_error(t, pair, m) < 2.0) ||
                    !meet_plane(t, pair->view1,
                                t->set->views[pair->view1].keypoints[pair->matches[m][0]], X))
                    continue;
                if (PSFM_RESERVE(NULL, &values, &capacity, num + 1))
                    exit(1);
                values[num++] = X[c];
            }
        }
        if (num == 0) {
            fprintf(stderr, "no match lies on the plane\n");
            exit(1);
        }
        t->low[c] = psfm_select(values, num, num / 50);
        t->high[c] = psfm_select(values, num, num - 1 - num / 50);
        free(values);
    }
}

/* A row of quantiles of one member of the facts. */
static void print_row(const char *name, const facts *f, size_t num, size_t offset, int is_count) {
    static const double shares[] = {0.1, 0.25, 0.5, 0.75, 0.9};
    double *values = malloc((num + 1) * sizeof *values);
    size_t n = 0;
    for (size_t p = 0; values != NULL && p < num; ++p) {
        const char *at = (const char *)&f[p] + offset;
        double value = is_count ? (double)*(const size_t *)at : *(const double *)at;
        if (!isnan(value) && !(is_count && value == 0.0))
            values[n++] = value;
    }
    printf("%-34s", name);
    for (size_t k = 0; n > 0 && k < sizeof shares / sizeof *shares; ++k)
        printf(is_count ? " %8.0f" : " %8.4f",
               psfm_select(values, n, (size_t)(shares[k] * (double)(n - 1) + 0.5)));
    printf("   (%zu pairs)\n", n);
    free(values);
}

static void print_facts(const char *name, const facts *f, size_t num) {
    printf("\n%-34s %8s %8s %8s %8s %8s\n", name, "10 %", "25 %", "50 %", "75 %", "90 %");
    print_row("correspondences on the plane", f, num, offsetof(facts, num), 1);
    print_row("point error, median, px", f, num, offsetof(facts, point_px), 0);
    print_row("homography over the plane, px", f, num, offsetof(facts, transfer_px), 0);
    print_row("rotation, deg", f, num, offsetof(facts, rotation_deg), 0);
    print_row("error / standard deviation", f, num, offsetof(facts, excess), 0);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: %s DATABASE PHOTOS GT [x|y|z]\n", argv[0]);
        return 2;
    }
    psfm_context *ctx = psfm_context_create();
    psfm_match_set set = {0};
    psfm_model model = {0};
    psfm_two_view_options verification;
    psfm_photo_options options;
    psfm_refine_matches_stats stats;
    char text[256];
    if (ctx == NULL)
        return 1;
    psfm_context_set_threads(ctx, 1);
    psfm_options_init(&psfm_two_view_option_table, &verification);
    psfm_options_init(&psfm_photo_control_option_table, &options.control);
    psfm_options_init(&psfm_pair_plane_option_table, &options.planes);
    psfm_options_init(&psfm_patch_option_table, &options.patch);
    check(ctx, psfm_database_read(ctx, argv[1], &set, NULL));
    check(ctx, psfm_model_read(ctx, argv[3], &model));
    psfm_two_view *views = calloc(set.num_pairs + 1, sizeof *views);
    facts *before = calloc(set.num_pairs + 1, sizeof *before);
    facts *after = calloc(set.num_pairs + 1, sizeof *after);
    size_t *first = calloc(set.num_pairs + 1, sizeof *first);
    truth t = {.set = &set, .poses = calloc(set.num_views + 1, sizeof *t.poses)};
    t.axis = argc > 4 ? argv[4][0] - 'x' : 2;
    if (views == NULL || before == NULL || after == NULL || first == NULL || t.poses == NULL ||
        t.axis < 0 || t.axis > 2)
        return 1;
    read_poses(&model, &t);
    find_extent(&t);
    check(ctx, psfm_two_view_estimate_all(ctx, &set, &verification, views));
    for (size_t p = 0; p < set.num_pairs; ++p) {
        before[p] = measure(&t, p, &views[p], 0);
        first[p] = set.pairs[p].num_matches;
    }
    psfm_photo_cache *photos = NULL;
    check(ctx, psfm_photo_cache_create(ctx, &set, argv[2], (size_t)options.control.cache_mb << 20,
                                       &photos));
    double start = cpu_seconds();
    const psfm_photo_input input = {&set, views, photos, NULL};
    check(ctx, psfm_refine_matches(ctx, &options, &input, &stats));
    double seconds = cpu_seconds() - start;
    psfm_photo_cache_destroy(&photos);
    for (size_t p = 0; p < set.num_pairs; ++p)
        after[p] = measure(&t, p, &views[p], first[p]);
    psfm_refine_matches_describe(&stats, text, sizeof text);
    printf("%s\n%.1f s of CPU, %.1f us for each of the last round's patches\n", text, seconds,
           1e6 * seconds / fmax((double)stats.patches.num_tried, 1.0));
    print_facts("keypoints", before, set.num_pairs);
    print_facts("aligned patches", after, set.num_pairs);
    for (size_t p = 0; p < set.num_pairs; ++p)
        psfm_two_view_free(&views[p]);
    free(views);
    free(before);
    free(after);
    free(first);
    free(t.poses);
    psfm_model_free(&model);
    psfm_match_set_free(&set);
    psfm_context_destroy(&ctx);
    return 0;
}
