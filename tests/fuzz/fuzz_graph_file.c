/* The reader of graph.json on arbitrary bytes; what is accepted must keep its promises. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/graph_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_graph_file graph;
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (psfm_graph_file_parse(NULL, text, size, "fuzz", &graph) == PSFM_OK) {
        for (size_t p = 0; p < graph.num_pairs; ++p) {
            const psfm_graph_pair *pair = &graph.pairs[p];
            if (pair->image1 >= pair->image2 || pair->image2 >= graph.num_images ||
                (pair->is_edge && (pair->component >= graph.num_components || !isfinite(pair->h))))
                __builtin_trap();
        }
    } else if (graph.images != NULL || graph.pairs != NULL) {
        __builtin_trap();
    }
    psfm_graph_file_free(&graph);
    free(text);
    return 0;
}
