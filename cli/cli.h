/* The command line: a table of commands, one parser for all of them. */
#ifndef PSFM_CLI_H
#define PSFM_CLI_H

#include "base/options.h"
#include "court/court.h"
#include "intake/extract_folder.h"
#include "intake/match_images.h"
#include "io/geo_reference.h"
#include "io/planes_file.h"
#include "pipeline/settings.h"
#include "planarsfm/model.h"

/* In place of a number of values: one value, and the flag may be given again. One flag per command,
 * or its last positional argument, then named "NAME...". */
#define CLI_REPEATABLE (-1)
#define CLI_MAX_REPEATS 128

/* A flag of one command. */
typedef struct {
    const char *name;  /* "--seeds", "-o" */
    const char *value; /* name of its value in the help, NULL for a switch */
    const char *help;
    int num_values; /* 0 stands for 1 if it has a value; CLI_REPEATABLE */
} cli_flag;

/* A table of options, offered as --prefix.name VALUE or, with bare = true, as --name VALUE. */
typedef struct {
    const psfm_option_table *table;
    void *options;
    bool bare;
} cli_option_group;

#define CLI_MAX_FLAGS 32

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
    const cli_flag *flags;         /* name == NULL ends */
    /* The groups of options it takes, ended by table == NULL; cli_parse sets them, the help prints
     * them. NULL if it has none. */
    const cli_option_group *(*groups)(void);
    void (*defaults)(void); /* sets the options before the arguments are parsed; may be NULL */
    psfm_settings
        *settings; /* get their defaults from --mode, are cleared at the end; may be NULL */
    bool goes_on;  /* interrupted, the same command goes on from there */
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

#define CLI_PAIRS_HELP                                                                            \
    "exhaustive, sequential:K, ring:K (each image with the K after it), retrieval:K (with the K " \
    "that look most like it), gps:K (with the K taken nearest to it, by EXIF data), some of "     \
    "these joined by +, or file:PATH"

/* Rows of flag tables that several commands share. */
#define CLI_PHOTOGRAPH_FLAGS                                                                       \
    {"--cameras", "PATH",                                                                          \
     "intrinsics: a COLMAP model with an image of each photograph's name, the results of a run, "  \
     "or a cameras file with one camera for all",                                                  \
     0},                                                                                           \
        {"--camera", "TEXT",                                                                       \
         "intrinsics for all: MODEL,width,height,parameters in COLMAP's order", 0},                \
        {"--share-cameras", "WHICH",                                                               \
         PSFM_SHARE_CHOICES                                                                        \
         ": which photographs share a camera; auto: those of one size with the "                   \
         "same EXIF focal length, or all if one camera is given",                                  \
         0},                                                                                       \
        {"--images-list", "FILE",                                                                  \
         "text file that names the photographs to take, one path a line, relative to PHOTOS or "   \
         "absolute; # begins a comment",                                                           \
         0},                                                                                       \
        {"--replace", NULL, "OUT may lose most of its photographs: PHOTOS is another folder", 0},  \
        {"--opencv-pixels", NULL,                                                                  \
         "given principal points have the first pixel's centre at 0, 0: add 0.5", 0},              \
        {"--max-size", "N", "the same as --extract.max-image-size", 0}, {                          \
        "--masks", "DIR", "DIR/NAME.png is the mask of photograph NAME: black forbids features", 0 \
    }
#define CLI_WEIGHTS_FLAG                                                                           \
    {                                                                                              \
        "--weights", "PATH",                                                                       \
            "a network's weights (.safetensors), or a folder of them; may be given several times", \
            CLI_REPEATABLE                                                                         \
    }
#define CLI_SETTINGS_FLAGS                                                                       \
    {"--mode", "MODE", PSFM_MODE_CHOICES ": the method; its options get their defaults from it", \
     0},                                                                                         \
        {"--plane-points", "free|soft|hard", "the same as --bundle.planes", 0},                  \
        {"--ambiguous", "mark|split|best", "the same as --ambiguity.models", 0},                 \
        {"--refine", "WHAT", "intrinsics to refine, the same as --bundle.refine", 0},            \
        {"--camera-model", "MODEL",                                                              \
         "of cameras that nobody gave, the same as --calibrate.camera-model", 0},                \
        {"--refine-matches", "on|off",                                                           \
         "align points of planes in the photographs, the same as --photo.refine-matches", 0},    \
        {"--scale", "S", "distance of the median camera from the dominant plane in the results", \
         0},                                                                                     \
        {"--court", "KIND,...",                                                                  \
         "courts on the floor, docs/courts.md: their lines give poses, frame and scale", 0},     \
        {"--court-size", "LENGTH,WIDTH", "of a court that is not of the usual size, in metres",  \
         0},                                                                                     \
        {"--drawing", "FILE", "a drawing of your own on the floor instead of a court", 0},       \
        {"--drawing-scale", "METRES", "that a unit of the drawing has", 0},                      \
        {"--geometries", NULL,                                                                   \
         "fill the database's two_view_geometries, from which COLMAP's mappers start", 0},       \
        {"--no-report", NULL, "do not write OUT/report.html", 0}, {                              \
        "--distance", "IMAGE:x,y IMAGE:x,y METRES",                                              \
            "metric scale from the distance of two pixels' points on the dominant plane", 3      \
    }

/* A folder that a command writes anew each time. */
typedef struct {
    const char *path;
    const char *const *names; /* of the files and folders that it writes there; NULL ends */
    bool is_taken, is_new;
} cli_own_folder;

/* Makes sure that the folder may be written to: it is new, or has none of the named files, or was
 * written by planarsfm before; otherwise PSFM_ERR_ARGUMENT. Makes it and marks it as planarsfm's.
 */
psfm_status cli_own_folder_take(psfm_context *ctx, cli_own_folder *folder);
/* Ends the work in a folder. If nothing was written, the mark goes, and a new folder with it. */
void cli_own_folder_leave(const cli_own_folder *folder);

/* Parses argv[1..]: positional arguments, the command's flags, its options, and the common flags
 * (--threads, --seed, --quiet), which are applied to ctx. PSFM_ERR_ARGUMENT with a message on
 * anything unknown, missing or given twice. */
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

/* The option groups of a reconstruction, with their places in `options`. Static storage. */
const cli_option_group *cli_reconstruct_groups(psfm_reconstruct_options *options);

/* The mode sets the defaults, so it comes before every other option wherever it stands: fills the
 * settings with the defaults of the mode that the arguments name. */
psfm_status cli_set_mode(psfm_context *ctx, int argc, char **argv, psfm_settings *settings);
/* Applies the flags of CLI_SETTINGS_FLAGS but the mode. */
psfm_status cli_apply_settings(psfm_context *ctx, const cli_command *command,
                               const cli_arguments *arguments, psfm_settings *settings);
/* Tells the display of progress what a reconstruction with these settings will do. */
void cli_plan_poses(const psfm_settings *settings, bool from_photographs);
/* The paths that --weights gave; valid as long as the arguments. */
psfm_weights_list cli_weights(const cli_arguments *arguments);
/* The options of the networks, from `list` on: detectors and matchers; returns how many. */
int cli_detector_groups(psfm_detector_options *options, cli_option_group *list);
int cli_matcher_groups(psfm_matcher_options *options, cli_option_group *list);
/* Applies --share-cameras. */
psfm_status cli_apply_sharing(psfm_context *ctx, const cli_command *command,
                              const cli_arguments *arguments, psfm_camera_sharing *sharing);
/* Applies the flags of CLI_PHOTOGRAPH_FLAGS. */
psfm_status cli_apply_photographs(psfm_context *ctx, const cli_command *command,
                                  const cli_arguments *arguments, psfm_folder_options *options);

/* The court that --court names, of the size that --court-size gives. */
psfm_status cli_find_court(psfm_context *ctx, const cli_command *command,
                           const cli_arguments *arguments, psfm_court *court);

/* A model with what lies beside it. */
typedef struct {
    char *folder; /* of the model's files */
    psfm_model model;
    psfm_geo_reference geo;
    psfm_scene_planes planes;
    bool has_geo, has_planes;
} cli_model;

/* Reads the model that PATH stands for (io/model_folder.h) with its geo-reference, and the planes
 * from planes_path or, if that is NULL, from PATH/planes.json where there is one. Free in any case.
 */
psfm_status cli_read_model(psfm_context *ctx, const char *path, const char *planes_path,
                           cli_model *out);
void cli_model_free(cli_model *model);

/* The database that PATH stands for: itself, or the database.db of a folder of results. *out is
 * malloc'ed. */
psfm_status cli_find_database(psfm_context *ctx, const char *path, char **out);

/* Prints a tree to standard output and frees it; NULL is out of memory. */
psfm_status cli_print_json(psfm_context *ctx, cJSON *tree);

/* Prints a name at the start of a row of a table, padded and harmless to a terminal. */
void cli_print_name(const char *name);

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
