/* The text of CUDA kernels on the CPU, for machines without a GPU: this stands before it, and a C++ compiler takes the rest.
 *
 * Blocks run one after another, the threads of a block as fibers which are left only where threads wait: at a barrier, or for their warp. So there is no
 * race to win by luck: ATOLL_EMULATED_ORDER=1 turns the order of blocks and threads round, 2 and above shuffle it, and results must not change. Barriers
 * that not all threads reach (or not the same one), reads from lanes that take no part, writes beyond an array's end and launches that no GPU
 * would take are reported; memory that nobody wrote holds bytes 0xff. Warp functions follow the masks; threads that ended take no part in them.
 * Launches are made one at a time. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define AT_ON_CPU
#define __global__
#define __device__
#define __constant__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static __attribute__((section("at_shared"), aligned(16)))
#define AT_DYNAMIC_SHARED(name) unsigned char *const name = at_emu_dynamic

struct uint3 { unsigned x, y, z; };
static uint3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

/* -- fibers */

enum { AT_MOST_THREADS = 1024, AT_STACK = 1 << 17, AT_MOST_SHARED = 232448 };
enum at_state { AT_NEW, AT_RUNS, AT_AT_BARRIER, AT_IN_WARP, AT_ENDED };
enum at_together { AT_SHUFFLE, AT_BALLOT, AT_MATCH, AT_SYNC };

struct at_thread {
    at_state state;
    int line;                 /* of the text, where it waits */
    at_together what;
    unsigned mask;
    int source;               /* the lane it reads from */
    unsigned char value[16];  /* what it gives, then what it gets */
    jmp_buf place;
};

static at_thread at_threads[AT_MOST_THREADS];
static int at_order[AT_MOST_THREADS], at_count, at_started, at_now;
static jmp_buf at_home;
static char *at_stacks;
static int at_stack;
static void (*at_kernel)(void **);
static void **at_arguments;
static char at_message[512];
static unsigned char at_emu_dynamic[AT_MOST_SHARED] __attribute__((aligned(256)));
static size_t at_emu_used;
static char at_emu_marker __attribute__((section("at_shared"), used)) = 0;
extern char __start_at_shared[], __stop_at_shared[];

static void at_become(int t) {
    at_now = t;
    threadIdx.x = (unsigned)t % blockDim.x;
    threadIdx.y = (unsigned)t / blockDim.x % blockDim.y;
    threadIdx.z = (unsigned)t / blockDim.x / blockDim.y;
}

/* A fiber: takes threads that nobody began, until one has to wait. */
static void at_fiber() {
    for (;;) {
        while (at_started < at_count) {
            at_become(at_order[at_started++]);
            at_threads[at_now].state = AT_RUNS;
            at_kernel(at_arguments);
            at_threads[at_now].state = AT_ENDED;
        }
        _longjmp(at_home, 1);
    }
}

static __attribute__((noinline)) void at_begin() {
    ucontext_t fresh;
    if (_setjmp(at_home)) return;
    getcontext(&fresh);
    fresh.uc_stack.ss_sp = at_stacks + (size_t)at_stack++ * AT_STACK;
    fresh.uc_stack.ss_size = AT_STACK;
    fresh.uc_link = 0;
    makecontext(&fresh, at_fiber, 0);
    setcontext(&fresh);
}

static __attribute__((noinline)) void at_go_on(int t) {
    if (_setjmp(at_home)) return;
    at_become(t);
    at_threads[t].state = AT_RUNS;
    _longjmp(at_threads[t].place, 1);
}

static __attribute__((noinline)) void at_wait(at_state state, int line) {
    at_thread *me = &at_threads[at_now];
    me->state = state;
    me->line = line;
    if (!_setjmp(me->place)) _longjmp(at_home, 1);
}

static __attribute__((noinline)) void at_stop() { _longjmp(at_home, 1); }

/* -- what threads wait for */

static bool at_joins(const at_thread *a, const at_thread *b) { return b->state == AT_IN_WARP && b->mask == a->mask && b->line == a->line && b->what == a->what; }

static void at_exchange(int first, unsigned lanes) {
    unsigned char given[32][16];
    for (int l = 0; l < 32; l++) if (lanes >> l & 1) memcpy(given[l], at_threads[first + l].value, 16);
    for (int l = 0; l < 32; l++) {
        if (!(lanes >> l & 1)) continue;
        at_thread *t = &at_threads[first + l];
        unsigned bits = 0;
        if (t->what == AT_SHUFFLE) {
            if (!(lanes >> t->source & 1)) {
                snprintf(at_message, sizeof at_message, "line %d: thread %d reads from lane %d, which takes no part", t->line, first + l, t->source);
                return;
            }
            memcpy(t->value, given[t->source], 16);
        } else if (t->what == AT_BALLOT || t->what == AT_MATCH) {
            for (int k = 0; k < 32; k++)
                if (lanes >> k & 1) bits |= (unsigned)(t->what == AT_BALLOT ? given[k][0] != 0 : !memcmp(given[k], given[l], 16)) << k;
            memcpy(t->value, &bits, 4);
        }
        t->state = AT_RUNS;
    }
}

/* Let go on whom nothing holds any more. True if there is anybody. */
static bool at_release() {
    bool any = false;
    int waiting = 0, ended = 0, other = 0, line = -1;
    for (int first = 0; first < at_count; first += 32) {
        const int lanes = at_count - first < 32 ? at_count - first : 32;
        for (int l = 0; l < lanes; l++) {
            at_thread *t = &at_threads[first + l];
            if (t->state != AT_IN_WARP) continue;
            unsigned here = 0, missing = 0;
            for (int k = 0; k < lanes; k++) {
                at_thread *u = &at_threads[first + k];
                if (!(t->mask >> k & 1) || u->state == AT_ENDED) continue;
                if (at_joins(t, u)) here |= 1u << k; else missing |= 1u << k;
            }
            if (!(t->mask >> l & 1)) {
                snprintf(at_message, sizeof at_message, "line %d: thread %d is not in its own mask %08x", t->line, first + l, t->mask);
                return false;
            }
            if (missing) continue;
            at_exchange(first, here);
            if (at_message[0]) return false;
            any = true;
        }
    }
    if (any) return true;
    for (int t = 0; t < at_count; t++) {
        const at_thread *u = &at_threads[t];
        if (u->state == AT_ENDED) ended = t + 1;
        else if (u->state == AT_IN_WARP) other = t + 1;
        else if (line < 0) waiting = t + 1, line = u->line;
        else if (u->line != line) {
            snprintf(at_message, sizeof at_message, "divergent barriers: thread %d waits at line %d, thread %d at line %d", waiting - 1, line, t, u->line);
            return false;
        }
    }
    if (!waiting && !other) return false;
    if (other) snprintf(at_message, sizeof at_message, "line %d: thread %d waits for threads of its warp (mask %08x) that do not come", at_threads[other - 1].line, other - 1, at_threads[other - 1].mask);
    else if (ended) snprintf(at_message, sizeof at_message, "divergent barrier: thread %d waits at line %d, thread %d has ended", waiting - 1, line, ended - 1);
    if (at_message[0]) return false;
    for (int t = 0; t < at_count; t++) at_threads[t].state = AT_RUNS;
    return true;
}

static void at_block() {
    memset(__start_at_shared, 0xff, (size_t)(__stop_at_shared - __start_at_shared));
    memset(at_emu_dynamic, 0xff, at_emu_used);
    for (int t = 0; t < at_count; t++) at_threads[t].state = AT_NEW;
    at_started = at_stack = 0;
    while (at_started < at_count && !at_message[0]) at_begin();
    while (!at_message[0] && at_release())
        for (int k = 0; k < at_count && !at_message[0]; k++)
            if (at_threads[at_order[k]].state == AT_RUNS) at_go_on(at_order[k]);
}

/* -- what kernels call */

static inline void __syncthreads(int line = __builtin_LINE()) { at_wait(AT_AT_BARRIER, line); }
static inline void __threadfence() {}
static inline void __threadfence_block() {}

static void at_with_warp(at_together what, unsigned mask, int line) {
    at_threads[at_now].what = what;
    at_threads[at_now].mask = mask;
    at_wait(AT_IN_WARP, line);
}
static inline void __syncwarp(unsigned mask = ~0u, int line = __builtin_LINE()) { at_with_warp(AT_SYNC, mask, line); }

template <class T> static T at_shuffle(unsigned mask, T v, int source, int line) {
    static_assert(sizeof(T) <= 16, "values of shuffles are up to 16 bytes");
    at_thread *me = &at_threads[at_now];
    memset(me->value, 0, 16);
    memcpy(me->value, &v, sizeof v);
    me->source = source;
    at_with_warp(AT_SHUFFLE, mask, line);
    memcpy(&v, me->value, sizeof v);
    return v;
}
template <class T> static T __shfl_sync(unsigned mask, T v, int source, int width = 32, int line = __builtin_LINE()) {
    const int l = at_now % 32;
    return at_shuffle(mask, v, (l & ~(width - 1)) | (source & (width - 1)), line);
}
template <class T> static T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32, int line = __builtin_LINE()) {
    const int l = at_now % 32, s = l + (int)by;
    return at_shuffle(mask, v, s < (l & ~(width - 1)) + width && s < at_count - at_now + l ? s : l, line);
}
template <class T> static T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32, int line = __builtin_LINE()) {
    const int l = at_now % 32, s = l - (int)by;
    return at_shuffle(mask, v, s >= (l & ~(width - 1)) ? s : l, line);
}
template <class T> static T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32, int line = __builtin_LINE()) {
    const int l = at_now % 32, s = l ^ with;
    return at_shuffle(mask, v, s < (l & ~(width - 1)) + width ? s : l, line);
}
template <class T> static unsigned at_ask(at_together what, unsigned mask, T v, int line) {
    unsigned found;
    memset(at_threads[at_now].value, 0, 16);
    memcpy(at_threads[at_now].value, &v, sizeof v);
    at_with_warp(what, mask, line);
    memcpy(&found, at_threads[at_now].value, 4);
    return found;
}
static inline unsigned __ballot_sync(unsigned mask, int test, int line = __builtin_LINE()) { return at_ask(AT_BALLOT, mask, (unsigned char)(test != 0), line); }
static inline int __any_sync(unsigned mask, int test, int line = __builtin_LINE()) { return __ballot_sync(mask, test, line) != 0; }
static inline int __all_sync(unsigned mask, int test, int line = __builtin_LINE()) { return __ballot_sync(mask, !test, line) == 0; }
template <class T> static unsigned __match_any_sync(unsigned mask, T v, int line = __builtin_LINE()) { return at_ask(AT_MATCH, mask, v, line); }

template <class T> static T at_swap(T *p, T v) { T old = *p; *p = v; return old; }
template <class T, class U> static T atomicAdd(T *p, U v) { return at_swap(p, (T)(*p + (T)v)); }
template <class T, class U> static T atomicSub(T *p, U v) { return at_swap(p, (T)(*p - (T)v)); }
template <class T, class U> static T atomicMin(T *p, U v) { return at_swap(p, (T)v < *p ? (T)v : *p); }
template <class T, class U> static T atomicMax(T *p, U v) { return at_swap(p, *p < (T)v ? (T)v : *p); }
template <class T, class U> static T atomicAnd(T *p, U v) { return at_swap(p, (T)(*p & (T)v)); }
template <class T, class U> static T atomicOr(T *p, U v) { return at_swap(p, (T)(*p | (T)v)); }
template <class T, class U> static T atomicXor(T *p, U v) { return at_swap(p, (T)(*p ^ (T)v)); }
template <class T, class U> static T atomicExch(T *p, U v) { return at_swap(p, (T)v); }
template <class T, class U, class V> static T atomicCAS(T *p, U was, V v) { return at_swap(p, *p == (T)was ? (T)v : *p); }

/* Blocks run one after the other, so what is waited for must have been told by now. */
static inline void at_await(const uint32_t *told, int line = __builtin_LINE()) {
    if (*told) return;
    snprintf(at_message, sizeof at_message, "line %d: thread %d waits for what no block that began before its own has told", line, at_now);
    at_stop();
}

template <class T> static T __ldg(const T *p) { return *p; }
template <class T, class U> static T at_as(U v) { T r; static_assert(sizeof(T) == sizeof(U), "the same size"); memcpy(&r, &v, sizeof r); return r; }
static inline long long __double_as_longlong(double v) { return at_as<long long>(v); }
static inline double __longlong_as_double(long long v) { return at_as<double>(v); }
static inline int __float_as_int(float v) { return at_as<int>(v); }
static inline unsigned __float_as_uint(float v) { return at_as<unsigned>(v); }
static inline float __int_as_float(int v) { return at_as<float>(v); }
static inline float __uint_as_float(unsigned v) { return at_as<float>(v); }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned __brev(unsigned v) { unsigned r = 0; for (int k = 0; k < 32; k++) r |= (v >> k & 1) << (31 - k); return r; }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }

/* The host's memory is the device's. */
static inline void *at_pinned(size_t bytes) { return malloc(bytes); }
static inline void at_unpinned(void *made) { free(made); }
