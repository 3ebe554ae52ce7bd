/* The reader of match lists on arbitrary bytes. */
#include "images/match/match_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"a", "b", "a b", "c.jpg", "sub/d.jpg"};
    psfm_match_file file;
    if (psfm_match_file_parse(NULL, (const char *)data, size, "fuzz", names, 5, &file) == PSFM_OK)
        for (size_t k = 0; k < file.num; ++k)
            if (file.pairs[k].image1 >= 5 || file.pairs[k].image1 == file.pairs[k].image2)
                __builtin_trap();
    psfm_match_file_free(&file);
    return 0;
}
