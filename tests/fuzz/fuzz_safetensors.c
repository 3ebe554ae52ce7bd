/* The reader of weights files: any bytes, then every tensor that it accepted. */
#include <stdlib.h>

#include "images/nn/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_context *ctx = psfm_context_create();
    psfm_safetensors *file;
    if (psfm_safetensors_parse(ctx, data, size, "fuzz", &file) == PSFM_OK) {
        size_t num;
        const psfm_tensor_info *list = psfm_safetensors_list(file, &num);
        for (size_t k = 0; k < num; ++k) {
            float *values = malloc(list[k].num_values * sizeof *values + 1);
            if (values != NULL && psfm_safetensors_find(file, list[k].name) != &list[k])
                abort();
            if (values != NULL &&
                psfm_safetensors_read(ctx, file, list[k].name, list[k].num_values, values) !=
                    PSFM_OK &&
                list[k].type != PSFM_TENSOR_OTHER)
                abort();
            free(values);
        }
        psfm_safetensors_close(&file);
    }
    psfm_context_destroy(&ctx);
    return 0;
}
