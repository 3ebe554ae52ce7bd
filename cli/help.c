/* Help and the manual in Markdown, from the tables of flags and options that the parser reads. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

const cli_flag cli_common_flags[] = {
    {"--threads", "N", "worker threads; the result does not depend on it (default: one per core)",
     0},
    {"--memory", "MB",
     "memory for photographs, features and images at work at once (default: what the machine has)",
     0},
    {"--seed", "S", "seed of all random draws (default 0)", 0},
    {"--quiet", NULL, "no progress, no information; warnings stay", 0},
    {"--progress", NULL, "a line for each step also where standard error is no terminal", 0},
    {"--help", NULL, "this text", 0},
    {0},
};

static void print_flags(const cli_flag *flags) {
    for (; flags->name != NULL; ++flags) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", flags->name, flags->value ? flags->value : "");
        printf("  %-24s %s\n", left, flags->help);
    }
}

static void print_group(const psfm_option_group *group) {
    for (size_t k = 0; k < group->table->num_rows; ++k) {
        const psfm_option *row = &group->table->rows[k];
        char range[256], name[PSFM_OPTION_NAME_SIZE];
        psfm_option_describe(row, range, sizeof range);
        psfm_option_name(group->table, row, name);
        printf("  --%s\n      %s (%s)\n", name, row->help, range);
    }
}

void cli_print_help(const cli_command *command) {
    printf("usage: planarsfm %s %s\n\n%s\n\n", command->name, command->usage, command->description);
    print_flags(cli_flags(command));
    print_flags(cli_common_flags);
    const psfm_option_group *g = cli_next_group(command, NULL);
    if (g != NULL)
        printf("\noptions (value in brackets: range, default)\n");
    for (; g != NULL; g = cli_next_group(command, g))
        print_group(g);
    printf("\nexit status: " CLI_EXIT_CODES "\n");
}

/* In a table cell a bar must be escaped, in code as well. */
static void markdown_cell(const char *text) {
    for (; *text != '\0'; ++text)
        printf(*text == '|' ? "\\|" : "%c", *text);
}

static void markdown_flags(const cli_flag *flags) {
    for (; flags->name != NULL; ++flags) {
        printf("| `%s%s", flags->name, flags->value ? " " : "");
        markdown_cell(flags->value ? flags->value : "");
        printf("` | | ");
        markdown_cell(flags->help);
        printf(" |\n");
    }
}

static void markdown_group(const psfm_option_group *group) {
    for (size_t k = 0; k < group->table->num_rows; ++k) {
        const psfm_option *row = &group->table->rows[k];
        char range[256], name[PSFM_OPTION_NAME_SIZE];
        psfm_option_describe(row, range, sizeof range);
        psfm_option_name(group->table, row, name);
        printf("| `--%s` | ", name);
        markdown_cell(range);
        printf(" | ");
        markdown_cell(row->help);
        printf(" |\n");
    }
}

void cli_print_markdown(const cli_command *const *commands) {
    printf(
        "# The command line\n\n"
        "Made by `planarsfm help --markdown`; do not edit.\n\n"
        "Exit status: " CLI_EXIT_CODES ". A model\n"
        "that is doubtful is a result: 0, with the doubts on standard output and in the summary.\n"
        "Messages go to standard error, results to standard output or files. Every command takes\n"
        "the flags of the last table.\n");
    for (; *commands != NULL; ++commands) {
        const cli_command *c = *commands;
        printf("\n## planarsfm %s\n\n    planarsfm %s %s\n\n%s\n\n", c->name, c->name, c->usage,
               c->description);
        const psfm_option_group *g = cli_next_group(c, NULL);
        if (g == NULL && cli_flags(c)->name == NULL)
            continue;
        printf("| flag | range and default | meaning |\n|---|---|---|\n");
        markdown_flags(cli_flags(c));
        for (; g != NULL; g = cli_next_group(c, g))
            markdown_group(g);
    }
    printf("\n## Flags of every command\n\n| flag | | meaning |\n|---|---|---|\n");
    markdown_flags(cli_common_flags);
}
