/* Options: one row per option gives its default, its check, its command-line flag, its JSON and
 * its line in the manual. A module that has options defines a plain struct and a table of rows.
 *
 *   static const psfm_option rows[] = {
 *       PSFM_OPTION_DOUBLE(psfm_two_view_options, max_error_px, "max-error-px", 4.0, 0.01, 1000.0,
 *                          "largest transfer error of an inlier, in pixels"),
 *   };
 *   const psfm_option_table psfm_two_view_option_table = PSFM_OPTION_TABLE("twoview", rows);
 */
#ifndef PSFM_BASE_OPTIONS_H
#define PSFM_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

typedef enum {
    PSFM_OPTION_IS_BOOL,   /* bool */
    PSFM_OPTION_IS_INT,    /* int */
    PSFM_OPTION_IS_DOUBLE, /* double */
    PSFM_OPTION_IS_CHOICE, /* int, index into `choices` */
} psfm_option_type;

typedef struct {
    const char *name; /* of the flag, with dashes */
    psfm_option_type type;
    size_t offset;      /* of the field in the module's struct */
    double value;       /* the default */
    double paper_value; /* the default of the published method, where it is another one */
    double min, max;
    const char *const *choices; /* NULL-terminated, for choices */
    const char *help;
} psfm_option;

#define PSFM_OPTION_BOOL(type, field, name, value, help) \
    PSFM_OPTION_BOOL_BY_MODE(type, field, name, value, value, help)
#define PSFM_OPTION_INT(type, field, name, value, min, max, help) \
    PSFM_OPTION_INT_BY_MODE(type, field, name, value, value, min, max, help)
#define PSFM_OPTION_DOUBLE(type, field, name, value, min, max, help) \
    PSFM_OPTION_DOUBLE_BY_MODE(type, field, name, value, value, min, max, help)
#define PSFM_OPTION_CHOICE(type, field, name, value, choices, help) \
    { name, PSFM_OPTION_IS_CHOICE, offsetof(type, field), value, value, 0, 0, choices, help }

/* With another default in paper mode. */
#define PSFM_OPTION_BOOL_BY_MODE(type, field, name, value, paper, help) \
    { name, PSFM_OPTION_IS_BOOL, offsetof(type, field), value, paper, 0, 1, NULL, help }
#define PSFM_OPTION_INT_BY_MODE(type, field, name, value, paper, min, max, help) \
    { name, PSFM_OPTION_IS_INT, offsetof(type, field), value, paper, min, max, NULL, help }
#define PSFM_OPTION_DOUBLE_BY_MODE(type, field, name, value, paper, min, max, help) \
    { name, PSFM_OPTION_IS_DOUBLE, offsetof(type, field), value, paper, min, max, NULL, help }

typedef struct {
    const char *prefix; /* flags are --prefix.name, or --name if it is empty */
    const psfm_option *rows;
    size_t num_rows;
    const void *unlisted; /* the module's struct with the members that have no row; NULL: all do */
    size_t size;          /* of it */
} psfm_option_table;

#define PSFM_OPTION_TABLE(prefix, rows) \
    { prefix, (rows), sizeof(rows) / sizeof *(rows), NULL, 0 }
#define PSFM_OPTION_TABLE_FROM(prefix, rows, unlisted) \
    { prefix, (rows), sizeof(rows) / sizeof *(rows), &(unlisted), sizeof(unlisted) }

/* A table with the place of its struct in a larger one. */
typedef struct {
    const psfm_option_table *table;
    size_t offset;
    unsigned parts; /* what it is about: bits that the larger struct gives a meaning */
} psfm_option_group;

/* Fills the struct with the defaults, or with those of the published method. */
void psfm_options_init(const psfm_option_table *table, void *options);
void psfm_options_init_paper(const psfm_option_table *table, void *options);

/* Sets one option from text. PSFM_ERR_ARGUMENT with the allowed range if the text does not fit.
 * The caller has found `row` with psfm_option_groups_find. */
psfm_status psfm_option_set(psfm_context *ctx, const psfm_option_table *table,
                            const psfm_option *row, const char *text, void *options);

/* Whether an option is meant by a name: '_' in it stands for '-' or '.' as well, for languages
 * whose names have neither. */
bool psfm_option_is_meant(const char *option, const char *name);

/* The row "prefix.name", or "name" of a table without prefix, in the groups (ended by table ==
 * NULL) about one of `parts`; NULL if there is none. */
const psfm_option *psfm_option_groups_find(const psfm_option_group *groups, unsigned parts,
                                           const char *name, const psfm_option_group **group);

/* Checks that every field is finite and within its range. */
psfm_status psfm_options_check(psfm_context *ctx, const psfm_option_table *table,
                               const void *options);

/* The current value of a row: 0 or 1 of a switch, the index of a choice. */
double psfm_option_value(const psfm_option *row, const void *options);

/* Carries a hash on over names and values (core/base/hash.h): equal options, equal hash. */
uint64_t psfm_options_hash(const psfm_option_table *table, const void *options, uint64_t hash);

#define PSFM_OPTION_NAME_SIZE 64

/* "prefix.name", or "name" in a table without prefix. */
void psfm_option_name(const psfm_option_table *table, const psfm_option *row,
                      char name[PSFM_OPTION_NAME_SIZE]);

/* "0.01 .. 1000, default 4" or "a | b, default a", and ", paper mode 1" where that is another
 * default: for help and docs. */
void psfm_option_describe(const psfm_option *row, char *text, size_t size);

#endif
