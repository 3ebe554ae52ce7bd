/* The protocol of the Image Matching Challenge (Phototourism) as papers on structure from motion
 * report it: every bag of 5, 10 or 25 images is reconstructed on its own from exhaustive matches,
 * with known intrinsics; the AUC at 3, 5 and 10 degrees of the pairwise pose error (the larger of
 * rotation and translation direction, and the rotation alone) is taken per bag and averaged over
 * the bags of a size in a scene, then over scenes, then over sizes.
 *
 *   bench/imc DIR [--json FILE] [--mode robust|paper] [--max-bags N] [--threads N] [--work FOLDER]
 *
 * DIR is a scene (see bench/imc_scene.h) or a folder of scenes. Features are extracted once per
 * scene, a pair is matched once for all bags that contain it. --max-bags takes the first N bags of
 * each size in each scene. */
#include <dirent.h>
#include <unistd.h>

#include "../../tests/run_defaults.h"
#include "../imc_scene.h"
#include "../scratch.h"
#include "core/base/output.h"
#include "core/base/text.h"
#include "core/base/timer.h"
#include "eval/evaluate.h"
#include "formats/json.h"
#include "frontend/extract_folder.h"
#include "frontend/match_images.h"
#include "sfm/run.h"
#include "store/colmap_database.h"

enum { MAX_SIZES = 16, NUM_SHOWN = 3, FIRST_SHOWN = 2 }; /* AUCs at 3, 5, 10 degrees */

typedef struct {
    const char *folder, *json, *work;
    psfm_mode mode;
    size_t max_bags;
    int threads;
} arguments;

/* Means over the bags of one size. */
typedef struct {
    size_t bag_size, num_bags;
    double max[NUM_SHOWN], rotation[NUM_SHOWN], registered; /* registered: share of the images */
} row;

typedef struct {
    char *name;
    row rows[MAX_SIZES]; /* by bag size */
    size_t num_rows;
    double front_seconds, pose_seconds; /* features and matches; poses */
} scene_result;

/* ---- one bag ---- */

/* The views of a bag with the pairs among them; shares keypoints and matches with `all`. */
static psfm_status select_views(psfm_context *ctx, const psfm_match_set *all, const imc_scene *s,
                                const imc_bag *bag, psfm_match_set *out) {
    uint32_t *place = NULL; /* per view: its index in the bag + 1 */
    *out = (psfm_match_set){.cameras = all->cameras, .num_cameras = all->num_cameras};
    psfm_status status = PSFM_ALLOC(ctx, all->num_views, &place);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, all->num_views, &out->views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, all->num_pairs, &out->pairs);
    for (size_t v = 0; status == PSFM_OK && v < all->num_views; ++v)
        for (size_t k = 0; k < bag->num; ++k)
            if (strcmp(all->views[v].name, s->names[bag->images[k]]) == 0 && place[v] == 0) {
                out->views[out->num_views++] = all->views[v];
                place[v] = (uint32_t)out->num_views;
            }
    for (size_t p = 0; status == PSFM_OK && p < all->num_pairs; ++p) {
        psfm_match_pair pair = all->pairs[p];
        if (place[pair.view1] == 0 || place[pair.view2] == 0)
            continue;
        pair.view1 = place[pair.view1] - 1;
        pair.view2 = place[pair.view2] - 1;
        out->pairs[out->num_pairs++] = pair;
    }
    free(place);
    return status;
}

static psfm_status select_truth(psfm_context *ctx, const psfm_model *all, const imc_bag *bag,
                                psfm_model *out) {
    *out = (psfm_model){.cameras = all->cameras, .num_cameras = all->num_cameras};
    psfm_status status = PSFM_ALLOC(ctx, bag->num, &out->images);
    for (size_t k = 0; status == PSFM_OK && k < bag->num; ++k)
        out->images[out->num_images++] = *psfm_model_image_by_id(all, (uint32_t)bag->images[k] + 1);
    return status;
}

static psfm_status score_bag(psfm_context *ctx, const imc_scene *s, const imc_bag *bag,
                             const psfm_match_set *all, const psfm_model *truth, psfm_mode mode,
                             psfm_evaluation *e) {
    psfm_match_set set;
    psfm_model gt = {0};
    psfm_sfm r;
    psfm_sfm_open(NULL, &r);
    psfm_reconstruct_options_init(mode, &r.asked.settings.options);
    *e = (psfm_evaluation){.num_images = bag->num}; /* nothing posed scores 0 */
    psfm_status status = select_views(ctx, all, s, bag, &set);
    if (status == PSFM_OK)
        status = select_truth(ctx, truth, bag, &gt);
    if (status == PSFM_OK) {
        r.set = set; /* lent */
        r.stage = PSFM_AT_SET;
        status = psfm_sfm_run(ctx, &r);
    }
    if (status == PSFM_OK && r.num_models > 0)
        status = psfm_evaluate(ctx, &gt, r.models, r.num_models, e);
    r.set = (psfm_match_set){0};
    psfm_sfm_close(&r);
    free(set.views);
    free(set.pairs);
    free(gt.images);
    return status;
}

/* ---- one scene ---- */

/* Links to the images that are in a bag, so that nothing else is extracted. */
static psfm_status link_images(const imc_scene *s, const char *folder) {
    psfm_status status = psfm_remove_all(s->ctx, folder); /* links of an earlier run */
    if (status == PSFM_OK)
        status = psfm_make_folders(s->ctx, folder);
    for (size_t k = 0; status == PSFM_OK && k < s->files.num; ++k) {
        char *source = NULL, *whole = NULL, *target = NULL;
        if (!s->wanted[k])
            continue;
        status = psfm_path_join(s->ctx, s->folder, s->files.names[k], &source);
        if (status == PSFM_OK)
            status = psfm_path_join(s->ctx, folder, s->names[k], &target);
        if (status == PSFM_OK)
            whole = realpath(source, NULL);
        if (status == PSFM_OK && access(target, F_OK) != 0 &&
            (whole == NULL || symlink(whole, target) != 0))
            status = psfm_fail(s->ctx, PSFM_ERR_IO, "%s: cannot be written", target);
        free(whole);
        free(source);
        free(target);
    }
    return status;
}

/* All pairs of all bags; `match` drops the repeated ones. */
static psfm_status write_pairs(const imc_scene *s, const char *path) {
    psfm_output out = {0};
    psfm_status status = psfm_output_open(s->ctx, path, &out);
    for (size_t b = 0; status == PSFM_OK && b < s->num_bags; ++b)
        for (size_t i = 0; i < s->bags[b].num; ++i)
            for (size_t j = i + 1; j < s->bags[b].num; ++j)
                fprintf(out.file, "%s %s\n", s->names[s->bags[b].images[i]],
                        s->names[s->bags[b].images[j]]);
    if (status == PSFM_OK)
        status = psfm_output_commit(s->ctx, &out);
    psfm_output_abort(&out);
    return status;
}

typedef struct {
    char *images, *gt, *database, *pairs;
} places;

static psfm_status find_places(psfm_context *ctx, const char *work, places *p) {
    *p = (places){0};
    psfm_status status = psfm_path_join(ctx, work, "images", &p->images);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, work, "gt", &p->gt);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, work, "database.db", &p->database);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, work, "pairs.txt", &p->pairs);
    return status;
}

static void free_places(places *p) {
    free(p->images);
    free(p->gt);
    free(p->database);
    free(p->pairs);
}

static psfm_status extract(psfm_context *ctx, const places *p) {
    psfm_folder_options options = {.intrinsics.cameras_path = p->gt};
    psfm_extract_stats stats;
    psfm_options_init(&psfm_extract_option_table, &options.extract);
    psfm_options_init(&psfm_sift_option_table, &options.sift);
    options.detector = default_detector();
    psfm_status status = psfm_extract_folder(ctx, p->images, p->database, &options, &stats);
    psfm_extract_stats_free(&stats);
    return status;
}

static psfm_status match(psfm_context *ctx, const places *p) {
    psfm_match_options options = {0};
    char rule[4200];
    snprintf(rule, sizeof rule, "file:%s", p->pairs);
    options.pairs = rule;
    psfm_options_init(&psfm_nearest_option_table, &options.nearest);
    psfm_options_init(&psfm_guided_option_table, &options.guided);
    psfm_options_init(&psfm_two_view_option_table, &options.two_view);
    options.matcher = default_matcher();
    return psfm_match_images(ctx, p->database, &options, NULL);
}

/* Features and matches of a scene, and its truth. */
static psfm_status prepare(const imc_scene *s, const char *work, psfm_model *truth,
                           psfm_match_set *set) {
    places p;
    psfm_context *ctx = s->ctx;
    psfm_status status = find_places(ctx, work, &p);
    if (status == PSFM_OK)
        status = link_images(s, p.images);
    if (status == PSFM_OK)
        status = psfm_model_write(ctx, truth, PSFM_MODEL_TEXT, p.gt);
    if (status == PSFM_OK)
        status = extract(ctx, &p);
    if (status == PSFM_OK)
        status = write_pairs(s, p.pairs);
    if (status == PSFM_OK)
        status = match(ctx, &p);
    if (status == PSFM_OK)
        status = psfm_database_read(ctx, p.database, set, NULL);
    free_places(&p);
    return status;
}

static row *find_row(scene_result *result, size_t bag_size) {
    size_t k = 0;
    while (k < result->num_rows && result->rows[k].bag_size < bag_size)
        ++k;
    if (k < result->num_rows && result->rows[k].bag_size == bag_size)
        return &result->rows[k];
    if (result->num_rows == MAX_SIZES)
        return NULL;
    memmove(&result->rows[k + 1], &result->rows[k], (result->num_rows - k) * sizeof(row));
    ++result->num_rows;
    result->rows[k] = (row){.bag_size = bag_size};
    return &result->rows[k];
}

static void add_bag(row *r, const psfm_evaluation *e) {
    double n = (double)++r->num_bags;
    for (int k = 0; k < NUM_SHOWN; ++k) {
        r->max[k] += (e->auc_max[FIRST_SHOWN + k] - r->max[k]) / n;
        r->rotation[k] += (e->auc_rotation[FIRST_SHOWN + k] - r->rotation[k]) / n;
    }
    r->registered += ((double)e->num_registered / (double)e->num_images - r->registered) / n;
}

static psfm_status score_bags(const imc_scene *s, const psfm_match_set *set,
                              const psfm_model *truth, const arguments *a, scene_result *result) {
    psfm_status status = PSFM_OK;
    for (size_t b = 0; status == PSFM_OK && b < s->num_bags; ++b) {
        psfm_evaluation e;
        row *r = s->bags[b].num < 2 ? NULL : find_row(result, s->bags[b].num);
        if (r == NULL || (a->max_bags > 0 && r->num_bags >= a->max_bags))
            continue;
        status = score_bag(s->ctx, s, &s->bags[b], set, truth, a->mode, &e);
        if (status == PSFM_OK)
            add_bag(r, &e);
    }
    return status;
}

/* Whether a folder is a scene: it has lists of images, which have calibrations. */
static psfm_status run_scene(psfm_context *ctx, const char *folder, const arguments *a,
                             scene_result *result, bool *is_scene) {
    imc_scene s;
    psfm_model truth = {0};
    psfm_match_set set = {0};
    char *work = NULL;
    psfm_status status = imc_scene_open(ctx, folder, &s);
    *is_scene = status == PSFM_OK && s.num_bags > 0;
    if (*is_scene)
        status = psfm_strdup(ctx, base_name(folder), &result->name);
    if (*is_scene && status == PSFM_OK)
        status = psfm_path_join(ctx, a->work, result->name, &work);
    if (*is_scene && status == PSFM_OK)
        status = imc_scene_truth(&s, &truth);
    double start = psfm_now();
    if (*is_scene && status == PSFM_OK)
        status = prepare(&s, work, &truth, &set);
    result->front_seconds = psfm_now() - start;
    start = psfm_now();
    if (*is_scene && status == PSFM_OK)
        status = score_bags(&s, &set, &truth, a, result);
    result->pose_seconds = psfm_now() - start;
    psfm_match_set_free(&set);
    psfm_model_free(&truth);
    imc_scene_free(&s);
    free(work);
    return status;
}

/* ---- table and JSON ---- */

static void print_numbers(const row *r) {
    for (int k = 0; k < NUM_SHOWN; ++k)
        printf(" %6.2f", r->max[k]);
    printf("  ");
    for (int k = 0; k < NUM_SHOWN; ++k)
        printf(" %6.2f", r->rotation[k]);
    printf("   %6.1f\n", 100.0 * r->registered);
}

static bool add_numbers(cJSON *object, const row *r) {
    static const char *const names[NUM_SHOWN] = {"3", "5", "10"};
    cJSON *max = cJSON_AddObjectToObject(object, "auc_max");
    cJSON *rotation = cJSON_AddObjectToObject(object, "auc_rotation");
    bool ok = max != NULL && rotation != NULL &&
              cJSON_AddNumberToObject(object, "registered_share", r->registered) != NULL &&
              cJSON_AddNumberToObject(object, "bags", (double)r->num_bags) != NULL;
    for (int k = 0; ok && k < NUM_SHOWN; ++k)
        ok = cJSON_AddNumberToObject(max, names[k], r->max[k]) != NULL &&
             cJSON_AddNumberToObject(rotation, names[k], r->rotation[k]) != NULL;
    return ok;
}

/* A new object at the end of a list. */
static cJSON *add_entry(cJSON *list) {
    cJSON *entry = cJSON_CreateObject();
    if (entry != NULL && !cJSON_AddItemToArray(list, entry)) {
        cJSON_Delete(entry);
        entry = NULL;
    }
    return entry;
}

static bool report_row(const char *scene, const row *r, cJSON *list) {
    cJSON *entry = add_entry(list);
    printf("%-24s %4zu %5zu ", scene, r->bag_size, r->num_bags);
    print_numbers(r);
    return entry != NULL && cJSON_AddStringToObject(entry, "scene", scene) != NULL &&
           cJSON_AddNumberToObject(entry, "bag_size", (double)r->bag_size) != NULL &&
           add_numbers(entry, r);
}

/* Adds one row to a mean of rows. */
static void add_to_mean(row *mean, const row *r, size_t n) {
    mean->num_bags += r->num_bags;
    for (int k = 0; k < NUM_SHOWN; ++k) {
        mean->max[k] += (r->max[k] - mean->max[k]) / (double)n;
        mean->rotation[k] += (r->rotation[k] - mean->rotation[k]) / (double)n;
    }
    mean->registered += (r->registered - mean->registered) / (double)n;
}

static bool report(const scene_result *results, size_t num, cJSON *root) {
    scene_result means = {0};
    size_t counts[MAX_SIZES] = {0};
    row overall = {0};
    cJSON *scenes = cJSON_AddArrayToObject(root, "scenes");
    cJSON *sizes = cJSON_AddArrayToObject(root, "bag_sizes");
    cJSON *all = cJSON_AddObjectToObject(root, "overall");
    bool ok = scenes != NULL && sizes != NULL && all != NULL;
    printf("%-24s %4s %5s  %20s   %20s   %6s\n", "scene", "size", "bags", "max(R,t) AUC@3/5/10",
           "rotation AUC@3/5/10", "posed%");
    for (size_t s = 0; s < num; ++s) /* all sizes first, so that rows stay where they are */
        for (size_t k = 0; k < results[s].num_rows; ++k)
            find_row(&means, results[s].rows[k].bag_size);
    for (size_t s = 0; ok && s < num; ++s)
        for (size_t k = 0; ok && k < results[s].num_rows; ++k) {
            const row *r = &results[s].rows[k];
            row *mean = find_row(&means, r->bag_size);
            ok = report_row(results[s].name, r, scenes);
            if (mean != NULL)
                add_to_mean(mean, r, ++counts[mean - means.rows]);
        }
    for (size_t k = 0; ok && k < means.num_rows; ++k) {
        ok = report_row("all scenes", &means.rows[k], sizes);
        add_to_mean(&overall, &means.rows[k], k + 1);
    }
    printf("%-24s %4s %5zu ", "overall", "", overall.num_bags);
    print_numbers(&overall);
    ok = ok && add_numbers(all, &overall);
    for (size_t s = 0; s < num; ++s)
        printf("%s: features and matches %.1f s, poses %.1f s\n", results[s].name,
               results[s].front_seconds, results[s].pose_seconds);
    return ok;
}

/* ---- the whole ---- */

/* Sub-folders of a folder, sorted. */
static psfm_status list_folders(psfm_context *ctx, const char *folder, char ***paths, size_t *num) {
    size_t capacity = 0;
    DIR *dir = opendir(folder);
    psfm_status status =
        dir == NULL ? psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot be read", folder) : PSFM_OK;
    for (struct dirent *e; status == PSFM_OK && (e = readdir(dir)) != NULL;) {
        char *path = NULL;
        if (e->d_name[0] == '.')
            continue;
        status = psfm_path_join(ctx, folder, e->d_name, &path);
        if (status == PSFM_OK && psfm_path_is_folder(path))
            status = PSFM_RESERVE(ctx, paths, &capacity, *num + 1);
        if (status == PSFM_OK && psfm_path_is_folder(path))
            (*paths)[(*num)++] = path;
        else
            free(path);
    }
    if (dir != NULL)
        closedir(dir);
    if (*num > 0)
        qsort(*paths, *num, sizeof **paths, psfm_compare_strings);
    return status;
}

/* DIR is a scene if lists of images or calibrations lie in it or in its usual folders. */
static bool looks_like_scene(psfm_context *ctx, const char *folder) {
    static const char *const parts[] = {"calibration", "set_100", "sub_set", "images"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
        char *path = NULL;
        bool found =
            psfm_path_join(ctx, folder, parts[k], &path) == PSFM_OK && psfm_path_is_folder(path);
        free(path);
        if (found)
            return true;
    }
    return false;
}

static psfm_status run_all(psfm_context *ctx, const arguments *a) {
    char **folders = NULL;
    size_t num = 0, num_results = 0;
    scene_result *results = NULL;
    cJSON *root = cJSON_CreateObject();
    psfm_status status = root == NULL ? psfm_fail_memory(ctx) : PSFM_OK;
    if (status == PSFM_OK && looks_like_scene(ctx, a->folder)) {
        status = PSFM_ALLOC(ctx, 1, &folders);
        if (status == PSFM_OK)
            status = psfm_strdup(ctx, a->folder, &folders[num++]);
    } else if (status == PSFM_OK) {
        status = list_folders(ctx, a->folder, &folders, &num);
    }
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &results);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        bool is_scene = false;
        status = run_scene(ctx, folders[k], a, &results[num_results], &is_scene);
        num_results += is_scene;
    }
    if (status == PSFM_OK && num_results == 0)
        status =
            psfm_fail(ctx, PSFM_ERR_DATA, "%s: no lists of images (*bag*.txt) below it", a->folder);
    if (status == PSFM_OK && !report(results, num_results, root))
        status = psfm_fail_memory(ctx);
    if (status == PSFM_OK && a->json != NULL)
        status = psfm_json_write(ctx, root, a->json);
    for (size_t k = 0; results != NULL && k < num; ++k)
        free(results[k].name);
    for (size_t k = 0; k < num; ++k)
        free(folders[k]);
    free(results);
    free(folders);
    cJSON_Delete(root);
    return status;
}

static bool parse(int argc, char **argv, arguments *a) {
    if (argc < 2)
        return false;
    a->folder = argv[1];
    for (int k = 2; k + 1 < argc; k += 2) {
        if (strcmp(argv[k], "--json") == 0)
            a->json = argv[k + 1];
        else if (strcmp(argv[k], "--work") == 0)
            a->work = argv[k + 1];
        else if (strcmp(argv[k], "--max-bags") == 0)
            a->max_bags = strtoul(argv[k + 1], NULL, 10);
        else if (strcmp(argv[k], "--threads") == 0)
            a->threads = (int)strtol(argv[k + 1], NULL, 10);
        else if (strcmp(argv[k], "--mode") != 0 || !psfm_mode_from_name(argv[k + 1], &a->mode))
            return false;
    }
    return argc % 2 == 0;
}

int main(int argc, char **argv) {
    arguments a = {.mode = PSFM_MODE_DEFAULT};
    char scratch[SCRATCH_LENGTH] = "";
    psfm_context *ctx = psfm_context_create();
    if (ctx == NULL || !parse(argc, argv, &a)) {
        fprintf(stderr, "usage: bench/imc DIR [--json FILE] [--mode robust|paper] [--max-bags N] "
                        "[--threads N] [--work FOLDER]\n");
        psfm_context_destroy(&ctx);
        return 2;
    }
    bool is_scratch = a.work == NULL;
    if (is_scratch)
        a.work = make_scratch(scratch);
    psfm_context_set_threads(ctx, a.threads);
    psfm_status status = a.work == NULL ? psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot be made", scratch)
                                        : run_all(ctx, &a);
    if (status != PSFM_OK)
        fprintf(stderr, "bench/imc: %s\n", psfm_context_message(ctx));
    if (is_scratch && a.work != NULL && psfm_remove_all(ctx, a.work) != PSFM_OK)
        fprintf(stderr, "bench/imc: %s\n", psfm_context_message(ctx));
    psfm_context_destroy(&ctx);
    return status != PSFM_OK;
}
