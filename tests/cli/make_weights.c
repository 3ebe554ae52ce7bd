/* usage: make_weights superpoint|superglue|xfeat|lighterglue|edgepoint2 SEED FILE
 *
 * Writes a weights file with random numbers. Matchers have two layers. */
#include <string.h>

#include "../../bench/network_weights.h"

int main(int argc, char **argv) {
    weights_file w;
    if (argc != 4) {
        fprintf(stderr, "usage: make_weights NETWORK SEED FILE\n");
        return 2;
    }
    weights_open(&w, strtoull(argv[2], NULL, 10));
    if (strcmp(argv[1], "superpoint") == 0)
        weights_superpoint(&w);
    else if (strcmp(argv[1], "superglue") == 0)
        weights_superglue(&w, 2);
    else if (strcmp(argv[1], "xfeat") == 0)
        weights_xfeat(&w);
    else if (strcmp(argv[1], "lighterglue") == 0)
        weights_lightglue(&w, 2, 96, 1, 64);
    else
        weights_edgepoint2(&w);
    weights_close(&w, argv[3]);
    return 0;
}
