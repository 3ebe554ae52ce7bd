/* A pool of numbered places, of which each is lent to one thread at a time; who finds none waits.
 */
#include "nn/pool.h"

#include <stdlib.h>

#include "base/alloc.h"

psfm_status psfm_pool_init(psfm_context *ctx, int num, psfm_pool *pool) {
    *pool = (psfm_pool){0};
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num, &pool->taken);
    if (status != PSFM_OK)
        return status;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->given, NULL);
    pool->num = num;
    return PSFM_OK;
}

void psfm_pool_free(psfm_pool *pool) {
    if (pool->num > 0) {
        pthread_cond_destroy(&pool->given);
        pthread_mutex_destroy(&pool->lock);
    }
    free(pool->taken);
    *pool = (psfm_pool){0};
}

static int find_free(const psfm_pool *pool) {
    int place = 0;
    while (place < pool->num && pool->taken[place])
        ++place;
    return place;
}

int psfm_pool_take(psfm_pool *pool) {
    int place;
    pthread_mutex_lock(&pool->lock);
    while ((place = find_free(pool)) == pool->num)
        pthread_cond_wait(&pool->given, &pool->lock);
    pool->taken[place] = true;
    pthread_mutex_unlock(&pool->lock);
    return place;
}

void psfm_pool_give(psfm_pool *pool, int place) {
    pthread_mutex_lock(&pool->lock);
    pool->taken[place] = false;
    pthread_cond_signal(&pool->given);
    pthread_mutex_unlock(&pool->lock);
}
