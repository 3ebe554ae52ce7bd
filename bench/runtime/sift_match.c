/* SIFT extraction and matching, ours beside COLMAP's on the CPU:
 *   bench_sift_match IMAGE_FOLDER [PAIRS] [--upright] [--gt MODEL]
 * PAIRS as for psfm_pair_select but retrieval, default exhaustive. The flags go to both; MODEL is a
 * COLMAP model with true poses, by which matches are judged, also those of our matcher from
 * COLMAP's features. COLMAP (if it is on the PATH) extracts and matches in a temporary folder.
 * Printed are the numbers of features, the share that both have, how far their descriptors agree,
 * the matches in common and the times, by the clock and of the processor. COLMAP 3.8 matches by an
 * approximate search (FLANN), so its matches differ from those of a full comparison; ours are also
 * compared with a plain double loop on one pair. COLMAP's matching time includes geometric
 * verification, limited to its least number of trials. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../tests/extract_photos.h"
#include "../scratch.h"
#include "core/base/path.h"
#include "core/base/timer.h"
#include "images/image/image_list.h"
#include "images/match/nearest_neighbour.h"

#include "epipolar_truth.h"

/* Time of a stage by the clock, and of the processor for this process and its children. */
typedef struct {
    double clock, processor;
} seconds;

static seconds read_clocks(void) {
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    const struct timeval t[] = {self.ru_utime, self.ru_stime, children.ru_utime, children.ru_stime};
    seconds s = {.clock = psfm_now()};
    for (int k = 0; k < 4; ++k)
        s.processor += (double)t[k].tv_sec + 1e-6 * (double)t[k].tv_usec;
    return s;
}

static seconds since(seconds start) {
    seconds now = read_clocks();
    return (seconds){now.clock - start.clock, now.processor - start.processor};
}

typedef struct {
    const char *folder, *pairs;
    bool upright;
    psfm_model truth; /* empty: not known */
} task;

typedef struct {
    psfm_image_list images;
    psfm_photo *photos;
    psfm_keypoint_set *sets; /* those of the photos, not owned */
    psfm_pair_list pairs;
    psfm_match_list *matches;
    seconds extract_time, match_time;
} ours;

typedef struct {
    bool ran;
    psfm_keypoint_set *sets;
    psfm_match_list *matches;
    seconds extract_time, match_time;
} theirs;

static psfm_status run_ours(psfm_context *ctx, const task *todo, ours *o) {
    psfm_sift_options options;
    psfm_options_init(&psfm_sift_option_table, &options);
    options.upright = todo->upright;
    psfm_status status = psfm_image_list_folder(ctx, todo->folder, &o->images);
    if (status != PSFM_OK)
        return status;
    o->photos = calloc(o->images.num + 1, sizeof *o->photos);
    o->sets = calloc(o->images.num + 1, sizeof *o->sets);
    seconds start = read_clocks();
    status = extract_photos(
        ctx, &(photo_list){todo->folder, (const char *const *)o->images.names, o->images.num, NULL},
        NULL, &options, o->photos);
    o->extract_time = since(start);
    if (status == PSFM_OK)
        status = psfm_pair_select(ctx, todo->pairs, (const char *const *)o->images.names,
                                  o->images.num, NULL, &o->pairs);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < o->images.num; ++k) {
        o->sets[k] = o->photos[k].features;
        if (o->photos[k].problem != NULL)
            printf("  %s\n", o->photos[k].problem);
    }
    o->matches = calloc(o->pairs.num, sizeof *o->matches);
    start = read_clocks();
    status =
        psfm_nearest_match_pairs(ctx, o->sets, o->images.num, &o->pairs, NULL, NULL, o->matches);
    o->match_time = since(start);
    return status;
}

/* ---- COLMAP ---- */

static bool write_pairs(const ours *o, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    for (size_t k = 0; k < o->pairs.num; ++k)
        fprintf(file, "%s %s\n", o->images.names[o->pairs.pairs[k][0]],
                o->images.names[o->pairs.pairs[k][1]]);
    return fclose(file) == 0;
}

static bool command(const char *format, const char *a, const char *b, const char *c) {
    char line[4096];
    snprintf(line, sizeof line, format, a, b, c);
    return system(line) == 0; /* a benchmark run by hand on a folder of the caller's */
}

static void *copy_blob(sqlite3_stmt *query, int column) {
    size_t size = (size_t)sqlite3_column_bytes(query, column);
    void *copy = malloc(size + 1);
    if (copy != NULL && size > 0)
        memcpy(copy, sqlite3_column_blob(query, column), size);
    return copy;
}

/* Features of all images, in the order of their names; *ids gets the images' ids. */
static bool read_features(sqlite3 *db, const ours *o, theirs *t, sqlite3_int64 *ids) {
    sqlite3_stmt *query = NULL;
    const char *sql = "SELECT i.image_id, k.rows, k.data, d.data FROM images i "
                      "JOIN keypoints k USING (image_id) JOIN descriptors d USING (image_id) "
                      "WHERE i.name = ? AND k.cols = 6";
    if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK)
        return false;
    for (size_t k = 0; k < o->images.num; ++k) {
        sqlite3_bind_text(query, 1, o->images.names[k], -1, SQLITE_STATIC);
        if (sqlite3_step(query) == SQLITE_ROW) {
            ids[k] = sqlite3_column_int64(query, 0);
            t->sets[k] = (psfm_keypoint_set){.num = (size_t)sqlite3_column_int64(query, 1),
                                             .descriptor_size = 128,
                                             .keypoints = copy_blob(query, 2),
                                             .descriptors_u8 = copy_blob(query, 3)};
        }
        sqlite3_reset(query);
    }
    sqlite3_finalize(query);
    return true;
}

static int by_first(const void *a, const void *b) {
    const uint32_t *p = a, *q = b;
    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

static bool read_matches(sqlite3 *db, const ours *o, theirs *t, const sqlite3_int64 *ids) {
    sqlite3_stmt *query = NULL;
    if (sqlite3_prepare_v2(db, "SELECT rows, data FROM matches WHERE pair_id = ?", -1, &query,
                           NULL) != SQLITE_OK)
        return false;
    for (size_t k = 0; k < o->pairs.num; ++k) {
        sqlite3_int64 a = ids[o->pairs.pairs[k][0]], b = ids[o->pairs.pairs[k][1]];
        sqlite3_bind_int64(query, 1, 2147483647 * (a < b ? a : b) + (a < b ? b : a));
        if (sqlite3_step(query) == SQLITE_ROW) {
            psfm_match_list *list = &t->matches[k];
            list->num = (size_t)sqlite3_column_int64(query, 0);
            list->matches = copy_blob(query, 1);
            for (size_t i = 0; a > b && i < list->num; ++i) {
                uint32_t swap = list->matches[i][0];
                list->matches[i][0] = list->matches[i][1];
                list->matches[i][1] = swap;
            }
            if (list->num > 0)
                qsort(list->matches, list->num, sizeof *list->matches, by_first);
        }
        sqlite3_reset(query);
    }
    sqlite3_finalize(query);
    return true;
}

static void run_theirs(const task *todo, const ours *o, theirs *t) {
    char scratch[SCRATCH_LENGTH], path[SCRATCH_LENGTH + 16];
    if (!command("command -v %s >%s 2>&1%s", "colmap", "/dev/null", "") ||
        make_scratch(scratch) == NULL)
        return;
    const char *flags = todo->upright ? "--SiftExtraction.upright 1" : "";
    seconds start = read_clocks();
    bool ok = command("colmap feature_extractor --database_path %s/db --image_path '%s' "
                      "--SiftExtraction.use_gpu 0 %s >/dev/null 2>&1",
                      scratch, todo->folder, flags);
    t->extract_time = since(start);
    snprintf(path, sizeof path, "%s/pairs.txt", scratch);
    ok = ok && write_pairs(o, path);
    start = read_clocks();
    ok = ok && command("colmap matches_importer --database_path %s/db --match_list_path %s "
                       "--SiftMatching.use_gpu 0 --SiftMatching.max_num_trials 100 "
                       ">/dev/null 2>&1%s",
                       scratch, path, "");
    t->match_time = since(start);
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/db", scratch);
    t->sets = calloc(o->images.num + 1, sizeof *t->sets);
    t->matches = calloc(o->pairs.num, sizeof *t->matches);
    sqlite3_int64 *ids = calloc(o->images.num + 1, sizeof *ids);
    t->ran = ok && sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
             read_features(db, o, t, ids) && read_matches(db, o, t, ids);
    sqlite3_close(db);
    free(ids);
    (void)!psfm_remove_all(NULL, scratch);
}

/* ---- comparison ---- */

typedef struct {
    size_t ours, theirs, common; /* features at the same place, size and direction */
    size_t bytes, equal_bytes;   /* of the descriptors of these */
    size_t close;                /* descriptors with no byte off by more than one */
} overlap;

/* Index of their keypoint nearest to ours within half a pixel and a tenth of its shape, or -1. */
static long find_same(const psfm_keypoint_set *set, const psfm_keypoint *p, const uint32_t *order) {
    size_t low = 0, high = set->num;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (set->keypoints[order[middle]].x < p->x - 0.5F)
            low = middle + 1;
        else
            high = middle;
    }
    long best = -1;
    float least = INFINITY;
    for (; low < set->num && set->keypoints[order[low]].x <= p->x + 0.5F; ++low) {
        const psfm_keypoint *q = &set->keypoints[order[low]];
        float d = hypotf(q->x - p->x, q->y - p->y);
        float turn = hypotf(q->a11 - p->a11, q->a21 - p->a21) / psfm_keypoint_scale(q);
        if (d < 0.5F && turn < 0.1F && d + turn < least) {
            least = d + turn;
            best = (long)order[low];
        }
    }
    return best;
}

static const psfm_keypoint *sort_keypoints; /* qsort has no room for it */

static int by_x(const void *a, const void *b) {
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (sort_keypoints[i].x != sort_keypoints[j].x)
        return sort_keypoints[i].x < sort_keypoints[j].x ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* same[k]: their index of our keypoint k, or -1. */
static void compare_sets(const psfm_keypoint_set *a, const psfm_keypoint_set *b, long *same,
                         overlap *o) {
    uint32_t *order = malloc((b->num + 1) * sizeof *order);
    for (size_t k = 0; k < b->num; ++k)
        order[k] = (uint32_t)k;
    sort_keypoints = b->keypoints;
    qsort(order, b->num, sizeof *order, by_x);
    o->ours += a->num;
    o->theirs += b->num;
    for (size_t k = 0; k < a->num; ++k) {
        same[k] = find_same(b, &a->keypoints[k], order);
        if (same[k] < 0)
            continue;
        bool is_close = true;
        for (size_t c = 0; c < 128; ++c) {
            int d =
                abs(a->descriptors_u8[128 * k + c] - b->descriptors_u8[128 * (size_t)same[k] + c]);
            o->equal_bytes += d == 0;
            is_close = is_close && d <= 1;
        }
        o->bytes += 128;
        o->common += 1;
        o->close += is_close;
    }
    free(order);
}

static bool has_match(const psfm_match_list *list, long i, long j) {
    uint32_t key[2] = {(uint32_t)i, (uint32_t)j};
    return i >= 0 && j >= 0 && list->num > 0 &&
           bsearch(key, list->matches, list->num, sizeof *list->matches, by_first) != NULL;
}

static void print_times(const char *stage, seconds a, seconds b) {
    printf("%-34s %12.2f %12.2f %10.3f\n", stage, a.clock, b.clock, a.clock / b.clock);
    printf("%-34s %12.2f %12.2f %10.3f\n", "  of the processor", a.processor, b.processor,
           a.processor / b.processor);
}

static void print_comparison(const ours *o, const theirs *t) {
    overlap sum = {0};
    long **same = calloc(o->images.num + 1, sizeof *same);
    size_t num_ours = 0, num_theirs = 0, common = 0;
    for (size_t k = 0; k < o->images.num; ++k) {
        same[k] = malloc((o->sets[k].num + 1) * sizeof **same);
        compare_sets(&o->sets[k], &t->sets[k], same[k], &sum);
    }
    for (size_t k = 0; k < o->pairs.num; ++k) {
        const psfm_match_list *list = &o->matches[k];
        num_ours += list->num;
        num_theirs += t->matches[k].num;
        for (size_t i = 0; i < list->num; ++i)
            common += has_match(&t->matches[k], same[o->pairs.pairs[k][0]][list->matches[i][0]],
                                same[o->pairs.pairs[k][1]][list->matches[i][1]]);
    }
    printf("%-34s %12s %12s %10s\n", "", "ours", "COLMAP", "ratio");
    print_times("extraction, s", o->extract_time, t->extract_time);
    print_times("matching, s", o->match_time, t->match_time);
    printf("%-34s %12zu %12zu\n", "features", sum.ours, sum.theirs);
    printf("%-34s %11.3f%% %11.3f%%\n", "  in common",
           100.0 * (double)sum.common / (double)sum.ours,
           100.0 * (double)sum.common / (double)sum.theirs);
    printf("%-34s %11.3f%%\n", "  of these, bytes equal",
           100.0 * (double)sum.equal_bytes / (double)sum.bytes);
    printf("%-34s %11.3f%%\n", "  no byte off by more than 1",
           100.0 * (double)sum.close / (double)sum.common);
    printf("%-34s %12zu %12zu\n", "matches", num_ours, num_theirs);
    printf("%-34s %11.3f%% %11.3f%%\n", "  in common", 100.0 * (double)common / (double)num_ours,
           100.0 * (double)common / (double)num_theirs);
    for (size_t k = 0; k < o->images.num; ++k)
        free(same[k]);
    free(same);
}

/* ---- judged by the truth ---- */

static void print_right(const task *todo, const ours *o, const char *what,
                        const psfm_keypoint_set *sets, const psfm_match_list *matches) {
    size_t num = 0, right = 0;
    for (size_t k = 0; k < o->pairs.num; ++k) {
        uint32_t a = o->pairs.pairs[k][0], b = o->pairs.pairs[k][1];
        num += matches[k].num;
        right += count_right(&todo->truth, o->images.names[a], o->images.names[b], &sets[a],
                             &sets[b], &matches[k]);
    }
    printf("%-44s %9zu matches, %9zu right (%.1f%%)\n", what, num, right,
           num > 0 ? 100.0 * (double)right / (double)num : 0.0);
}

static psfm_status judge(psfm_context *ctx, const task *todo, const ours *o, const theirs *t) {
    psfm_match_list *matches = calloc(o->pairs.num, sizeof *matches);
    psfm_status status = PSFM_OK;
    print_right(todo, o, "our features, our matcher", o->sets, o->matches);
    if (t->ran && matches != NULL)
        status =
            psfm_nearest_match_pairs(ctx, t->sets, o->images.num, &o->pairs, NULL, NULL, matches);
    if (t->ran && matches != NULL && status == PSFM_OK) {
        print_right(todo, o, "COLMAP's features, our matcher", t->sets, matches);
        print_right(todo, o, "COLMAP's features, COLMAP's matcher", t->sets, t->matches);
        for (size_t k = 0; k < o->pairs.num; ++k)
            psfm_match_list_free(&matches[k]);
    }
    free(matches);
    return status;
}

/* ---- the rule of brute-force matching, one product after the other ---- */

typedef struct {
    int32_t best, second;
    size_t idx;
} nearest;

static void see(nearest *n, int32_t product, size_t idx) {
    if (product > n->best) {
        n->second = n->best;
        n->best = product;
        n->idx = idx;
    } else if (product > n->second) {
        n->second = product;
    }
}

static bool accepted(const nearest *n) {
    float best = acosf(fminf((float)n->best / 262144.0F, 1.0F));
    return n->best > 0 && best <= 0.7F &&
           best < 0.8F * acosf(fminf((float)n->second / 262144.0F, 1.0F));
}

static void compare_with_double_loop(const ours *o) {
    const psfm_keypoint_set *a = &o->sets[o->pairs.pairs[0][0]],
                            *b = &o->sets[o->pairs.pairs[0][1]];
    nearest *of1 = calloc(a->num + 1, sizeof *of1), *of2 = calloc(b->num + 1, sizeof *of2);
    double start = psfm_now();
    for (size_t i = 0; i < a->num; ++i) {
        for (size_t j = 0; j < b->num; ++j) {
            const uint8_t *p = a->descriptors_u8 + 128 * i, *q = b->descriptors_u8 + 128 * j;
            int32_t product = 0;
            for (int c = 0; c < 128; ++c)
                product += p[c] * q[c];
            see(&of1[i], product, j);
            see(&of2[j], product, i);
        }
    }
    size_t num = 0, common = 0;
    for (size_t i = 0; i < a->num; ++i) {
        if (accepted(&of1[i]) && accepted(&of2[of1[i].idx]) && of2[of1[i].idx].idx == i) {
            ++num;
            common += has_match(&o->matches[0], (long)i, (long)of1[i].idx);
        }
    }
    printf("pair 0: %zu matches by a double loop (%.2f s), %zu by ours, %zu in common\n", num,
           psfm_now() - start, o->matches[0].num, common);
    free(of1);
    free(of2);
}

static psfm_status take_arguments(psfm_context *ctx, int argc, char **argv, task *todo) {
    int num = 0;
    *todo = (task){.pairs = "exhaustive"};
    for (int k = 1; k < argc; ++k) {
        if (strcmp(argv[k], "--upright") == 0) {
            todo->upright = true;
        } else if (strcmp(argv[k], "--gt") == 0 && k + 1 < argc) {
            psfm_status status = psfm_model_read(ctx, argv[++k], &todo->truth);
            if (status != PSFM_OK)
                return status;
        } else if (num++ == 0) {
            todo->folder = argv[k];
        } else {
            todo->pairs = argv[k];
        }
    }
    return num >= 1 && num <= 2
               ? PSFM_OK
               : psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "usage: %s IMAGE_FOLDER [PAIRS] [--upright] [--gt MODEL]", argv[0]);
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    task todo = {0};
    ours o = {0};
    theirs t = {0};
    if (ctx == NULL || take_arguments(ctx, argc, argv, &todo) != PSFM_OK ||
        run_ours(ctx, &todo, &o) != PSFM_OK) {
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
        return 1;
    }
    printf("%zu images, %zu pairs, %d threads\n", o.images.num, o.pairs.num,
           psfm_context_threads(ctx));
    compare_with_double_loop(&o);
    run_theirs(&todo, &o, &t);
    if (t.ran) {
        print_comparison(&o, &t);
    } else {
        size_t features = 0, matches = 0;
        for (size_t k = 0; k < o.images.num; ++k)
            features += o.sets[k].num;
        for (size_t k = 0; k < o.pairs.num; ++k)
            matches += o.matches[k].num;
        printf("%zu features in %.2f s, %zu matches in %.2f s; no COLMAP to compare with\n",
               features, o.extract_time.clock, matches, o.match_time.clock);
    }
    if (todo.truth.num_images > 0 && judge(ctx, &todo, &o, &t) != PSFM_OK)
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
    for (size_t k = 0; k < o.images.num; ++k) {
        psfm_photo_free(&o.photos[k]);
        if (t.sets != NULL)
            psfm_keypoint_set_free(&t.sets[k]);
    }
    for (size_t k = 0; k < o.pairs.num; ++k) {
        psfm_match_list_free(&o.matches[k]);
        if (t.matches != NULL)
            psfm_match_list_free(&t.matches[k]);
    }
    free(o.photos);
    free(o.sets);
    free(o.matches);
    free(t.sets);
    free(t.matches);
    psfm_pair_list_free(&o.pairs);
    psfm_image_list_free(&o.images);
    psfm_model_free(&todo.truth);
    psfm_context_destroy(&ctx);
    return 0;
}
