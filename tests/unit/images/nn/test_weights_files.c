/* Which file is taken, and what is said when none or two could be. */
#include <sys/stat.h>

#include "core/base/path.h"
#include "images/nn/weights.h"
#include "nn_util.h"

static psfm_context *ctx;
static char folder[64];

static int fit(const psfm_safetensors *file, size_t dim) {
    const psfm_tensor_info *own = psfm_safetensors_find(file, "own.weight");
    if (own != NULL)
        return dim == 0 || own->dims[0] == dim ? 2 : 0;
    return psfm_safetensors_find(file, "inner.own.weight") != NULL ? 1 : 0;
}

static const psfm_network_file network = {"Net", "Net weights (a file)", 0, fit};
static const psfm_network_file network_of_7 = {"Net", "Net weights (a file)", 7, fit};

/* Writes a file with one layer under `name` into the folder. */
static void put(const char *name, const char *layer, size_t out, uint64_t seed) {
    char path[128];
    nn_file *file = nn_file_make(seed);
    nn_add_layer(file, layer, out, 2, 0);
    nn_write(file);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(rename(file->path, path), 0);
    file->path[0] = '\0';
    nn_file_drop(file);
}

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/psfm_weights_XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int tear_down(void **state) {
    (void)state;
    assert_ok(ctx, psfm_remove_all(ctx, folder));
    return 0;
}

static psfm_status find(const char *name, const psfm_network_file *net, const char **found) {
    static char path[128], last[128];
    char *taken;
    uint64_t fingerprint;
    const char *paths[] = {path};
    psfm_weights_list list = {paths, 1};
    snprintf(path, sizeof path, "%s%s", folder, name);
    psfm_status status = psfm_weights_find(ctx, &list, net, &taken, &fingerprint);
    snprintf(last, sizeof last, "%s", status == PSFM_OK ? strrchr(taken, '/') + 1 : "");
    *found = last;
    free(taken);
    return status;
}

static void says(const char *word) {
    if (strstr(psfm_context_message(ctx), word) == NULL)
        fail_msg("no '%s' in: %s", word, psfm_context_message(ctx));
}

static void the_file_that_fits_is_taken(void **state) {
    (void)state;
    const char *found;
    put("a.safetensors", "other", 3, 1);
    put("b.safetensors", "inner.own", 3, 2);
    assert_ok(ctx, find("", &network, &found));
    assert_string_equal(found, "b.safetensors");
    put("c.safetensors", "own", 3, 3);
    assert_ok(ctx, find("", &network, &found));
    assert_string_equal(found, "c.safetensors");
    put("d.safetensors", "own", 7, 4);
    assert_ok(ctx, find("", &network_of_7, &found));
    assert_string_equal(found, "d.safetensors");
    assert_int_equal(find("", &network, &found), PSFM_ERR_ARGUMENT);
    says("c.safetensors and ");
    says("d.safetensors are both weights for Net");
    assert_ok(ctx, find("/c.safetensors", &network, &found));
    put("d.safetensors", "own", 3, 3); /* the same contents */
    assert_ok(ctx, find("", &network, &found));
}

static void what_is_missing_is_named(void **state) {
    (void)state;
    const char *found;
    char *path;
    uint64_t fingerprint;
    psfm_weights_list none = {NULL, 0};
    assert_int_equal(psfm_weights_find(ctx, &none, &network, &path, &fingerprint),
                     PSFM_ERR_ARGUMENT);
    assert_null(path);
    says("needed are Net weights (a file)");
    assert_int_equal(find("", &network, &found), PSFM_ERR_ARGUMENT);
    says("no Net in it; needed are Net weights");
    assert_int_equal(find("/no.safetensors", &network, &found), PSFM_ERR_IO);
    says("needed here: Net weights");
    put("a.safetensors", "own", 3, 1);
    assert_int_equal(find("/a.safetensors", &network_of_7, &found), PSFM_ERR_ARGUMENT);
}

/* A broken file is a failure if it was named; beside others in a folder it is passed over. */
static void broken_files(void **state) {
    (void)state;
    const char *found;
    char broken[128];
    snprintf(broken, sizeof broken, "%s/broken.safetensors", folder);
    FILE *file = fopen(broken, "w");
    assert_non_null(file);
    fputs("not weights", file);
    fclose(file);
    assert_int_equal(find("/broken.safetensors", &network, &found), PSFM_ERR_FORMAT);
    put("own.safetensors", "own", 3, 1);
    assert_ok(ctx, find("", &network, &found));
    assert_string_equal(found, "own.safetensors");
}

static uint64_t fingerprint_of(const char *name) {
    char path[128];
    psfm_safetensors *file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(ctx, psfm_safetensors_open(ctx, path, "", &file));
    uint64_t fingerprint = psfm_safetensors_fingerprint(file);
    psfm_safetensors_close(&file);
    return fingerprint;
}

static void fingerprints_tell_contents_apart(void **state) {
    (void)state;
    put("a", "own", 3, 1);
    put("b", "own", 3, 1);
    put("name", "owm", 3, 1);
    put("shape", "own", 4, 1);
    put("numbers", "own", 3, 2);
    uint64_t a = fingerprint_of("a");
    assert_true(a == fingerprint_of("b"));
    assert_true(a != fingerprint_of("name"));
    assert_true(a != fingerprint_of("shape"));
    assert_true(a != fingerprint_of("numbers"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_file_that_fits_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_missing_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(broken_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fingerprints_tell_contents_apart, set_up, tear_down),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
