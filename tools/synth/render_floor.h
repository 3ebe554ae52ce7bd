/* What lies on the floor of an arena besides its wood: the lines of games, their wear,
 * advertisements and the glare of lamps. Coordinates of texels are metres from the middle of the
 * court. */
#ifndef PSFM_SYNTH_RENDER_FLOOR_H
#define PSFM_SYNTH_RENDER_FLOOR_H

#include "synth/render_solid.h"

#define PSFM_HALL_HEIGHT 15.0

/* Lamps on the ceiling of the hall: so many metres in every period, from its corner. */
#define PSFM_LAMP_PERIOD_X 6.0
#define PSFM_LAMP_ON_X 1.2
#define PSFM_LAMP_PERIOD_Y 4.0
#define PSFM_LAMP_ON_Y 1.6

/* Games whose lines can be painted, in the order of the option's choices. */
typedef enum {
    PSFM_GAME_BASKETBALL,
    PSFM_GAME_NONE,
    PSFM_GAME_VOLLEYBALL,
    PSFM_GAME_HANDBALL,
    PSFM_GAME_FUTSAL,
    PSFM_GAME_TENNIS,
    PSFM_GAME_BADMINTON,
} psfm_game;

/* NULL-terminated; a game's name is that of its court, but for "none". */
extern const char *const psfm_game_names[];

/* How many games can be added to the one that is played: volleyball, badminton, handball, futsal.
 */
#define PSFM_MAX_OTHER_GAMES 4

/* Width of a game's lines by its rules, metres. */
double psfm_game_line_width(psfm_game game);

/* Share of a sample on the lines of a game, as its court's table has them (src/court). */
double psfm_cover_game(const psfm_texel *texel, psfm_game game);

/* Paints the lines of `num` games that are not played here, each in its own colour, with the share
 * `left` of their paint. */
void psfm_paint_other_games(const psfm_texel *texel, int num, double left, double rgb[3]);

/* Share of the paint that is left at a place: 1 without wear; otherwise about the share `wear` is
 * gone, in stretches of a metre and in chips, and the rest has faded. */
double psfm_wear_left(const psfm_texel *texel, uint32_t seed, double wear);

/* Paints `num` rectangles with an outline and a name at random places of the court. */
void psfm_paint_advertisements(const psfm_texel *texel, int num, uint32_t seed, double rgb[3]);

/* Adds the light of the ceiling's lamps that a floor from -half to half mirrors towards the camera:
 * `strength` in the middle of a patch. */
void psfm_add_glare(const psfm_surface *surface, const double half[2], double strength,
                    double rgb[3]);

#endif
