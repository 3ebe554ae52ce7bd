#include "test_util.h"

#include <unistd.h>

#include "core/base/lock.h"
#include "core/base/path.h"

static char folder[] = "/tmp/psfm_lock_XXXXXX";

static int make_scratch(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_scratch(void **state) {
    (void)state;
    return psfm_remove_all(NULL, folder) != PSFM_OK;
}

typedef psfm_status lock_function(psfm_context *ctx, const char *path, psfm_lock *lock);

/* The second one is refused with a sentence until the first is given back. */
static void check_alone(lock_function *take, const char *path) {
    psfm_context *ctx = psfm_context_create();
    psfm_lock first = {0}, second = {0};
    for (int round = 0; round < 2; ++round) {
        assert_ok(ctx, take(ctx, path, &first));
        assert_int_equal(take(ctx, path, &second), PSFM_ERR_IO);
        assert_non_null(strstr(psfm_context_message(ctx), "another run"));
        psfm_lock_release(&second);
        psfm_lock_release(&first);
    }
    psfm_context_destroy(&ctx);
}

static void one_run_has_a_folder(void **state) {
    (void)state;
    check_alone(psfm_lock_folder, folder);
}

static void one_run_has_a_file_and_leaves_nothing(void **state) {
    (void)state;
    char path[64], lock[80];
    snprintf(path, sizeof path, "%s/a.db", folder);
    snprintf(lock, sizeof lock, "%s.lock", path);
    check_alone(psfm_lock_file, path);
    assert_false(psfm_path_is_file(lock));
    /* one that a killed run left is no obstacle */
    FILE *file = fopen(lock, "w");
    assert_non_null(file);
    fclose(file);
    check_alone(psfm_lock_file, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_has_a_folder),
        cmocka_unit_test(one_run_has_a_file_and_leaves_nothing),
    };
    return cmocka_run_group_tests_name("base/lock", tests, make_scratch, remove_scratch);
}
