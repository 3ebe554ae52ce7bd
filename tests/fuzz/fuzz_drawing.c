/* The reader of drawings on arbitrary bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/court_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_drawing(const psfm_drawing *drawing) {
    psfm_drawing_sample *samples = NULL;
    size_t num = 0;
    int turns[4];
    double length = psfm_drawing_size(drawing);
    if (!isfinite(length) || !(length > 0.0) || psfm_drawing_turns(drawing, turns) < 1)
        __builtin_trap();
    if (psfm_drawing_sample_lines(NULL, drawing, length / 50.0, &samples, &num) == PSFM_OK &&
        (num == 0 || !isfinite(samples[num - 1].x + samples[num - 1].tx)))
        __builtin_trap();
    free(samples);
}

/* Bytes that end with a 0, as in psfm_read_file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_drawing drawing;
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (psfm_drawing_parse(NULL, text, size, "fuzz", 0.0, &drawing) == PSFM_OK)
        check_drawing(&drawing);
    else if (drawing.parts != NULL || drawing.name != NULL)
        __builtin_trap();
    psfm_drawing_free(&drawing);
    free(text);
    return 0;
}
