#include "test_util.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "images/image/image_list.h"

static char folder[] = "/tmp/psfm_list_XXXXXX";

static int make_scratch(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_scratch(void **state) {
    (void)state;
    return psfm_remove_all(NULL, folder) != PSFM_OK;
}

static void put(const char *name, const char *bytes, size_t size) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes, 1, size, file);
    fclose(file);
}

static void make_folder(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0777), 0);
}

static void lists_images_sorted_and_notes_the_rest(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_image_list list;
    assert_ok(ctx, psfm_image_list_folder(ctx, folder, &list));
    assert_int_equal(list.num, 0);
    psfm_image_list_free(&list);

    make_folder("b");
    make_folder("b/deep");
    make_folder(".hidden");
    put("b/2.jpg", "\xff\xd8\xff\xe0", 4);
    put("b/10.jpg", "\xff\xd8\xff\xe0", 4);
    put("b/deep/x", "\x89PNG\r\n\x1a\n", 8); /* no ending at all */
    put("b.jpg", "\xff\xd8\xff\xe1", 4);
    put("Z.png", "\x89PNG\r\n\x1a\n", 8);
    put("notes.txt", "text", 4);
    put("empty.jpg", "", 0);
    put(".hidden/1.jpg", "\xff\xd8\xff\xe0", 4);
    put(".1.jpg", "\xff\xd8\xff\xe0", 4);
    char circle[256];
    snprintf(circle, sizeof circle, "%s/b/circle", folder);
    assert_int_equal(symlink(folder, circle), 0);
    snprintf(circle, sizeof circle, "%s/b/dangling.jpg", folder);
    assert_int_equal(symlink("nowhere", circle), 0);
    snprintf(circle, sizeof circle, "%s/link.jpg", folder);
    assert_int_equal(symlink("b/2.jpg", circle), 0);

    static const char *const names[] = {"Z.png",          "b.jpg",    "b/10.jpg", "b/2.jpg",
                                        "b/dangling.jpg", "b/deep/x", "link.jpg"};
    static const char *const others[] = {"empty.jpg", "notes.txt"};
    assert_ok(ctx, psfm_image_list_folder(ctx, folder, &list));
    assert_int_equal(list.num, 7);
    for (size_t k = 0; k < list.num; ++k)
        assert_string_equal(list.names[k], names[k]);
    assert_int_equal(list.num_others, 2);
    for (size_t k = 0; k < list.num_others; ++k)
        assert_string_equal(list.others[k], others[k]);
    psfm_image_list_free(&list);
    psfm_context_destroy(&ctx);
}

static void missing_folder_fails(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_image_list list;
    assert_int_equal(psfm_image_list_folder(ctx, "/no/such/folder", &list), PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "/no/such/folder"));
    assert_int_equal(list.num, 0);
    psfm_image_list_free(&list);
    psfm_context_destroy(&ctx);
}

/* What the list gives for a text: names joined by '|', or the message. */
static void assert_listed(const char *text, const char *expected) {
    const char *const folders[2] = {"photos", "/all/of/photos"};
    psfm_context *ctx = psfm_context_create();
    psfm_image_list list;
    char bytes[256], got[256] = "";
    snprintf(bytes, sizeof bytes, "%s", text);
    if (psfm_image_list_parse(ctx, bytes, strlen(text), "list.txt", folders, &list) != PSFM_OK)
        snprintf(got, sizeof got, "%s", psfm_context_message(ctx));
    for (size_t k = 0; k < list.num; ++k)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", k > 0 ? "|" : "",
                 list.names[k]);
    assert_string_equal(got, expected);
    psfm_image_list_free(&list);
    psfm_context_destroy(&ctx);
}

static void a_list_names_photographs(void **state) {
    (void)state;
    assert_listed("b.jpg\na.jpg", "a.jpg|b.jpg");
    assert_listed("# first flight\r\n\r\n  a b.jpg \r\n", "a b.jpg");
    assert_listed("./x//y/./z.png\nx/y/z.png\n", "x/y/z.png"); /* twice, said in two ways */
    assert_listed("/all/of/photos/sub/a.jpg\n", "sub/a.jpg");
    assert_listed("", "list.txt: no photograph is listed in it");
    assert_listed("# nothing\n", "list.txt: no photograph is listed in it");
    assert_listed("a\n/all/of/photos2/a.jpg",
                  "list.txt: line 2: /all/of/photos2/a.jpg is not below the folder photos");
    assert_listed("../a.jpg", "list.txt: line 1: '../a.jpg' is no path below the folder photos");
    assert_listed("/all/of/photos/..", "list.txt: line 1: '/all/of/photos/..' is no path below "
                                       "the folder photos");
}

static void files_of_a_list_must_be_there(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_image_list list;
    char path[256], text[512];
    put("listed.jpg", "\xff\xd8\xff\xe0", 4);
    snprintf(text, sizeof text, "%s/listed.jpg\n", folder);
    put("list.txt", text, strlen(text));
    snprintf(path, sizeof path, "%s/list.txt", folder);
    assert_ok(ctx, psfm_image_list_open(ctx, folder, path, &list));
    assert_int_equal(list.num, 1);
    assert_string_equal(list.names[0], "listed.jpg");
    psfm_image_list_free(&list);
    put("list.txt", "listed.jpg\nabsent.jpg", 21);
    assert_int_equal(psfm_image_list_open(ctx, folder, path, &list), PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "absent.jpg: there is no such file"));
    assert_int_equal(list.num, 0);
    put("list.txt", "a\0b", 3);
    assert_int_equal(psfm_image_list_open(ctx, folder, path, &list), PSFM_ERR_FORMAT);
    assert_int_equal(psfm_image_list_open(ctx, "/no/such", path, &list), PSFM_ERR_IO);
    assert_int_equal(psfm_image_list_open(ctx, folder, "/no/such.txt", &list), PSFM_ERR_IO);
    psfm_context_destroy(&ctx);
}

/* A photograph that cannot be opened is listed by its name, so that it can be named and left out; a
 * folder likewise is passed over. */
static void what_cannot_be_read_is_no_hindrance(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_image_list list;
    char below[256], from[256], locked[256];
    make_folder("rest");
    make_folder("rest/locked");
    put("rest/a.jpg", "\xff\xd8\xff\xe0 and so on ", 16);
    snprintf(below, sizeof below, "%s/rest", folder);
    snprintf(from, sizeof from, "%s/rest/gone.jpg", folder);
    snprintf(locked, sizeof locked, "%s/rest/locked", folder);
    assert_int_equal(symlink("/nowhere/gone.jpg", from), 0);
    snprintf(from, sizeof from, "%s/rest/gone.txt", folder);
    assert_int_equal(symlink("/nowhere/gone.txt", from), 0);
    snprintf(from, sizeof from, "%s/rest/secret.png", folder);
    put("rest/secret.png", "x", 1);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(from, 0), 0);
    assert_int_equal(chmod(locked, 0), 0);
    const bool is_root = geteuid() == 0;
    assert_int_equal(is_root ? seteuid(65534) : 0, 0); /* who may not read everything */
    psfm_status status = psfm_image_list_folder(ctx, below, &list);
    assert_int_equal(is_root ? seteuid(0) : 0, 0);
    assert_ok(ctx, status);
    assert_int_equal(list.num, 3);
    assert_string_equal(list.names[0], "a.jpg");
    assert_string_equal(list.names[1], "gone.jpg");
    assert_string_equal(list.names[2], "secret.png");
    psfm_image_list_free(&list);
    assert_int_equal(chmod(locked, 0700), 0);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_images_sorted_and_notes_the_rest),
        cmocka_unit_test(missing_folder_fails),
        cmocka_unit_test(a_list_names_photographs),
        cmocka_unit_test(what_cannot_be_read_is_no_hindrance),
        cmocka_unit_test(files_of_a_list_must_be_there),
    };
    return cmocka_run_group_tests_name("image/image_list", tests, make_scratch, remove_scratch);
}
