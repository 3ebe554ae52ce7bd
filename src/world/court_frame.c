/* A component has a gauge of its own. Each of its registrations says how it lies over the drawing:
 * rotation and place at once, the size by pairs of registrations, or by the distance of a
 * registered camera from the component's floor. The rotation is the one that most registrations
 * second, size and place are medians; what then is far off was registered wrongly. */
#include "world/court_frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/structure/model_members.h"
#include "court/court_evidence.h"
#include "world/frame.h"

#define SAME_TURN 3.0     /* degrees between registrations that say the same */
#define FLOOR_TURN 5.0    /* degrees between a floor and the vertical */
#define MIN_BASELINE 0.05 /* sizes of the drawing, between centres that tell a length */
#define MAX_MISFIT 0.05   /* sizes of the drawing, of a registration that is where it should be */
#define MIN_SECONDING 3   /* registrations that outvote one */
#define ROUGH 0.2         /* of what is too far */

typedef struct {
    psfm_court_evidence *court;
    psfm_pose_solution *s;
    psfm_refined *refined;
    double size;     /* of the drawing */
    uint32_t *views; /* registered images of the component at hand */
    uint32_t num;
    double *values; /* scratch */
} joining;

static void list_views(joining *j, uint32_t component) {
    j->num = 0;
    for (uint32_t v = 0; v < j->court->num_views; ++v)
        if (j->court->agrees[v] && j->s->poses.component[v] == component)
            j->views[j->num++] = v;
}

/* court_from_component by one registration. */
static void rotation_of(const joining *j, uint32_t v, double G[9]) {
    psfm_mat3_t_mul(j->court->poses[v].R, j->s->poses.cam_from_world[v], G);
}

/* The rotation that most registrations second. */
static void find_rotation(const joining *j, double best[9]) {
    double most = -1.0;
    for (uint32_t a = 0; a < j->num; ++a) {
        double G[9], other[9], sum = 0.0;
        rotation_of(j, j->views[a], G);
        for (uint32_t b = 0; b < j->num; ++b) {
            rotation_of(j, j->views[b], other);
            double off = psfm_degrees(psfm_rotation_angle(G, other)) / SAME_TURN;
            sum += fmax(1.0 - off * off, 0.0);
        }
        if (sum > most) {
            most = sum;
            memcpy(best, G, sizeof other);
        }
    }
}

/* The plane of the component with most points that lies as the drawing does; NULL if none. */
static const psfm_scene_plane *find_floor(const joining *j, uint32_t component, const double G[9]) {
    const psfm_scene_planes *planes = &j->refined->planes;
    for (uint32_t k = 0; k < planes->num_planes; ++k) {
        double up[3];
        psfm_mat3_mul_vec(G, planes->planes[k].normal, up);
        if (planes->planes[k].component == component && fabs(up[2]) > cos(psfm_radians(FLOOR_TURN)))
            return &planes->planes[k];
    }
    return NULL;
}

static double distance_of(const double a[3], const double b[3]) {
    double d[3];
    psfm_sub3(a, b, d);
    return psfm_norm3(d);
}

/* Metres of a unit of the component; 0 if nothing tells. At most three partners a registration. */
static double find_scale(const joining *j, uint32_t component, const double G[9]) {
    const psfm_court_pose *known = j->court->poses;
    const psfm_scene_plane *floor = find_floor(j, component, G);
    size_t num = 0;
    for (uint32_t a = 0; a < j->num; ++a) {
        uint32_t v = j->views[a];
        for (uint32_t k = 1; k <= 3 && a + k < j->num; ++k) {
            uint32_t w = j->views[a + k];
            double metres = distance_of(known[v].center, known[w].center);
            double units = distance_of(j->s->poses.center[v], j->s->poses.center[w]);
            if (metres > MIN_BASELINE * j->size && units > 0.0)
                j->values[num++] = metres / units;
        }
        double height =
            floor == NULL ? 0.0
                          : fabs(psfm_dot3(floor->normal, j->s->poses.center[v]) - floor->distance);
        if (height > 0.0)
            j->values[num++] = known[v].center[2] / height;
    }
    return num == 0 ? 0.0 : psfm_median(j->values, num);
}

static void find_place(const joining *j, psfm_sim3 *frame) {
    for (int d = 0; d < 3; ++d) {
        for (uint32_t a = 0; a < j->num; ++a) {
            double at[3];
            psfm_mat3_mul_vec(frame->R, j->s->poses.center[j->views[a]], at);
            j->values[a] = j->court->poses[j->views[a]].center[d] - frame->scale * at[d];
        }
        frame->t[d] = psfm_median(j->values, j->num);
    }
}

static void take_registration(const joining *j, uint32_t v) {
    memcpy(j->s->poses.cam_from_world[v], j->court->poses[v].R, sizeof *j->s->poses.cam_from_world);
    memcpy(j->s->poses.center[v], j->court->poses[v].center, sizeof *j->s->poses.center);
}

/* How far a registration is from where its component is, in units of what is too far. */
static double misfit_of(const joining *j, uint32_t v, const psfm_sim3 *frame) {
    double center[3], R[9];
    psfm_sim3_apply(frame, j->s->poses.center[v], center);
    psfm_mat3_mul_t(j->s->poses.cam_from_world[v], frame->R, R);
    double turn = psfm_degrees(psfm_rotation_angle(j->court->poses[v].R, R));
    return fmax(distance_of(j->court->poses[v].center, center) / (MAX_MISFIT * j->size),
                turn / SAME_TURN);
}

/* Whether a component is over the drawing as its registrations say: all but a minority of them. */
static bool is_placed(const joining *j, const psfm_sim3 *frame) {
    uint32_t fitting = 0;
    for (uint32_t a = 0; a < j->num; ++a)
        fitting += misfit_of(j, j->views[a], frame) < 1.0;
    return fitting == j->num || (fitting >= MIN_SECONDING && 2 * fitting > j->num);
}

/* Whether an image is turned against its registration, which the consensus of rotations agreed
 * with: matches to the court's duplicate brought it there afterwards. */
static bool is_turned(const joining *j, uint32_t v) {
    double turn = psfm_rotation_angle(j->court->poses[v].R, j->s->poses.cam_from_world[v]);
    return psfm_degrees(turn) > SAME_TURN;
}

/* Images that are turned leave the component, to join with their registration. Other registrations
 * that are not where the component is lose their flag; images that are only roughly where theirs
 * says start from there. */
static void move_views(const joining *j, const psfm_sim3 *frame) {
    static const psfm_sim3 identity = {1.0, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0}};
    psfm_component_move(frame, j->s->poses.component[j->views[0]], j->s, j->refined);
    for (uint32_t a = 0; a < j->num; ++a) {
        uint32_t v = j->views[a];
        double misfit = misfit_of(j, v, &identity);
        if (is_turned(j, v)) {
            j->s->poses.component[v] = PSFM_NO_COMPONENT;
            continue;
        }
        j->court->agrees[v] = misfit < 1.0;
        if (misfit < 1.0 && misfit > ROUGH)
            take_registration(j, v);
    }
}

/* Moves a component over the drawing and returns true, or leaves it and returns false. */
static bool place_component(joining *j, uint32_t component) {
    psfm_sim3 frame;
    find_rotation(j, frame.R);
    frame.scale = find_scale(j, component, frame.R);
    if (!(frame.scale > 0.0))
        return false;
    find_place(j, &frame);
    if (!is_placed(j, &frame))
        return false;
    move_views(j, &frame);
    return true;
}

/* A component more, without facts. */
static psfm_status add_component(psfm_context *ctx, psfm_pose_solution *s) {
    psfm_component_facts *facts = NULL;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)s->num_components + 1, &facts);
    if (status != PSFM_OK)
        return status;
    if (s->num_components > 0)
        memcpy(facts, s->components, s->num_components * sizeof *facts);
    free(s->components);
    s->components = facts;
    ++s->num_components;
    return PSFM_OK;
}

/* Gives the images of a component another one. */
static void relabel_component(const joining *j, uint32_t from, uint32_t to) {
    for (uint32_t v = 0; v < j->court->num_views; ++v)
        if (j->s->poses.component[v] == from)
            j->s->poses.component[v] = to;
}

/* Components with registrations become one; those that contradict their registrations fall apart,
 * and their points go. Registered images without a component join with their own poses. */
static psfm_status join_components(psfm_context *ctx, joining *j, uint32_t *component) {
    uint32_t num = j->s->num_components, target = num;
    psfm_status status = add_component(ctx, j->s);
    for (uint32_t c = 0; c < num && status == PSFM_OK; ++c) {
        list_views(j, c);
        if (j->num > 0)
            relabel_component(j, c, place_component(j, c) ? target : PSFM_NO_COMPONENT);
    }
    if (status == PSFM_OK)
        status =
            psfm_members_assign(ctx, &j->s->poses, &j->refined->structure, &j->refined->planes);
    for (uint32_t v = 0; v < j->court->num_views && status == PSFM_OK; ++v) {
        if (!j->court->agrees[v] || psfm_has_pose(&j->s->poses, v))
            continue;
        take_registration(j, v);
        j->s->poses.component[v] = target;
    }
    if (status == PSFM_OK)
        status = psfm_pose_solution_compact(ctx, j->s);
    *component = PSFM_NO_COMPONENT;
    for (uint32_t v = 0; v < j->court->num_views && status == PSFM_OK; ++v)
        if (j->court->agrees[v] && psfm_has_pose(&j->s->poses, v))
            *component = j->s->poses.component[v];
    return status;
}

psfm_status psfm_court_join(psfm_context *ctx, psfm_court_evidence *court,
                            psfm_pose_solution *solution, psfm_refined *refined,
                            uint32_t *component) {
    joining j = {.court = court,
                 .s = solution,
                 .refined = refined,
                 .size = psfm_drawing_size(court->drawing)};
    psfm_status status = PSFM_ALLOC(ctx, court->num_views, &j.views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 4 * (size_t)court->num_views, &j.values);
    for (uint32_t v = 0; v < court->num_views && status == PSFM_OK; ++v)
        if (court->agrees[v])
            status = psfm_court_pose_take_turn(ctx, court->drawing, court->quarters[v],
                                               &court->poses[v]);
    if (status == PSFM_OK)
        status = join_components(ctx, &j, component);
    free(j.views);
    free(j.values);
    return status;
}

/* ---- edges to the drawing ---- */

/* A registration is an edge between an image and the drawing. Of a court that looks the same after
 * half a turn it has two candidates, and which of them is true shows only in how images go
 * together: by the pairs between them, and by their floors. So all of it is one consensus (see
 * core/rotations/rotation_consensus.h): pairs that contradict registrations lose against them and
 * the other way round, images without matches rest on the drawing, and pairs that were matched
 * to the court's duplicate are outvoted by floors. */

#define REGISTERED 2.0   /* weight of a registration, in pairs with the median of the inliers */
#define FLOOR 0.5        /* weight of two floors that clearly go together one way */
#define CLEAR_MARGIN 0.1 /* of their correlation */

static void turned_rotation(const psfm_court_evidence *court, uint32_t view, int quarters,
                            double R[9]) {
    double center[3];
    psfm_turn_pose(court->middle, quarters, court->poses[view].R, court->poses[view].center, R,
                   center);
}

static uint32_t count_registered(const psfm_court_evidence *court) {
    uint32_t num = 0;
    for (uint32_t v = 0; v < court->num_views; ++v)
        num += psfm_court_accepts(court, v);
    return num;
}

static bool is_useful(const psfm_court_evidence *court, const psfm_turn_link *link) {
    return link->margin > 0.0 && psfm_court_accepts(court, link->view1) &&
           psfm_court_accepts(court, link->view2);
}

static uint32_t count_links(const psfm_court_evidence *court) {
    uint32_t num = 0;
    for (size_t k = 0; k < court->num_links; ++k)
        num += is_useful(court, &court->links[k]);
    return num;
}

/* Adds an edge without candidates, and then a candidate to the last one. */
static void add_edge(psfm_extra_edges *extra, uint32_t e, uint32_t node1, uint32_t node2,
                     double weight) {
    extra->node1[e] = node1;
    extra->node2[e] = node2;
    extra->list.weight[e] = weight;
    extra->list.begin[e + 1] = extra->list.begin[e];
}

static void add_candidate(psfm_extra_edges *extra, uint32_t e, const double R_21[9],
                          double confidence) {
    uint32_t at = extra->list.begin[e + 1]++;
    memcpy(extra->list.R_21[at], R_21, sizeof *extra->list.R_21);
    extra->list.confidence[at] = confidence;
}

/* Two floors are one edge with one candidate: the turn under which they correlate most. */
static void add_links(const psfm_court_evidence *court, psfm_extra_edges *extra) {
    for (size_t k = 0; k < court->num_links; ++k) {
        const psfm_turn_link *link = &court->links[k];
        double R1[9], R2[9], R_21[9];
        if (!is_useful(court, link))
            continue;
        turned_rotation(court, link->view1, 0, R1);
        turned_rotation(court, link->view2, link->quarters, R2);
        psfm_mat3_mul_t(R2, R1, R_21);
        add_edge(extra, extra->num_between, link->view1, link->view2, FLOOR);
        add_candidate(extra, extra->num_between++, R_21, fmin(link->margin / CLEAR_MARGIN, 1.0));
    }
}

static void add_registrations(const psfm_court_evidence *court, psfm_extra_edges *extra) {
    for (uint32_t v = 0; v < court->num_views; ++v) {
        const uint32_t e = extra->num_between + extra->num_to_world;
        if (!psfm_court_accepts(court, v))
            continue;
        add_edge(extra, e, v, court->num_views, REGISTERED);
        for (int t = 0; t < court->num_turns; ++t) {
            double R[9], back[9];
            turned_rotation(court, v, court->turns[t], R);
            psfm_mat3_transpose(R, back);
            add_candidate(extra, e, back, 1.0);
        }
        ++extra->num_to_world;
    }
}

psfm_status psfm_court_edges_make(psfm_context *ctx, const psfm_court_evidence *court,
                                  psfm_extra_edges *extra) {
    const uint32_t num_links = count_links(court), num = count_registered(court);
    psfm_status status = psfm_extra_edges_init(ctx, num_links + num,
                                               num_links + num * (uint32_t)court->num_turns, extra);
    if (status == PSFM_OK) {
        add_links(court, extra);
        add_registrations(court, extra);
    }
    return status;
}

void psfm_court_edges_take(const psfm_extra_edges *extra, psfm_court_evidence *court) {
    for (uint32_t e = extra->num_between; e < extra->num_between + extra->num_to_world; ++e) {
        const uint32_t v = extra->node1[e];
        court->agrees[v] = extra->chosen[e] != UINT32_MAX;
        if (court->agrees[v])
            court->quarters[v] = court->turns[extra->chosen[e]];
    }
}
