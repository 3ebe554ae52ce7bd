/* Searches on a rank: points are found where the plane has them; cut packets are refused. */
#include "refine/track_tasks.h"

#include "intake/file_print.h"
#include "plane_views.h"

enum { NUM_SIGHTS = 12 };

/* A rank that knows the first two views, and points of the plane that are sought in the second. */
typedef struct {
    fixture f;
    void *state;
    psfm_track_sight sights[NUM_SIGHTS];
    double truth[NUM_SIGHTS][2];
    psfm_packet input;
} rank;

static void tell_view(rank *r, uint32_t view) {
    psfm_context *ctx = r->f.ctx;
    psfm_photo_print print = {.name = r->f.set.views[view].name};
    psfm_packet content = {0};
    char *path = NULL;
    double R[9], t[3], center[3];
    motion_to((int)view, R, t);
    psfm_mat3_tmul_vec(R, t, center);
    psfm_scale3(-1.0, center, center);
    assert_ok(ctx, psfm_path_join(ctx, r->f.folder, print.name, &path));
    assert_ok(ctx, psfm_file_print(ctx, path, &print.print));
    assert_ok(ctx, psfm_rank_photos_pack_view(ctx, &print, r->f.set.cameras, &content));
    assert_ok(ctx, psfm_packet_put(ctx, &content, R, sizeof R));
    assert_ok(ctx, psfm_packet_put(ctx, &content, center, sizeof center));
    psfm_packet_reader reader = psfm_packet_read(&content);
    assert_ok(ctx, psfm_track_tasks.take_part(ctx, r->state, view, &reader));
    psfm_packet_free(&content);
    free(path);
}

static void choose_points(rank *r) {
    const psfm_camera *camera = r->f.set.cameras;
    double H[9];
    homography_to(1, H);
    for (int k = 0; k < NUM_SIGHTS; ++k) {
        psfm_track_sight *s = &r->sights[k];
        double ray[3], to[3];
        *s = (psfm_track_sight){.xy1 = {100.5 + 30 * (k % 4), 80.5 + 30 * (double)(k / 4)}};
        assert_true(psfm_camera_unproject(camera, s->xy1, ray));
        psfm_scale3(1.0 / psfm_dot3(plane_normal, ray), ray, s->point);
        psfm_scale3(-1.0 / psfm_norm3(plane_normal), plane_normal, s->normal);
        psfm_mat3_mul_vec(H, ray, to);
        assert_true(psfm_camera_project(camera, to, r->truth[k]));
    }
}

static void set_up_rank(rank *r, const uint32_t ends[2]) {
    const double max_shift_px = 3.0;
    *r = (rank){0};
    set_up(&r->f, 1);
    psfm_context *ctx = r->f.ctx;
    psfm_packet setup = {0};
    assert_ok(ctx, psfm_rank_photos_pack(ctx, r->f.photos, NUM_VIEWS, &r->f.options.patch, NULL, 0,
                                         &setup));
    assert_ok(ctx, psfm_packet_put(ctx, &setup, &max_shift_px, sizeof max_shift_px));
    psfm_packet_reader reader = psfm_packet_read(&setup);
    assert_ok(ctx, psfm_track_tasks.open(ctx, &reader, 1, &r->state));
    psfm_packet_free(&setup);
    tell_view(r, 0);
    tell_view(r, 1);
    choose_points(r);
    assert_ok(ctx, psfm_packet_put(ctx, &r->input, ends, 2 * sizeof *ends));
    assert_ok(ctx, psfm_packet_put_array(ctx, &r->input, r->sights, NUM_SIGHTS, sizeof *r->sights));
}

static void tear_down_rank(rank *r) {
    psfm_packet_free(&r->input);
    psfm_track_tasks.close(r->state);
    tear_down(&r->f);
}

static psfm_status run(rank *r, size_t size, psfm_packet *result) {
    psfm_packet_reader input = {r->input.bytes, size, 0};
    return psfm_track_tasks.run(r->f.ctx, r->state, 0, &input, result);
}

static void test_points_are_found(void **state) {
    (void)state;
    rank r;
    psfm_packet result = {0};
    uint8_t *outcomes = NULL;
    psfm_patch_match *found = NULL;
    size_t num = 0, at = 0;
    set_up_rank(&r, (const uint32_t[2]){0, 1});
    assert_ok(r.f.ctx, run(&r, r.input.size, &result));
    psfm_packet_reader reader = psfm_packet_read(&result);
    psfm_unpacking u = {.ctx = r.f.ctx, .reader = &reader};
    psfm_unpack_known(&u, 1, NUM_SIGHTS, &outcomes);
    psfm_unpack_array(&u, sizeof *found, &found, &num);
    assert_ok(r.f.ctx, u.status);
    assert_true(num > NUM_SIGHTS / 2 && reader.at == reader.size);
    for (int k = 0; k < NUM_SIGHTS; ++k) {
        if (outcomes[k] != PSFM_PATCH_ALIGNED)
            continue;
        const double *xy = found[at++].xy2;
        assert_below(hypot(xy[0] - r.truth[k][0], xy[1] - r.truth[k][1]), 0.3);
    }
    assert_int_equal(at, num);
    free(outcomes);
    free(found);
    psfm_packet_free(&result);
    tear_down_rank(&r);
}

static void test_cut_tasks_fail(void **state) {
    (void)state;
    rank r;
    set_up_rank(&r, (const uint32_t[2]){0, 1});
    for (size_t size = 1; size < r.input.size; size += 1 + size / 9) {
        psfm_packet result = {0};
        assert_int_equal(run(&r, size, &result), PSFM_ERR_FORMAT);
        psfm_packet_free(&result);
    }
    tear_down_rank(&r);
}

static void test_unknown_views_fail(void **state) {
    (void)state;
    static const uint32_t wrong[][2] = {{0, 2}, {NUM_VIEWS, 1}};
    for (int k = 0; k < 2; ++k) {
        rank r;
        psfm_packet result = {0};
        set_up_rank(&r, wrong[k]);
        assert_int_equal(run(&r, r.input.size, &result), PSFM_ERR_FORMAT);
        psfm_packet_free(&result);
        tear_down_rank(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_are_found),
        cmocka_unit_test(test_cut_tasks_fail),
        cmocka_unit_test(test_unknown_views_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
