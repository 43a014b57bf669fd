/* Memory of one call: cells from chunks with free lists by size, arrays beside them, all given back together at the end.
 *
 * A value is a word. Odd words are immediates (a case without fields: 2 * tag + 1; a static closure: its address + 1). Other words are
 * cells: a header (count 32 bits, words 8, counted fields 8, tag 16), then the fields, counted ones first. Counts are not atomic: a
 * heap belongs to one call. A failure jumps to the entry and abandons the heap; nothing leaks.
 */
#include <setjmp.h>
#include <stdlib.h>

typedef uintptr_t at_value;
typedef struct at_array at_array;
typedef struct at_heap at_heap;

struct at_array {
    uint64_t header;     /* as a cell's; tag 0xffff */
    at_array *owner;     /* whose memory this is a part of, or NULL */
    void *data;
    at_array *before, *after;
    int64_t item;        /* bytes of an element */
    int32_t ndim, kind;  /* kind 0: numbers, 1: values, 2: numbers of the caller's */
    int64_t dims[];
};

/* Places that can fail and things printed are numbered through all modules of a program. */
#ifdef AT_MODULE
static int at_site_base, at_print_base;
#else
enum { at_site_base = 0, at_print_base = 0 };
#endif

typedef struct at_chunk { struct at_chunk *next; } at_chunk;

struct at_heap {
    at_call at;               /* what kernels are called with */
    at_call *call;            /* what we were called with */
    uint64_t *top, *end;
    uint64_t *spare[256];     /* free cells by words */
    at_chunk *chunks;
    char *volatile limit;     /* the stack may grow down to here; when the user interrupts, it may not grow at all */
    char *stack_end;          /* what `limit` is otherwise */
    volatile int interrupted;
    at_array arrays;          /* head of the list of all arrays */
    at_value *dead;           /* cells to be freed */
    size_t dead_count, dead_room;
    const int64_t *items;     /* of the kernel's open results: bytes of an element, negative for values */
    at_array **opened;        /* those results: as many places as the kernel has results */
    int print_base;
    int64_t live, made, closures;
    at_value roots[64];       /* the results, to be dropped when they have been read */
    int root_count;
    jmp_buf fail;
};

#define AT_LIKELY(x) __builtin_expect(!!(x), 1)
#define AT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define AT_CELL(x) ((uint64_t *)(x))
#define AT_HEADER(words, counted, tag) (1 | (uint64_t)(words) << 32 | (uint64_t)(counted) << 40 | (uint64_t)(tag) << 48)
#define AT_COUNT(x) (*(uint32_t *)(x))
#define AT_WORDS(x) ((int)(AT_CELL(x)[0] >> 32 & 255))
#define AT_COUNTED(x) ((int)(AT_CELL(x)[0] >> 40 & 255))
#define AT_TAG(x) ((int)(AT_CELL(x)[0] >> 48))
#define AT_IS_CELL(x) (!((x) & 1))
#ifdef AT_COUNTERS
#define AT_MADE(H) ((H)->live++, (H)->made++)
#define AT_GONE(H) ((H)->live--)
#define AT_CLOSURE_MADE(H) ((H)->closures++)
#else
#define AT_MADE(H) ((void)0)
#define AT_GONE(H) ((void)0)
#define AT_CLOSURE_MADE(H) ((void)0)
#endif

__attribute__((noinline, noreturn, cold)) static void at_give_up(at_heap *H, int status) { longjmp(H->fail, status); }

/* The stack is at its end, or the user pressed Ctrl-C: then what handles it says whether to stop. */
__attribute__((noinline, cold)) static void at_too_deep(at_heap *H) {
    if (!H->interrupted) at_give_up(H, -3);
    H->limit = H->stack_end;
    H->interrupted = 0;
    if (!H->call->poll || H->call->poll(H->call)) at_give_up(H, -2);
}

/* The stack pointer: where the compiler has a name for it, looking at it costs nothing. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
register char *at_stack_pointer __asm__("rsp");
#define AT_STACK at_stack_pointer
#else
#define AT_STACK ((char *)__builtin_frame_address(0))
#endif
/* Calls count how deep they are: the C compiler may make a loop of a recursion, which then never meets the end of the stack. */
enum { AT_MOST_DEPTH = 100000000 };
#define AT_DEEP(H) do { if (AT_UNLIKELY(AT_STACK < (H)->limit)) at_too_deep(H); } while (0)
#define AT_COUNT_DEPTH(H) do { if (AT_UNLIKELY(AT_STACK < (H)->limit || at_depth > AT_MOST_DEPTH)) at_too_deep(H); } while (0)

__attribute__((noinline)) static uint64_t *at_more(at_heap *H, int words) {
    size_t size = H->chunks ? ((size_t)1 << 20) - 4096 : ((size_t)1 << 16) - 4096;
    at_chunk *chunk = at_rt->alloc((int64_t)size);
    if (!chunk) at_give_up(H, -1);
    chunk->next = H->chunks;
    H->chunks = chunk;
    H->top = (uint64_t *)(chunk + 2);
    H->end = (uint64_t *)((char *)chunk + size);
    uint64_t *p = H->top;
    H->top += words + 1;
    return p;
}

static inline uint64_t *at_cell(at_heap *H, int words) {
    AT_MADE(H);
    uint64_t *p = H->spare[words];
    if (AT_LIKELY(p != NULL)) {
        H->spare[words] = (uint64_t *)p[1];
        return p;
    }
    p = H->top;
    if (AT_LIKELY(p + words + 1 <= H->end)) {
        H->top = p + words + 1;
        return p;
    }
    return at_more(H, words);
}

static inline void at_free_cell(at_heap *H, uint64_t *p, int words) {
    AT_GONE(H);
    p[1] = (uint64_t)H->spare[words];
    H->spare[words] = p;
}

static inline void at_dup(at_value x) { if (AT_IS_CELL(x)) AT_COUNT(x)++; }
static inline void at_dup_array(at_array *a) { AT_COUNT(a)++; }

static void at_push_dead(at_heap *H, at_value x) {
    if (H->dead_count == H->dead_room) {
        size_t room = H->dead_room ? 2 * H->dead_room : 1024;
        at_value *more = realloc(H->dead, room * sizeof *more);
        if (!more) at_give_up(H, -1);
        H->dead = more;
        H->dead_room = room;
    }
    H->dead[H->dead_count++] = x;
}

static void at_free_array(at_heap *H, at_array *a) {
    a->before->after = a->after;
    a->after->before = a->before;
    if (a->owner) {
        if (--AT_COUNT(a->owner) == 0) at_push_dead(H, (at_value)a->owner);
    } else if (a->kind == 1) {
        int64_t n = 1;
        for (int k = 0; k < a->ndim; k++) n *= a->dims[k];
        for (int64_t k = 0; k < n; k++) {
            at_value y = ((at_value *)a->data)[k];
            if (AT_IS_CELL(y) && --AT_COUNT(y) == 0) at_push_dead(H, y);
        }
        at_rt->release(a->data);
    } else if (a->kind == 0) {
        at_rt->release(a->data);
    }
    at_free_cell(H, (uint64_t *)a, AT_WORDS(a));
}

/* Free a cell whose count is zero and everything that goes with it, without recursion. */
__attribute__((noinline)) static void at_free_reachable(at_heap *H, at_value x) {
    size_t base = H->dead_count;
    for (;;) {
        if (AT_TAG(x) == 0xffff) {
            at_free_array(H, (at_array *)x);
        } else {
            int counted = AT_COUNTED(x);
            for (int k = 0; k < counted; k++) {
                at_value y = AT_CELL(x)[k + 1];
                if (AT_IS_CELL(y) && --AT_COUNT(y) == 0) at_push_dead(H, y);
            }
            at_free_cell(H, AT_CELL(x), AT_WORDS(x));
        }
        if (H->dead_count == base) return;
        x = H->dead[--H->dead_count];
    }
}

static inline void at_drop(at_heap *H, at_value x) { if (AT_IS_CELL(x) && --AT_COUNT(x) == 0) at_free_reachable(H, x); }
static inline void at_drop_array(at_heap *H, at_array *a) { if (--AT_COUNT(a) == 0) at_free_reachable(H, (at_value)a); }

/* -- arrays */

static at_array *at_handle(at_heap *H, int ndim) {
    int words = (int)((sizeof(at_array) - 8) / 8) + ndim;
    at_array *a = (at_array *)at_cell(H, words);
    a->header = AT_HEADER(words, 0, 0xffff);
    a->owner = NULL;
    a->ndim = ndim;
    a->kind = 0;
    a->before = &H->arrays;
    a->after = H->arrays.after;
    a->after->before = a;
    H->arrays.after = a;
    return a;
}

static at_array *at_array_of(at_heap *H, int64_t item, int kind, int ndim, const int64_t *dims) {
    at_array *a = at_handle(H, ndim);
    int64_t count = 1;
    for (int k = 0; k < ndim; k++) {
        a->dims[k] = dims[k] < 0 ? 0 : dims[k];
        if (a->dims[k] && count > ((int64_t)1 << 46) / a->dims[k]) count = (int64_t)1 << 46;
        else count *= a->dims[k];
    }
    a->item = item;
    a->kind = 2;
    a->data = count >= ((int64_t)1 << 46) ? NULL : at_rt->alloc(count * item);
    if (!a->data) at_give_up(H, -1);
    a->kind = kind;
    if (kind == 1)
        for (int64_t k = 0; k < count; k++) ((at_value *)a->data)[k] = 1;
    return a;
}

static at_array *at_zeros(at_heap *H, int64_t item, int kind, int ndim, const int64_t *dims) {
    at_array *a = at_array_of(H, item, kind, ndim, dims);
    if (kind == 0) {
        int64_t count = item;
        for (int k = 0; k < ndim; k++) count *= a->dims[k];
        memset(a->data, 0, (size_t)count);
    }
    return a;
}

static int64_t at_count_items(const at_array *a) {
    int64_t count = 1;
    for (int k = 0; k < a->ndim; k++) count *= a->dims[k];
    return count;
}

/* The values of an array that a kernel has moved about get their counts. */
static void at_count_values(at_array *a) {
    int64_t count = at_count_items(a);
    for (int64_t k = 0; k < count; k++) at_dup(((at_value *)a->data)[k]);
}

static at_array *at_own(at_heap *H, at_array *a) {
    if (AT_COUNT(a) == 1 && !a->owner && a->kind != 2) return a;
    at_array *b = at_array_of(H, a->item, a->kind == 2 ? 0 : a->kind, a->ndim, a->dims);
    memcpy(b->data, a->data, (size_t)(at_count_items(a) * a->item));
    if (b->kind == 1) at_count_values(b);
    at_drop_array(H, a);
    return b;
}

static at_array *at_part(at_heap *H, at_array *a, int ndim, char *data) {
    at_array *b = at_handle(H, ndim);
    b->item = a->item;
    b->kind = a->kind;
    b->data = data;
    b->owner = a->owner ? a->owner : a;
    AT_COUNT(b->owner)++;
    return b;
}

static at_array *at_row(at_heap *H, at_array *a, int64_t i) {
    int64_t count = a->item;
    for (int k = 1; k < a->ndim; k++) count *= a->dims[k];
    at_array *b = at_part(H, a, a->ndim - 1, (char *)a->data + i * count);
    for (int k = 1; k < a->ndim; k++) b->dims[k - 1] = a->dims[k];
    return b;
}

static at_array *at_slice(at_heap *H, at_array *a, int64_t low, int64_t n) {
    int64_t count = a->item;
    for (int k = 1; k < a->ndim; k++) count *= a->dims[k];
    at_array *b = at_part(H, a, a->ndim, (char *)a->data + (n > 0 ? low : 0) * count);
    b->dims[0] = n > 0 ? n : 0;
    for (int k = 1; k < a->ndim; k++) b->dims[k] = a->dims[k];
    return b;
}

static at_array *at_set_row(at_heap *H, at_array *a, int64_t i, at_array *row) {
    a = at_own(H, a);
    int64_t items = at_count_items(row), bytes = items * a->item;
    char *to = (char *)a->data + i * bytes;
    if (a->kind == 1) {
        at_count_values(row);
        for (int64_t k = 0; k < items; k++) {
            at_value old = ((at_value *)to)[k];
            ((at_value *)to)[k] = ((at_value *)row->data)[k];
            at_drop(H, old);
        }
    } else {
        memcpy(to, row->data, (size_t)bytes);
    }
    return a;
}

static inline at_value at_value_at(const at_array *a, int64_t position) {
    at_value x = ((at_value *)a->data)[position];
    at_dup(x);
    return x;
}

static inline at_array *at_set_value(at_heap *H, at_array *a, int64_t position, at_value x) {
    a = at_own(H, a);
    at_value old = ((at_value *)a->data)[position];
    ((at_value *)a->data)[position] = x;
    at_drop(H, old);
    return a;
}

/* -- kernels */

static void *at_open_kernel(at_call *at, int result, int ndim, const int64_t *dims) {
    at_heap *H = at->host;
    int64_t item = H->items[result];
    at_array *a = at_array_of(H, item < 0 ? 8 : item, item < 0, ndim, dims);
    H->opened[result] = a;
    return a->data;
}

static void at_print_on(at_call *at, int number, int count, const at_shown *items) {
    at_heap *H = at->host;
    H->call->print(H->call, number + H->print_base, count, items);
}

static int at_poll_on(at_call *at) {
    at_heap *H = at->host;
    return H->interrupted || (H->call->poll && H->call->poll(H->call));
}

static inline void at_kernel_done(at_heap *H, int status, int base) {
    if (AT_LIKELY(status == 0)) return;
    at_give_up(H, status > 0 ? status + base + at_site_base : status);
}

__attribute__((noinline, noreturn, cold)) static void at_check_failed(at_heap *H, int site) { at_give_up(H, site + 1 + at_site_base); }
