/* Observations in the order of the points, and of each point in the order of its track. */
#include "refine/observation_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void psfm_observation_list_free(psfm_observation_list *list) {
    free(list->image);
    free(list->point);
    free(list->xy);
    free(list->sqrt_info);
    *list = (psfm_observation_list){0};
}

/* Information of a keypoint's position; one pixel if nothing is known. */
static void find_information(const psfm_view *view, uint32_t keypoint, double s[3]) {
    static const double pixel[3] = {1.0, 0.0, 1.0};
    memcpy(s, view->sqrt_info == NULL ? pixel : view->sqrt_info[keypoint], sizeof pixel);
}

psfm_status psfm_observation_list_make(psfm_context *ctx, const psfm_match_set *set,
                                       const psfm_structure *structure, bool with_information,
                                       psfm_observation_list *list) {
    const psfm_tracks *tracks = &structure->tracks;
    size_t n = structure->num_points > 0 ? tracks->begin[structure->num_points] : 0;
    psfm_status status;
    psfm_observation_list_free(list);
    if ((status = PSFM_ALLOC(ctx, n, &list->image)) ||
        (status = PSFM_ALLOC(ctx, n, &list->point)) || (status = PSFM_ALLOC(ctx, n, &list->xy)) ||
        (with_information && (status = PSFM_ALLOC(ctx, n, &list->sqrt_info))))
        return status;
    list->num = n;
    for (size_t p = 0; p < structure->num_points; ++p)
        for (size_t k = tracks->begin[p]; k < tracks->begin[p + 1]; ++k) {
            const psfm_view *view = &set->views[tracks->view[k]];
            list->image[k] = tracks->view[k];
            list->point[k] = (uint32_t)p;
            memcpy(list->xy[k], view->keypoints[tracks->keypoint[k]], sizeof list->xy[k]);
            if (list->sqrt_info != NULL)
                find_information(view, tracks->keypoint[k], list->sqrt_info[k]);
        }
    return PSFM_OK;
}
