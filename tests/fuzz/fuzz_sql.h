/* What the fuzz targets of databases share: numbers and rows from the bytes of an input, databases
 * that live in memory, and a mutator that knows what a database is. */
#ifndef PSFM_FUZZ_SQL_H
#define PSFM_FUZZ_SQL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/colmap_database_internal.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* ---- an input as a source of numbers ---- */

typedef struct {
    const uint8_t *at, *end;
} source;

static inline uint8_t take_byte(source *from) {
    return from->at < from->end ? *from->at++ : 0;
}

/* A few numbers that matter, and any others. */
static inline int64_t take_number(source *from) {
    static const int64_t special[] = {-1, INT64_MAX, INT64_MIN, 2147483646, 2147483647, 4294967295};
    uint8_t kind = take_byte(from);
    if (kind < 200)
        return kind % 16;
    if (kind < 230)
        return special[kind % 6];
    int64_t value = 0;
    for (int k = 0; k < 4; ++k)
        value = value << 8 | take_byte(from);
    return value;
}

static inline int64_t take_pair_id(source *from) {
    int64_t id1 = take_byte(from) % 8, id2 = take_byte(from) % 8;
    return take_byte(from) == 255 ? take_number(from) : PSFM_PAIR_ID_BASE * id1 + id2;
}

static inline void bind_number(sqlite3_stmt *statement, int parameter, source *from) {
    uint8_t kind = take_byte(from);
    if (kind == 250)
        sqlite3_bind_null(statement, parameter);
    else if (kind == 251)
        sqlite3_bind_text(statement, parameter, "7x", -1, SQLITE_STATIC);
    else
        sqlite3_bind_int64(statement, parameter, take_number(from));
}

static inline void bind_bytes(sqlite3_stmt *statement, int parameter, source *from) {
    size_t size = take_byte(from), left = (size_t)(from->end - from->at);
    if (size > left)
        size = left;
    if (size == 0)
        sqlite3_bind_null(statement, parameter);
    else
        sqlite3_bind_blob(statement, parameter, from->at, (int)size, SQLITE_TRANSIENT);
    from->at += size;
}

/* ---- statements ---- */

/* A statement of the one database of recipes, kept for the next input. */
static inline sqlite3_stmt *keep_statement(sqlite3 *db, const char *text, sqlite3_stmt **kept) {
    if (*kept == NULL && sqlite3_prepare_v2(db, text, -1, kept, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", text, sqlite3_errmsg(db));
        abort();
    }
    return *kept;
}

static inline void run_statement(sqlite3_stmt *statement) {
    sqlite3_step(statement); /* a constraint may refuse the row */
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

/* Rows of id, rows, cols, data of `size` bytes each. Half of the time the numbers fit the data. */
static inline void fill_matrices(sqlite3_stmt *statement, bool is_pair, int cols, int size,
                                 source *from) {
    unsigned char data[8 * 256];
    for (int num = take_byte(from) % 8; num > 0; --num) {
        sqlite3_bind_int64(statement, 1, is_pair ? take_pair_id(from) : take_number(from));
        if (take_byte(from) % 2 == 0) {
            bind_number(statement, 2, from);
            bind_number(statement, 3, from);
            bind_bytes(statement, 4, from);
        } else {
            int rows = take_byte(from) % 8, bytes = rows * cols * size;
            for (int k = 0; k < bytes; ++k)
                data[k] = k % 4 == 0 ? take_byte(from) % 16 : 0;
            sqlite3_bind_int(statement, 2, rows);
            sqlite3_bind_int(statement, 3, cols);
            sqlite3_bind_blob(statement, 4, data, bytes, SQLITE_TRANSIENT);
        }
        run_statement(statement);
    }
}

static inline void fill_cameras(sqlite3 *db, source *from) {
    static const double good[4] = {500, 500, 320, 240};
    static sqlite3_stmt *kept;
    sqlite3_stmt *statement =
        keep_statement(db, "INSERT INTO cameras VALUES (?1, ?2, ?3, ?4, ?5, 0)", &kept);
    for (int num = take_byte(from) % 4; num > 0; --num) {
        sqlite3_bind_int64(statement, 1, take_number(from));
        if (take_byte(from) % 4 == 0) {
            for (int k = 2; k < 5; ++k)
                bind_number(statement, k, from);
            bind_bytes(statement, 5, from);
        } else {
            sqlite3_bind_int(statement, 2, 1);
            sqlite3_bind_int(statement, 3, 640);
            sqlite3_bind_int(statement, 4, 480);
            sqlite3_bind_blob(statement, 5, good, sizeof good, SQLITE_STATIC);
        }
        run_statement(statement);
    }
}

static inline void fill_images(sqlite3 *db, source *from) {
    static sqlite3_stmt *kept;
    sqlite3_stmt *statement = keep_statement(
        db, "INSERT INTO images (image_id, name, camera_id) VALUES (?1, ?2, ?3)", &kept);
    for (int num = take_byte(from) % 8; num > 0; --num) {
        char name[3] = {'a', (char)take_byte(from), '\0'};
        sqlite3_bind_int64(statement, 1, take_number(from));
        sqlite3_bind_text(statement, 2, name, take_byte(from) % 3, SQLITE_TRANSIENT);
        bind_number(statement, 3, from);
        run_statement(statement);
    }
}

/* ---- databases in memory ---- */

/* SQLite without locks and with a pool for small things: most of its time would go into the
 * sanitizer's allocator. Large values still come from there. */
static inline sqlite3 *open_in_memory(void) {
    static bool is_configured;
    sqlite3 *db = NULL;
    if (!is_configured) {
        sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        is_configured = true;
    }
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        abort();
    sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 1200, 400);
    return db;
}

static inline void load_file(sqlite3 *db, const void *data, size_t size, unsigned flags) {
    unsigned char *copy = sqlite3_malloc64(size + 1);
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    if (sqlite3_deserialize(db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
                            SQLITE_DESERIALIZE_FREEONCLOSE | flags) != SQLITE_OK)
        abort();
}

/* ---- mutation of databases ---- */

static inline uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/* The name of a column of a table, or of a table of the schema, chosen by chance. */
static inline bool choose_name(sqlite3 *db, const char *text, const char *table, uint32_t *state,
                               char name[64]) {
    sqlite3_stmt *statement = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK) {
        if (table != NULL)
            sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
        for (uint32_t k = 1; sqlite3_step(statement) == SQLITE_ROW; ++k) {
            const char *text_found = (const char *)sqlite3_column_text(statement, 0);
            if (text_found != NULL && strlen(text_found) < 64 && next_random(state) % k == 0) {
                snprintf(name, 64, "%s", text_found);
                found = true;
            }
        }
    }
    sqlite3_finalize(statement);
    return found;
}

/* Changes one thing that SQL can say: a value, a row, a column, a table. */
static inline void change_database(sqlite3 *db, uint32_t *state) {
    static const char *const values[] = {
        "-1",    "0",           "1",     "NULL", "2147483647",    "9223372036854775807", "'x'",
        "x'00'", "zeroblob(4)", "1e300", "-0.5", "zeroblob(300)", "randomblob(8)"};
    char table[64], column[64], text[320];
    if (!choose_name(db, "SELECT name FROM sqlite_master WHERE type = 'table'", NULL, state,
                     table) ||
        !choose_name(db, "SELECT name FROM pragma_table_info(?1)", table, state, column))
        return;
    const char *value = values[next_random(state) % (sizeof values / sizeof values[0])];
    uint32_t row = next_random(state) % 8;
    switch (next_random(state) % 8) {
    case 0:
        snprintf(text, sizeof text, "DELETE FROM \"%s\" WHERE rowid %% 8 = %u", table, row);
        break;
    case 1:
        snprintf(text, sizeof text, "UPDATE OR IGNORE \"%s\" SET rowid = rowid + %u", table, row);
        break;
    case 2:
        snprintf(text, sizeof text, "UPDATE OR IGNORE \"%s\" SET \"%s\" = substr(\"%s\", %u)",
                 table, column, column, row);
        break;
    case 3:
        snprintf(text, sizeof text, "UPDATE OR IGNORE \"%s\" SET \"%s\" = \"%s\" + 1", table,
                 column, column);
        break;
    case 4:
        snprintf(text, sizeof text, row < 7 ? "UPDATE \"%s\" SET \"%s\" = %s" : "DROP TABLE \"%s\"",
                 table, column, value);
        break;
    default:
        snprintf(text, sizeof text, "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s WHERE rowid %% 8 = %u",
                 table, column, value, row);
    }
    sqlite3_exec(db, text, NULL, NULL, NULL);
}

/* A whole file becomes another whole file, most of the time; recipes and some files are changed
 * byte by byte. */
static inline size_t mutate_database(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    uint32_t state = seed;
    if (size < 512 || data[0] != 'S' || next_random(&state) % 4 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    sqlite3 *db = open_in_memory();
    sqlite3_int64 new_size = 0;
    load_file(db, data, size, SQLITE_DESERIALIZE_RESIZEABLE);
    for (uint32_t k = next_random(&state) % 3 + 1; k > 0; --k)
        change_database(db, &state);
    unsigned char *file = sqlite3_serialize(db, "main", &new_size, 0);
    if (file != NULL && new_size > 0 && (size_t)new_size <= max_size) {
        size = (size_t)new_size;
        memcpy(data, file, size);
    }
    sqlite3_free(file);
    sqlite3_close(db);
    return size;
}

#endif
