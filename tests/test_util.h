/* What every unit test includes: cmocka with its prerequisites, and checks for numbers. */
#ifndef PSFM_TEST_UTIL_H
#define PSFM_TEST_UTIL_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/context.h"

/* Fails with the context's message if a call did not succeed. */
#define assert_ok(ctx, call)                                                                     \
    do {                                                                                         \
        psfm_status status_ = (call);                                                            \
        if (status_ != PSFM_OK)                                                                  \
            fail_msg("%s: %s: %s", #call, psfm_status_name(status_), psfm_context_message(ctx)); \
    } while (0)

/* Fixture of a group of tests: *state is a context. */
static inline int open_context(void **state) {
    *state = psfm_context_create();
    return *state == NULL;
}

static inline int close_context(void **state) {
    psfm_context *ctx = *state;
    psfm_context_destroy(&ctx);
    return 0;
}

#define assert_close(a, b, tolerance)                                                           \
    do {                                                                                        \
        double a_ = (a), b_ = (b);                                                              \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                    \
            fail_msg("%s = %.17g, %s = %.17g, apart by %g > %g", #a, a_, #b, b_, fabs(a_ - b_), \
                     (double)(tolerance));                                                      \
    } while (0)

#define assert_below(a, bound)                                    \
    do {                                                          \
        double a_ = (a), bound_ = (bound);                        \
        if (!(a_ < bound_))                                       \
            fail_msg("%s = %.17g, not below %g", #a, a_, bound_); \
    } while (0)

#endif
