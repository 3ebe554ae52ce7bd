/* What people have in their folders is told, each in one sentence, and a plain folder is not. */
#include "frontend/folder_check.h"

#include "photo_folder.h"

static char said[4096];

static void keep_warning(psfm_log_level level, const char *message, void *user) {
    (void)user;
    if (level != PSFM_LOG_WARNING)
        return;
    strncat(said, message, sizeof said - strlen(said) - 2);
    strcat(said, "\n");
}

static void check(photo_folder *f) {
    psfm_image_list files;
    said[0] = '\0';
    psfm_context_set_log(f->ctx, keep_warning, NULL);
    assert_ok(f->ctx, psfm_image_list_folder(f->ctx, f->photos, &files));
    assert_ok(f->ctx, psfm_folder_check(f->ctx, f->photos, &files));
    psfm_image_list_free(&files);
}

static void says(const char *words) {
    if (strstr(said, words) == NULL)
        fail_msg("'%s' does not say '%s'", said, words);
}

static void write_file(const photo_folder *f, const char *name) {
    char *path = photo_path(f, name);
    FILE *file = fopen(path, "wb");
    fputs("not a photograph", file);
    fclose(file);
    free(path);
}

static void make_sub_folder(const photo_folder *f, const char *name) {
    char *path = photo_path(f, name);
    assert_ok(f->ctx, psfm_make_folders(f->ctx, path));
    free(path);
}

static void a_plain_folder_is_not_talked_about(void **state) {
    (void)state;
    photo_folder f;
    make_photo_folder(&f);
    put_photo(&f, "a.png", 0);
    put_photo(&f, "b.png", 1);
    check(&f);
    assert_string_equal(said, "");
    drop_photo_folder(&f);
}

static void each_thing_is_told(void **state) {
    (void)state;
    photo_folder f;
    psfm_image small;
    make_photo_folder(&f);
    put_photo(&f, "a.png", 0);
    put_photo(&f, "copy.png", 0);
    const char *const folders[] = {"one", "two", "three"};
    for (int k = 0; k < 3; ++k) {
        char name[32];
        make_sub_folder(&f, folders[k]);
        snprintf(name, sizeof name, "%s/x.png", folders[k]);
        put_photo(&f, name, k + 1);
    }
    assert_ok(f.ctx, psfm_image_init(f.ctx, 40, 30, PSFM_IMAGE_GRAY, &small));
    char *path = photo_path(&f, "a_thumb.png");
    assert_ok(f.ctx, psfm_image_write(f.ctx, &small, 0, path));
    free(path);
    psfm_image_free(&small);
    write_file(&f, "clip.MP4");
    write_file(&f, "a.CR2");
    check(&f);
    says("6 photographs in 3 folders below it, such as one/x.png");
    says("1 of 6 photographs have a sixteenth of the pixels of the largest or less, such as "
         "a_thumb.png");
    says("1 photograph is there twice, such as copy.png, which is a.png");
    says("1 video is not looked at, such as clip.MP4");
    says("1 raw file is not looked at, such as a.CR2");
    drop_photo_folder(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_folder_is_not_talked_about),
        cmocka_unit_test(each_thing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
