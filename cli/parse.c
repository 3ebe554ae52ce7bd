/* The command line by tables: a command's own flags, the flags of every command, then options by
 * prefix and name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "core/base/context.h"
#include "progress.h"

static psfm_status whole_number(psfm_context *ctx, const char *name, const char *text, long min,
                                long max, long *out) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < min || value > max)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not a whole number from %ld to %ld",
                         name, text, min, max);
    *out = value;
    return PSFM_OK;
}

/* Flags that every command takes with a whole number. */
typedef struct {
    const char *name;
    long min, max;
} common_flag;

static const common_flag common_flags[] = {
    {"--threads", 1, 1024}, {"--memory", 16, 1L << 30}, {"--seed", 0, 2147483647}};
enum { THREADS, MEMORY, SEED, NUM_COMMON };

/* Its place in the table, NUM_COMMON if it is none of them. */
static int find_common_flag(const char *name) {
    int k = 0;
    while (k < NUM_COMMON && strcmp(name, common_flags[k].name) != 0)
        ++k;
    return k;
}

static bool is_common_flag(const char *name) {
    return find_common_flag(name) < NUM_COMMON;
}

static psfm_status set_common_flag(psfm_context *ctx, const char *name, const char *value) {
    int k = find_common_flag(name);
    long number = 0;
    psfm_status status =
        whole_number(ctx, name, value, common_flags[k].min, common_flags[k].max, &number);
    if (status != PSFM_OK)
        return status;
    if (k == THREADS)
        psfm_context_set_threads(ctx, (int)number);
    else if (k == MEMORY)
        psfm_context_set_memory(ctx, (size_t)number << 20);
    else
        psfm_context_set_seed(ctx, (uint64_t)number);
    return PSFM_OK;
}

static void try_options(const cli_command *command, cli_suggestion *suggestion) {
    for (const psfm_option_group *g = NULL; (g = cli_next_group(command, g)) != NULL;)
        for (size_t k = 0; k < g->table->num_rows; ++k) {
            char name[PSFM_OPTION_NAME_SIZE + 2] = "--";
            psfm_option_name(g->table, &g->table->rows[k], name + 2);
            cli_suggestion_try(suggestion, name);
        }
}

/* Fails with the name that was meant, where one is near. */
static psfm_status refuse_option(psfm_context *ctx, const cli_command *command, const char *name) {
    cli_suggestion suggestion = {.mistyped = name};
    for (const cli_flag *flag = cli_flags(command); flag->name != NULL; ++flag)
        cli_suggestion_try(&suggestion, flag->name);
    for (int k = 0; cli_common_flags[k].name != NULL; ++k)
        cli_suggestion_try(&suggestion, cli_common_flags[k].name);
    try_options(command, &suggestion);
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "unknown option %s%s", name,
                     cli_suggestion_text(&suggestion));
}

static int find_flag(const cli_command *command, const char *name) {
    const cli_flag *flags = cli_flags(command);
    for (int k = 0; flags[k].name != NULL; ++k)
        if (strcmp(flags[k].name, name) == 0)
            return k;
    return -1;
}

static psfm_status add_repeated(psfm_context *ctx, const char *name, const char *value,
                                cli_arguments *out) {
    if (out->num_repeated == CLI_MAX_REPEATS)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s is given more than %d times", name,
                         CLI_MAX_REPEATS);
    out->repeated[out->num_repeated++] = value;
    return PSFM_OK;
}

/* Whether the positional argument of this name may be given several times. */
static bool is_repeatable(const char *name) {
    return name != NULL && strstr(name, "...") != NULL;
}

/* Handles argv[0], which starts with '-', and the values that may follow it; argv ends with NULL.
 * *used is the number of values taken. */
static psfm_status take_flag(psfm_context *ctx, const cli_command *command, char **argv, int *used,
                             cli_arguments *out) {
    const char *name = argv[0], *next = argv[1];
    *used = 0;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        out->help = true;
        return PSFM_OK;
    }
    if (strcmp(name, "--quiet") == 0) {
        cli_progress_silence();
        return PSFM_OK;
    }
    if (strcmp(name, "--progress") == 0) {
        cli_progress_insist();
        return PSFM_OK;
    }
    int k = find_flag(command, name);
    const cli_flag *flag = k >= 0 ? &cli_flags(command)[k] : NULL;
    const psfm_option_group *group = NULL;
    const psfm_option *option =
        k >= 0 || strncmp(name, "--", 2) != 0 ? NULL : cli_find_option(command, name + 2, &group);
    if (k < 0 && option == NULL && !is_common_flag(name))
        return refuse_option(ctx, command, name);
    bool repeatable = k >= 0 && flag->num_values == CLI_REPEATABLE;
    if (k >= 0 && out->flag[k] != NULL && !repeatable)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s is given twice", name);
    if (k >= 0 && flag->value == NULL) {
        out->flag[k] = "";
        return PSFM_OK;
    }
    if (next == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s wants a value", name);
    *used = 1;
    if (next[0] == '\0' && !(k >= 0 && flag->num_values == CLI_MAY_BE_EMPTY))
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: its value is empty", name);
    if (repeatable) {
        psfm_status status = add_repeated(ctx, name, next, out);
        if (status != PSFM_OK)
            return status;
    }
    if (k >= 0) {
        out->flag[k] = next;
        out->values[k] = argv + 1;
        for (; *used < flag->num_values; ++*used)
            if (argv[1 + *used] == NULL)
                return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s wants %d values: %s", name,
                                 flag->num_values, flag->value);
        return PSFM_OK;
    }
    if (option != NULL)
        return psfm_option_set(ctx, group->table, option, next, cli_options_of(command, group));
    return set_common_flag(ctx, name, next);
}

psfm_status cli_parse(psfm_context *ctx, const cli_command *command, int argc, char **argv,
                      cli_arguments *out) {
    int num_positional = 0;
    const char *const *names = command->positional;
    *out = (cli_arguments){0};
    for (int k = 1; k < argc; ++k) {
        psfm_status status = PSFM_OK;
        int used = 0;
        if (argv[k][0] == '\0')
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "an argument is empty");
        else if (argv[k][0] == '-' && argv[k][1] != '\0')
            status = take_flag(ctx, command, argv + k, &used, out);
        else if (is_repeatable(names[num_positional]))
            status = add_repeated(ctx, names[num_positional], argv[k], out);
        else if (names[num_positional] == NULL)
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "'%s' is one argument too many", argv[k]);
        else
            out->positional[num_positional++] = argv[k];
        if (status != PSFM_OK)
            return status;
        k += used;
    }
    bool is_missing = is_repeatable(names[num_positional]) ? out->num_repeated == 0
                                                           : names[num_positional] != NULL;
    if (!out->help && is_missing)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s is missing", names[num_positional]);
    return out->help ? PSFM_OK : cli_apply_flags(ctx, command, out);
}

const char *cli_flag_value(const cli_command *command, const cli_arguments *arguments,
                           const char *name) {
    int k = find_flag(command, name);
    return k < 0 ? NULL : arguments->flag[k];
}

char **cli_flag_values(const cli_command *command, const cli_arguments *arguments,
                       const char *name) {
    int k = find_flag(command, name);
    return k < 0 ? NULL : arguments->values[k];
}

psfm_status cli_flag_int(psfm_context *ctx, const cli_command *command,
                         const cli_arguments *arguments, const cli_int_flag *flag, int *out) {
    const char *text = cli_flag_value(command, arguments, flag->name);
    long value = flag->fallback;
    psfm_status status = PSFM_OK;
    if (text != NULL)
        status = whole_number(ctx, flag->name, text, flag->min, flag->max, &value);
    *out = (int)value;
    return status;
}
