/* Allocations of one thread, of which one fails when it is told to: loaded before the system's own (tests/runtime/no_memory.py). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static _Thread_local long left = -1, seen;   /* until the one that fails; allocations since then */
static _Atomic long live;                    /* blocks of all threads */

static int fails(void) {
    seen++;
    if (left < 0 || left-- > 0) return 0;
    left = -1;
    errno = ENOMEM;
    return 1;
}

static void *counted(void *p) {
    if (p) atomic_fetch_add(&live, 1);
    return p;
}

void *malloc(size_t n) { return fails() ? NULL : counted(__libc_malloc(n)); }
void *calloc(size_t n, size_t each) { return fails() ? NULL : counted(__libc_calloc(n, each)); }
void *aligned_alloc(size_t align, size_t n) { return fails() ? NULL : counted(__libc_memalign(align, n)); }
void *realloc(void *p, size_t n) {
    if (fails()) return NULL;
    void *q = __libc_realloc(p, n);
    if (!p) counted(q);
    return q;
}
void free(void *p) {
    if (p) atomic_fetch_sub(&live, 1);
    __libc_free(p);
}
void *mmap(void *at, size_t n, int prot, int flags, int file, off_t offset) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real) real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap64");
    return fails() ? MAP_FAILED : real(at, n, prot, flags, file, offset);
}

/* The allocation after `n` others fails; -1: none does. Returns how many of this thread there were since the last call of this, negative if one failed. */
long no_memory_after(long n) {
    static _Thread_local long armed = -1;
    long count = armed >= 0 && left < 0 ? -seen : seen;
    armed = left = n;
    seen = 0;
    return count;
}
long no_memory_live(void) { return atomic_load(&live); }
