/* How values cross from and to the caller: as a stream of words, arrays beside it.
 *
 * A value of union type in the stream: 4 * tag for a case nobody refers to again, 4 * tag + 2 for one that gets the next number, 4 * number + 1 for
 * the one with that number; then the fields, values among them in the same way. The walk is by an explicit stack: lists are long.
 */
#include <stdio.h>
#if defined(__linux__)
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#define AT_OWN_STACK 1
#endif

enum { AT_WORD, AT_TWO, AT_DATA, AT_ARRAY };
typedef struct { int kind, position, type, item; } at_leaf;   /* type: of a value; item: bytes of an array's element, negative for values */
typedef struct { int words, counted, leaves; const at_leaf *leaf; } at_case;
typedef struct { int cases; const at_case *of; } at_type;
typedef struct { void *data; int64_t ndim; const int64_t *dims; } at_outside;

typedef struct at_exchange {
    const int64_t *words;          /* in: the arguments */
    const at_outside *arrays;
    int64_t *out;                  /* out: the results, valid until atoll_done */
    int64_t out_count, out_room;
    at_outside *out_arrays;
    int64_t out_array_count, out_array_room;
    int64_t live, made, closures;
    at_heap *heap;
    int64_t interruptible;         /* called from the thread that gets the signals */
} at_exchange;

typedef struct { uint64_t *at; int type; } at_place;
typedef struct { at_place *item; size_t count, room; } at_places;

static void at_push_place(at_heap *H, at_places *s, uint64_t *at, int type) {
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 256;
        at_place *more = realloc(s->item, room * sizeof *more);
        if (!more) at_give_up(H, -1);
        s->item = more;
        s->room = room;
    }
    s->item[s->count++] = (at_place){at, type};
}

typedef struct { at_exchange *x; const int64_t *next; at_value *shared; size_t shared_count, shared_room; at_places todo; } at_reader;

static at_array *at_read_array(at_heap *H, at_reader *r, int item) {
    const at_outside *o = &r->x->arrays[*r->next++];
    at_array *a = at_handle(H, (int)o->ndim);
    a->data = o->data;
    a->kind = 2;
    a->item = item < 0 ? 8 : item;
    for (int k = 0; k < a->ndim; k++) a->dims[k] = o->dims[k];
    return a;
}

/* One value, its parts left to do on the stack. */
static void at_read_one(at_heap *H, at_reader *r, const at_type *types, uint64_t *to, int type) {
    int64_t word = *r->next++;
    if (word & 1) {
        *to = r->shared[word >> 2];
        at_dup(*to);
        return;
    }
    int tag = (int)(word >> 2);
    const at_case *c = &types[type].of[tag];
    if (c->words == 0) {
        *to = (uint64_t)(2 * tag + 1);
    } else {
        uint64_t *cell = at_cell(H, c->words);
        cell[0] = AT_HEADER(c->words, c->counted, tag);
        *to = (uint64_t)cell;
        size_t first = r->todo.count;
        for (int k = 0; k < c->leaves; k++) {   /* numbers and arrays now; values in order, so the first is on top */
            const at_leaf *leaf = &c->leaf[k];
            uint64_t *at = cell + 1 + leaf->position;
            if (leaf->kind == AT_WORD) *at = (uint64_t)*r->next++;
            else if (leaf->kind == AT_TWO) { at[0] = (uint64_t)*r->next++; at[1] = (uint64_t)*r->next++; }
            else if (leaf->kind == AT_ARRAY) *at = (uint64_t)at_read_array(H, r, leaf->item);
            else { *at = 1; at_push_place(H, &r->todo, at, leaf->type); }
        }
        for (size_t a = first, b = r->todo.count; a + 1 < b; a++, b--) {
            at_place t = r->todo.item[a];
            r->todo.item[a] = r->todo.item[b - 1];
            r->todo.item[b - 1] = t;
        }
    }
    if (word & 2) {
        if (r->shared_count == r->shared_room) {
            size_t room = r->shared_room ? 2 * r->shared_room : 64;
            at_value *more = realloc(r->shared, room * sizeof *more);
            if (!more) at_give_up(H, -1);
            r->shared = more;
            r->shared_room = room;
        }
        r->shared[r->shared_count++] = *to;
    }
}

static at_value at_read_value(at_heap *H, at_reader *r, const at_type *types, int type) {
    uint64_t result = 1;
    at_read_one(H, r, types, &result, type);
    while (r->todo.count) {
        at_place p = r->todo.item[--r->todo.count];
        at_read_one(H, r, types, p.at, p.type);
    }
    return (at_value)result;
}

typedef struct { at_exchange *x; at_value *seen; int64_t *number; size_t seen_count, seen_room; at_places todo; } at_writer;

static void at_write(at_heap *H, at_writer *w, int64_t word) {
    at_exchange *x = w->x;
    if (x->out_count == x->out_room) {
        int64_t room = x->out_room ? 2 * x->out_room : 256;
        int64_t *more = realloc(x->out, (size_t)room * sizeof *more);
        if (!more) at_give_up(H, -1);
        x->out = more;
        x->out_room = room;
    }
    x->out[x->out_count++] = word;
}

static void at_write_array(at_heap *H, at_writer *w, const at_array *a) {
    at_exchange *x = w->x;
    if (x->out_array_count == x->out_array_room) {
        int64_t room = x->out_array_room ? 2 * x->out_array_room : 16;
        at_outside *more = realloc(x->out_arrays, (size_t)room * sizeof *more);
        if (!more) at_give_up(H, -1);
        x->out_arrays = more;
        x->out_array_room = room;
    }
    at_outside *o = &x->out_arrays[x->out_array_count];
    o->data = a->data;
    o->ndim = a->ndim;
    o->dims = a->dims;
    at_write(H, w, x->out_array_count++);
}

/* The number of a cell that several refer to, -1 when it is new. Open addressing, at most half full. */
static int64_t at_shared_number(at_heap *H, at_writer *w, at_value v) {
    if (2 * (w->seen_count + 1) > w->seen_room) {
        size_t room = w->seen_room ? 2 * w->seen_room : 1024;
        at_value *seen = calloc(room, sizeof *seen);
        int64_t *number = malloc(room * sizeof *number);
        if (!seen || !number) { free(seen); free(number); at_give_up(H, -1); }
        for (size_t k = 0; k < w->seen_room; k++) {
            if (!w->seen[k]) continue;
            size_t at = (w->seen[k] * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
            while (seen[at]) at = (at + 1) & (room - 1);
            seen[at] = w->seen[k];
            number[at] = w->number[k];
        }
        free(w->seen);
        free(w->number);
        w->seen = seen;
        w->number = number;
        w->seen_room = room;
    }
    size_t at = (v * 0x9e3779b97f4a7c15u >> 20) & (w->seen_room - 1);
    while (w->seen[at]) {
        if (w->seen[at] == v) return w->number[at];
        at = (at + 1) & (w->seen_room - 1);
    }
    w->seen[at] = v;
    w->number[at] = (int64_t)w->seen_count++;
    return -1;
}

static void at_write_value(at_heap *H, at_writer *w, const at_type *types, at_value v, int type) {
    uint64_t first = (uint64_t)v;
    at_push_place(H, &w->todo, &first, type);
    while (w->todo.count) {
        at_place p = w->todo.item[--w->todo.count];
        at_value x = (at_value)*p.at;
        if (!AT_IS_CELL(x)) {
            at_write(H, w, (int64_t)(x >> 1) << 2);
            continue;
        }
        int shared = AT_COUNT(x) > 1;
        if (shared) {
            int64_t number = at_shared_number(H, w, x);
            if (number >= 0) {
                at_write(H, w, number << 2 | 1);
                continue;
            }
        }
        int tag = AT_TAG(x);
        const at_case *c = &types[p.type].of[tag];
        at_write(H, w, (int64_t)tag << 2 | (shared ? 2 : 0));
        size_t from = w->todo.count;
        for (int k = 0; k < c->leaves; k++) {
            const at_leaf *leaf = &c->leaf[k];
            uint64_t *at = AT_CELL(x) + 1 + leaf->position;
            if (leaf->kind == AT_WORD) at_write(H, w, (int64_t)*at);
            else if (leaf->kind == AT_TWO) { at_write(H, w, (int64_t)at[0]); at_write(H, w, (int64_t)at[1]); }
            else if (leaf->kind == AT_ARRAY) at_write_array(H, w, (at_array *)*at);
            else at_push_place(H, &w->todo, at, leaf->type);
        }
        for (size_t a = from, b = w->todo.count; a + 1 < b; a++, b--) {
            at_place t = w->todo.item[a];
            w->todo.item[a] = w->todo.item[b - 1];
            w->todo.item[b - 1] = t;
        }
    }
}

/* -- entering and leaving */

static void at_run(at_heap *H, at_exchange *x, at_reader *r, at_writer *w);   /* reads the arguments, runs, writes the results */

typedef struct { at_heap *heap; at_exchange *exchange; int status; at_reader reader; at_writer writer; } at_job;

static void at_work(at_job *job) {
    at_heap *H = job->heap;
    int status = setjmp(H->fail);
    if (status == 0) at_run(H, job->exchange, &job->reader, &job->writer);
    job->status = status;
}

#ifdef AT_OWN_STACK
static void at_start(unsigned low, unsigned high) { at_work((at_job *)((uintptr_t)low | (uintptr_t)high << 32)); }
#endif

static int64_t at_stack_bytes(void) {
    const char *text = getenv("ATOLL_STACK_MB");
    int64_t mb = text ? atoll(text) : 0;
    return (mb > 0 ? mb : 256) << 20;
}

#ifdef AT_OWN_STACK
typedef struct { char *base; size_t size; int used; } at_stack;
static _Thread_local at_stack at_kept;
static pthread_key_t at_stack_key;
static pthread_once_t at_stack_once = PTHREAD_ONCE_INIT;
static void at_drop_stack(void *kept) { at_stack *s = kept; if (s->base) munmap(s->base, s->size); s->base = NULL; }
static void at_make_key(void) { pthread_key_create(&at_stack_key, at_drop_stack); }

/* A stack of our own: memory is used only as far as the recursion goes, and given back when it went far. */
static char *at_take_stack(size_t *size) {
    if (at_kept.used) return NULL;
    if (!at_kept.base) {
        size_t wanted = (size_t)at_stack_bytes();
        char *base = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED) return NULL;
        pthread_once(&at_stack_once, at_make_key);
        pthread_setspecific(at_stack_key, &at_kept);
        at_kept.base = base;
        at_kept.size = wanted;
    }
    at_kept.used = 1;
    *size = at_kept.size;
    return at_kept.base;
}
#endif

static void at_work_on_stack(at_job *job) {
    char here;
    job->heap->limit = job->heap->stack_end = &here - (256 << 10);   /* what every thread has */
#ifdef AT_OWN_STACK
    size_t size;
    char *stack = at_take_stack(&size);
    if (stack) {
        ucontext_t back, there;
        getcontext(&there);
        there.uc_stack.ss_sp = stack;
        there.uc_stack.ss_size = size;
        there.uc_link = &back;
        job->heap->limit = job->heap->stack_end = stack + (128 << 10);
        makecontext(&there, (void (*)(void))at_start, 2, (unsigned)(uintptr_t)job, (unsigned)((uintptr_t)job >> 32));
        swapcontext(&back, &there);
        madvise(stack, size - ((size_t)1 << 20), MADV_DONTNEED);
        at_kept.used = 0;
        return;
    }
#endif
    at_work(job);
}

#ifdef AT_OWN_STACK
/* Ctrl-C while we run: note it for the next check, and let Python's own handler note it too. */
static at_heap *volatile at_running;
static struct sigaction at_before;
static void at_interrupt(int number) {
    at_heap *H = at_running;
    if (H) { H->interrupted = 1; H->limit = (char *)UINTPTR_MAX; }
    at_before.sa_handler(number);
}

static int at_listen(at_heap *H) {
    struct sigaction ours;
    if (at_running || sigaction(SIGINT, NULL, &at_before) != 0) return 0;
    if (at_before.sa_flags & SA_SIGINFO || at_before.sa_handler == SIG_DFL || at_before.sa_handler == SIG_IGN) return 0;
    at_running = H;
    memset(&ours, 0, sizeof ours);
    ours.sa_handler = at_interrupt;
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGINT, &ours, NULL) == 0) return 1;
    at_running = NULL;
    return 0;
}

static void at_listen_no_more(void) {
    sigaction(SIGINT, &at_before, NULL);
    at_running = NULL;
}
#endif

int atoll_call(at_call *call, at_exchange *x) {
    at_heap *H = calloc(1, sizeof *H);
    if (!H) return -1;
    H->call = call;
    H->at = *call;
    H->at.host = H;
    H->at.open_result = at_open_kernel;
    H->at.print = at_print_on;
    H->at.poll = at_poll_on;
    H->arrays.before = H->arrays.after = &H->arrays;
    at_job job = {.heap = H, .exchange = x, .reader = {.x = x, .next = x->words}, .writer = {.x = x}};
    x->heap = H;
#ifdef AT_OWN_STACK
    int listening = x->interruptible && at_listen(H);
#endif
    at_work_on_stack(&job);
#ifdef AT_OWN_STACK
    if (listening) at_listen_no_more();
#endif
    free(job.reader.shared);   /* also where reading or writing failed half-way */
    free(job.reader.todo.item);
    free(job.writer.seen);
    free(job.writer.number);
    free(job.writer.todo.item);
    x->live = H->live;
    x->made = H->made;
    x->closures = H->closures;
    return job.status;
}

void atoll_done(at_exchange *x) {
    at_heap *H = x->heap;
    int64_t live = 0;
    if (H) {
#ifdef AT_COUNTERS
        if (setjmp(H->fail) == 0)
            for (int k = 0; k < H->root_count; k++) at_drop(H, H->roots[k]);
        live = H->live;
#endif
        for (at_array *a = H->arrays.after; a != &H->arrays; a = a->after)
            if (!a->owner && a->kind != 2) at_rt->release(a->data);
        while (H->chunks) {
            at_chunk *next = H->chunks->next;
            at_rt->release(H->chunks);
            H->chunks = next;
        }
        free(H->dead);
        free(H);
    }
    free(x->out);
    free(x->out_arrays);
    *x = (at_exchange){.live = live, .made = x->made, .closures = x->closures};
}
