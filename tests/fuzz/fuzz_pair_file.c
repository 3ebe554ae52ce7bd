/* The reader of pair files on arbitrary bytes. */
#include "images/match/pair_select.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"a", "b", "a b", "c.jpg", "sub/d.jpg"};
    psfm_pair_list list;
    if (psfm_pair_file_parse(NULL, (const char *)data, size, "fuzz", names, 5, &list) == PSFM_OK)
        for (size_t k = 0; k < list.num; ++k)
            if (list.pairs[k][0] >= list.pairs[k][1] || list.pairs[k][1] >= 5)
                __builtin_trap();
    psfm_pair_list_free(&list);
    return 0;
}
