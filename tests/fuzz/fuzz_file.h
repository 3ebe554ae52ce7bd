/* For readers that take the path of a file: a file of the input's bytes, in memory. */
#ifndef PSFM_FUZZ_FILE_H
#define PSFM_FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of this process, on a file system in memory; it is made once. */
static inline const char *fuzz_folder(void) {
    static char path[64];
    if (path[0] == '\0') {
        snprintf(path, sizeof path, "/dev/shm/psfm_fuzz_XXXXXX");
        if (mkdtemp(path) == NULL)
            abort();
    }
    return path;
}

/* Writes FOLDER/name and returns its path, which the next call overwrites. */
static inline const char *fuzz_file(const char *name, const uint8_t *data, size_t size) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    return path;
}

#endif
