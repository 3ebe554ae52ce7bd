/* The stages of the rendered scenes. */
#ifndef PSFM_SYNTH_RENDER_SCENES_H
#define PSFM_SYNTH_RENDER_SCENES_H

#include "synth/render.h"
#include "synth/render_stage.h"
#include "synth/world.h"

/* Which image of which scene. */
typedef struct {
    const psfm_plan *plan;
    const psfm_render_options *options;
    size_t image;
    const psfm_synth_pose *pose;
} psfm_take;

/* Add everything that the image can show to an empty stage; failures stay in stage->status. */
void psfm_stage_build_arena(const psfm_take *take, psfm_stage *stage);
void psfm_stage_build_field(const psfm_take *take, psfm_stage *stage);
void psfm_stage_build_room(const psfm_take *take, psfm_stage *stage);
void psfm_stage_build_facade(const psfm_take *take, psfm_stage *stage);
void psfm_stage_build_turntable(const psfm_take *take, psfm_stage *stage);
void psfm_stage_build_statue(const psfm_take *take, psfm_stage *stage);
void psfm_stage_build_board(const psfm_take *take, psfm_stage *stage);
void psfm_stage_build_mug(const psfm_take *take, psfm_stage *stage);

/* Walls, floor and ceiling of the room. */
void psfm_stage_room_shell(const psfm_plan *plan, psfm_stage *stage);

/* A seed for the textures of part `part` of a scene. */
uint32_t psfm_paint_seed(const psfm_plan *plan, uint64_t part);

/* People. A spectator sits (or stands) at `seat`, on the tread of a stand, and looks along the unit
 * vector `ahead` (x, y). Players stand at `foot`. */
void psfm_stage_spectator(psfm_stage *stage, psfm_rng *rng, const double seat[3],
                          const double ahead[2]);
typedef struct {
    double shirt[3], shorts[3];
    const char *number;
} psfm_outfit;
void psfm_stage_player(psfm_stage *stage, psfm_rng *rng, const double foot[2],
                       const psfm_outfit *outfit);

/* The floor of the hall, court and all, in world coordinates from the corner of a rectangle that is
 * centred on the origin; the coat's data are the psfm_render_options. */
void psfm_paint_court(const psfm_surface *surface, double rgb[3]);

/* Share of a sample on the lines of its basketball court, marks and all; metres from its middle. */
double psfm_cover_court_lines(const psfm_texel *texel);

/* Adds people who stand on the court of this image until they and the solids from number `first` on
 * hide the share options->people of the length of lines that the image would show. */
void psfm_stage_crowd(const psfm_take *take, size_t first, psfm_stage *stage);

#endif
