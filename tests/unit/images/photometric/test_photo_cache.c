#include "images/photometric/photo_cache.h"

#include <unistd.h>

#include "core/base/parallel.h"
#include "core/base/path.h"
#include "test_util.h"

enum { NUM = 6, SIDE = 64 };

typedef struct {
    psfm_context *ctx;
    char folder[64];
    psfm_camera camera;
    psfm_view views[NUM];
    psfm_match_set set;
} fixture;

static char names[NUM][16] = {"0.png", "1.png", "2.png", "3.png", "4.png", "5.png"};

/* Photograph v is of gray value 10 v; the last one is missing, the one before of another size. */
static void set_up(fixture *f) {
    f->ctx = psfm_context_create();
    strcpy(f->folder, "/tmp/psfm_photo_cache_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->camera = (psfm_camera){.id = 1, .width = SIDE, .height = SIDE};
    f->set = (psfm_match_set){.cameras = &f->camera, .num_cameras = 1, .views = f->views};
    f->set.num_views = NUM;
    for (int v = 0; v < NUM; ++v) {
        psfm_image image = {0};
        char *path = NULL;
        f->views[v] = (psfm_view){.id = (uint32_t)v + 1, .name = names[v]};
        if (v == NUM - 1)
            continue;
        int side = v == NUM - 2 ? SIDE + 2 : SIDE;
        assert_ok(f->ctx, psfm_image_init(f->ctx, side, side, PSFM_IMAGE_GRAY, &image));
        memset(image.gray, 10 * v, (size_t)side * (size_t)side);
        assert_ok(f->ctx, psfm_path_join(f->ctx, f->folder, names[v], &path));
        assert_ok(f->ctx, psfm_image_write(f->ctx, &image, 90, path));
        psfm_image_free(&image);
        free(path);
    }
}

static void tear_down(fixture *f) {
    assert_ok(f->ctx, psfm_remove_all(f->ctx, f->folder));
    psfm_context_destroy(&f->ctx);
}

static void what_cannot_be_used_has_a_reason(void **state) {
    (void)state;
    fixture f;
    psfm_photo_cache *cache;
    const psfm_pyramid *photo;
    set_up(&f);
    assert_ok(f.ctx, psfm_photo_cache_create(f.ctx, &f.set, f.folder, 1 << 20, &cache));
    assert_ok(f.ctx, psfm_photo_cache_get(f.ctx, cache, 2, &photo));
    assert_int_equal(photo->levels[0].pixels[100], 20);
    assert_int_equal(photo->levels[1].pixels[100], 20);
    assert_int_equal(photo->num_levels, 2);
    psfm_photo_cache_release(cache, 2);
    assert_null(psfm_photo_cache_problem(cache, 2));
    for (uint32_t v = NUM - 2; v < NUM; ++v) {
        assert_ok(f.ctx, psfm_photo_cache_get(f.ctx, cache, v, &photo));
        assert_null(photo);
        assert_non_null(strstr(psfm_photo_cache_problem(cache, v), names[v]));
    }
    psfm_photo_cache_destroy(&cache);
    tear_down(&f);
}

static void what_is_in_use_stays(void **state) {
    (void)state;
    fixture f;
    psfm_photo_cache *cache;
    const psfm_pyramid *photos[3];
    set_up(&f);
    assert_ok(f.ctx, psfm_photo_cache_create(f.ctx, &f.set, f.folder, 1, &cache)); /* no room */
    for (uint32_t v = 0; v < 3; ++v)
        assert_ok(f.ctx, psfm_photo_cache_get(f.ctx, cache, v, &photos[v]));
    for (uint32_t v = 0; v < 3; ++v)
        assert_int_equal(photos[v]->levels[0].pixels[77], 10 * v);
    for (uint32_t v = 0; v < 3; ++v)
        psfm_photo_cache_release(cache, v);
    assert_ok(f.ctx, psfm_photo_cache_get(f.ctx, cache, 1, &photos[0])); /* read anew */
    assert_int_equal(photos[0]->levels[0].pixels[77], 10);
    psfm_photo_cache_release(cache, 1);
    psfm_photo_cache_destroy(&cache);
    tear_down(&f);
}

static psfm_status look(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    psfm_photo_cache *cache = user;
    const psfm_pyramid *photo;
    uint32_t v = (uint32_t)(index % 4);
    psfm_status status = psfm_photo_cache_get(ctx, cache, v, &photo);
    if (status != PSFM_OK || photo == NULL)
        return psfm_fail(ctx, PSFM_ERR_DATA, "no photograph");
    bool good = photo->levels[0].pixels[5] == 10 * v;
    psfm_photo_cache_release(cache, v);
    return good ? PSFM_OK : psfm_fail(ctx, PSFM_ERR_DATA, "another photograph");
}

static void several_threads_share_it(void **state) {
    (void)state;
    fixture f;
    psfm_photo_cache *cache;
    set_up(&f);
    psfm_context_set_threads(f.ctx, 4);
    assert_ok(f.ctx, psfm_photo_cache_create(f.ctx, &f.set, f.folder, 12000, &cache));
    assert_ok(f.ctx, psfm_parallel_for(f.ctx, NULL, 200, look, cache));
    psfm_photo_cache_destroy(&cache);
    tear_down(&f);
}

/* How often a photograph must be read that is not among the `room` last used. */
static size_t count_reads(const uint32_t *view1, const uint32_t *view2, const size_t *order,
                          size_t num, size_t room) {
    uint32_t held[8]; /* most recent first */
    size_t num_held = 0, reads = 0;
    for (size_t k = 0; k < num; ++k) {
        size_t p = order == NULL ? k : order[k];
        for (int s = 0; s < 2; ++s) {
            uint32_t wanted = s == 0 ? view1[p] : view2[p];
            size_t at = 0;
            while (at < num_held && held[at] != wanted)
                ++at;
            reads += at == num_held;
            num_held += at == num_held && num_held < room;
            at = at < num_held ? at : num_held - 1;
            memmove(held + 1, held, at * sizeof *held);
            held[0] = wanted;
        }
    }
    return reads;
}

static void pairs_in_blocks_are_read_seldom(void **state) {
    (void)state;
    enum { MANY = 40, PAIRS = MANY * (MANY - 1) / 2, ROOM = 8 };
    psfm_context *ctx = psfm_context_create();
    psfm_camera camera = {.id = 1, .width = 300, .height = 200};
    psfm_match_set set = {.cameras = &camera, .num_cameras = 1};
    psfm_photo_cache *cache;
    uint32_t view1[PAIRS], view2[PAIRS];
    size_t order[PAIRS], num = 0;
    bool seen[PAIRS] = {false};
    for (uint32_t a = 0; a < MANY; ++a) {
        for (uint32_t b = a + 1; b < MANY; ++b) {
            view1[num] = a;
            view2[num++] = b;
        }
    }
    assert_ok(ctx, psfm_photo_cache_create(ctx, &set, "", ROOM * 300 * 200 / 3 * 4, &cache));
    assert_int_equal(psfm_photo_cache_room(cache), ROOM);
    assert_ok(ctx, psfm_photo_order(ctx, cache, view1, view2, PAIRS, order));
    for (int k = 0; k < PAIRS; ++k) {
        assert_true(order[k] < PAIRS && !seen[order[k]]);
        seen[order[k]] = true;
    }
    size_t ordered = count_reads(view1, view2, order, PAIRS, ROOM);
    assert_true(ordered * 2 < count_reads(view1, view2, NULL, PAIRS, ROOM));
    psfm_photo_cache_destroy(&cache);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_used_has_a_reason),
        cmocka_unit_test(what_is_in_use_stays),
        cmocka_unit_test(several_threads_share_it),
        cmocka_unit_test(pairs_in_blocks_are_read_seldom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
