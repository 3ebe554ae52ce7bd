/* The print of a file. All machines would have to read all photographs to compare them whole; three
 * samples cost less than opening the file over a network, and two photographs of one size that
 * agree in all of them are not to be had by accident: their compressed data differ from the first
 * block on. */
#include "core/base/file_fingerprint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/hash.h"

enum { SAMPLE = 1 << 14 };

/* Carries the hash on over the sample at this place, as far as the file goes. */
static uint64_t hash_sample(uint64_t hash, int file, off_t at, unsigned char *buffer) {
    size_t num = 0;
    ssize_t got = 1;
    while (num < SAMPLE && got > 0) {
        got = pread(file, buffer + num, SAMPLE - num, at + (off_t)num);
        num += got > 0 ? (size_t)got : 0;
    }
    return psfm_hash(hash, buffer, num);
}

psfm_status psfm_file_print(psfm_context *ctx, const char *path, uint64_t *print) {
    unsigned char *buffer = NULL;
    struct stat info;
    *print = 0;
    psfm_status status = PSFM_ALLOC(ctx, SAMPLE, &buffer);
    int file = status == PSFM_OK ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file >= 0 && fstat(file, &info) == 0) {
        const off_t size = info.st_size, last = size > SAMPLE ? size - SAMPLE : 0;
        uint64_t hash = psfm_hash(PSFM_HASH_START, &size, sizeof size);
        hash = hash_sample(hash, file, 0, buffer);
        hash = hash_sample(hash, file, last / 2, buffer);
        *print = hash_sample(hash, file, last, buffer) | 1;
    }
    if (file >= 0)
        close(file);
    free(buffer);
    return status;
}

psfm_status psfm_file_compare(psfm_context *ctx, const char *path, const char *what,
                              uint64_t print) {
    char host[256] = "";
    uint64_t here = 0;
    psfm_status status = psfm_file_print(ctx, path, &here);
    if (status != PSFM_OK || here == print)
        return status;
    gethostname(host, sizeof host - 1);
    return psfm_fail(ctx, PSFM_ERR_DATA,
                     "%s: %s sees another %s than the first rank; all ranks need the same folder",
                     path, host, what);
}
