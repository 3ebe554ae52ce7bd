#include "test_util.h"

#include "core/base/path.h"
#include "images/image/mask.h"

static char folder[] = "/tmp/psfm_mask_XXXXXX";

static void mask_is_found_by_the_image_name(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    assert_non_null(mkdtemp(folder));
    char path[256];
    snprintf(path, sizeof path, "%s/sub", folder);
    assert_ok(ctx, psfm_make_folders(ctx, path));
    psfm_image made, mask;
    bool found;
    assert_ok(ctx, psfm_image_init(ctx, 4, 3, PSFM_IMAGE_GRAY, &made));
    memset(made.gray, 255, 12);
    made.gray[1 * 4 + 2] = 0;
    snprintf(path, sizeof path, "%s/sub/a.jpg.png", folder);
    assert_ok(ctx, psfm_image_write(ctx, &made, 0, path));

    assert_ok(ctx, psfm_mask_read(ctx, folder, "sub/a.jpg", 4, 3, &mask, &found));
    assert_true(found);
    assert_true(psfm_mask_forbids(&mask, 2.0, 1.0));
    assert_true(psfm_mask_forbids(&mask, 2.999, 1.999));
    assert_false(psfm_mask_forbids(&mask, 1.999, 1.5));
    assert_false(psfm_mask_forbids(&mask, 3.0, 1.5));
    assert_true(psfm_mask_forbids(&mask, -0.1, 1.5));
    assert_true(psfm_mask_forbids(&mask, 4.0, 1.5));
    assert_true(psfm_mask_forbids(&mask, NAN, 1.5));
    psfm_image_free(&mask);

    assert_ok(ctx, psfm_mask_read(ctx, folder, "sub/b.jpg", 4, 3, &mask, &found));
    assert_false(found);
    assert_null(mask.gray);
    assert_int_equal(psfm_mask_read(ctx, folder, "sub/a.jpg", 3, 4, &mask, &found), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "a.jpg.png: the mask has 4 x 3 pixels"));
    assert_false(found);
    assert_null(mask.gray);

    psfm_image_free(&made);
    assert_ok(ctx, psfm_remove_all(ctx, folder));
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mask_is_found_by_the_image_name),
    };
    return cmocka_run_group_tests_name("image/mask", tests, NULL, NULL);
}
