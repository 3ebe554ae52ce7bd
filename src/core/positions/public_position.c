/* The front of planarsfm/position.h. */
#include "planarsfm/position.h"

#include <math.h>

#include "core/base/public_input.h"
#include "core/linalg/vec3.h"
#include "core/posegraph/public_edges.h"
#include "core/positions/position_lud.h"

static psfm_status take_options(psfm_context *ctx, const psfm_lud_settings *given,
                                psfm_lud_options *o) {
    psfm_lud_settings known;
    psfm_status status = psfm_take_input(ctx, given, &known, sizeof known);
    psfm_options_init(&psfm_lud_option_table, o);
    o->rounds = known.rounds < 0 ? 0 : psfm_int_or(known.rounds, o->rounds);
    o->angle_deg = psfm_value_or(known.angle_deg, o->angle_deg);
    o->max_iterations = psfm_int_or(known.max_iterations, o->max_iterations);
    o->tolerance = psfm_value_or(known.tolerance, o->tolerance);
    if (status == PSFM_OK && !(o->angle_deg > 0.0 && o->max_iterations > 0 && o->tolerance > 0.0))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "angle_deg, max_iterations and tolerance must be positive");
    return status == PSFM_OK ? psfm_options_check(ctx, &psfm_lud_option_table, o) : status;
}

static psfm_status check_directions(psfm_context *ctx, uint32_t num, const double *direction) {
    psfm_status status = PSFM_REQUIRE_ARRAY(ctx, direction, num);
    for (size_t e = 0; status == PSFM_OK && e < num; ++e)
        if (!(fabs(psfm_norm3(direction + 3 * e) - 1.0) < 1e-6))
            status =
                psfm_fail(ctx, PSFM_ERR_ARGUMENT, "the direction of edge %zu is no unit vector", e);
    return status;
}

psfm_status psfm_lud_positions(psfm_context *ctx, const psfm_graph *graph, const double *direction,
                               const psfm_lud_settings *options, double *centers,
                               psfm_lud_result *result) {
    psfm_public_edges edges;
    psfm_lud_options o;
    psfm_lud_stats stats = {0};
    psfm_status status = psfm_public_edges_init(ctx, graph, false, &edges);
    if (status == PSFM_OK)
        status = check_directions(ctx, edges.topology.num_edges, direction);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, centers, edges.topology.num_nodes);
    if (status == PSFM_OK)
        status = take_options(ctx, options, &o);
    if (status == PSFM_OK)
        status = psfm_positions_lud(ctx, &edges.topology, (const double(*)[3])direction, &o,
                                    (double(*)[3])centers, &stats);
    if (status == PSFM_OK) {
        psfm_lud_result made = {sizeof made, stats.iterations, stats.converged, stats.cost};
        psfm_give_output(&made, result);
    }
    psfm_public_edges_free(&edges);
    return status;
}
