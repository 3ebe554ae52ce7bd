/* The options of a command: those of a run, by the registry (sfm/registry.h), or its own tables. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "core/base/alloc.h"
#include "core/base/context.h"
#include "progress.h"

static const psfm_option_group *all_groups(const cli_command *command) {
    return command->run != NULL ? psfm_run_groups : command->groups;
}

static unsigned parts_of(const cli_command *command) {
    return command->run != NULL ? command->parts : 1;
}

const psfm_option_group *cli_next_group(const cli_command *command,
                                        const psfm_option_group *group) {
    group = group == NULL ? all_groups(command) : group + 1;
    while (group != NULL && group->table != NULL && !(group->parts & parts_of(command)))
        ++group;
    return group == NULL || group->table == NULL ? NULL : group;
}

const psfm_option *cli_find_option(const cli_command *command, const char *name,
                                   const psfm_option_group **group) {
    return all_groups(command) == NULL
               ? NULL
               : psfm_option_groups_find(all_groups(command), parts_of(command), name, group);
}

void *cli_options_of(const cli_command *command, const psfm_option_group *group) {
    return (command->run != NULL ? (char *)command->run : (char *)command->options) + group->offset;
}

psfm_status cli_set_defaults(psfm_context *ctx, const cli_command *command, int argc, char **argv) {
    if (command->run == NULL) {
        for (const psfm_option_group *g = NULL; (g = cli_next_group(command, g)) != NULL;)
            psfm_options_init(g->table, cli_options_of(command, g));
        return PSFM_OK;
    }
    psfm_run_options_init(command->mode, command->run);
    for (int k = 1; (command->parts & PSFM_OF_RESULTS) && k + 1 < argc; ++k)
        if (strcmp(argv[k], "--mode") == 0)
            return psfm_run_option_set(ctx, command->parts, "mode", argv[k + 1], command->run);
    return PSFM_OK;
}

static psfm_status set_option(psfm_context *ctx, const cli_command *command, const char *flag,
                              const char *value) {
    return psfm_run_option_set(ctx, command->parts, flag + 2, value, command->run);
}

/* Sets an option that takes several values, as one text. */
static psfm_status set_joined(psfm_context *ctx, const cli_command *command,
                              const psfm_run_flag *flag, char **values) {
    size_t size = 1;
    char *text = NULL;
    for (int k = 0; k < flag->num_values; ++k)
        size += strlen(values[k]) + 1;
    psfm_status status = PSFM_ALLOC(ctx, size, &text);
    for (int k = 0; status == PSFM_OK && k < flag->num_values; ++k) {
        strcat(text, k > 0 ? " " : "");
        strcat(text, values[k]);
    }
    if (status == PSFM_OK)
        status = set_option(ctx, command, flag->flag, text);
    free(text);
    return status;
}

/* Sets what a flag was given. The mode was set before all others. */
static psfm_status apply_flag(psfm_context *ctx, const cli_command *command,
                              const psfm_run_flag *flag, const cli_arguments *arguments) {
    const char *value = cli_flag_value(command, arguments, flag->flag);
    psfm_status status = PSFM_OK;
    if (value == NULL || strcmp(flag->flag, "--mode") == 0)
        return PSFM_OK;
    if (flag->num_values > 1)
        return set_joined(ctx, command, flag, cli_flag_values(command, arguments, flag->flag));
    if (flag->num_values != PSFM_TAKES_MANY)
        return set_option(ctx, command, flag->flag, flag->value == NULL ? "on" : value);
    for (size_t k = 0; status == PSFM_OK && k < arguments->num_repeated; ++k)
        status = set_option(ctx, command, flag->flag, arguments->repeated[k]);
    return status;
}

psfm_status cli_apply_flags(psfm_context *ctx, const cli_command *command,
                            const cli_arguments *arguments) {
    psfm_status status = PSFM_OK;
    const psfm_run_flag *flag = psfm_run_flags;
    for (; command->run != NULL && status == PSFM_OK && flag->flag != NULL; ++flag)
        if (flag->parts & command->parts)
            status = apply_flag(ctx, command, flag, arguments);
    return status;
}

const cli_flag *cli_flags(const cli_command *command) {
    static cli_flag list[CLI_MAX_FLAGS + 1];
    int num = 0;
    for (const cli_flag *f = command->flags; f != NULL && f->name != NULL; ++f)
        if (num < CLI_MAX_FLAGS)
            list[num++] = *f;
    for (const psfm_run_flag *f = psfm_run_flags; command->run != NULL && f->flag != NULL; ++f)
        if ((f->parts & command->parts) && num < CLI_MAX_FLAGS)
            list[num++] = (cli_flag){f->flag, f->value, f->help, f->num_values};
    list[num] = (cli_flag){0};
    return list;
}

void cli_plan_poses(const psfm_settings *settings, bool from_photographs) {
    const psfm_reconstruct_options *o = &settings->options;
    bool can_align = from_photographs || settings->photo_folder != NULL;
    bool aligns = o->mode == PSFM_MODE_ROBUST && o->photo.control.refine_matches;
    cli_progress_plan(&(cli_plan){.photographs = from_photographs,
                                  .court = psfm_settings_have_drawing(settings),
                                  .patches = can_align && aligns,
                                  .poses = true});
}

psfm_status cli_apply_sharing(psfm_context *ctx, const cli_command *command,
                              const cli_arguments *arguments, psfm_camera_sharing *sharing) {
    const char *name = cli_flag_value(command, arguments, "--share-cameras");
    if (name == NULL || psfm_camera_sharing_from_name(name, sharing))
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "--share-cameras: '%s' is not allowed (%s)", name,
                     PSFM_SHARE_CHOICES);
}
