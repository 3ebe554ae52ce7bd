/* The command line: a table of commands, one parser for all of them. */
#ifndef PSFM_CLI_H
#define PSFM_CLI_H

#include <cjson/cJSON.h>

#include "core/base/options.h"
#include "core/base/own_folder.h"
#include "court/court.h"
#include "sfm/registry.h"
#include "world/model_source.h"

/* In place of a number of values: one value, and the flag may be given again. One flag per command,
 * or its last positional argument, then named "NAME...". */
#define CLI_REPEATABLE PSFM_TAKES_MANY
#define CLI_MAX_REPEATS 128
/* Likewise: one value, which may be the empty text. */
#define CLI_MAY_BE_EMPTY (-2)

/* A flag of one command. */
typedef struct {
    const char *name;  /* "--seeds", "-o" */
    const char *value; /* name of its value in the help, NULL for a switch */
    const char *help;
    int num_values; /* 0 stands for 1 if it has a value; CLI_REPEATABLE; CLI_MAY_BE_EMPTY */
} cli_flag;

#define CLI_MAX_FLAGS 64

#define CLI_EXIT_CODES "0 done, 1 failed, 2 wrong usage, 130 interrupted (Ctrl-C)"

/* What was given. */
typedef struct {
    const char *positional[4];
    const char *flag[CLI_MAX_FLAGS]; /* value of each flag, "" for a switch, NULL if not given */
    char **values[CLI_MAX_FLAGS];    /* all values of a flag that takes several */
    const char *repeated[CLI_MAX_REPEATS]; /* values of the flag or argument that may be repeated */
    size_t num_repeated;
    bool help;
} cli_arguments;

/* What a command takes; for parsing and for its help. */
typedef struct {
    const char *name;
    const char *summary;           /* one line */
    const char *usage;             /* after the command's name */
    const char *description;       /* a paragraph or two, with an example */
    const char *const *positional; /* NULL-terminated names */
    const cli_flag *flags;         /* its own; name == NULL ends */
    /* Options of a run: those about these parts, and what they fill. NULL: none. */
    psfm_run_options *run;
    unsigned parts;
    psfm_mode mode; /* that they start with */
    /* Or tables of its own, all about part 1, ended by table == NULL, and what they fill. */
    const psfm_option_group *groups;
    void *options;
    bool goes_on; /* interrupted, the same command goes on from there */
    psfm_status (*work)(psfm_context *ctx, const cli_arguments *arguments);
} cli_command;

extern const cli_command cli_run;
extern const cli_command cli_extract;
extern const cli_command cli_import_points;
extern const cli_command cli_import_hloc;
extern const cli_command cli_import_matches;
extern const cli_command cli_match;
extern const cli_command cli_reconstruct;
extern const cli_command cli_report;
extern const cli_command cli_eval;
extern const cli_command cli_compare;
extern const cli_command cli_align;
extern const cli_command cli_convert;
extern const cli_command cli_synth;
extern const cli_command cli_ablate;
extern const cli_command cli_court;
extern const cli_command cli_doctor;

/* The command's own flags, then those of the run's options that it takes; name == NULL ends. Valid
 * until the next call. */
const cli_flag *cli_flags(const cli_command *command);
/* Sets the run's options that the flags stand for. */
psfm_status cli_apply_flags(psfm_context *ctx, const cli_command *command,
                            const cli_arguments *arguments);
/* The next group of options that the command takes, after this one (NULL: the first); NULL at the
 * end. */
const psfm_option_group *cli_next_group(const cli_command *command, const psfm_option_group *group);

/* The option of this name, less its dashes, and its group; NULL if the command has none. */
const psfm_option *cli_find_option(const cli_command *command, const char *name,
                                   const psfm_option_group **group);
/* The struct that the group's table is about. */
void *cli_options_of(const cli_command *command, const psfm_option_group *group);

/* Fills the options of a command with their defaults, which are those of the mode if the arguments
 * name one. */
psfm_status cli_set_defaults(psfm_context *ctx, const cli_command *command, int argc, char **argv);
/* Parses argv[1..]: positional arguments, the command's flags, its options, which are set, and the
 * common flags (--threads, --seed, --quiet), which are applied to ctx. PSFM_ERR_ARGUMENT with a
 * message on anything unknown, missing or given twice. */
psfm_status cli_parse(psfm_context *ctx, const cli_command *command, int argc, char **argv,
                      cli_arguments *out);

/* A search for the name that a mistyped one was meant to be: set `mistyped`, try all names. */
typedef struct {
    const char *mistyped;
    char best[128], text[160];
    int changes;
} cli_suggestion;

void cli_suggestion_try(cli_suggestion *suggestion, const char *name);
/* "; did you mean NAME?", or nothing if no name is near. */
const char *cli_suggestion_text(cli_suggestion *suggestion);

/* Value of a flag of the command, NULL if not given. */
const char *cli_flag_value(const cli_command *command, const cli_arguments *arguments,
                           const char *name);
/* All values of a flag that takes several, NULL if not given. */
char **cli_flag_values(const cli_command *command, const cli_arguments *arguments,
                       const char *name);
/* A flag that takes a whole number. */
typedef struct {
    const char *name;
    int min, max, fallback; /* fallback: if it was not given */
} cli_int_flag;

psfm_status cli_flag_int(psfm_context *ctx, const cli_command *command,
                         const cli_arguments *arguments, const cli_int_flag *flag, int *out);

/* Tells the display of progress what a reconstruction with these settings will do. */
void cli_plan_poses(const psfm_settings *settings, bool from_photographs);
/* Applies --share-cameras. */
psfm_status cli_apply_sharing(psfm_context *ctx, const cli_command *command,
                              const cli_arguments *arguments, psfm_camera_sharing *sharing);
/* The database that PATH stands for: itself, or the database.db of a folder of results. *out is
 * malloc'ed. */
psfm_status cli_find_database(psfm_context *ctx, const char *path, char **out);

/* Prints a tree to standard output and frees it; NULL is out of memory. */
psfm_status cli_print_json(psfm_context *ctx, cJSON *tree);

/* Prints a name at the start of a row of a table, padded and harmless to a terminal. */
void cli_print_name(const char *name);

/* With it only a result that is called right is a success. */
#define CLI_STRICT \
    { "--strict", NULL, "fail (exit status 1) unless the verdict on the result is right", 0 }
psfm_status cli_check_strict(psfm_context *ctx, const cli_command *command,
                             const cli_arguments *arguments, const cJSON *summary);

/* Where the results of a reconstruction are, with the page if it was written, and what they are
 * worth. */
void cli_print_results(psfm_context *ctx, const cJSON *summary, const char *out);

void cli_print_help(const cli_command *command);
/* Flags that every command takes; name == NULL ends. */
extern const cli_flag cli_common_flags[];
/* The manual page of a command, and the one that lists them all. */
void cli_print_man(const cli_command *command);
void cli_print_man_overview(const cli_command *const *commands);
/* All commands with all options as Markdown: docs/cli.md. */
void cli_print_markdown(const cli_command *const *commands);

#endif
