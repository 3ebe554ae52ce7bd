/* A 64-bit fingerprint of bytes (FNV-1a): to notice that an input changed, not for security. */
#ifndef PSFM_BASE_HASH_H
#define PSFM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define PSFM_HASH_START 0xcbf29ce484222325u

/* The fingerprint of what `hash` stands for, followed by these bytes. */
static inline uint64_t psfm_hash(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    for (size_t k = 0; k < size; ++k)
        hash = (hash ^ p[k]) * 0x100000001b3u;
    return hash;
}

#endif
