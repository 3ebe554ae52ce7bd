/* A problem put together by calls: everything is copied and checked as it comes, sorted by id, and
 * made into a match set at the end. */
#include "sfm/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/camera/camera_model.h"

psfm_problem *psfm_problem_create(void) {
    return calloc(1, sizeof(psfm_problem));
}

void psfm_problem_destroy(psfm_problem **problem) {
    if (problem == NULL || *problem == NULL)
        return;
    psfm_match_set_free(&(*problem)->set);
    free((*problem)->camera_ids);
    free((*problem)->seen[0]);
    free((*problem)->seen[1]);
    free(*problem);
    *problem = NULL;
}

psfm_status psfm_problem_add_camera(psfm_context *ctx, psfm_problem *problem,
                                    const psfm_camera *camera) {
    uint32_t place;
    psfm_status status = psfm_check_given(ctx, "psfm_problem_add_camera", problem != NULL);
    if (status == PSFM_OK)
        status = psfm_camera_check_lens(ctx, camera);
    if (status != PSFM_OK)
        return status;
    psfm_match_set *set = &problem->set;
    if (psfm_match_set_find_camera(set, camera->id, &place) || camera->id == UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "the camera id %" PRIu32 " is %s", camera->id,
                         camera->id == UINT32_MAX ? "not allowed" : "given twice");
    status = PSFM_RESERVE(ctx, &set->cameras, &problem->cameras_capacity, set->num_cameras + 1);
    if (status != PSFM_OK)
        return status;
    memmove(set->cameras + place + 1, set->cameras + place,
            (set->num_cameras - place) * sizeof *set->cameras);
    set->cameras[place] = *camera;
    ++set->num_cameras;
    return PSFM_OK;
}

/* The parts of a view; on failure nothing is left. */
static psfm_status make_view(psfm_context *ctx, uint32_t id, const char *name, size_t num_keypoints,
                             const double *keypoints, psfm_view *view) {
    char number[32];
    snprintf(number, sizeof number, "image_%" PRIu32, id);
    *view = (psfm_view){.id = id, .num_keypoints = num_keypoints};
    psfm_status status = psfm_strdup(ctx, name == NULL ? number : name, &view->name);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_keypoints, &view->keypoints);
    if (status == PSFM_OK && num_keypoints > 0)
        memcpy(view->keypoints, keypoints, num_keypoints * sizeof *view->keypoints);
    if (status != PSFM_OK) {
        free(view->name);
        free(view->keypoints);
    }
    return status;
}

static psfm_status check_image(psfm_context *ctx, const psfm_problem *problem, uint32_t image_id,
                               uint32_t camera_id, const char *name, size_t num_keypoints,
                               const double *keypoints) {
    const psfm_match_set *set = &problem->set;
    uint32_t place;
    if (psfm_match_set_find_view(set, image_id, &place) || image_id == UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "the image id %" PRIu32 " is %s", image_id,
                         image_id == UINT32_MAX ? "not allowed" : "given twice");
    if (!psfm_match_set_find_camera(set, camera_id, &place))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "image %" PRIu32 ": there is no camera %" PRIu32 " yet", image_id,
                         camera_id);
    if (num_keypoints >= UINT32_MAX || (num_keypoints > 0 && keypoints == NULL))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "image %" PRIu32 ": no keypoints, or too many (%zu)", image_id,
                         num_keypoints);
    if (name != NULL && name[0] == '\0')
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "image %" PRIu32 ": its name is empty", image_id);
    return PSFM_OK;
}

psfm_status psfm_problem_add_image(psfm_context *ctx, psfm_problem *problem, uint32_t image_id,
                                   uint32_t camera_id, const char *name, size_t num_keypoints,
                                   const double *keypoints) {
    psfm_view view;
    psfm_status status = psfm_check_given(ctx, "psfm_problem_add_image", problem != NULL);
    if (status == PSFM_OK)
        status = check_image(ctx, problem, image_id, camera_id, name, num_keypoints, keypoints);
    if (status != PSFM_OK)
        return status;
    psfm_match_set *set = &problem->set;
    status = PSFM_RESERVE(ctx, &set->views, &problem->views_capacity, set->num_views + 1);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &problem->camera_ids, &problem->camera_ids_capacity,
                              set->num_views + 1);
    if (status == PSFM_OK)
        status = make_view(ctx, image_id, name, num_keypoints, keypoints, &view);
    if (status != PSFM_OK)
        return status;
    uint32_t place;
    (void)psfm_match_set_find_view(set, image_id, &place); /* where it belongs */
    size_t behind = set->num_views - place;
    memmove(set->views + place + 1, set->views + place, behind * sizeof *set->views);
    memmove(problem->camera_ids + place + 1, problem->camera_ids + place,
            behind * sizeof *problem->camera_ids);
    set->views[place] = view;
    problem->camera_ids[place] = camera_id;
    ++set->num_views;
    return PSFM_OK;
}

/* Copies the matches, the image with the lower id first, without repeated keypoints. */
static psfm_status take_matches(psfm_context *ctx, psfm_problem *problem, const psfm_view *view[2],
                                size_t num, const uint32_t *matches, psfm_match_pair *pair) {
    bool swapped = view[0]->id > view[1]->id;
    for (int side = 0; side < 2; ++side) {
        psfm_status status = PSFM_RESERVE(ctx, &problem->seen[side], &problem->seen_capacity[side],
                                          view[side]->num_keypoints + 1);
        if (status != PSFM_OK)
            return status;
    }
    psfm_status status = PSFM_ALLOC(ctx, num, &pair->matches);
    if (status != PSFM_OK)
        return status;
    ++problem->round;
    for (size_t k = 0; k < num; ++k) {
        uint32_t a = matches[2 * k], b = matches[2 * k + 1];
        if (a >= view[0]->num_keypoints || b >= view[1]->num_keypoints) {
            free(pair->matches);
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "match %zu of images %" PRIu32 " and %" PRIu32 ": keypoints %" PRIu32
                             " and %" PRIu32 " of %zu and %zu",
                             k, view[0]->id, view[1]->id, a, b, view[0]->num_keypoints,
                             view[1]->num_keypoints);
        }
        if (problem->seen[0][a] == problem->round || problem->seen[1][b] == problem->round)
            continue;
        problem->seen[0][a] = problem->seen[1][b] = problem->round;
        pair->matches[pair->num_matches][0] = swapped ? b : a;
        pair->matches[pair->num_matches++][1] = swapped ? a : b;
    }
    return PSFM_OK;
}

psfm_status psfm_problem_add_matches(psfm_context *ctx, psfm_problem *problem, uint32_t image_id1,
                                     uint32_t image_id2, size_t num_matches,
                                     const uint32_t *matches) {
    uint32_t ids[2] = {image_id1, image_id2};
    const psfm_view *view[2];
    psfm_status status = psfm_check_given(ctx, "psfm_problem_add_matches", problem != NULL);
    if (status != PSFM_OK)
        return status;
    psfm_match_set *set = &problem->set;
    for (int k = 0; k < 2; ++k) {
        uint32_t place;
        if (!psfm_match_set_find_view(set, ids[k], &place))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "matches of an image %" PRIu32 " that was not added", ids[k]);
        view[k] = &set->views[place];
    }
    if (image_id1 == image_id2 || (num_matches > 0 && matches == NULL))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "matches of image %" PRIu32 " with itself, or none given", image_id1);
    bool swapped = image_id1 > image_id2;
    psfm_match_pair pair = {.view1 = swapped ? image_id2 : image_id1,
                            .view2 = swapped ? image_id1 : image_id2};
    status = PSFM_RESERVE(ctx, &set->pairs, &problem->pairs_capacity, set->num_pairs + 1);
    if (status == PSFM_OK)
        status = take_matches(ctx, problem, view, num_matches, matches, &pair);
    if (status == PSFM_OK)
        set->pairs[set->num_pairs++] = pair;
    return status;
}

static psfm_status copy_views(psfm_context *ctx, const psfm_problem *problem, psfm_match_set *set) {
    const psfm_match_set *from = &problem->set;
    psfm_status status = PSFM_ALLOC(ctx, from->num_cameras, &set->cameras);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, from->num_views, &set->views);
    if (status != PSFM_OK)
        return status;
    if (from->num_cameras > 0)
        memcpy(set->cameras, from->cameras, from->num_cameras * sizeof *set->cameras);
    set->num_cameras = from->num_cameras;
    for (size_t v = 0; status == PSFM_OK && v < from->num_views; ++v) {
        const psfm_view *view = &from->views[v];
        status = make_view(ctx, view->id, view->name, view->num_keypoints,
                           (const double *)view->keypoints, &set->views[v]);
        set->num_views += status == PSFM_OK;
        if (status == PSFM_OK)
            (void)psfm_match_set_find_camera(from, problem->camera_ids[v],
                                             &set->views[v].camera_idx);
    }
    return status;
}

/* Pairs with matches, by view indices, sorted. */
static psfm_status copy_pairs(psfm_context *ctx, const psfm_match_set *from, psfm_match_set *set) {
    psfm_status status = PSFM_ALLOC(ctx, from->num_pairs, &set->pairs);
    for (size_t p = 0; status == PSFM_OK && p < from->num_pairs; ++p) {
        const psfm_match_pair *pair = &from->pairs[p];
        psfm_match_pair *copy = &set->pairs[set->num_pairs];
        *copy = (psfm_match_pair){.num_matches = pair->num_matches};
        (void)psfm_match_set_find_view(from, pair->view1, &copy->view1);
        (void)psfm_match_set_find_view(from, pair->view2, &copy->view2);
        if (pair->num_matches == 0)
            continue;
        status = PSFM_ALLOC(ctx, pair->num_matches, &copy->matches);
        if (status == PSFM_OK) {
            memcpy(copy->matches, pair->matches, pair->num_matches * sizeof *copy->matches);
            ++set->num_pairs;
        }
    }
    if (status == PSFM_OK)
        qsort(set->pairs, set->num_pairs, sizeof *set->pairs, psfm_match_pair_compare);
    for (size_t p = 1; status == PSFM_OK && p < set->num_pairs; ++p)
        if (psfm_match_pair_compare(&set->pairs[p - 1], &set->pairs[p]) == 0)
            status =
                psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                          "the pair of images %" PRIu32 " and %" PRIu32 " was added twice",
                          set->views[set->pairs[p].view1].id, set->views[set->pairs[p].view2].id);
    return status;
}

static psfm_status check_names(psfm_context *ctx, const psfm_match_set *set) {
    const psfm_view *namesakes[2];
    psfm_status status = psfm_match_set_find_namesakes(ctx, set, namesakes);
    if (status == PSFM_OK && namesakes[0] != NULL)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "images %" PRIu32 " and %" PRIu32 " have the same name %.200s",
                           namesakes[0]->id, namesakes[1]->id, namesakes[0]->name);
    return status;
}

psfm_status psfm_problem_compile(psfm_context *ctx, const psfm_problem *problem,
                                 psfm_match_set *set) {
    *set = (psfm_match_set){0};
    psfm_status status = copy_views(ctx, problem, set);
    if (status == PSFM_OK)
        status = check_names(ctx, set);
    if (status == PSFM_OK)
        status = copy_pairs(ctx, &problem->set, set);
    return status;
}
