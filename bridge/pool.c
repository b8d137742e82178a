/* A mutex, a condition, a list. Jobs are milliseconds of database work: nothing here is hot. */
#include "bridge/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"

struct worker {
    struct dln_pool *pool;
    dunlin_central *central;
    pthread_t thread;
};

struct dln_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct dln_job *first, *last;
    size_t waiting, queue_max;
    size_t busy;
    bool stopping;
    size_t worker_count; /* whose threads run */
    struct worker workers[];
};

static struct dln_job *job_take(struct dln_pool *pool) {
    struct dln_job *job;

    while (pool->first == NULL && !pool->stopping) {
        (void)pthread_cond_wait(&pool->work, &pool->lock);
    }
    job = pool->first;
    if (job != NULL) {
        pool->first = job->next;
        pool->waiting--;
        pool->busy++;
    }
    return job;
}

static void *worker_run(void *argument) {
    struct worker *worker = argument;
    struct dln_pool *pool = worker->pool;
    struct dln_job *job;

    (void)pthread_mutex_lock(&pool->lock);
    while ((job = job_take(pool)) != NULL) {
        (void)pthread_mutex_unlock(&pool->lock);
        job->run(job, worker->central);
        (void)pthread_mutex_lock(&pool->lock);
        pool->busy--;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

bool dln_pool_push(struct dln_pool *pool, struct dln_job *job) {
    bool taken;

    (void)pthread_mutex_lock(&pool->lock);
    taken = pool->waiting < pool->queue_max;
    if (taken) {
        job->next = NULL;
        if (pool->first == NULL) {
            pool->first = job;
        } else {
            pool->last->next = job;
        }
        pool->last = job;
        pool->waiting++;
        (void)pthread_cond_signal(&pool->work);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return taken;
}

void dln_pool_state_get(struct dln_pool *pool, struct dln_pool_state *out) {
    (void)pthread_mutex_lock(&pool->lock);
    *out = (struct dln_pool_state){pool->waiting, pool->queue_max, pool->busy, pool->worker_count};
    (void)pthread_mutex_unlock(&pool->lock);
}

void dln_pool_stop(struct dln_pool *pool) {
    if (pool == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->worker_count; i++) {
        (void)pthread_join(pool->workers[i].thread, NULL);
        dunlin_central_close(pool->workers[i].central);
    }
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static dunlin_status worker_start(struct dln_pool *pool, struct dln_source *source,
                                  dunlin_error *err) {
    struct worker *worker = &pool->workers[pool->worker_count];
    dunlin_status status;

    worker->pool = pool;
    if ((status = dln_source_central(source, &worker->central, err))) {
        return status;
    }
    if (pthread_create(&worker->thread, NULL, worker_run, worker) != 0) {
        dunlin_central_close(worker->central);
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_CENTRAL,
                        "a thread could not be started");
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->worker_count++;
    (void)pthread_mutex_unlock(&pool->lock);
    return DUNLIN_OK;
}

dunlin_status dln_pool_start(struct dln_pool **out, struct dln_source *source, size_t threads,
                             size_t queue_max, dunlin_error *err) {
    struct dln_pool *pool = calloc(1, sizeof(*pool) + threads * sizeof(pool->workers[0]));
    dunlin_status status = DUNLIN_OK;

    *out = NULL;
    if (pool == NULL) {
        return dln_fail(err, DUNLIN_OUT_OF_MEMORY, DUNLIN_DOMAIN_CENTRAL, "out of memory");
    }
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->work, NULL);
    pool->queue_max = queue_max;
    while (status == DUNLIN_OK && pool->worker_count < threads) {
        status = worker_start(pool, source, err);
    }
    if (status != DUNLIN_OK) {
        dln_pool_stop(pool);
        return status;
    }
    *out = pool;
    return DUNLIN_OK;
}
