/* Five points and where another world has them, one of them wrong: the similarity between the two.
 * cc alignment.c $(pkg-config --cflags --libs planarsfm-core) */
#include <planarsfm/core.h>
#include <stdio.h>

int main(void) {
    /* y = 2 R x + (1, 2, 3), R a quarter turn about z. */
    static const double x[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},
                                   {0, 0, 1}, {1, 1, 0}, {1, 2, 3}};
    static const double y[6][3] = {{1, 2, 3}, {1, 4, 3},  {-1, 2, 3},
                                   {1, 2, 5}, {-1, 4, 3}, {9, 9, 9}};
    psfm_sim3 found;
    psfm_context *ctx = psfm_context_create();
    psfm_status status = psfm_sim3_fit_robust(ctx, 6, x, y, &found);
    if (status != PSFM_OK)
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
    else
        printf("scale %.2f, shift %.2f %.2f %.2f, x becomes %.2f %.2f %.2f\n", found.scale,
               found.t[0], found.t[1], found.t[2], found.R[0], found.R[3], found.R[6]);
    psfm_context_destroy(&ctx);
    return status != PSFM_OK;
}
