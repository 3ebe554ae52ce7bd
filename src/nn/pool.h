/* Places for things of which there may be fewer than threads that want one, as networks with their
 * memory. */
#ifndef PSFM_NN_POOL_H
#define PSFM_NN_POOL_H

#include <pthread.h>

#include "base/context.h"

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t given;
    bool *taken;
    int num; /* 0 before psfm_pool_init */
} psfm_pool;

/* Makes `num` free places. Free with psfm_pool_free, also after failure. */
psfm_status psfm_pool_init(psfm_context *ctx, int num, psfm_pool *pool);
void psfm_pool_free(psfm_pool *pool);

/* Waits for a free place and returns its number; give it back. */
int psfm_pool_take(psfm_pool *pool);
void psfm_pool_give(psfm_pool *pool, int place);

#endif
