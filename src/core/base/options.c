/* Options from tables. Every value travels as a double between its row and its field, whatever the
 * field's type; range, parsing and text are then written once for all types. */
#include "core/base/options.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/number_locale.h"

static void store_value(const psfm_option *row, void *options, double value) {
    char *field = (char *)options + row->offset;
    switch (row->type) {
    case PSFM_OPTION_IS_BOOL:
        *(bool *)(void *)field = value != 0.0;
        break;
    case PSFM_OPTION_IS_INT:
    case PSFM_OPTION_IS_CHOICE:
        *(int *)(void *)field = (int)value;
        break;
    case PSFM_OPTION_IS_DOUBLE:
        *(double *)(void *)field = value;
        break;
    }
}

double psfm_option_value(const psfm_option *row, const void *options) {
    const char *field = (const char *)options + row->offset;
    switch (row->type) {
    case PSFM_OPTION_IS_BOOL:
        return *(const bool *)(const void *)field ? 1.0 : 0.0;
    case PSFM_OPTION_IS_INT:
    case PSFM_OPTION_IS_CHOICE:
        return *(const int *)(const void *)field;
    case PSFM_OPTION_IS_DOUBLE:
        return *(const double *)(const void *)field;
    }
    return 0.0;
}

static double num_choices(const psfm_option *row) {
    int n = 0;
    while (row->choices[n] != NULL)
        ++n;
    return n;
}

static bool in_range(const psfm_option *row, double value) {
    if (row->type == PSFM_OPTION_IS_CHOICE)
        return value >= 0.0 && value < num_choices(row);
    return value >= row->min && value <= row->max; /* false for NaN */
}

static void copy_unlisted(const psfm_option_table *table, void *options) {
    if (table->unlisted != NULL)
        memcpy(options, table->unlisted, table->size);
}

void psfm_options_init(const psfm_option_table *table, void *options) {
    copy_unlisted(table, options);
    for (size_t k = 0; k < table->num_rows; ++k)
        store_value(&table->rows[k], options, table->rows[k].value);
}

void psfm_options_init_paper(const psfm_option_table *table, void *options) {
    copy_unlisted(table, options);
    for (size_t k = 0; k < table->num_rows; ++k)
        store_value(&table->rows[k], options, table->rows[k].paper_value);
}

bool psfm_option_is_meant(const char *option, const char *name) {
    for (; *option != '\0'; ++option, ++name)
        if (*name != *option && (*name != '_' || (*option != '-' && *option != '.')))
            return false;
    return *name == '\0';
}

void psfm_option_name(const psfm_option_table *table, const psfm_option *row,
                      char name[PSFM_OPTION_NAME_SIZE]) {
    snprintf(name, PSFM_OPTION_NAME_SIZE, "%s%s%s", table->prefix,
             table->prefix[0] == '\0' ? "" : ".", row->name);
}

/* Names that options had before; they are read for one release. */
static const char *const former_names[][2] = {
    {"refine.probes", "refine.stability-tests"},
    {"twins", "duplicates"},
};

static const char *find_current_name(const char *name) {
    for (size_t k = 0; k < sizeof former_names / sizeof *former_names; ++k)
        if (psfm_option_is_meant(former_names[k][0], name))
            return former_names[k][1];
    return name;
}

const psfm_option *psfm_option_groups_find(const psfm_option_group *groups, unsigned parts,
                                           const char *name, const psfm_option_group **group) {
    name = find_current_name(name);
    for (const psfm_option_group *g = groups; g->table != NULL; ++g) {
        for (size_t k = 0; (g->parts & parts) && k < g->table->num_rows; ++k) {
            char option[PSFM_OPTION_NAME_SIZE];
            psfm_option_name(g->table, &g->table->rows[k], option);
            *group = g;
            if (psfm_option_is_meant(option, name))
                return &g->table->rows[k];
        }
    }
    return NULL;
}

/* Parses the text of a value; false if it is not of the row's type. */
static bool parse_value(const psfm_option *row, const char *text, double *value) {
    if (row->type == PSFM_OPTION_IS_CHOICE) {
        for (int k = 0; row->choices[k] != NULL; ++k) {
            if (strcmp(row->choices[k], text) == 0) {
                *value = k;
                return true;
            }
        }
        return false;
    }
    if (row->type == PSFM_OPTION_IS_BOOL) {
        bool yes = strcmp(text, "1") == 0 || strcmp(text, "true") == 0 || strcmp(text, "on") == 0;
        bool no = strcmp(text, "0") == 0 || strcmp(text, "false") == 0 || strcmp(text, "off") == 0;
        *value = yes ? 1.0 : 0.0;
        return yes || no;
    }
    return psfm_parse_number(text, value) &&
           (row->type == PSFM_OPTION_IS_DOUBLE || *value == floor(*value));
}

psfm_status psfm_option_set(psfm_context *ctx, const psfm_option_table *table,
                            const psfm_option *row, const char *text, void *options) {
    double value;
    char name[PSFM_OPTION_NAME_SIZE];
    if (!parse_value(row, text, &value) || !in_range(row, value)) {
        char allowed[256];
        psfm_option_describe(row, allowed, sizeof allowed);
        psfm_option_name(table, row, name);
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--%s: '%s' is not allowed (%s)", name, text,
                         allowed);
    }
    store_value(row, options, value);
    return PSFM_OK;
}

psfm_status psfm_options_check(psfm_context *ctx, const psfm_option_table *table,
                               const void *options) {
    for (size_t k = 0; k < table->num_rows; ++k) {
        const psfm_option *row = &table->rows[k];
        double value = psfm_option_value(row, options);
        if (!in_range(row, value)) {
            char allowed[256], name[PSFM_OPTION_NAME_SIZE];
            psfm_option_describe(row, allowed, sizeof allowed);
            psfm_option_name(table, row, name);
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "option %s: %g is not allowed (%s)", name,
                             value, allowed);
        }
    }
    return PSFM_OK;
}

uint64_t psfm_options_hash(const psfm_option_table *table, const void *options, uint64_t hash) {
    for (size_t k = 0; k < table->num_rows; ++k) {
        const psfm_option *row = &table->rows[k];
        const double value = psfm_option_value(row, options);
        hash = psfm_hash(hash, row->name, strlen(row->name) + 1);
        hash = psfm_hash(hash, &value, sizeof value);
    }
    return hash;
}

/* Appends to a text of `size` bytes of which *used are taken; what does not fit is cut off. */
static void append_text(char *text, size_t size, size_t *used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void append_text(char *text, size_t size, size_t *used, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = *used < size ? vsnprintf(text + *used, size - *used, format, args) : 0;
    va_end(args);
    *used += length > 0 ? (size_t)length : 0;
}

static void append_value(const psfm_option *row, double value, char *text, size_t size,
                         size_t *used) {
    if (row->type == PSFM_OPTION_IS_BOOL)
        append_text(text, size, used, "%s", value != 0.0 ? "on" : "off");
    else if (row->type == PSFM_OPTION_IS_CHOICE)
        append_text(text, size, used, "%s", row->choices[(int)value]);
    else
        append_text(text, size, used, "%g", value);
}

static void append_range(const psfm_option *row, char *text, size_t size, size_t *used) {
    if (row->type == PSFM_OPTION_IS_BOOL)
        append_text(text, size, used, "on | off");
    else if (row->type == PSFM_OPTION_IS_CHOICE)
        for (int k = 0; row->choices[k] != NULL; ++k)
            append_text(text, size, used, "%s%s", k > 0 ? " | " : "", row->choices[k]);
    else
        append_text(text, size, used, "%g .. %g", row->min, row->max);
}

void psfm_option_describe(const psfm_option *row, char *text, size_t size) {
    size_t used = 0;
    locale_t before = psfm_number_locale_begin();
    append_range(row, text, size, &used);
    append_text(text, size, &used, ", default ");
    append_value(row, row->value, text, size, &used);
    if (row->paper_value != row->value) {
        append_text(text, size, &used, ", paper mode ");
        append_value(row, row->paper_value, text, size, &used);
    }
    psfm_number_locale_end(before);
}
