/* planarsfm: the command. One table of commands; each lives in cmd_<verb>.c. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "core/base/context.h"
#include "core/base/escape.h"
#include "core/base/path.h"
#include "core/base/stack.h"
#include "core/linalg/blas_reserve.h"
#include "formats/json.h"
#include "interrupt.h"
#include "planarsfm/version.h"
#include "progress.h"
#include "ranks.h"

static const cli_command *const commands[] = {
    &cli_run,
    &cli_extract,
    &cli_import_points,
    &cli_import_hloc,
    &cli_import_matches,
    &cli_match,
    &cli_reconstruct,
    &cli_report,
    &cli_eval,
    &cli_compare,
    &cli_align,
    &cli_court,
    &cli_convert,
    &cli_synth,
    &cli_ablate,
    &cli_doctor,
    NULL,
};

static bool has_printed_json;

psfm_status cli_print_json(psfm_context *ctx, cJSON *tree) {
    char *text = psfm_json_print(tree);
    cJSON_Delete(tree);
    if (text == NULL)
        return psfm_fail_memory(ctx);
    cli_progress_finish(true);
    printf("%s\n", text);
    has_printed_json = true;
    cJSON_free(text);
    return PSFM_OK;
}

void cli_print_name(const char *name) {
    enum { WIDTH = 32 };
    for (int k = psfm_print_plain(stdout, name); k < WIDTH; ++k)
        putchar(' ');
}

static const char *text_of(const cJSON *object, const char *name) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text == NULL ? "" : text;
}

/* Names a few of the images that a warning is about. */
static void print_concerned(const cJSON *warning) {
    enum { MOST = 3 };
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(warning, "images"), *name;
    double num = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(warning, "num_images"));
    int k = 0;
    cJSON_ArrayForEach(name, names) {
        if (k == MOST)
            break;
        printf(k++ == 0 ? " (" : ", ");
        psfm_print_plain(stdout, cJSON_GetStringValue(name));
    }
    if (k > 0 && num > k)
        printf(" and %.0f more", num - k);
    if (k > 0)
        printf(")");
}

/* One line for each of the first warnings. */
static void print_warnings(const cJSON *summary) {
    enum { MOST = 6 };
    const cJSON *warnings = cJSON_GetObjectItemCaseSensitive(summary, "warnings"), *warning;
    int num_models = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(summary, "models"));
    int num = cJSON_GetArraySize(warnings), k = 0;
    cJSON_ArrayForEach(warning, warnings) {
        if (k++ == MOST)
            break;
        printf("%s: ", text_of(warning, "verdict"));
        if (num_models > 1)
            printf("model %g: ",
                   cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(warning, "model")) + 1.0);
        printf("%s", text_of(warning, "text"));
        print_concerned(warning);
        putchar('\n');
    }
    if (num > MOST)
        printf("%d more warnings in the summary\n", num - MOST);
}

/* The command as it was given. */
static int given_argc;
static char **given_argv;

static void print_word(const char *word) {
    const bool is_plain = word[0] != '\0' && word[strcspn(word, " \t\"'$&|<>()*?;!~#`\\")] == '\0';
    printf(is_plain ? " " : " '");
    psfm_print_plain(stdout, word);
    if (!is_plain)
        putchar('\'');
}

/* The command with one option more, or changed. */
static void print_command(const char *flag, const char *value) {
    const size_t length = strlen(flag);
    printf("next: planarsfm");
    for (int k = 1; k < given_argc; ++k) {
        const char *word = given_argv[k];
        if (strcmp(word, flag) == 0)
            ++k;
        else if (strncmp(word, flag, length) != 0 || word[length] != '=')
            print_word(word);
    }
    print_word(flag);
    print_word(value);
    putchar('\n');
}

/* What is the matter in one sentence, what to do about it, and the command that does it. */
static void print_diagnosis(const cJSON *summary) {
    const cJSON *diagnosis = cJSON_GetObjectItemCaseSensitive(summary, "diagnosis");
    if (diagnosis == NULL)
        return;
    printf("diagnosis: ");
    psfm_print_plain(stdout, text_of(diagnosis, "text"));
    printf("; %s\n", text_of(diagnosis, "advice"));
    if (text_of(diagnosis, "flag")[0] != '\0')
        print_command(text_of(diagnosis, "flag"), text_of(diagnosis, "value"));
}

psfm_status cli_check_strict(psfm_context *ctx, const cli_command *command,
                             const cli_arguments *arguments, const cJSON *summary) {
    const char *verdict = text_of(summary, "verdict");
    if (cli_flag_value(command, arguments, "--strict") == NULL || strcmp(verdict, "right") == 0)
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_DATA, "the verdict is '%s', and --strict wants it right",
                     verdict);
}

void cli_print_results(psfm_context *ctx, const cJSON *summary, const char *out) {
    char *report = NULL;
    cli_progress_finish(true);
    printf("models in %s/model, summary in %s/summary.json\n", out, out);
    if (psfm_path_join(ctx, out, "report.html", &report) == PSFM_OK && psfm_path_is_file(report))
        printf("to look at it, open %s in a browser\n", report);
    free(report);
    psfm_print_plain(stdout, text_of(summary, "headline"));
    putchar('\n');
    if (strcmp(text_of(summary, "verdict"), "unknown") == 0)
        printf("not judged: there is no verdict on whether these poses are right\n");
    print_warnings(summary);
    print_diagnosis(summary);
}

static void print_overview(FILE *file) {
    fprintf(file, "planarsfm %s: camera poses from photographs of flat things\n\n", PSFM_VERSION);
    for (int k = 0; commands[k] != NULL; ++k)
        fprintf(file, "  planarsfm %-14s %s\n", commands[k]->name, commands[k]->summary);
    fprintf(file, "  planarsfm %-14s %s\n", "help COMMAND", "what a command does, with an example");
    fprintf(file, "\nA first try, with synthetic data:\n"
                  "  planarsfm synth arena -o demo --matches-only\n"
                  "  planarsfm reconstruct demo/database.db -o demo/out\n"
                  "  planarsfm eval demo/gt demo/out/model\n");
}

static const cli_command *find_command(const char *name) {
    for (int k = 0; commands[k] != NULL; ++k)
        if (strcmp(commands[k]->name, name) == 0)
            return commands[k];
    return NULL;
}

/* Says that there is no such command, and which was meant. */
static int refuse_command(const char *name) {
    cli_suggestion suggestion = {.mistyped = name};
    for (int k = 0; commands[k] != NULL; ++k)
        cli_suggestion_try(&suggestion, commands[k]->name);
    cli_suggestion_try(&suggestion, "help");
    fprintf(stderr, "planarsfm: there is no command '");
    psfm_print_plain(stderr, name);
    fprintf(stderr, "'%s\n'planarsfm help' lists them\n", cli_suggestion_text(&suggestion));
    return 2;
}

static int print_help(int argc, char **argv) {
    if (argc < 2) {
        print_overview(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--markdown") == 0) {
        cli_print_markdown(commands);
        return 0;
    }
    if (strcmp(argv[1], "--commands") == 0) {
        for (int k = 0; commands[k] != NULL; ++k)
            puts(commands[k]->name);
        return 0;
    }
    bool man = strcmp(argv[1], "--man") == 0;
    if (man && argc == 2) {
        cli_print_man_overview(commands);
        return 0;
    }
    const char *name = argv[man ? 2 : 1];
    const cli_command *command = find_command(name);
    if (command == NULL)
        return refuse_command(name);
    if (man)
        cli_print_man(command);
    else
        cli_print_help(command);
    return 0;
}

/* What was stopped, and how it goes on. */
static int report_interrupt(const cli_command *command) {
    fprintf(stderr, "planarsfm %s: interrupted%s\n", command->name,
            command->goes_on ? "; the same command goes on from here" : "");
    return CLI_EXIT_INTERRUPTED;
}

/* Who asked for JSON gets it on a failure, too. */
static void print_failure(psfm_context *ctx, const cli_command *command,
                          const cli_arguments *arguments) {
    if (has_printed_json || cli_flag_value(command, arguments, "--json") == NULL)
        return;
    cJSON *root = cJSON_CreateObject();
    if (root == NULL || cJSON_AddStringToObject(root, "error", psfm_context_message(ctx)) == NULL)
        cJSON_Delete(root);
    else
        (void)cli_print_json(ctx, root);
}

/* Exit codes: CLI_EXIT_CODES. */
static int report_status(psfm_context *ctx, const cli_command *command, psfm_status status) {
    if (status == PSFM_OK)
        return 0;
    if (cli_interrupted())
        return report_interrupt(command);
    fprintf(stderr, "planarsfm %s: ", command->name);
    psfm_print_plain(stderr, psfm_context_message(ctx));
    fputc('\n', stderr);
    if (status == PSFM_ERR_ARGUMENT)
        fprintf(stderr, "'planarsfm %s --help' explains its arguments\n", command->name);
    return status == PSFM_ERR_ARGUMENT ? 2 : 1;
}

/* There is not even room to start: the libraries behind us would not find the room to end, either,
 * and wait for it. */
static bool is_starved;

static psfm_status work_with_blas(psfm_context *ctx, const cli_command *command,
                                  const cli_arguments *arguments) {
    psfm_status status = psfm_check_stack(ctx);
    if (status != PSFM_OK)
        return status;
    status = psfm_blas_reserve(ctx);
    is_starved = status == PSFM_ERR_MEMORY;
    return status == PSFM_OK ? command->work(ctx, arguments) : status;
}

static int run_command(const cli_command *command, int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    cli_arguments arguments = {0};
    bool is_parsed = false;
    if (ctx == NULL) {
        fprintf(stderr, "planarsfm: out of memory\n");
        return 1;
    }
    cli_progress_attach(ctx);
    cli_ranks_attach(ctx);
    psfm_status status = cli_set_defaults(ctx, command, argc, argv);
    if (status == PSFM_OK)
        status = cli_parse(ctx, command, argc, argv, &arguments);
    is_parsed = status == PSFM_OK;
    if (status == PSFM_OK && arguments.help)
        cli_print_help(command);
    else if (status == PSFM_OK)
        status = work_with_blas(ctx, command, &arguments);
    cli_progress_finish(status == PSFM_OK);
    if (is_parsed && status != PSFM_OK)
        print_failure(ctx, command, &arguments);
    int code = report_status(ctx, command, status);
    if (command->run != NULL)
        psfm_run_options_free(command->run);
    psfm_context_destroy(&ctx);
    return code;
}

/* What was printed counts as much as what was written to files: a full disk is a failure. A reader
 * that went away is one, too, but needs no words. */
static int close_output(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (errno != EPIPE)
        fprintf(stderr, "planarsfm: standard output: write failed: %s\n", strerror(errno));
    return code == 0 ? 1 : code;
}

static int dispatch_command(int argc, char **argv) {
    if (argc < 2) {
        print_overview(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("planarsfm %s\n", PSFM_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return print_help(argc - 1, argv + 1);
    const cli_command *command = find_command(argv[1]);
    if (command == NULL)
        return refuse_command(argv[1]);
    return run_command(command, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    int code;
    given_argc = argc;
    given_argv = argv;
    signal(SIGXFSZ,
           SIG_IGN); /* a file at its limit (ulimit -f) is a failed write, with a sentence */
    psfm_stack_raise();
    psfm_blas_end_threads();
    if (!cli_ranks_open())
        return 2;
    if (cli_ranks_serve(&code))
        return code;
    code = close_output(dispatch_command(argc, argv));
    cli_ranks_close();
    if (is_starved)
        _exit(code);
    return code;
}
