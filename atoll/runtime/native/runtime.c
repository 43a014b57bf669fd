/* The runtime library: memory that is reused between calls, and a pool of threads.
 *
 * Every thread has a stretch of pieces of its own, the same one in every loop of as many pieces, so that what it wrote in one loop is
 * in its own cache in the next; who is done takes pieces from the ends of the others' stretches. A stretch is one atomic word: an
 * epoch, the end and the next piece. The calling thread takes part and waits only for pieces that workers have claimed, so a worker
 * the system has put to sleep is waited for only inside of a piece; then it gets the caller's core (lend_core). Which thread runs a
 * piece does not matter: pieces depend on sizes only. After fork the child starts with no workers and makes its own when needed.
 */
#define _GNU_SOURCE
#include "abi.h"
#include "blocks.h"
#include <sched.h>
#include <time.h>

/* How much programs hold, and the most they held since atoll_peak(1): what f.memory() says can be measured. */
static _Atomic int64_t held, peak;

static void *counted(header *h, int64_t bytes) {
    h->asked = bytes;
    int64_t now = atomic_fetch_add(&held, bytes) + bytes, most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {}
    return h + 1;
}

int64_t atoll_peak(int reset) {
    int64_t most = atomic_load(&peak);
    if (reset) atomic_store(&peak, atomic_load(&held));
    return most;
}

void *atoll_alloc(int64_t bytes) {
    void *block = atoll_block(bytes);
    return block ? counted((header *)block - 1, bytes) : NULL;
}

void atoll_free(void *block) {
    if (!block) return;
    atomic_fetch_sub(&held, ((header *)block - 1)->asked);
    atoll_unblock(block);
}

/* -- threads */

enum { MOST_THREADS = 256 };
typedef int (*task)(at_call *, void *, int64_t);
typedef struct {
    task task;
    void *context;
    at_call *call;
    int64_t pieces, unit;   /* pieces are claimed `unit` at a time: one, unless there are millions */
    int threads;
} job;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;   /* one parallel loop at a time */
static pthread_mutex_t sleep_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
enum { NUMBER = 21 };              /* bits of a piece in a stretch: epoch, end, next */
static struct { _Atomic uint64_t word; char pad[ALIGN - 8]; } stretches[MOST_THREADS];
static _Atomic uint64_t current_epoch;
static _Atomic int64_t finished;   /* units of the current job that workers have run */
static _Atomic int waiting;        /* the caller sleeps until they are */
static _Atomic int sleeping;
static _Atomic int failed;
static _Atomic int stopping;       /* the user asked to stop the current job */
static struct { _Atomic(task) task; _Atomic(void *) context; _Atomic(at_call *) call; _Atomic int64_t pieces, unit; _Atomic int threads; } current;
static struct { pthread_t thread; _Atomic int core, working; } members[MOST_THREADS];   /* the workers; where each last began to wait, -1 before; whether it looks for units or runs one */
static int workers;                /* changed under pool_lock */
static _Atomic int wanted = -1;    /* threads, if somebody said so or the environment was read */
static _Thread_local int in_pool;

static void pause_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    sched_yield();
#endif
}

static void run_piece(const job *j, int64_t piece) {
    if (atomic_load_explicit(&stopping, memory_order_relaxed)) return;
    if (atomic_load_explicit(&failed, memory_order_relaxed)) {
        pthread_mutex_lock(&error_lock);
        int skip = j->call->piece < piece;
        pthread_mutex_unlock(&error_lock);
        if (skip) return;
    }
    at_call *given = j->call;   /* what other threads write to it, they write under the lock */
    at_arg args[given->room + 1];
    at_call local = {.sizes = given->sizes, .in = given->in, .out = given->out, .host = given->host, .open_result = given->open_result,
                     .print = given->print, .poll = given->poll, .room = given->room, .args = args, .polled = in_pool ? 0 : given->polled};
    int status = j->task(&local, j->context, piece);
    if (!in_pool) given->polled = local.polled;
    if (status) {
        if (status == -2) atomic_store(&stopping, 1);
        pthread_mutex_lock(&error_lock);
        if (!atomic_load(&failed) || piece < j->call->piece) {
            j->call->piece = piece;
            j->call->site = status;
            memcpy(j->call->args, args, sizeof *args * (size_t)given->room);
            atomic_store(&failed, 1);
        }
        pthread_mutex_unlock(&error_lock);
    }
}

/* The current job is read while the next one may be written. What is read by who has claimed a unit and not finished it is whole: the owner
 * waits for it, and stretches of older jobs are used up. */
static void publish(const job *j) {
    atomic_store_explicit(&current.task, j->task, memory_order_relaxed);
    atomic_store_explicit(&current.context, j->context, memory_order_relaxed);
    atomic_store_explicit(&current.call, j->call, memory_order_relaxed);
    atomic_store_explicit(&current.pieces, j->pieces, memory_order_relaxed);
    atomic_store_explicit(&current.unit, j->unit, memory_order_relaxed);
    atomic_store_explicit(&current.threads, j->threads, memory_order_relaxed);
}

static job current_job(void) {
    return (job){atomic_load_explicit(&current.task, memory_order_relaxed), atomic_load_explicit(&current.context, memory_order_relaxed),
                 atomic_load_explicit(&current.call, memory_order_relaxed), atomic_load_explicit(&current.pieces, memory_order_relaxed),
                 atomic_load_explicit(&current.unit, memory_order_relaxed), atomic_load_explicit(&current.threads, memory_order_relaxed)};
}

static uint64_t stretch(uint64_t epoch, uint64_t next, uint64_t end) { return epoch << 2 * NUMBER | end << NUMBER | next; }

static int64_t left(uint64_t word) {
    const uint64_t mask = ((uint64_t)1 << NUMBER) - 1;
    return (int64_t)(word >> NUMBER & mask) - (int64_t)(word & mask);
}

/* Claim a unit of the job of this epoch: the next one of one's own stretch, or the last one of another's; or -1. */
static int64_t claim(uint64_t epoch, int self, int threads) {
    const uint64_t mask = ((uint64_t)1 << NUMBER) - 1;
    for (int k = 0; k < threads; k++) {
        int of = self + k < threads ? self + k : self + k - threads;
        uint64_t seen = atomic_load(&stretches[of].word);
        for (;;) {
            uint64_t next = seen & mask, end = seen >> NUMBER & mask;
            if (seen >> 2 * NUMBER != epoch || next >= end) break;
            uint64_t then = k == 0 ? stretch(epoch, next + 1, end) : stretch(epoch, next, end - 1);
            if (atomic_compare_exchange_weak(&stretches[of].word, &seen, then)) return (int64_t)(k == 0 ? next : end - 1);
        }
    }
    return -1;
}

static void run_unit(const job *j, int64_t unit) {
    int64_t end = (unit + 1) * j->unit < j->pieces ? (unit + 1) * j->unit : j->pieces;
    for (int64_t piece = unit * j->unit; piece < end; piece++) run_piece(j, piece);
}

static void finish(void) {
    atomic_fetch_add(&finished, 1);
    if (!atomic_load(&waiting)) return;
    pthread_mutex_lock(&sleep_lock);
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&sleep_lock);
    sched_yield();   /* it waits for this core */
}

static void *worker(void *given) {
    int self = (int)(intptr_t)given;
    in_pool = 1;
    uint64_t last = 0;   /* so that a job that was started before this thread is joined */
    for (;;) {
        int spins = 0;
        atomic_store_explicit(&members[self - 1].core, sched_getcpu(), memory_order_relaxed);
        while (atomic_load_explicit(&current_epoch, memory_order_acquire) == last) {
            pause_a_little();
            if (++spins > 20000) {
                pthread_mutex_lock(&sleep_lock);
                atomic_fetch_add(&sleeping, 1);
                while (atomic_load(&current_epoch) == last) pthread_cond_wait(&wake, &sleep_lock);
                atomic_fetch_sub(&sleeping, 1);
                pthread_mutex_unlock(&sleep_lock);
            }
        }
        last = atomic_load(&current_epoch);
        int threads = atomic_load_explicit(&current.threads, memory_order_relaxed);
        if (self >= threads || threads > MOST_THREADS) continue;
        atomic_store_explicit(&members[self - 1].working, 1, memory_order_relaxed);
        for (int64_t unit; (unit = claim(last, self, threads)) >= 0; finish()) {
            job j = current_job();
            run_unit(&j, unit);
        }
        atomic_store_explicit(&members[self - 1].working, 0, memory_order_relaxed);
    }
    return NULL;
}

static void after_fork(void) {
    pthread_mutex_init(&pool_lock, NULL);
    pthread_mutex_init(&sleep_lock, NULL);
    pthread_mutex_init(&error_lock, NULL);
    pthread_cond_init(&wake, NULL);
    pthread_cond_init(&done, NULL);
    atomic_store(&current_epoch, 0);
    for (int k = 0; k < MOST_THREADS; k++) atomic_store(&stretches[k].word, 0);
    atomic_store(&finished, 0);
    atomic_store(&waiting, 0);
    atomic_store(&sleeping, 0);
    atomic_store(&failed, 0);
    atomic_store(&stopping, 0);
    workers = 0;
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, after_fork); }

int atoll_threads(int n) {
    static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
    pthread_once(&fork_once, watch_forks);
    int threads = n > 0 ? n : atomic_load_explicit(&wanted, memory_order_relaxed);
    if (threads < 0) {
        const char *text = getenv("ATOLL_NUM_THREADS");
        int from_env = text ? atoi(text) : 0;
        cpu_set_t set;
        int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
        threads = from_env > 0 ? from_env : cores;
    } else if (n <= 0) {
        return threads;
    }
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    atomic_store_explicit(&wanted, threads, memory_order_relaxed);
    return threads;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether to stop. Only the calling thread asks the caller, and never in the first moments of a call. */
int atoll_poll(at_call *at) {
    if (in_pool) return atomic_load_explicit(&stopping, memory_order_relaxed);
    if (!at->poll) return 0;
    double t = now();
    if (at->polled == 0) at->polled = t;
    if (t - at->polled < 0.05) return 0;
    at->polled = t;
    return at->poll(at);
}

/* The cores of this process without `core`; 0 where no other is left. */
static int all_but(int core, cpu_set_t *others) {
    if (core < 0 || sched_getaffinity(0, sizeof *others, others) != 0) return 0;
    CPU_CLR(core, others);
    return CPU_COUNT(others) > 0;
}

/* Workers go to other cores than the caller's. Some systems wake a thread on the core of whoever wakes it, or move the caller to where
 * a worker waits; it then gets its turn milliseconds later, and a loop of a millisecond is done by one thread. */
static void keep_away(void) {
    const int here = sched_getcpu(), asleep = atomic_load(&sleeping) > 0;
    cpu_set_t others;
    CPU_ZERO(&others);
    for (int k = 0; k < workers; k++) {
        int core = atomic_load_explicit(&members[k].core, memory_order_relaxed);
        if (!asleep && core != here && core >= 0) continue;
        if (CPU_COUNT(&others) == 0 && !all_but(here, &others)) return;
        pthread_setaffinity_np(members[k].thread, sizeof others, &others);
    }
}

/* Workers that hold a piece and did not run since the last look get this core, which has nothing to do but to wait for them: other processes
 * have theirs, for milliseconds. `ran` is how long each had run then, and -1 of those that are here. Whether one is. */
static int lend_core(double *ran) {
    int lent = 0;
    for (int k = 0; k < workers; k++) {
        clockid_t clock;
        struct timespec t;
        if (!atomic_load_explicit(&members[k].working, memory_order_relaxed)) continue;
        if (ran[k] >= 0) {
            if (pthread_getcpuclockid(members[k].thread, &clock) != 0 || clock_gettime(clock, &t) != 0) continue;
            double runs = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, before = ran[k];
            ran[k] = runs;
            if (runs != before) continue;
            cpu_set_t here;
            CPU_ZERO(&here);
            CPU_SET(sched_getcpu(), &here);
            if (pthread_setaffinity_np(members[k].thread, sizeof here, &here) != 0) continue;
            ran[k] = -1;
        }
        lent = 1;
    }
    return lent;
}

/* Until workers have finished so many units, or for a moment. */
static void sleep_a_little(int64_t units) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 200000;
    if (t.tv_nsec >= 1000000000) t.tv_nsec -= 1000000000, t.tv_sec++;
    pthread_mutex_lock(&sleep_lock);
    atomic_store(&waiting, 1);
    if (atomic_load(&finished) < units) pthread_cond_timedwait(&done, &sleep_lock, &t);
    atomic_store(&waiting, 0);
    pthread_mutex_unlock(&sleep_lock);
}

/* Wait for what workers have claimed. */
static void wait_for(at_call *at, int64_t units) {
    enum { LOOK = 512, YIELD = 20000 };   /* rounds of waiting: some ten microseconds, half a millisecond */
    double ran[MOST_THREADS];
    int looked = 0, lent = 0;
    for (int spins = 1; atomic_load(&finished) < units; spins++) {
        if (lent) sleep_a_little(units);
        else pause_a_little();
        if (lent || spins % LOOK == 0) {
            for (; looked < workers; looked++) ran[looked] = 0;
            lent |= lend_core(ran);
        }
        if (lent || spins > YIELD) {
            spins = 0;
            sched_yield();
            if (atoll_poll(at)) atomic_store(&stopping, 1);
        }
    }
    cpu_set_t others;
    if (!lent || !all_but(sched_getcpu(), &others)) return;
    for (int k = 0; k < looked; k++) {
        if (ran[k] < 0) pthread_setaffinity_np(members[k].thread, sizeof others, &others);
    }
}

static int run_alone(at_call *at, task task, void *context, int64_t pieces, int64_t often) {
    for (int64_t k = 0; k < pieces; k++) {
        int status = task(at, context, k);
        if (status) return status;
        if ((k & often) == often && atoll_poll(at)) return -2;
    }
    return 0;
}

/* Whether sleeping workers may sleep on: to wake one takes as long as a small loop does. Where small loops follow each other, they are woken. */
static int let_sleep(void) {
    static double last;
    if (atomic_load(&sleeping) < workers) return 0;
    double t = now(), before = last;
    last = t;
    return t - before > 2e-4;
}

/* Run all pieces; 0 or the status of the first piece that failed. */
int atoll_parallel(at_call *at, task task, void *context, int64_t pieces, int alone) {
    int threads = atoll_threads(0);
    const int64_t often = pieces > 64 ? 7 : 0;   /* asking for the time costs as much as a small piece does */
    if (alone == 1) return run_alone(at, task, context, pieces, INT64_MAX);
    if (threads <= 1 || in_pool || pthread_mutex_trylock(&pool_lock) != 0) return run_alone(at, task, context, pieces, often);
    if (alone == 2 && let_sleep()) {
        pthread_mutex_unlock(&pool_lock);
        return run_alone(at, task, context, pieces, often);
    }
    while (workers < threads - 1) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        int made = pthread_create(&thread, &attributes, worker, (void *)(intptr_t)(workers + 1));
        pthread_attr_destroy(&attributes);
        if (made != 0) break;
        atomic_store(&members[workers].core, -1);
        atomic_store(&members[workers].working, 0);
        members[workers++].thread = thread;
    }
    int64_t unit = (pieces >> (NUMBER - 1)) + 1, units = (pieces + unit - 1) / unit;
    job j = {task, context, at, pieces, unit, threads};
    publish(&j);
    atomic_store(&finished, 0);
    atomic_store(&failed, 0);
    atomic_store(&stopping, 0);
    at->piece = INT64_MAX;
    uint64_t epoch = atomic_load(&current_epoch) + 1;
    if (epoch >= (uint64_t)1 << (64 - 2 * NUMBER)) epoch = 1;
    for (int k = 0; k < threads; k++) {
        uint64_t low = (uint64_t)(units * k / threads), high = (uint64_t)(units * (k + 1) / threads);
        atomic_store(&stretches[k].word, stretch(epoch, low, high));
    }
    keep_away();
    atomic_store(&current_epoch, epoch);
    if (atomic_load(&sleeping) > 0) {
        pthread_mutex_lock(&sleep_lock);
        pthread_cond_broadcast(&wake);
        pthread_mutex_unlock(&sleep_lock);
    }
    for (int64_t mine; (mine = claim(epoch, 0, threads)) >= 0; units--) {
        run_unit(&j, mine);
        if ((mine & often) == often && atoll_poll(at)) {
            atomic_store(&stopping, 1);
            for (int k = 0; k < threads; k++) units -= left(atomic_exchange(&stretches[k].word, stretch(epoch, 0, 0)));
        }
    }
    wait_for(at, units);
    int stopped = atomic_load(&stopping);
    int status = stopped ? -2 : atomic_load(&failed) ? at->site : 0;
    pthread_mutex_unlock(&pool_lock);
    return status;
}

/* Products of matrices are libraries of their own, one for f32 and one for f64 (product.c), loaded by the first program that has one: building them
 * takes a second or two. */
typedef int (*multiply)(at_call *, const at_product *, int);
static _Atomic(multiply) product[2];
static int (*load_product)(int is_double);

void atoll_set_product(multiply function, int is_double) { atomic_store(&product[is_double], function); }
void atoll_set_loader(int (*function)(int)) { load_product = function; }

static int atoll_product(at_call *at, const at_product *p, int is_double) {
    multiply found = atomic_load_explicit(&product[is_double], memory_order_acquire);
    if (!found && load_product && load_product(is_double) == 0) found = atomic_load(&product[is_double]);
    return found ? found(at, p, is_double) : -1;
}

/* Python's signals for calls that come through ctypes and not through call.c. A callback written in Python cannot look at them: the signal's
 * own error would be raised before its first line. `kept` is the host of such a call (plain_call.py). */
typedef struct { void *error[3]; int failed; void (*print)(at_call *, int, int, const at_shown *); } kept;
static struct { int (*ensure)(void); void (*release)(int); int (*check)(void); void (*fetch)(void **, void **, void **); } python;

void atoll_use_python(int (*ensure)(void), void (*release)(int), int (*check)(void), void (*fetch)(void **, void **, void **)) {
    python.ensure = ensure, python.release = release, python.check = check, python.fetch = fetch;
}

int atoll_poll_python(at_call *at) {
    kept *k = at->host;
    if (k->failed) return 1;
    int state = python.ensure();
    if (python.check() != 0) {
        python.fetch(&k->error[0], &k->error[1], &k->error[2]);
        k->failed = 1;
    }
    python.release(state);
    return k->failed;
}

void atoll_print_python(at_call *at, int number, int count, const at_shown *items) {
    kept *k = at->host;
    if (!atoll_poll_python(at)) k->print(at, number, count, items);
}

static int atoll_count(void) { return atoll_threads(0); }

static const at_runtime runtime = {atoll_alloc, atoll_free, atoll_parallel, atoll_product, atoll_poll, atoll_count};

const at_runtime *atoll_runtime(void) { return &runtime; }
