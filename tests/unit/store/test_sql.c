#include "store/sql.h"

#include "unit/formats/io_util.h"

static char path[MAX_PATH];

static int find_synchronous(const psfm_sql *sql) {
    int64_t level = -1;
    assert_ok(sql->ctx, psfm_sql_number(sql, "PRAGMA synchronous", NULL, 0, &level));
    return (int)level;
}

static int synchronous_for_writing(psfm_context *ctx) {
    psfm_sql sql;
    assert_ok(ctx, psfm_sql_open_for_writing(ctx, path, &sql));
    const int level = find_synchronous(&sql);
    assert_int_equal(sql.is_young, level == 0);
    psfm_sql_close(&sql);
    return level;
}

/* Only where it was made a database need not be on the disk at each commit. */
static void whoever_finds_a_database_waits_for_the_disk(void **state) {
    (void)state;
    psfm_context *maker = psfm_context_create(), *finder = psfm_context_create();
    psfm_sql sql;
    assert_ok(maker, psfm_sql_open_new(maker, path, &sql));
    assert_int_equal(find_synchronous(&sql), 0);
    assert_ok(maker, psfm_sql_exec(&sql, "CREATE TABLE t (a INTEGER)"));
    psfm_sql_close(&sql);
    assert_int_equal(synchronous_for_writing(maker), 0);
    assert_int_equal(synchronous_for_writing(finder), 2);
    assert_int_equal(remove(path), 0);
    psfm_context_destroy(&maker);
    psfm_context_destroy(&finder);
}

/* A transaction that was not committed leaves nothing. */
static void a_transaction_is_whole_or_absent(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_sql sql;
    bool found = true;
    assert_ok(ctx, psfm_sql_open_new(ctx, path, &sql));
    assert_ok(ctx, psfm_sql_exec(&sql, "CREATE TABLE t (a INTEGER); BEGIN IMMEDIATE;"
                                       "CREATE TABLE u (a INTEGER)"));
    psfm_sql_close(&sql);
    assert_ok(ctx, psfm_sql_open_for_writing(ctx, path, &sql));
    assert_ok(ctx, psfm_sql_has_table(&sql, "t", &found));
    assert_true(found);
    assert_ok(ctx, psfm_sql_has_table(&sql, "u", &found));
    assert_false(found);
    psfm_sql_close(&sql);
    psfm_context_destroy(&ctx);
}

int main(void) {
    char folder[MAX_PATH];
    make_scratch(folder);
    join(path, folder, "database.db");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_finds_a_database_waits_for_the_disk),
        cmocka_unit_test(a_transaction_is_whole_or_absent),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_scratch(folder);
    return failed;
}
