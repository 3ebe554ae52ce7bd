/* Poses fitted to line pixels whose camera is known. Tennis courts have straight lines only, so
 * that line pixels are exactly where the drawing's samples look for them. */
#include "court/pose_fit.h"

#include "core/linalg/loss.h"
#include "court/court_evidence.h"
#include "unit/court/line_floor.h"

static psfm_drawing tennis;

static double away_from(const line_floor *f, const psfm_court_fit *fit) {
    double d[3];
    psfm_sub3(fit->center, f->center, d);
    return psfm_norm3(d);
}

/* ---- without noise ---- */

static void poses_are_exact_without_noise(void **state) {
    psfm_context *ctx = *state;
    static const double places[3][2] = {{-6.0, -14.0}, {16.0, 2.0}, {3.0, 13.0}};
    for (int k = 0; k < 3; ++k) {
        line_floor f = {.noise = 0.0};
        psfm_court_fit fit;
        aim_floor(&f, places[k][0], places[k][1], 5.0 + k, 1.0, 0.5);
        draw_floor(&f, &tennis);
        open_floor(ctx, &f, &tennis);
        psfm_court_guess guess = guess_floor(&f, 0.004, 0.05);
        assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
        assert_below(psfm_rotation_angle(fit.R, f.R), 2e-7);
        assert_below(away_from(&f, &fit), 5e-6);
        assert_below(fit.rms, 2e-5);
        assert_true(fit.focal == 1.0 && fit.sigma_focal == 0.0);
        assert_true(fit.grow[0] == 0.0 && fit.sigma_grow[0] == 0.0);
        close_floor(&f);
    }
}

/* A camera said to have a focal length that is 3 % too short. */
static void focal_lengths_are_exact_without_noise(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.0};
    psfm_court_fit fit;
    open_beside(ctx, &tennis, &tennis, &f);
    psfm_camera told = f.camera;
    told.params[0] *= 0.97;
    told.params[1] *= 0.97;
    f.job.camera = &told;
    f.job.free_focal = true;
    psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
    guess.focal = 1.02;
    assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
    assert_close(0.97 * fit.focal, 1.0, 2e-6);
    assert_below(psfm_rotation_angle(fit.R, f.R), 2e-6);
    assert_below(away_from(&f, &fit), 1e-4);
    assert_true(fit.sigma_focal > 0.0 && fit.sigma_focal < 1e-5);
    close_floor(&f);
}

/* A tennis court whose rules leave the size free, painted of another one. */
static void open_free(psfm_context *ctx, const double grow[2], psfm_drawing *sought,
                      line_floor *f) {
    psfm_drawing painted;
    psfm_court court;
    assert_true(psfm_court_get("tennis", &court));
    memcpy(court.least, (double[2]){20.0, 9.0}, sizeof court.least);
    memcpy(court.most, (double[2]){26.0, 13.0}, sizeof court.most);
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, sought));
    assert_ok(ctx, psfm_drawing_copy(ctx, sought, &painted));
    psfm_drawing_resize(&painted, (double[2]){court.length + grow[0], court.width + grow[1]});
    open_beside(ctx, &painted, sought, f);
    psfm_drawing_free(&painted);
}

/* Found with the pose, and never beyond what the rules allow. */
static void sizes_are_found_with_the_pose(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.0};
    psfm_drawing sought;
    psfm_court_fit fit;
    open_free(ctx, (double[2]){0.7, -0.4}, &sought, &f);
    psfm_court_guess guess = guess_floor(&f, 0.001, 0.01);
    guess.grow[0] = 0.5;
    guess.grow[1] = -0.3;
    assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
    assert_close(fit.grow[0], 0.7, 1e-3);
    assert_close(fit.grow[1], -0.4, 1e-3);
    assert_below(away_from(&f, &fit), 1e-3);
    for (int d = 0; d < 2; ++d)
        assert_true(fit.sigma_grow[d] > 0.0 && fit.sigma_grow[d] < 0.01);
    sought.most[0] = 24.0;
    assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
    assert_true(fit.grow[0] <= 24.0 - sought.size[0] + 1e-12);
    close_floor(&f);
    psfm_drawing_free(&sought);
}

/* Of one end alone the length is not known: the rules hold it, as tightly as a quarter of what they
 * leave free, and the lines the width. */
static void what_lines_leave_open_the_rules_hold(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.2, .piece = 10};
    psfm_drawing sought;
    psfm_court_fit fit;
    for (size_t k = 0; k < tennis.num_parts; ++k)
        f.hidden |= (uint64_t)(tennis.parts[k].a[0] + tennis.parts[k].b[0] < 0.0) << k;
    open_free(ctx, (double[2]){0.0, 0.2}, &sought, &f);
    psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
    guess.grow[0] = 0.2; /* and the camera as far from the end as before */
    guess.center[0] += 0.1;
    assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
    assert_true(fit.sigma_grow[0] > 0.25 * 6.0 && fit.sigma_grow[0] < 0.32 * 6.0);
    assert_true(fit.grow[0] > 0.0 && fit.grow[0] < 0.199); /* drawn to the usual size */
    assert_close(fit.grow[1], 0.2, 0.05);
    assert_true(fit.sigma_grow[1] < 0.05);
    close_floor(&f);
    psfm_drawing_free(&sought);
}

/* A guess takes the size with which it explains most, whichever end of the court it is right at. */
static void guesses_take_the_size_that_explains_most(void **state) {
    psfm_context *ctx = *state;
    static const double grow[2] = {-1.27, 0.53}; /* from the least sizes by quarters of a metre */
    for (int anchor = -1; anchor <= 1; ++anchor) {
        line_floor f = {.noise = 0.0};
        psfm_drawing sought;
        open_free(ctx, grow, &sought, &f);
        psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
        guess.center[0] -= 0.5 * anchor * grow[0]; /* right where that end is of the usual size */
        psfm_court_guess_size(&f.job, &guess);
        assert_close(guess.grow[0], grow[0], 0.13);
        assert_close(guess.grow[1], grow[1], 0.13);
        assert_close(guess.center[0], f.center[0], 0.13);
        assert_true(guess.center[1] == f.center[1] && guess.center[2] == f.center[2]);
        close_floor(&f);
        psfm_drawing_free(&sought);
    }
}

/* A court cannot be told from itself after half a turn: the same evidence, pixel by pixel. */
static void half_a_turn_fits_as_well(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.3};
    psfm_court_fit fit, turned;
    double middle[2], R[9], center[3];
    open_beside(ctx, &tennis, &tennis, &f);
    psfm_court_guess guess = guess_floor(&f, 0.002, 0.02), other = guess;
    psfm_drawing_middle(&tennis, middle);
    psfm_turn_pose(middle, 2, guess.R, guess.center, other.R, other.center);
    assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
    assert_true(psfm_court_fit_guess(&f.job, &other, &turned));
    psfm_turn_pose(middle, 2, fit.R, fit.center, R, center);
    for (int d = 0; d < 3; ++d) {
        assert_close(turned.center[d], center[d], 1e-7);
        assert_close(turned.sigma_center[d], fit.sigma_center[d], 0.02 * fit.sigma_center[d]);
    }
    assert_close(turned.score, fit.score, 1e-3 * fit.score);
    assert_below(psfm_court_fit_offset(&f.job, &fit, &turned), 1e5); /* other parts of the court */
    close_floor(&f);
}

/* ---- with noise ---- */

/* Squared errors over variances, on average of all draws. Pieces that share their error across the
 * border of two bundles, and samples that choose the nearest of several line pixels, make the
 * variances too small by a factor of up to two. */
static void sigmas_hold_on_repeated_draws(void **state) {
    psfm_context *ctx = *state;
    enum { DRAWS = 60 };
    double sum[7] = {0.0}, all = 0.0;
    for (uint64_t draw = 0; draw < DRAWS; ++draw) {
        line_floor f = {.noise = 0.4, .piece = 10, .seed = draw};
        psfm_court_fit fit;
        double off[9], turn[3], away[3];
        open_beside(ctx, &tennis, &tennis, &f);
        f.job.free_focal = true;
        psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
        assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
        psfm_mat3_mul_t(fit.R, f.R, off);
        psfm_rotation_log(off, turn);
        psfm_sub3(fit.center, f.center, away);
        for (int d = 0; d < 3; ++d) {
            sum[d] += turn[d] * turn[d] / (fit.sigma_turn[d] * fit.sigma_turn[d] * DRAWS);
            sum[3 + d] += away[d] * away[d] / (fit.sigma_center[d] * fit.sigma_center[d] * DRAWS);
        }
        sum[6] += log(fit.focal) * log(fit.focal) / (fit.sigma_focal * fit.sigma_focal * DRAWS);
        close_floor(&f);
    }
    for (int k = 0; k < 7; ++k) { /* a mean has a deviation of 0.2 of itself */
        assert_true(sum[k] > 0.7 && sum[k] < 3.0);
        all += sum[k] / 7.0;
    }
    assert_true(all > 1.0 && all < 2.3);
}

/* Twice the noise: twice the deviations, of the line pixels and of the pose. */
static void deviations_go_with_the_noise(void **state) {
    psfm_context *ctx = *state;
    psfm_court_fit fits[2];
    for (int k = 0; k < 2; ++k) {
        line_floor f = {.noise = k == 0 ? 0.1 : 0.2, .piece = 10, .seed = 4};
        open_beside(ctx, &tennis, &tennis, &f);
        psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
        assert_true(psfm_court_fit_guess(&f.job, &guess, &fits[k]));
        assert_close(fits[k].rms, f.noise, 0.2 * f.noise);
        close_floor(&f);
    }
    assert_close(fits[1].rms / fits[0].rms, 2.0, 0.1);
    assert_close(fits[1].noise / fits[0].noise, 2.0, 0.3);
    for (int d = 0; d < 3; ++d) {
        assert_close(fits[1].sigma_center[d] / fits[0].sigma_center[d], 2.0, 0.3);
        assert_close(fits[1].sigma_turn[d] / fits[0].sigma_turn[d], 2.0, 0.3);
    }
    assert_true(fits[1].score < fits[0].score);
}

/* ---- what is judged ---- */

/* Length in pixels of a straight part as far as it is in the image. */
static double part_pixels(const line_floor *f, const psfm_drawing_part *part) {
    enum { STEPS = 4000 };
    double sum = 0.0, before[2] = {0.0};
    bool was_seen = false;
    for (int k = 0; k <= STEPS; ++k) {
        double at[2], xy[2];
        psfm_drawing_part_at(part, (double)k / STEPS, at);
        bool is_seen = floor_pixel(&f->camera, f->R, f->center, at, xy);
        sum += is_seen && was_seen ? hypot(xy[0] - before[0], xy[1] - before[1]) : 0.0;
        was_seen = is_seen;
        memcpy(before, xy, sizeof before);
    }
    return sum;
}

/* Pixels of the drawing in the image are its projected length; of hidden parts none has a line. */
static void parts_are_seen_or_confirmed(void **state) {
    psfm_context *ctx = *state;
    enum { HIDDEN = 5 };
    line_floor f = {.hidden = UINT64_C(1) << HIDDEN};
    psfm_court_fit fit;
    double visible[64], hit[64], all = 0.0, confirmed = 0.0;
    assert_true(tennis.num_parts <= 64);
    aim_floor(&f, -8.0, -19.0, 8.0, -1.0, 0.5); /* so far that no sample is cut to 12 pixels */
    draw_floor(&f, &tennis);
    open_floor(ctx, &f, &tennis);
    psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
    assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
    psfm_court_fit_parts(&f.job, &fit, visible, hit);
    for (size_t k = 0; k < tennis.num_parts; ++k) {
        double expected = part_pixels(&f, &tennis.parts[k]);
        assert_close(visible[k], expected, 0.02 * expected + 6.0);
        if (k == HIDDEN)
            assert_true(expected > 100.0 && hit[k] < 0.1 * expected);
        else
            assert_true(hit[k] > 0.9 * visible[k] - 12.0 && hit[k] <= visible[k]);
        all += visible[k];
        confirmed += hit[k];
    }
    assert_close(fit.visible, all, 1e-9 * all);
    assert_close(fit.hit, confirmed / all, 1e-12);
    close_floor(&f);
}

static psfm_court_fit true_fit(const line_floor *f) {
    psfm_court_fit fit = {.focal = 1.0};
    memcpy(fit.R, f->R, sizeof fit.R);
    memcpy(fit.center, f->center, sizeof fit.center);
    return fit;
}

/* Two lines 2 cm apart, seen from so far that each line pixel is nearest to a sample of both: it
 * confirms the first of them only. */
static void a_line_confirms_one_part_only(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.camera = floor_camera};
    psfm_drawing twice;
    double visible[64], hit[64];
    assert_ok(ctx, psfm_drawing_copy(ctx, &tennis, &twice));
    psfm_drawing_part beside = tennis.parts[0];
    beside.a[1] += 0.02;
    beside.b[1] += 0.02;
    assert_ok(ctx, psfm_drawing_add(ctx, &twice, &beside));
    f.camera.params[0] = f.camera.params[1] = 80.0;
    aim_floor(&f, -6.0, -25.0, 9.0, 6.0, 5.0);
    draw_floor(&f, &tennis);
    open_floor(ctx, &f, &twice);
    psfm_court_fit fit = true_fit(&f);
    for (int round = 0; round < 2; ++round) { /* what a round claims is free in the next one */
        psfm_court_fit_parts(&f.job, &fit, visible, hit);
        size_t last = twice.num_parts - 1;
        assert_true(visible[0] > 20.0 && hit[0] > 0.9 * visible[0]);
        assert_close(visible[last], visible[0], 1.0);
    }
    close_floor(&f);
    psfm_drawing_free(&twice);
}

/* Evidence is summed over the samples: their pixels, 12 at most, times what the line pixel nearest
 * to each says. */
static void scores_are_sums_over_samples(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.5, .piece = 3};
    psfm_court_fit fit;
    double score = 0.0, visible = 0.0;
    open_beside(ctx, &tennis, &tennis, &f);
    psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
    assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
    for (size_t k = 0; k < f.plan.num_fine; ++k) {
        const psfm_drawing_sample *s = &f.plan.fine[k];
        const double at[2] = {(double)s->x, (double)s->y};
        const double ahead[2] = {at[0] + 1e-4 * (double)s->tx, at[1] + 1e-4 * (double)s->ty};
        double xy[2], next[2], distance;
        if (!floor_pixel(&f.camera, fit.R, fit.center, at, xy))
            continue;
        floor_pixel(&f.camera, fit.R, fit.center, ahead, next);
        double dx = next[0] - xy[0], dy = next[1] - xy[1], speed = hypot(dx, dy);
        const double along[2] = {dx / speed, dy / speed};
        double length = fmin(speed / 1e-4 * f.plan.fine_step, 12.0);
        bool found = psfm_line_evidence_nearest(&f.evidence, xy, along, 0, 4.0, &distance) >= 0;
        score += length * psfm_line_evidence_value(&f.evidence, xy, along, 0,
                                                   found ? distance : (double)NAN);
        visible += length;
    }
    assert_close(fit.visible, visible, 1e-4 * visible);
    assert_close(fit.score, score, 0.02 * score); /* where lines cross, one has the pixel */
    close_floor(&f);
}

/* Of each sample with a line pixel: its place, where the line is, and across which way. */
static void lines_are_where_the_pixels_are(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.3, .piece = 5};
    psfm_court_fit fit;
    open_beside(ctx, &tennis, &tennis, &f);
    psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
    assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
    psfm_fitted_line *lines = calloc(f.plan.num_fine, sizeof *lines);
    size_t num = psfm_court_fit_lines(&f.job, &fit, lines);
    double weight = 0.0, squares = 0.0;
    assert_true(num > 300 && num <= f.plan.num_fine);
    for (size_t k = 0; k < num; ++k) {
        double xy[2], nearest = INFINITY;
        for (size_t i = 0; i < tennis.num_parts; ++i)
            nearest =
                fmin(nearest, part_distance(&tennis.parts[i], lines[k].on[0], lines[k].on[1]));
        assert_below(nearest, 1e-5);
        assert_true(floor_pixel(&f.camera, fit.R, fit.center, lines[k].on, xy));
        double off = (lines[k].at[0] - xy[0]) * lines[k].normal[0] +
                     (lines[k].at[1] - xy[1]) * lines[k].normal[1];
        double aside = (lines[k].at[1] - xy[1]) * lines[k].normal[0] -
                       (lines[k].at[0] - xy[0]) * lines[k].normal[1];
        assert_close(hypot(lines[k].normal[0], lines[k].normal[1]), 1.0, 1e-9);
        assert_close(aside, 0.0, 1e-6);
        double share = psfm_tukey_weight(off * off, 16.0);
        assert_true(lines[k].weight > 0.0 && lines[k].weight <= 15.0 * share + 1e-9);
        weight += lines[k].weight;
        squares += lines[k].weight * off * off;
    }
    assert_close(sqrt(squares / weight), fit.rms, 1e-6); /* the same as the fit's own */
    free(lines);
    close_floor(&f);
}

/* The mean distance between where two poses see the samples that the first sees. */
static void offsets_are_mean_distances(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.0};
    double sum = 0.0, num = 0.0;
    open_beside(ctx, &tennis, &tennis, &f);
    psfm_court_guess guess = guess_floor(&f, 0.01, 0.2);
    psfm_court_fit first = true_fit(&f), second = first;
    memcpy(second.R, guess.R, sizeof second.R);
    memcpy(second.center, guess.center, sizeof second.center);
    for (size_t k = 0; k < f.plan.num_coarse; ++k) {
        const double at[2] = {(double)f.plan.coarse[k].x, (double)f.plan.coarse[k].y};
        double a[2], b[2];
        if (!floor_pixel(&f.camera, first.R, first.center, at, a))
            continue;
        floor_pixel(&f.camera, second.R, second.center, at, b);
        sum += hypot(a[0] - b[0], a[1] - b[1]);
        num += 1.0;
    }
    assert_true(num > 50.0 && sum / num > 2.0);
    assert_close(psfm_court_fit_offset(&f.job, &first, &second), sum / num, 1e-6);
    assert_true(psfm_court_fit_offset(&f.job, &first, &first) == 0.0);
    second.center[2] = -second.center[2];
    for (int d = 3; d < 9; ++d)
        second.R[d] = -second.R[d]; /* looks the other way */
    assert_true(isinf(psfm_court_fit_offset(&f.job, &first, &second)));
    close_floor(&f);
}

/* ---- tones ---- */

/* One court of light lines across one of dark ones: each layer has its own tone. */
static void layers_have_tones_of_their_own(void **state) {
    psfm_context *ctx = *state;
    static const double here[2] = {0.0, 0.0}, there[2] = {2.0, 1.0};
    psfm_drawing both = {.name = NULL};
    psfm_drawing badminton = drawing_of(ctx, "badminton");
    psfm_court_fit fit;
    assert_ok(ctx, psfm_drawing_place(ctx, &tennis, here, 0.0, &both));
    assert_ok(ctx, psfm_drawing_place(ctx, &badminton, there, 90.0, &both));
    for (uint32_t dark = 0; dark < 4; ++dark) {
        line_floor f = {.dark = dark};
        open_beside(ctx, &both, &both, &f);
        psfm_court_guess guess = guess_floor(&f, 0.001, 0.01);
        assert_true(psfm_court_fit_guess(&f.job, &guess, &fit));
        assert_int_equal(fit.dark & 3U, dark);
        assert_true(fit.hit > 0.9);
        close_floor(&f);
    }
    psfm_drawing_free(&badminton);
    psfm_drawing_free(&both);
}

/* A drawing that is said to be of light lines does not take dark ones, nor the other way round. */
static void paint_that_is_known_is_kept(void **state) {
    psfm_context *ctx = *state;
    for (uint32_t dark = 0; dark < 2; ++dark) {
        line_floor f = {.dark = dark};
        psfm_drawing sought;
        psfm_court_fit fit;
        assert_ok(ctx, psfm_drawing_copy(ctx, &tennis, &sought));
        open_beside(ctx, &tennis, &sought, &f);
        psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
        sought.paint = PSFM_PAINT_LIGHT;
        assert_int_equal(psfm_court_fit_guess(&f.job, &guess, &fit), dark == 0);
        sought.paint = PSFM_PAINT_DARK;
        assert_int_equal(psfm_court_fit_guess(&f.job, &guess, &fit), dark == 1);
        close_floor(&f);
        psfm_drawing_free(&sought);
    }
}

/* ---- nothing to fit ---- */

static void lost_guesses_are_no_fits(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.0};
    psfm_court_fit fit;
    open_beside(ctx, &tennis, &tennis, &f);
    psfm_court_guess far = guess_floor(&f, 0.0, 500.0), up = guess_floor(&f, 0.0, 0.0);
    psfm_court_guess nowhere = up, endless = up;
    for (int d = 3; d < 9; ++d)
        up.R[d] = -up.R[d];
    nowhere.center[1] = (double)NAN;
    endless.center[2] = (double)INFINITY;
    assert_false(psfm_court_fit_guess(&f.job, &far, &fit));
    assert_false(psfm_court_fit_guess(&f.job, &up, &fit));
    assert_false(psfm_court_fit_guess(&f.job, &nowhere, &fit));
    assert_false(psfm_court_fit_guess(&f.job, &endless, &fit));
    close_floor(&f);
}

/* One segment, or lines that are all parallel, leave a pose free along them: no fit, or one that
 * says that nothing is known. */
static void parallel_lines_determine_nothing(void **state) {
    psfm_context *ctx = *state;
    for (int lines = 1; lines <= 3; ++lines) {
        line_floor f = {.noise = 0.2, .piece = 5};
        psfm_drawing drawing = {.name = NULL};
        psfm_court_fit fit;
        for (int k = 0; k < lines; ++k) {
            psfm_drawing_part part = {.a = {-20.0, 3.0 * k}, .b = {20.0, 3.0 * k}};
            assert_ok(ctx, psfm_drawing_add(ctx, &drawing, &part));
        }
        open_beside(ctx, &drawing, &drawing, &f);
        psfm_court_guess guess = guess_floor(&f, 0.0, 0.0);
        bool is_fit = psfm_court_fit_guess(&f.job, &guess, &fit);
        assert_true(!is_fit || fit.sigma_center[0] > 0.5);
        close_floor(&f);
        psfm_drawing_free(&drawing);
    }
}

static int open_drawings(void **state) {
    *state = psfm_context_create();
    tennis = drawing_of(*state, "tennis");
    return 0;
}

static int close_drawings(void **state) {
    psfm_drawing_free(&tennis);
    return close_context(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_are_exact_without_noise),
        cmocka_unit_test(focal_lengths_are_exact_without_noise),
        cmocka_unit_test(sizes_are_found_with_the_pose),
        cmocka_unit_test(what_lines_leave_open_the_rules_hold),
        cmocka_unit_test(guesses_take_the_size_that_explains_most),
        cmocka_unit_test(half_a_turn_fits_as_well),
        cmocka_unit_test(sigmas_hold_on_repeated_draws),
        cmocka_unit_test(deviations_go_with_the_noise),
        cmocka_unit_test(parts_are_seen_or_confirmed),
        cmocka_unit_test(a_line_confirms_one_part_only),
        cmocka_unit_test(scores_are_sums_over_samples),
        cmocka_unit_test(lines_are_where_the_pixels_are),
        cmocka_unit_test(offsets_are_mean_distances),
        cmocka_unit_test(layers_have_tones_of_their_own),
        cmocka_unit_test(paint_that_is_known_is_kept),
        cmocka_unit_test(lost_guesses_are_no_fits),
        cmocka_unit_test(parallel_lines_determine_nothing),
    };
    return cmocka_run_group_tests(tests, open_drawings, close_drawings);
}
