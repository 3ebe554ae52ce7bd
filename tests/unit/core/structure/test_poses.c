#include "test_util.h"

#include "core/structure/poses.h"

static void views_share_a_world(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_poses poses;
    assert_ok(ctx, psfm_poses_init(ctx, 4, &poses));
    assert_true(psfm_share_world(&poses, 0, 3));
    assert_close(poses.cam_from_world[2][4], 1.0, 0.0);
    poses.component[1] = 1;
    poses.component[2] = poses.component[3] = PSFM_NO_COMPONENT;
    assert_true(psfm_has_pose(&poses, 1));
    assert_false(psfm_has_pose(&poses, 2));
    assert_false(psfm_share_world(&poses, 0, 1));
    assert_false(psfm_share_world(&poses, 1, 2));
    assert_false(psfm_share_world(&poses, 2, 3)); /* having none is not sharing one */
    psfm_poses_free(&poses);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_share_a_world),
    };
    return cmocka_run_group_tests_name("structure/poses", tests, NULL, NULL);
}
