/* Status codes: what every fallible function returns. */
#ifndef PLANARSFM_STATUS_H
#define PLANARSFM_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared library exports; everything else stays hidden. */
#if defined(__GNUC__)
#define PSFM_API __attribute__((visibility("default")))
#else
#define PSFM_API
#endif

/* Makes the compiler warn when a returned status is dropped (clang knows it for types). */
#if defined(__clang__)
#define PSFM_MUST_CHECK __attribute__((warn_unused_result))
#else
#define PSFM_MUST_CHECK
#endif

/* PSFM_OK is 0. On any other value the outputs of the call are untouched (or empty and safe to
 * free), and psfm_context_message() says in one sentence what went wrong and in which file. */
typedef enum PSFM_MUST_CHECK psfm_status {
    PSFM_OK = 0,
    PSFM_ERR_MEMORY,    /* an allocation failed */
    PSFM_ERR_ARGUMENT,  /* the caller asked for something that makes no sense */
    PSFM_ERR_IO,        /* a file could not be opened, read or written */
    PSFM_ERR_FORMAT,    /* a file was read, but its contents are not what they should be */
    PSFM_ERR_DATA,      /* the data are well-formed but nothing can be computed from them */
    PSFM_ERR_NUMERIC,   /* a numerical method failed to converge or met a singular system */
    PSFM_ERR_CANCELLED, /* the progress callback asked to stop */
} psfm_status;

/* A short lower-case word for a status, e.g. "format"; never NULL. */
PSFM_API const char *psfm_status_name(psfm_status status);

#ifdef __cplusplus
}
#endif
#endif
