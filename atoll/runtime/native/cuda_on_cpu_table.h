/* The table of device.h over the fibers of cuda_on_cpu.h; this stands after the kernels. Memory of the device is memory of ours with a margin around it. */

enum { AT_MARGIN = 256 };
static const uint64_t at_marked = 0xa701a701a701a701u;

/* What stands before every array; the rest of the margin, and the word after the array, hold marks. */
struct at_front { int64_t bytes; at_front *before, *after; };
struct at_memory { pthread_mutex_t lock, running; at_front *first; int64_t used; char *stacks; at_front *idle[64]; int next; };
static at_memory at_all = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, {0}, 0}; /* a queue names the one it uses, so that all programs share one */

static int64_t at_room() {
    const char *text = getenv("ATOLL_EMULATED_MEMORY"); /* bytes */
    return text && *text ? atoll(text) : INT64_C(1) << 40;
}

static int at_refuse(at_queue *q, const char *what) {
    snprintf(at_message, sizeof at_message, "%s", what);
    q->error = 1;
    q->doing = at_message;
    return AT_DEVICE;
}

/* A block that was given back, of the same size; some are kept, as on a GPU, so that a program called again has the addresses it had. */
static char *at_kept(at_memory *all, int64_t bytes) {
    for (int k = 63; k >= 0; k--) {
        at_front **place = &all->idle[(all->next + k) % 64], *found = *place;
        if (found && found->bytes == bytes) return *place = 0, (char *)found;
    }
    return 0;
}

static int at_emu_alloc(at_queue *q, int64_t bytes, void **made) {
    at_memory *all = (at_memory *)q->stream;
    if (bytes < 0) bytes = 0;
    pthread_mutex_lock(&all->lock);
    char *block = all->used + bytes > at_room() ? 0 : at_kept(all, bytes);
    if (!block && all->used + bytes <= at_room()) block = (char *)aligned_alloc(AT_MARGIN, (size_t)((bytes + 3 * AT_MARGIN - 1) / AT_MARGIN * AT_MARGIN));
    if (block) {
        at_front *front = (at_front *)block;
        *front = at_front{bytes, 0, all->first};
        if (all->first) all->first->before = front;
        all->first = front;
        all->used += bytes;
        for (size_t k = sizeof *front; k < AT_MARGIN; k += 8) memcpy(block + k, &at_marked, 8);
        memset(block + AT_MARGIN, 0xff, (size_t)bytes);
        memcpy(block + AT_MARGIN + bytes, &at_marked, 8);
        *made = block + AT_MARGIN;
    }
    pthread_mutex_unlock(&all->lock);
    return block ? 0 : AT_NO_ROOM;
}

static void at_emu_release(at_queue *q, void *made) {
    if (!made) return;
    at_memory *all = (at_memory *)q->stream;
    at_front *front = (at_front *)((char *)made - AT_MARGIN);
    pthread_mutex_lock(&all->lock);
    if (front->before) front->before->after = front->after;
    else all->first = front->after;
    if (front->after) front->after->before = front->before;
    all->used -= front->bytes;
    at_front **place = &all->idle[all->next], *gone = *place;
    *place = front;
    all->next = (all->next + 1) % 64;
    pthread_mutex_unlock(&all->lock);
    free(gone);
}

/* True if nothing was written around any array; what was is mended, so that it is told once. */
static bool at_intact(at_memory *all) {
    bool intact = true;
    pthread_mutex_lock(&all->lock);
    for (at_front *front = all->first; front; front = front->after) {
        char *block = (char *)front, *places[] = {block + AT_MARGIN - 8, block + AT_MARGIN - 16, block + AT_MARGIN + front->bytes};
        for (char *place : places)
            if (memcmp(place, &at_marked, 8)) intact = false, memcpy(place, &at_marked, 8);
    }
    pthread_mutex_unlock(&all->lock);
    return intact;
}

/* What a recorded loop put in the queue, in order: launches with their arguments, copies, fills. */
struct at_note { at_note *next; int what, kernel, byte, block[3]; int64_t grid[3], shared, bytes; void *target; const void *source; void **args; };
struct at_tape { at_note *first, **end; };
enum { AT_LAUNCH, AT_COPY, AT_FILL };

static at_note *at_noted(at_queue *q, int what) {
    at_tape *tape = (at_tape *)q->tape;
    at_note *made = (at_note *)calloc(1, sizeof *made);
    made->what = what;
    *tape->end = made;
    tape->end = &made->next;
    return made;
}

static int at_emu_copy(at_queue *q, void *target, const void *source, int64_t bytes) {
    if (q->tape) {
        at_note *made = at_noted(q, AT_COPY);
        made->target = target, made->source = source, made->bytes = bytes;
        return 0;
    }
    if (bytes > 0) memmove(target, source, (size_t)bytes);
    return 0;
}

static int at_emu_fill(at_queue *q, void *target, int byte, int64_t bytes) {
    if (q->tape) {
        at_note *made = at_noted(q, AT_FILL);
        made->target = target, made->byte = byte, made->bytes = bytes;
        return 0;
    }
    if (bytes > 0) memset(target, byte, (size_t)bytes);
    return 0;
}

static int at_emu_sync(at_queue *) { return 0; }

/* Where something is in an order: as it is, turned round, or shuffled by a formula that meets every number once. */
static int64_t at_place(int64_t k, int64_t n, int order) {
    if (order == 0 || n < 2) return k;
    if (order == 1) return n - 1 - k;
    int64_t step = 1 + (INT64_C(2654435761) * order) % n, a = step, b = n;
    for (;; step = step % n + 1) {
        for (a = step, b = n; b; ) { int64_t r = a % b; a = b; b = r; }
        if (a == 1) break;
    }
    return (int64_t)(((__int128)k * step + order) % n);
}

static int at_emu_launch(at_queue *q, int kernel, int64_t gx, int64_t gy, int64_t gz, int bx, int by, int bz, int64_t shared, void **args) {
    if (gx <= 0 || gy <= 0 || gz <= 0) return 0;
    if (gx > INT64_C(2147483647) || gy > 65535 || gz > 65535) return at_refuse(q, "a grid of a launch is too large");
    if (bx < 1 || by < 1 || bz < 1 || bz > 64 || (int64_t)bx * by * bz > AT_MOST_THREADS) return at_refuse(q, "a block of a launch has too many threads, or none");
    if (shared < 0 || shared > AT_MOST_SHARED) return at_refuse(q, "a launch asks for too much shared memory");
    q->launches++;
    if (q->tape) {
        at_note *made = at_noted(q, AT_LAUNCH);
        made->kernel = kernel, made->shared = shared;
        made->grid[0] = gx, made->grid[1] = gy, made->grid[2] = gz;
        made->block[0] = bx, made->block[1] = by, made->block[2] = bz;
        const int *sizes = at_argument_sizes[kernel];
        int count = 0;
        while (sizes[count]) count++;
        made->args = (void **)calloc((size_t)count + 1, sizeof(void *));
        for (int k = 0; k < count; k++) memcpy(made->args[k] = malloc((size_t)sizes[k]), args[k], (size_t)sizes[k]); /* as they are now */
        return 0;
    }
    const char *given = getenv("ATOLL_EMULATED_ORDER");
    const int order = given ? atoi(given) : 0;
    at_memory *all = (at_memory *)q->stream;
    pthread_mutex_lock(&all->running); /* one launch at a time, of all programs */
    int status = 0;
    if (!all->stacks) {
        void *made = mmap(0, (size_t)AT_MOST_THREADS * AT_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        all->stacks = made == MAP_FAILED ? 0 : (char *)made;
    }
    at_stacks = all->stacks;
    at_message[0] = 0;
    if (!at_stacks) status = AT_NO_ROOM;
    else {
        gridDim.x = (unsigned)gx, gridDim.y = (unsigned)gy, gridDim.z = (unsigned)gz;
        blockDim.x = (unsigned)bx, blockDim.y = (unsigned)by, blockDim.z = (unsigned)bz;
        at_count = bx * by * bz;
        at_kernel = (void (*)(void **))q->kernels[kernel];
        at_arguments = args;
        at_emu_used = (size_t)shared;
        for (int t = 0; t < at_count; t++) at_order[t] = (int)at_place(t, at_count, order);
        const int64_t blocks = gx * gy * gz;
        for (int64_t k = 0; k < blocks && !at_message[0]; k++) {
            const int64_t b = at_place(k, blocks, order);
            blockIdx.x = (unsigned)(b % gx), blockIdx.y = (unsigned)(b / gx % gy), blockIdx.z = (unsigned)(b / gx / gy);
            at_block();
            if (!at_message[0] && !at_intact((at_memory *)q->stream)) snprintf(at_message, sizeof at_message, "a write beyond the ends of an array");
            if (at_message[0]) {
                const size_t n = strlen(at_message);
                snprintf(at_message + n, sizeof at_message - n, " (block %u, %u, %u of kernel %s)", blockIdx.x, blockIdx.y, blockIdx.z, at_kernel_names[kernel]);
            }
        }
        if (at_message[0]) q->error = 1, q->doing = at_message, status = AT_DEVICE;
    }
    pthread_mutex_unlock(&all->running);
    return status;
}

static void at_emu_leave(at_queue *) {}

static int at_capture(at_queue *q) {
    const char *wanted = getenv("ATOLL_GRAPHS");
    if (wanted && *wanted == '0') return 0;
    at_tape *made = (at_tape *)calloc(1, sizeof *made);
    made->end = &made->first;
    q->tape = made;
    return 1;
}
static void *at_captured(at_queue *q) {
    void *made = q->tape;
    q->tape = 0;
    return made;
}
static int at_play(at_queue *q, void *made) {
    int status = 0;
    for (at_note *n = ((at_tape *)made)->first; n && !status; n = n->next)
        if (n->what == AT_LAUNCH) status = q->launch(q, n->kernel, n->grid[0], n->grid[1], n->grid[2], n->block[0], n->block[1], n->block[2], n->shared, n->args);
        else if (n->what == AT_COPY) status = q->copy(q, n->target, n->source, n->bytes);
        else status = q->fill(q, n->target, n->byte, n->bytes);
    return status;
}
static void at_drop(at_queue *, void *made) {
    for (at_note *n = ((at_tape *)made)->first, *next; n; n = next) {
        next = n->next;
        for (void **a = n->args; a && *a; a++) free(*a);
        free(n->args);
        free(n);
    }
    free(made);
}

/* The library of a GPU, in its plainest form; for tests of those who call it. */
template <typename T> static void at_emu_multiply(const at_matrices *p) {
    const T *a = (const T *)p->a, *b = (const T *)p->b;
    T *c = (T *)p->c;
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->columns; j++) {
            T sum = p->adds ? c[i * p->c_row + j] : 0;
            for (int64_t k = 0; k < p->depth; k++) sum += a[i * p->a_row + k * p->a_sum] * b[k * p->b_sum + j * p->b_column];
            c[i * p->c_row + j] = sum;
        }
}

static int at_emu_product(at_queue *, const at_matrices *p) {
    if (!getenv("ATOLL_EMULATED_PRODUCTS")) return 0;
    if (p->bytes == 4) at_emu_multiply<float>(p);
    else at_emu_multiply<double>(p);
    return 1;
}

extern "C" void atoll_emulated(at_queue *q) {
    *q = at_queue{at_emu_alloc, at_emu_release, at_emu_copy, at_emu_copy, at_emu_copy, at_emu_fill, at_emu_launch, at_emu_sync, at_emu_sync, at_emu_leave, at_lend, at_take_back, at_kernel_table, &at_all, 0, 0, 0, 0, at_emu_product, at_record_loop, at_recorded_loop, 0, 0, 0};
}

/* Loops that were recorded, and how often they were played again. */
extern "C" void atoll_emulated_records(int64_t *counts) { counts[0] = at_records.made, counts[1] = at_records.played; }
