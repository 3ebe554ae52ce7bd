/* A library to be preloaded (LD_PRELOAD) that spoils one call of a program.
 *
 *   FAULT_IO=N       the N-th call that changes files (open for writing, write, fsync, rename, ...)
 *   FAULT_KIND=K     what happens at the N-th call: kill (SIGKILL), ENOSPC, EIO, EINTR, or short
 *                    (a write that takes half of its bytes)
 *   FAULT_COUNT=PATH at the end, the number of such calls is written to PATH
 *
 * Reading is not counted. Bytes that a buffered stream writes on its own are counted when it is
 * flushed. Allocations are spoiled by memory.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long io_at;
static atomic_long num_io;
static const char *kind = "";
static bool is_ready;

__attribute__((constructor)) static void start(void) {
    const char *io = getenv("FAULT_IO");
    io_at = io == NULL ? 0 : atol(io);
    if (getenv("FAULT_KIND") != NULL)
        kind = getenv("FAULT_KIND");
    is_ready = true;
}

__attribute__((destructor)) static void finish(void) {
    const char *path = getenv("FAULT_COUNT");
    is_ready = false;
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file == NULL)
        return;
    fprintf(file, "%ld\n", atomic_load(&num_io));
    fclose(file);
}

/* Counts a call; at the wanted one ends the process or returns true with errno set. */
static bool io_fails(bool *is_short) {
    if (!is_ready || atomic_fetch_add(&num_io, 1) + 1 != io_at)
        return false;
    if (strcmp(kind, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(kind, "short") == 0) {
        *is_short = true;
        return false;
    }
    errno = strcmp(kind, "ENOSPC") == 0 ? ENOSPC : strcmp(kind, "EINTR") == 0 ? EINTR : EIO;
    return true;
}

/* The function of libc behind ours. */
#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))

static int open_next(const char *name, const char *path, int flags, mode_t mode) {
    bool is_short = false;
    if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0 && io_fails(&is_short))
        return -1;
    return NEXT(int (*)(const char *, int, ...), name)(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_next("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_next("open64", path, flags, mode);
}

ssize_t write(int file, const void *bytes, size_t size) {
    bool is_short = false;
    if (io_fails(&is_short))
        return -1;
    return NEXT(ssize_t(*)(int, const void *, size_t), "write")(file, bytes,
                                                                is_short ? (size + 1) / 2 : size);
}

static ssize_t pwrite_next(const char *name, int file, const void *bytes, size_t size, off_t at) {
    bool is_short = false;
    if (io_fails(&is_short))
        return -1;
    return NEXT(ssize_t(*)(int, const void *, size_t, off_t),
                name)(file, bytes, is_short ? (size + 1) / 2 : size, at);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
    return pwrite_next("pwrite", file, bytes, size, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t at) {
    return pwrite_next("pwrite64", file, bytes, size, at);
}

#define ONE_FILE(name)                                                     \
    int name(int file) {                                                   \
        bool is_short = false;                                             \
        return io_fails(&is_short) ? -1 : NEXT(int (*)(int), #name)(file); \
    }
ONE_FILE(fsync)
ONE_FILE(fdatasync)

#define ONE_PATH(name)                                                              \
    int name(const char *path) {                                                    \
        bool is_short = false;                                                      \
        return io_fails(&is_short) ? -1 : NEXT(int (*)(const char *), #name)(path); \
    }
ONE_PATH(unlink)
ONE_PATH(rmdir)

#define TWO_PATHS(name)                                                                          \
    int name(const char *from, const char *to) {                                                 \
        bool is_short = false;                                                                   \
        return io_fails(&is_short) ? -1                                                          \
                                   : NEXT(int (*)(const char *, const char *), #name)(from, to); \
    }
TWO_PATHS(rename)
TWO_PATHS(symlink)

int mkdir(const char *path, mode_t mode) {
    bool is_short = false;
    return io_fails(&is_short) ? -1 : NEXT(int (*)(const char *, mode_t), "mkdir")(path, mode);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    bool is_short = false;
    return io_fails(&is_short) ? -1
                               : NEXT(int (*)(int, const char *, int, const char *, unsigned),
                                      "renameat2")(from_folder, from, to_folder, to, flags);
}

int ftruncate64(int file, off_t size) {
    bool is_short = false;
    return io_fails(&is_short) ? -1 : NEXT(int (*)(int, off_t), "ftruncate64")(file, size);
}

int fflush(FILE *file) {
    bool is_short = false;
    return io_fails(&is_short) ? EOF : NEXT(int (*)(FILE *), "fflush")(file);
}
