/* Options: one row per option gives its default, its check, its command-line flag, its JSON and
 * its line in the manual. A module that has options defines a plain struct and a table of rows.
 *
 *   static const psfm_option rows[] = {
 *       PSFM_OPTION_DOUBLE(psfm_two_view_options, max_error_px, "max-error-px", 4.0, 0.01, 1000.0,
 *                          "largest transfer error of an inlier, in pixels"),
 *   };
 *   const psfm_option_table psfm_two_view_option_table = {"twoview", rows, 1};
 */
#ifndef PSFM_BASE_OPTIONS_H
#define PSFM_BASE_OPTIONS_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

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
} psfm_option_table;

/* Fills the struct with the defaults, or with those of the published method. */
void psfm_options_init(const psfm_option_table *table, void *options);
void psfm_options_init_paper(const psfm_option_table *table, void *options);

/* Sets one option from text. PSFM_ERR_ARGUMENT with the allowed range if the text does not fit.
 * The caller has found `row` with psfm_options_find. */
psfm_status psfm_option_set(psfm_context *ctx, const psfm_option_table *table,
                            const psfm_option *row, const char *text, void *options);

/* The row with this name (without prefix), or NULL. */
const psfm_option *psfm_options_find(const psfm_option_table *table, const char *name);

/* Checks that every field is finite and within its range. */
psfm_status psfm_options_check(psfm_context *ctx, const psfm_option_table *table,
                               const void *options);

/* An object with the current values; NULL when memory is out. */
cJSON *psfm_options_to_json(const psfm_option_table *table, const void *options);

/* Carries *hash on over the values (base/hash.h): equal options, equal hash. */
psfm_status psfm_options_hash(psfm_context *ctx, const psfm_option_table *table,
                              const void *options, uint64_t *hash);

/* "0.01 .. 1000, default 4" or "a | b, default a", and ", paper mode 1" where that is another
 * default: for help and docs. */
void psfm_option_describe(const psfm_option *row, char *text, size_t size);

#endif
