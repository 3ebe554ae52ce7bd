/* Every option of a run, registered once: the tables of the modules, and the options that are no
 * row of a table. The command line, its manual, the settings of the C library (and through them
 * Python) and the summary go by these two lists; a module's table is one line of the first. */
#ifndef PSFM_SFM_REGISTRY_H
#define PSFM_SFM_REGISTRY_H

#include "sfm/settings.h"

/* What an option is about. Who takes options takes all of some of these. */
enum {
    PSFM_OF_FEATURES = 1,
    PSFM_OF_MATCHES = 2,
    PSFM_OF_POSES = 4,
    PSFM_OF_RESULTS = 8,   /* which method, and what is made of its poses */
    PSFM_OF_DATABASE = 16, /* beside matches that are in a database already */
    PSFM_OF_COURT = 32     /* photographs registered to a drawing, each by itself */
};
#define PSFM_OF_RUN (PSFM_OF_FEATURES | PSFM_OF_MATCHES | PSFM_OF_POSES | PSFM_OF_RESULTS)
#define PSFM_OF_RECONSTRUCTION (PSFM_OF_POSES | PSFM_OF_RESULTS | PSFM_OF_DATABASE)

/* The tables, with the places of their structs in psfm_run_options; table == NULL ends. */
extern const psfm_option_group psfm_run_groups[];

#define PSFM_TAKES_MANY (-1) /* in place of a number of values: one, and it may be given again */

/* An option that is no row of a table, or another name for one that is. */
typedef struct {
    const char *flag;  /* with its dashes; less these it is the name in a library's settings */
    const char *value; /* what help calls its value; NULL: a switch, "on" or "off" in settings */
    const char *help;
    int num_values; /* on the command line, one text with blanks in settings; 0 stands for 1 */
    unsigned parts; /* what it is about */
    size_t offset;  /* of what it sets in psfm_run_options */
    psfm_status (*set)(psfm_context *ctx, const char *name, const char *value, void *field);
    const char *alias; /* set == NULL: the option of a table that it stands for */
} psfm_run_flag;

/* Ended by flag == NULL. */
extern const psfm_run_flag psfm_run_flags[];

/* Sets the option of this name ("bundle.planes", "court") if it is about one of `parts`.
 * PSFM_ERR_ARGUMENT names what is allowed; nothing is changed then. */
psfm_status psfm_run_option_set(psfm_context *ctx, unsigned parts, const char *name,
                                const char *value, psfm_run_options *options);

/* The same for a row of a table of a reconstruction. */
psfm_status psfm_reconstruct_option_set(psfm_context *ctx, const char *name, const char *value,
                                        psfm_reconstruct_options *options);

#endif
