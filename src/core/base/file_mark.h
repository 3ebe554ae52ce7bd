/* What a file is recognised by later: by what the file system says of it, and, where that differs,
 * by its contents. */
#ifndef PSFM_BASE_FILE_MARK_H
#define PSFM_BASE_FILE_MARK_H

#include <stdint.h>

#include "core/base/context.h"

/* A moment as the file system has it. */
typedef struct {
    long long seconds;
    long nanoseconds;
} psfm_file_time;

/* A file at one moment. Its contents change without its size and its time of modification: a file
 * that takes another one's name keeps both. Then its number (inode) or the time of its last change
 * (ctime), which nobody can set, differ. */
typedef struct {
    bool is_there;
    long long size;
    psfm_file_time modified, changed; /* changed, inode: 0 in marks of earlier versions */
    unsigned long long inode;
    uint64_t contents; /* a hash of all bytes; 0: not known */
} psfm_file_mark;

#define PSFM_FILE_MARK_SIZE 144

/* The mark of a file without its contents; one that is not there if there is none. */
psfm_file_mark psfm_file_mark_of(const char *path);

/* Hash of the contents of a file; never 0. */
psfm_status psfm_file_contents(psfm_context *ctx, const char *path, uint64_t *contents);
/* The same of bytes in memory. O(size), a tenth of a nanosecond a byte. */
uint64_t psfm_bytes_contents(const void *bytes, size_t size);

/* As text without blanks, "-" for a file that is not there; and from such text, *end is what
 * follows. False if it is none. */
void psfm_file_mark_print(const psfm_file_mark *mark, char text[PSFM_FILE_MARK_SIZE]);
bool psfm_file_mark_parse(const char *text, const char **end, psfm_file_mark *mark);

/* Whether the file still is what it was at `before`. The file is read only if all but its size may
 * have changed; marks without contents are compared by size and time of modification. Completes
 * now->contents if they are the same. */
psfm_status psfm_file_mark_compare(psfm_context *ctx, const char *path,
                                   const psfm_file_mark *before, psfm_file_mark *now, bool *same);

#endif
