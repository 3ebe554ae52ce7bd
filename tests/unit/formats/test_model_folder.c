/* A run, its folder of models, a model: each stands for the model's files. */
#include "formats/colmap_model.h"

#include <sys/stat.h>

#include "unit/formats/io_util.h"

static void make_file(const char *folder, const char *name) {
    char path[MAX_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void check(psfm_context *ctx, const char *scratch, const char *given, const char *wanted) {
    char path[MAX_PATH + 64], *folder = NULL;
    snprintf(path, sizeof path, "%s%s", scratch, given);
    assert_ok(ctx, psfm_model_folder(ctx, path, &folder));
    size_t n = strlen(scratch);
    assert_int_equal(strncmp(folder, scratch, n), 0);
    assert_string_equal(folder + n, wanted);
    free(folder);
}

static void each_stands_for_the_model(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char scratch[MAX_PATH], inside[MAX_PATH + 64];
    make_scratch(scratch);
    check(ctx, scratch, "/none", "/none");
    snprintf(inside, sizeof inside, "%s/model", scratch);
    assert_int_equal(mkdir(inside, 0700), 0);
    snprintf(inside, sizeof inside, "%s/model/0", scratch);
    assert_int_equal(mkdir(inside, 0700), 0);
    check(ctx, scratch, "", "");
    make_file(scratch, "model/0/cameras.bin");
    check(ctx, scratch, "", "/model/0");
    check(ctx, scratch, "/model", "/model/0");
    check(ctx, scratch, "/model/0", "/model/0");
    make_file(scratch, "cameras.txt"); /* files of its own come first */
    check(ctx, scratch, "", "");
    remove_scratch(scratch);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_stands_for_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
