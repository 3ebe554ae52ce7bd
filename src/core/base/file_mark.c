/* Files recognised again. Text of a mark: SIZE@MODIFIED, and, since contents are known,
 * #INODE@CHANGED=CONTENTS; times have nine digits behind the point. */
#include "core/base/file_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"

/* ---- contents ---- */

enum { LANES = 4, STEP = 8 * LANES };
#define CHUNK ((size_t)1 << 16) /* a multiple of STEP */

typedef struct {
    uint64_t lanes[LANES];
    uint64_t size;
} contents_hash;

static const contents_hash empty_hash = {
    {0xcbf29ce484222325u, 0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u}, 0};

/* Each step is one to one in the word and in the lane, so that files which differ in one word
 * differ in their hash. */
static void add_steps(contents_hash *h, const unsigned char *bytes, size_t num_steps) {
    for (size_t s = 0; s < num_steps; ++s)
        for (size_t k = 0; k < LANES; ++k) {
            uint64_t word;
            memcpy(&word, bytes + STEP * s + 8 * k, 8);
            h->lanes[k] = (h->lanes[k] ^ word) * 0x9fb21c651e98df25u;
            h->lanes[k] ^= h->lanes[k] >> 32;
        }
}

/* Only the last bytes of a file may be no multiple of STEP. */
static void add_bytes(contents_hash *h, const unsigned char *bytes, size_t size) {
    unsigned char last[STEP] = {0};
    const size_t num_steps = size / STEP, rest = size % STEP;
    add_steps(h, bytes, num_steps);
    if (rest > 0) {
        memcpy(last, bytes + STEP * num_steps, rest);
        add_steps(h, last, 1);
    }
    h->size += size;
}

static uint64_t finish_hash(const contents_hash *h) {
    uint64_t hash = h->size;
    for (size_t k = 0; k < LANES; ++k) {
        hash = (hash ^ h->lanes[k]) * 0x9fb21c651e98df25u;
        hash ^= hash >> 29;
    }
    return hash == 0 ? 1 : hash;
}

uint64_t psfm_bytes_contents(const void *bytes, size_t size) {
    contents_hash h = empty_hash;
    add_bytes(&h, bytes, size);
    return finish_hash(&h);
}

/* Fills the buffer as far as the file goes. */
static ssize_t read_chunk(int file, unsigned char *buffer) {
    size_t num = 0;
    ssize_t got = 1;
    while (num < CHUNK && got > 0) {
        got = read(file, buffer + num, CHUNK - num);
        num += got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? got : (ssize_t)num;
}

psfm_status psfm_file_contents(psfm_context *ctx, const char *path, uint64_t *contents) {
    contents_hash h = empty_hash;
    unsigned char *buffer = NULL;
    ssize_t num = (ssize_t)CHUNK;
    psfm_status status = PSFM_ALLOC(ctx, CHUNK, &buffer);
    *contents = 0;
    if (status != PSFM_OK)
        return status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (file >= 0 && num == (ssize_t)CHUNK) {
        num = read_chunk(file, buffer);
        if (num > 0)
            add_bytes(&h, buffer, (size_t)num);
    }
    if (file < 0 || num < 0)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    else
        *contents = finish_hash(&h);
    if (file >= 0)
        close(file);
    free(buffer);
    return status;
}

/* ---- marks ---- */

static psfm_file_time time_of(struct timespec t) {
    return (psfm_file_time){(long long)t.tv_sec, t.tv_nsec};
}

psfm_file_mark psfm_file_mark_of(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0)
        return (psfm_file_mark){0};
    return (psfm_file_mark){.is_there = true,
                            .size = (long long)info.st_size,
                            .modified = time_of(info.st_mtim),
                            .changed = time_of(info.st_ctim),
                            .inode = (unsigned long long)info.st_ino};
}

void psfm_file_mark_print(const psfm_file_mark *m, char text[PSFM_FILE_MARK_SIZE]) {
    if (!m->is_there) {
        snprintf(text, PSFM_FILE_MARK_SIZE, "-");
        return;
    }
    int used = snprintf(text, PSFM_FILE_MARK_SIZE, "%lld@%lld.%09ld", m->size, m->modified.seconds,
                        m->modified.nanoseconds);
    if (m->contents != 0)
        snprintf(text + used, PSFM_FILE_MARK_SIZE - (size_t)used, "#%llu@%lld.%09ld=%016" PRIx64,
                 m->inode, m->changed.seconds, m->changed.nanoseconds, m->contents);
}

/* Takes the character that has to come next. */
static bool take_char(const char **text, char wanted) {
    if (**text != wanted)
        return false;
    ++*text;
    return true;
}

static bool take_number(const char **text, long long *value) {
    char *end;
    *value = strtoll(*text, &end, 10);
    bool found = end != *text;
    *text = end;
    return found;
}

static bool take_time(const char **text, psfm_file_time *value) {
    long long nanoseconds = 0;
    if (!take_number(text, &value->seconds) || !take_char(text, '.') ||
        !take_number(text, &nanoseconds))
        return false;
    value->nanoseconds = (long)nanoseconds;
    return true;
}

static bool take_contents(const char **text, psfm_file_mark *mark) {
    char *end;
    mark->inode = strtoull(*text, &end, 10);
    *text = end;
    if (!take_char(text, '@') || !take_time(text, &mark->changed) || !take_char(text, '='))
        return false;
    mark->contents = strtoull(*text, &end, 16);
    *text = end;
    return mark->contents != 0;
}

bool psfm_file_mark_parse(const char *text, const char **end, psfm_file_mark *mark) {
    *mark = (psfm_file_mark){0};
    *end = text;
    if (take_char(end, '-'))
        return true;
    mark->is_there = true;
    return take_number(end, &mark->size) && take_char(end, '@') &&
           take_time(end, &mark->modified) && (!take_char(end, '#') || take_contents(end, mark));
}

static bool are_equal_times(psfm_file_time a, psfm_file_time b) {
    return a.seconds == b.seconds && a.nanoseconds == b.nanoseconds;
}

psfm_status psfm_file_mark_compare(psfm_context *ctx, const char *path,
                                   const psfm_file_mark *before, psfm_file_mark *now, bool *same) {
    const bool is_known = before->contents != 0;
    psfm_status status = PSFM_OK;
    *same = before->is_there == now->is_there && before->size == now->size &&
            (is_known || are_equal_times(before->modified, now->modified));
    if (!*same || !is_known)
        return PSFM_OK;
    if (before->inode == now->inode && are_equal_times(before->modified, now->modified) &&
        are_equal_times(before->changed, now->changed))
        now->contents = before->contents;
    else
        status = psfm_file_contents(ctx, path, &now->contents);
    *same = status == PSFM_OK && now->contents == before->contents;
    return status;
}
