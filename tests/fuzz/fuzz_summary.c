/* The reader of summary.json as `report` uses it; what is accepted can be printed and read again.
 * Once broken UTF-8 is mended, that changes nothing. */
#include <string.h>

#include "fuzz_file.h"
#include "report/report_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(psfm_json_value value, size_t *size) {
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    if (file == NULL)
        abort();
    psfm_json_print_value(file, value,
                          psfm_json_find(psfm_json_find(value, "photographs"), "folder"));
    if (fclose(file) != 0)
        abort();
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_report_input input = {.graph.num_images = size % 3};
    size_t first_size = 0, second_size = 0;
    if (psfm_report_read_summary(NULL, fuzz_file("summary.json", data, size), &input) == PSFM_OK) {
        psfm_json_value value;
        char *first = print(input.summary, &first_size);
        if (!psfm_json_text_check(first, first_size, &value))
            abort();
        char *second = print(value, &second_size);
        free(first);
        if (!psfm_json_text_check(second, second_size, &value))
            abort();
        first = print(value, &first_size);
        if (first_size != second_size || memcmp(first, second, first_size) != 0)
            abort();
        free(first);
        free(second);
    }
    psfm_report_input_free(&input);
    return 0;
}
