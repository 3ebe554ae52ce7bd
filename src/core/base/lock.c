/* Locks by flock(2), on the folder itself or on a file beside a database. The file of a database is
 * not locked itself: closing it would drop the locks of SQLite, which belong to the process. */
#include "core/base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"

/* Locks an open file without waiting; `name` is what the message calls it. */
static psfm_status lock_descriptor(psfm_context *ctx, const char *name, int descriptor) {
    int result;
    do
        result = flock(descriptor, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    if (result == 0 || errno != EWOULDBLOCK)
        return PSFM_OK; /* the second: no locks on this file system */
    return psfm_fail(ctx, PSFM_ERR_IO,
                     "%s: another run is writing here; wait until it is done or choose another "
                     "place",
                     name);
}

psfm_status psfm_lock_folder(psfm_context *ctx, const char *folder, psfm_lock *lock) {
    *lock = (psfm_lock){0};
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open folder: %s", folder, strerror(errno));
    psfm_status status = lock_descriptor(ctx, folder, descriptor);
    if (status == PSFM_OK)
        lock->descriptor = descriptor;
    else
        close(descriptor);
    return status;
}

/* Whether the locked file still has its name: the holder before removed it with its lock. */
static bool has_its_name(int descriptor, const char *path) {
    struct stat locked, named;
    return fstat(descriptor, &locked) == 0 && stat(path, &named) == 0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

psfm_status psfm_lock_file(psfm_context *ctx, const char *path, psfm_lock *lock) {
    char *name = NULL;
    size_t size = strlen(path) + 6;
    *lock = (psfm_lock){0};
    psfm_status status = PSFM_ALLOC(ctx, size, &name);
    if (status != PSFM_OK)
        return status;
    snprintf(name, size, "%s.lock", path);
    int descriptor = -1;
    do {
        if (descriptor >= 0)
            close(descriptor);
        descriptor = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor < 0)
            status =
                psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
        else
            status = lock_descriptor(ctx, path, descriptor);
    } while (status == PSFM_OK && !has_its_name(descriptor, name));
    if (status == PSFM_OK) {
        *lock = (psfm_lock){descriptor, name};
        return PSFM_OK;
    }
    if (descriptor >= 0)
        close(descriptor);
    free(name);
    return status;
}

void psfm_lock_release(psfm_lock *lock) {
    if (lock->path != NULL)
        unlink(lock->path); /* before the lock goes: the next one makes its own */
    if (lock->descriptor > 0)
        close(lock->descriptor);
    free(lock->path);
    *lock = (psfm_lock){0};
}
