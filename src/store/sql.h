/* SQLite with our statuses: opening without a trace, statements, failures as sentences. */
#ifndef PSFM_STORE_SQL_H
#define PSFM_STORE_SQL_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "core/base/context.h"

/* How long to wait for another program that holds the database: readers give up soon, writers
 * carry results that took long to compute. */
enum { PSFM_SQL_READ_TIMEOUT_MS = 2000, PSFM_SQL_WRITE_TIMEOUT_MS = 10000 };

/* An open database. */
typedef struct {
    psfm_context *ctx;
    sqlite3 *db;
    const char *path;  /* for messages; the caller's */
    const char *doing; /* for messages: "cannot read the table images" */
    bool is_immutable; /* opened without locks: psfm_sql_check_unchanged tells if that went well */
    bool is_young;     /* made in this context: synced when it is closed, not at each commit */
    struct stat before;
} psfm_sql;

/* Opens an existing database for reading, changing neither it nor its folder. A database in WAL
 * mode whose log is empty is opened without locks, because SQLite would leave two files beside it
 * and cannot open it at all in a read-only folder. What a
 * killed program left half-written is rolled back. `path` must outlive `sql`. */
psfm_status psfm_sql_open_for_reading(psfm_context *ctx, const char *path, psfm_sql *sql);

/* Opens an existing database for reading and writing. Triggers that it has are not run. */
psfm_status psfm_sql_open_for_writing(psfm_context *ctx, const char *path, psfm_sql *sql);

/* Makes a new database under a name that does not exist yet. Nothing is safe on disk until it has
 * been closed and synced; there is no journal. */
psfm_status psfm_sql_create(psfm_context *ctx, const char *path, psfm_sql *sql);

/* Makes a new database, or opens an empty one, that is then written in transactions and survives an
 * interruption of the program at any point. Until it is closed it may not survive a failure of the
 * machine, neither now nor when it is opened for writing again in the same context: there is
 * nothing in it that was there before, and waiting for the disk at each commit takes longer than
 * some stages. */
psfm_status psfm_sql_open_new(psfm_context *ctx, const char *path, psfm_sql *sql);

/* Makes reading a damaged or hostile file harmless; the opening functions call it. No value can be
 * longer than the file has bytes. */
psfm_status psfm_sql_distrust(psfm_sql *sql, int64_t file_size);

/* After reading: PSFM_ERR_IO if another program changed the file under a reader without locks. */
psfm_status psfm_sql_check_unchanged(const psfm_sql *sql);

/* Closes it; safe on a zeroed one. All statements must be finalized. */
void psfm_sql_close(psfm_sql *sql);

/* Records the failure of the last call on this database. */
psfm_status psfm_sql_fail(const psfm_sql *sql);

/* Runs statements without parameters or results. */
psfm_status psfm_sql_exec(const psfm_sql *sql, const char *text);

/* The value of a parameter. Texts and blobs must live until the statement has run; no bytes are an
 * empty blob, a number that is not one is NULL. */
typedef struct {
    enum { PSFM_SQL_NULL, PSFM_SQL_INT, PSFM_SQL_REAL, PSFM_SQL_TEXT, PSFM_SQL_BLOB } kind;
    int64_t number; /* of a blob: its bytes */
    double real;
    const void *bytes;
} psfm_sql_value;

psfm_sql_value psfm_sql_int(int64_t number);
psfm_sql_value psfm_sql_real(double number);
psfm_sql_value psfm_sql_text(const char *text);
psfm_sql_value psfm_sql_blob(const void *bytes, size_t size);

/* Prepares one statement, with values for its first parameters; finalize it with sqlite3_finalize
 * (NULL is fine). */
psfm_status psfm_sql_prepare(const psfm_sql *sql, const char *text, const psfm_sql_value *values,
                             int num, sqlite3_stmt **statement);

/* Steps to the next row unless *status is a failure; false at the end, and on failure. */
bool psfm_sql_next(const psfm_sql *sql, sqlite3_stmt *statement, psfm_status *status);

/* Runs a statement that gives no rows, and makes it ready for the next values. */
psfm_status psfm_sql_run(const psfm_sql *sql, sqlite3_stmt *statement, const psfm_sql_value *values,
                         int num);

/* Prepares and runs one statement that gives no rows. */
psfm_status psfm_sql_exec_with(const psfm_sql *sql, const char *text, const psfm_sql_value *values,
                               int num);

/* The first column of the first row; 0 if there is none. */
psfm_status psfm_sql_number(const psfm_sql *sql, const char *text, const psfm_sql_value *values,
                            int num, int64_t *number);

/* Whether there is an ordinary table of this name (no view, no virtual table). */
psfm_status psfm_sql_has_table(const psfm_sql *sql, const char *name, bool *exists);

#endif
