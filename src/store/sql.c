/* SQLite, opened so that reading leaves no trace: read-only, what a killed program left is rolled
 * back first, and a database in WAL mode whose log is empty is opened as immutable, with a check
 * afterwards that nobody wrote to it meanwhile. Files are not trusted: lengths are limited by the
 * file's size, and SQLite's defensive settings are on. */
#include "store/sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/path.h"

/* Byte 18 of the header: 1 for a rollback journal, 2 for a write-ahead log. */
enum { HEADER_BYTES = 20, WRITE_VERSION_AT = 18, WAL_VERSION = 2 };

psfm_status psfm_sql_fail(const psfm_sql *sql) {
    psfm_context *ctx = sql->ctx;
    const char *path = sql->path, *doing = sql->doing == NULL ? "cannot be used" : sql->doing;
    const char *reason = sqlite3_errmsg(sql->db);
    switch (sqlite3_errcode(sql->db)) {
    case SQLITE_NOMEM:
        return psfm_fail_memory(ctx);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return psfm_fail(ctx, PSFM_ERR_IO,
                         "%s: %s: another program is writing to the database; try again when it "
                         "is done",
                         path, doing);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_TOOBIG:
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: %s: the file is damaged or no database (%s)",
                         path, doing, reason);
    case SQLITE_ERROR: /* what is wrong with a statement, such as "no such column" */
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: %s: %s", path, doing, reason);
    default:
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: %s: %s", path, doing, reason);
    }
}

/* Reads the header. *is_wal tells the journal mode. */
static psfm_status check_file(psfm_context *ctx, const char *path, struct stat *info,
                              bool *is_wal) {
    unsigned char header[HEADER_BYTES] = {0};
    FILE *file = NULL;
    psfm_status status = psfm_open_file(ctx, path, &file);
    if (status != PSFM_OK)
        return status;
    size_t size = fstat(fileno(file), info) == 0 ? fread(header, 1, sizeof header, file) : 0;
    fclose(file);
    if (size == 0)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: the file is empty, not a database", path);
    if (size < sizeof header || memcmp(header, "SQLite format 3", 16) != 0)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not an SQLite database", path);
    *is_wal = header[WRITE_VERSION_AT] == WAL_VERSION;
    return PSFM_OK;
}

/* Size of the write-ahead log beside the database, 0 if there is none. */
static psfm_status find_log(psfm_context *ctx, const char *path, int64_t *log_size) {
    char *log = NULL;
    struct stat info;
    size_t size = strlen(path) + 5;
    psfm_status status = PSFM_ALLOC(ctx, size, &log);
    if (status != PSFM_OK)
        return status;
    snprintf(log, size, "%s-wal", path);
    *log_size = stat(log, &info) == 0 ? (int64_t)info.st_size : 0;
    free(log);
    return PSFM_OK;
}

/* file:PATH?immutable=1, with what an address could take for its own escaped. */
static psfm_status immutable_name(psfm_context *ctx, const char *path, char **name) {
    size_t size = 3 * strlen(path) + 32;
    psfm_status status = PSFM_ALLOC(ctx, size, name);
    if (status != PSFM_OK)
        return status;
    char *end = *name + snprintf(*name, size, path[0] == '/' ? "file://" : "file:");
    for (; *path != '\0'; ++path) {
        bool escape = strchr("%?#", *path) != NULL;
        end += snprintf(end, 4, escape ? "%%%02X" : "%c", (unsigned char)*path);
    }
    snprintf(end, 16, "?immutable=1");
    return PSFM_OK;
}

static psfm_status open_database(psfm_sql *sql, const char *name, int flags, int timeout_ms) {
    sql->doing = "cannot be opened";
    int result = sqlite3_open_v2(name, &sql->db, flags, NULL);
    psfm_status status = PSFM_OK;
    if (sql->db == NULL)
        return psfm_fail_memory(sql->ctx);
    if (result != SQLITE_OK)
        status = psfm_sql_fail(sql);
    else
        sqlite3_busy_timeout(sql->db, timeout_ms);
    if (status != PSFM_OK)
        psfm_sql_close(sql);
    return status;
}

/* Nothing that the file itself brings is run: no triggers, no views, no functions in its schema. */
static psfm_status distrust_schema(const psfm_sql *sql) {
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return psfm_sql_exec(sql, "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = OFF");
}

psfm_status psfm_sql_distrust(psfm_sql *sql, int64_t file_size) {
    int limit = sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, -1);
    if (file_size < limit) /* leave room for the text of the schema and of our statements */
        sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, file_size < 65536 ? 65536 : (int)file_size);
    return distrust_schema(sql);
}

/* Rolls back what an interrupted program left half-written: SQLite does that on the first read, but
 * only if it may write. If it cannot, reading says why. */
static psfm_status roll_back(psfm_context *ctx, const char *path) {
    char *journal = NULL;
    struct stat info;
    size_t size = strlen(path) + 9;
    psfm_status status = PSFM_ALLOC(ctx, size, &journal);
    if (status != PSFM_OK)
        return status;
    snprintf(journal, size, "%s-journal", path);
    if (stat(journal, &info) == 0 && info.st_size > 0) {
        sqlite3 *db = NULL;
        if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
            sqlite3_exec(db, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
        sqlite3_close_v2(db);
    }
    free(journal);
    return PSFM_OK;
}

/* Commits without waiting for the disk. */
static psfm_status open_young(psfm_sql *sql) {
    sql->is_young = true;
    return psfm_sql_exec(sql, "PRAGMA synchronous = OFF");
}

/* Waits for the disk. By SQLite's own file: closing another one of the same name would release its
 * locks. */
static void sync_young(const psfm_sql *sql) {
    sqlite3_file *file = NULL;
    sqlite3_file_control(sql->db, "main", SQLITE_FCNTL_FILE_POINTER, (void *)&file);
    if (file == NULL || file->pMethods == NULL)
        return;
    if (file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) != SQLITE_OK)
        psfm_log(sql->ctx, PSFM_LOG_WARNING,
                 "%s: the disk did not take it all; should the machine fail, it may be damaged",
                 sql->path);
    psfm_sync_parent(sql->path);
}

psfm_status psfm_sql_open_for_reading(psfm_context *ctx, const char *path, psfm_sql *sql) {
    *sql = (psfm_sql){.ctx = ctx, .path = path};
    char *name = NULL;
    bool is_wal = false;
    int64_t log_size = 0;
    psfm_status status = roll_back(ctx, path);
    if (status == PSFM_OK)
        status = check_file(ctx, path, &sql->before, &is_wal);
    if (status == PSFM_OK)
        status = find_log(ctx, path, &log_size);
    if (status != PSFM_OK)
        return status;
    sql->is_immutable = is_wal && log_size == 0;
    int flags = SQLITE_OPEN_READONLY;
    if (sql->is_immutable) {
        status = immutable_name(ctx, path, &name);
        flags |= SQLITE_OPEN_URI;
    }
    if (status == PSFM_OK)
        status = open_database(sql, name == NULL ? path : name, flags, PSFM_SQL_READ_TIMEOUT_MS);
    if (status == PSFM_OK)
        status = psfm_sql_distrust(sql, (int64_t)sql->before.st_size + log_size);
    if (status != PSFM_OK)
        psfm_sql_close(sql);
    free(name);
    return status;
}

psfm_status psfm_sql_open_for_writing(psfm_context *ctx, const char *path, psfm_sql *sql) {
    *sql = (psfm_sql){.ctx = ctx, .path = path};
    bool is_wal = false;
    psfm_status status = check_file(ctx, path, &sql->before, &is_wal);
    if (status == PSFM_OK)
        status = open_database(sql, path, SQLITE_OPEN_READWRITE, PSFM_SQL_WRITE_TIMEOUT_MS);
    if (status == PSFM_OK)
        status = distrust_schema(sql);
    if (status == PSFM_OK && psfm_context_made(ctx, sql->before.st_dev, sql->before.st_ino))
        status = open_young(sql);
    if (status != PSFM_OK)
        psfm_sql_close(sql);
    return status;
}

psfm_status psfm_sql_create(psfm_context *ctx, const char *path, psfm_sql *sql) {
    *sql = (psfm_sql){.ctx = ctx, .path = path};
    psfm_status status = open_database(sql, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 0);
    if (status == PSFM_OK)
        status = psfm_sql_exec(sql, "PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8';"
                                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    if (status != PSFM_OK)
        psfm_sql_close(sql);
    return status;
}

psfm_status psfm_sql_open_new(psfm_context *ctx, const char *path, psfm_sql *sql) {
    *sql = (psfm_sql){.ctx = ctx, .path = path};
    psfm_status status = open_database(sql, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                       PSFM_SQL_WRITE_TIMEOUT_MS);
    if (status == PSFM_OK)
        status = psfm_sql_exec(sql, "PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'");
    if (status == PSFM_OK && stat(path, &sql->before) == 0) {
        psfm_context_set_made(ctx, sql->before.st_dev, sql->before.st_ino);
        status = open_young(sql);
    }
    if (status != PSFM_OK)
        psfm_sql_close(sql);
    return status;
}

psfm_status psfm_sql_check_unchanged(const psfm_sql *sql) {
    struct stat after;
    int64_t log_size = 0;
    if (!sql->is_immutable)
        return PSFM_OK;
    psfm_status status = find_log(sql->ctx, sql->path, &log_size);
    if (status != PSFM_OK)
        return status;
    const struct stat *before = &sql->before;
    if (log_size > 0 || stat(sql->path, &after) != 0 || after.st_size != before->st_size ||
        after.st_ino != before->st_ino || after.st_mtim.tv_sec != before->st_mtim.tv_sec ||
        after.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
        return psfm_fail(sql->ctx, PSFM_ERR_IO,
                         "%s: another program wrote to the database while it was read; try again "
                         "when it is done",
                         sql->path);
    return PSFM_OK;
}

void psfm_sql_close(psfm_sql *sql) {
    if (sql->db != NULL && sql->is_young)
        sync_young(sql);
    sqlite3_close_v2(sql->db);
    sql->db = NULL;
}

psfm_status psfm_sql_exec(const psfm_sql *sql, const char *text) {
    return sqlite3_exec(sql->db, text, NULL, NULL, NULL) == SQLITE_OK ? PSFM_OK
                                                                      : psfm_sql_fail(sql);
}

psfm_sql_value psfm_sql_int(int64_t number) {
    return (psfm_sql_value){.kind = PSFM_SQL_INT, .number = number};
}

psfm_sql_value psfm_sql_real(double number) {
    return (psfm_sql_value){.kind = PSFM_SQL_REAL, .real = number};
}

psfm_sql_value psfm_sql_text(const char *text) {
    return (psfm_sql_value){.kind = PSFM_SQL_TEXT, .bytes = text};
}

psfm_sql_value psfm_sql_blob(const void *bytes, size_t size) {
    return (psfm_sql_value){.kind = PSFM_SQL_BLOB, .bytes = bytes, .number = (int64_t)size};
}

static int bind_value(sqlite3_stmt *statement, int parameter, const psfm_sql_value *value) {
    switch (value->kind) {
    case PSFM_SQL_INT:
        return sqlite3_bind_int64(statement, parameter, value->number);
    case PSFM_SQL_REAL:
        return sqlite3_bind_double(statement, parameter, value->real);
    case PSFM_SQL_TEXT:
        return sqlite3_bind_text(statement, parameter, value->bytes, -1, SQLITE_STATIC);
    case PSFM_SQL_BLOB:
        return value->number == 0
                   ? sqlite3_bind_zeroblob(statement, parameter, 0)
                   : sqlite3_bind_blob64(statement, parameter, value->bytes,
                                         (sqlite3_uint64)value->number, SQLITE_STATIC);
    default:
        return sqlite3_bind_null(statement, parameter);
    }
}

static psfm_status bind_values(const psfm_sql *sql, sqlite3_stmt *statement,
                               const psfm_sql_value *values, int num) {
    for (int k = 0; k < num; ++k)
        if (bind_value(statement, k + 1, &values[k]) != SQLITE_OK)
            return psfm_sql_fail(sql);
    return PSFM_OK;
}

psfm_status psfm_sql_prepare(const psfm_sql *sql, const char *text, const psfm_sql_value *values,
                             int num, sqlite3_stmt **statement) {
    *statement = NULL;
    if (sqlite3_prepare_v2(sql->db, text, -1, statement, NULL) != SQLITE_OK)
        return psfm_sql_fail(sql);
    return bind_values(sql, *statement, values, num);
}

bool psfm_sql_next(const psfm_sql *sql, sqlite3_stmt *statement, psfm_status *status) {
    if (*status != PSFM_OK)
        return false;
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        *status = psfm_sql_fail(sql);
    return result == SQLITE_ROW;
}

psfm_status psfm_sql_run(const psfm_sql *sql, sqlite3_stmt *statement, const psfm_sql_value *values,
                         int num) {
    psfm_status status = bind_values(sql, statement, values, num);
    (void)psfm_sql_next(sql, statement, &status);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

psfm_status psfm_sql_exec_with(const psfm_sql *sql, const char *text, const psfm_sql_value *values,
                               int num) {
    int64_t nothing;
    return psfm_sql_number(sql, text, values, num, &nothing);
}

psfm_status psfm_sql_number(const psfm_sql *sql, const char *text, const psfm_sql_value *values,
                            int num, int64_t *number) {
    sqlite3_stmt *statement;
    psfm_status status = psfm_sql_prepare(sql, text, values, num, &statement);
    *number = psfm_sql_next(sql, statement, &status) ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return status;
}

psfm_status psfm_sql_has_table(const psfm_sql *sql, const char *name, bool *exists) {
    const psfm_sql_value value = psfm_sql_text(name);
    int64_t found;
    psfm_status status = psfm_sql_number(sql,
                                         "SELECT 1 FROM sqlite_master WHERE type = 'table' AND "
                                         "name = ?1 COLLATE NOCASE AND rootpage > 0",
                                         &value, 1, &found);
    *exists = found != 0;
    return status;
}
