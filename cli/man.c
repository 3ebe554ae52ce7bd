/* Manual pages (troff, man macros) from the same tables as the help. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "planarsfm/version.h"

/* Text with what troff would take for its own escaped. */
static void print_escaped(const char *text, size_t length) {
    for (size_t k = 0; k < length; ++k) {
        if (k == 0 && (text[k] == '.' || text[k] == '\''))
            fputs("\\&", stdout);
        if (text[k] == '\\')
            fputs("\\e", stdout);
        else if (text[k] == '-')
            fputs("\\-", stdout);
        else
            putchar(text[k]);
    }
}

static void print_text(const char *text) {
    print_escaped(text, strlen(text));
}

/* Lines; those indented by four blanks are examples, an empty one ends a paragraph. */
static void print_description(const char *text) {
    bool example = false;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        bool indented = length > 4 && strncmp(text, "    ", 4) == 0;
        if (indented != example)
            puts(indented ? ".PP\n.EX" : ".EE");
        example = indented;
        if (length == 0) {
            puts(".PP");
        } else {
            print_escaped(text + (indented ? 4 : 0), length - (indented ? 4 : 0));
            putchar('\n');
        }
        text += length + (text[length] == '\n');
    }
    if (example)
        puts(".EE");
}

static void print_title(const char *name) {
    fputs(".TH \"", stdout);
    for (const char *c = name; *c != '\0'; ++c)
        putchar(toupper((unsigned char)*c));
    printf("\" 1 \"\" \"planarsfm %s\" \"planarsfm\"\n", PSFM_VERSION);
}

static void print_flags(const cli_flag *flags) {
    for (; flags->name != NULL; ++flags) {
        fputs(".TP\n\\fB", stdout);
        print_text(flags->name);
        fputs("\\fR", stdout);
        if (flags->value != NULL) {
            fputs(" \\fI", stdout);
            print_text(flags->value);
            fputs("\\fR", stdout);
        }
        putchar('\n');
        print_text(flags->help);
        putchar('\n');
    }
}

static void print_group(const psfm_option_group *group) {
    for (size_t k = 0; k < group->table->num_rows; ++k) {
        const psfm_option *row = &group->table->rows[k];
        char range[256], name[PSFM_OPTION_NAME_SIZE];
        psfm_option_describe(row, range, sizeof range);
        fputs(".TP\n\\fB\\-\\-", stdout);
        psfm_option_name(group->table, row, name);
        print_text(name);
        fputs("\\fR (", stdout);
        print_text(range);
        fputs(")\n", stdout);
        print_text(row->help);
        putchar('\n');
    }
}

void cli_print_man(const cli_command *command) {
    char name[64];
    snprintf(name, sizeof name, "planarsfm-%s", command->name);
    print_title(name);
    fputs(".SH NAME\n", stdout);
    print_text(name);
    fputs(" \\- ", stdout);
    print_text(command->summary);
    fputs("\n.SH SYNOPSIS\n\\fBplanarsfm ", stdout);
    print_text(command->name);
    fputs("\\fR ", stdout);
    print_text(command->usage);
    fputs("\n.SH DESCRIPTION\n", stdout);
    print_description(command->description);
    puts(".SH FLAGS");
    print_flags(cli_flags(command));
    print_flags(cli_common_flags);
    const psfm_option_group *g = cli_next_group(command, NULL);
    if (g != NULL)
        puts(".SH OPTIONS\nRange and default in brackets.");
    for (; g != NULL; g = cli_next_group(command, g))
        print_group(g);
    puts(".SH EXIT STATUS\n" CLI_EXIT_CODES ".\n.SH SEE ALSO\n.BR planarsfm (1)");
}

void cli_print_man_overview(const cli_command *const *commands) {
    print_title("planarsfm");
    puts(".SH NAME\nplanarsfm \\- camera poses from photographs of flat things\n.SH SYNOPSIS\n"
         "\\fBplanarsfm\\fR \\fICOMMAND\\fR [\\fIarguments\\fR]\n.SH DESCRIPTION\n"
         "Camera poses from photographs of sports arenas, drone fields, facades, floors and walls: "
         "every plane seen in two images gives a homography, and a graph of these gives all the "
         "cameras.\n.SH COMMANDS");
    for (int k = 0; commands[k] != NULL; ++k) {
        fputs(".TP\n\\fBplanarsfm\\-", stdout);
        print_text(commands[k]->name);
        fputs("\\fR(1)\n", stdout);
        print_text(commands[k]->summary);
        putchar('\n');
    }
    puts(".SH EXAMPLE\n.EX\nplanarsfm synth arena \\-o demo \\-\\-matches\\-only\n"
         "planarsfm reconstruct demo/database.db \\-o demo/out\n"
         "planarsfm eval demo/gt demo/out/model\n.EE\n.SH SEE ALSO");
    for (int k = 0; commands[k] != NULL; ++k) {
        fputs(".BR planarsfm\\-", stdout);
        print_text(commands[k]->name);
        printf(" (1)%s\n", commands[k + 1] != NULL ? "," : "");
    }
}
