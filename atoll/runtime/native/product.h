/* The product of one element type; included twice by product.c, with T, NAME, VL, KC, MC defined.
 *
 * Blocks of k are added in order and every element of c is one chain of multiply-adds inside a block, so how rows and columns are
 * shared out changes nothing in the result.
 *
 * A span of rows, columns and k is one parallel loop. Its threads first pack together what is to be packed, each taking what nobody
 * else has taken, and wait for each other once; then come pieces, rows by columns of c, over all k of the span.
 */
typedef T NAME(vector) __attribute__((vector_size(VL * sizeof(T)), aligned(sizeof(T))));

#if defined(__AVX512F__)
typedef WHOLE NAME(places) __attribute__((vector_size(VL * sizeof(T))));
#endif

typedef struct {
    const at_product *p;
    const int64_t *a_k, *b_k; /* offsets of every k, or of those of a block */
    const T *a, *b;
    T *c, *packed;                        /* packed: of thin products */
    T *packed_a, *packed_b;               /* of this span, or NULL: read in place; for every block of k rows of a, slivers of NR columns of b */
    int64_t i0, m, j0, n, k0, k, block_k; /* the span; k in blocks */
    int64_t rows, columns, row_pieces, parts; /* how it is shared out: pieces of rows by parts of the columns; rows, columns: of thin products */
    int first, symmetric, finish;         /* first: nothing is added to (of few rows: b is far); finish: rows are complete after this, and what follows is done at once */
    int64_t to_pack, b_to_pack;           /* units of packing, those of b first */
    _Atomic int64_t done;
    _Atomic int *taken, *open;            /* units that somebody packs; parts of every piece of rows that are not done, where what follows needs all */
} NAME(block);

#include "product_tile.h"

/* Offsets of k from number k0 of a span on, and what to add to the array they are used with. */
static inline const int64_t *NAME(offsets)(const NAME(block) *x, const int64_t *table, int64_t k0) { return x->p->levels == 1 ? table : table + x->k0 + k0; }
static inline int64_t NAME(start)(const NAME(block) *x, const int64_t *step, int64_t k0) { return x->p->levels == 1 ? (x->k0 + k0) * step[0] : 0; }

/* Elements from one packed row of a to the next: not a power of two. */
static inline int64_t NAME(line)(int64_t k) { return k + VL; }

/* A unit: NR columns of b or some rows of a, for one block of k. */
static void NAME(pack_unit)(const NAME(block) *x, int64_t unit) {
    const at_product *p = x->p;
    const int64_t slivers = (x->n + NR - 1) / NR, rows = 4 * ROWS;
    const int is_b = unit < x->b_to_pack;
    const int64_t number = is_b ? unit : unit - x->b_to_pack, blocks = (x->k + x->block_k - 1) / x->block_k;
    const int64_t k0 = number % blocks * x->block_k, k = x->k - k0 < x->block_k ? x->k - k0 : x->block_k;
    if (is_b) {
        const int64_t j = number / blocks * NR;
        NAME(pack_columns)(x->b + NAME(start)(x, p->b_k, k0) + (x->j0 + j) * p->b_n, p->b_n, x->n - j, NAME(offsets)(x, x->b_k, k0), k, x->packed_b + k0 * slivers * NR + j * k);
    } else {
        const int64_t i = number / blocks * rows, high = i + rows < x->m ? i + rows : x->m;
        NAME(pack_rows)(x->a + NAME(start)(x, p->a_k, k0) + (x->i0 + i) * p->a_m, p->a_m, high - i, NAME(offsets)(x, x->a_k, k0), k, x->packed_a + (k0 + k0 / x->block_k * VL) * x->m + i * NAME(line)(k), NAME(line)(k));
    }
}

/* Units low..high, from `begin` on and around, that nobody has taken. */
static int NAME(pack_units)(at_call *at, NAME(block) *x, int64_t low, int64_t high, int64_t begin) {
    for (int64_t t = low; t < high; t++) {
        const int64_t unit = begin + t - low < high ? begin + t - low : begin + t - high;
        if (atomic_load_explicit(&x->taken[unit], memory_order_relaxed)) continue;
        if (rt->poll(at)) return -2;
        if (atomic_exchange(&x->taken[unit], 1)) continue;
        NAME(pack_unit)(x, unit);
        atomic_fetch_add(&x->done, 1);
    }
    return 0;
}

/* Everything is packed when this returns 0. A thread begins with what its own pieces need, and only units that another is at work on are
 * waited for; what a thread has taken it packs, also when the others stop. */
static int NAME(pack)(at_call *at, NAME(block) *x, int64_t number) {
    if (atomic_load_explicit(&x->done, memory_order_acquire) == x->to_pack) return 0;
    const int64_t pieces = x->row_pieces * x->parts, a_to_pack = x->to_pack - x->b_to_pack;
    if (NAME(pack_units)(at, x, 0, x->b_to_pack, number * x->b_to_pack / pieces)) return -2;
    if (NAME(pack_units)(at, x, x->b_to_pack, x->to_pack, x->b_to_pack + number * a_to_pack / pieces)) return -2;
    for (int spins = 0; atomic_load_explicit(&x->done, memory_order_acquire) < x->to_pack; spins++) {
        wait_a_little(spins);
        if (spins % 1024 == 1023 && rt->poll(at)) return -2;
    }
    return 0;
}

/* Some rows by some columns of c, over one block of k. b: packed columns from j0 on, or NULL: in place. */
static inline void NAME(strips_of)(const NAME(block) *x, int64_t i0, int64_t i1, int64_t j0, int64_t j1, int64_t k0, int64_t k, const T *b) {
    const at_product *p = x->p;
    const T *a = x->packed_a ? x->packed_a + (k0 + k0 / x->block_k * VL) * x->m + i0 * NAME(line)(k) : x->a + NAME(start)(x, p->a_k, k0) + (x->i0 + i0) * p->a_m;
    const int64_t a_m = x->packed_a ? NAME(line)(k) : p->a_m, a_k = x->packed_a ? 1 : p->a_k[0];
    const T *here = x->b + NAME(start)(x, p->b_k, k0) + x->j0;
    const int adds = !x->first || k0 > 0, at_offsets = p->levels > 1 && !b;
    const int writes = k < 64 && p->m * p->c_m * (int64_t)sizeof(T) > WRITES; /* its cost is to write c */
    const int64_t width = at_offsets ? 2 * VL : NR;
    const int64_t ahead = !b && k * p->b_k[0] * (int64_t)sizeof(T) > HOT ? NR : 0;
    /* some rows before the next columns, so that c is written row after row where its rows are far from each other */
    const int64_t some = writes ? ROWS : p->c_m * (int64_t)sizeof(T) > 8192 ? 2 * ROWS : i1 - i0;
    for (int64_t i = i0; i < i1; i += some)
        for (int64_t j = j0; j < j1; j += width) {
            const int64_t columns = j1 - j < width ? j1 - j : width;
            int64_t rows = i1 - i < some ? i1 - i : some;
            if (x->symmetric && x->j0 + j + columns < x->i0 + i + rows) rows = x->j0 + j + columns - x->i0 - i; /* below the diagonal: copied from above it in the end */
            if (rows <= 0) continue;
            T *c = x->c + (x->i0 + i) * p->c_m + x->j0 + j;
            const T *from = a + (i - i0) * a_m;
            if (at_offsets) NAME(strip_at_offsets)(rows, columns, k, from, a_m, NAME(offsets)(x, x->a_k, k0), here + j, NAME(offsets)(x, x->b_k, k0), c, p->c_m, adds);
            else NAME(strip)(rows, columns, k, from, a_m, a_k, b ? b + (j - j0) * k : here + j, b ? NR : p->b_k[0], c, p->c_m, adds | (writes ? WRITES_ON : 0), i == i0 ? ahead : 0);
        }
}

/* One piece of the rows by one piece of the columns of a span. c is written row after row, as far as the columns of b stay near. */
static int NAME(piece)(at_call *at, void *context, int64_t number) {
    NAME(block) *x = context;
    const at_product *p = x->p;
    if (NAME(pack)(at, x, number)) return -2;
    const int64_t tiles = (x->m + ROWS - 1) / ROWS, slivers = (x->n + NR - 1) / NR;
    int64_t part = 0, i0 = 0, i1 = x->m, j0 = 0, j1 = x->n;
    if (x->row_pieces > 1) {
        part = number % x->row_pieces;
        i0 = part * tiles / x->row_pieces * ROWS;
        if (part + 1 < x->row_pieces) i1 = (part + 1) * tiles / x->row_pieces * ROWS;
    }
    if (x->parts > 1) {
        const int64_t q = number / x->row_pieces;
        j0 = q * slivers / x->parts * NR;
        if (q + 1 < x->parts) j1 = (q + 1) * slivers / x->parts * NR;
    }
    const int64_t sliver = NR * x->block_k * (int64_t)sizeof(T), wide = (NEAR / sliver + 1) * NR;
    for (int64_t j2 = j0; j2 < j1; j2 += wide) {
        const int64_t j3 = j2 + wide < j1 ? j2 + wide : j1;
        for (int64_t k0 = 0; k0 < x->k; k0 += x->block_k) {
            const int64_t k = x->k - k0 < x->block_k ? x->k - k0 : x->block_k;
            if (rt->poll(at)) return -2;
            NAME(strips_of)(x, i0, i1, j2, j3, k0, k, x->packed_b ? x->packed_b + k0 * slivers * NR + j2 * k : NULL);
        }
    }
    if (!x->finish || (x->open && atomic_fetch_sub(&x->open[part], 1) > 1)) return 0;
    return p->after(at, p->context, x->i0 + i0, x->i0 + i1);
}

/* Rows 64 * piece... of a symmetric result: what is below the diagonal from what is above. */
static int NAME(mirror)(at_call *at, void *context, int64_t piece) {
    const at_product *p = context;
    T *c = p->c;
    (void)at;
    const int64_t i0 = piece * 64, i1 = i0 + 64 < p->m ? i0 + 64 : p->m;
    for (int64_t j0 = 0; j0 < i1; j0 += 16)
        for (int64_t i = i0; i < i1; i++)
            for (int64_t j = j0; j < j0 + 16 && j < i; j++) c[i * p->c_m + j] = c[j * p->c_m + i];
    return 0;
}

#include "product_thin.h"

/* How a span is shared out, evenly. Many more pieces than threads, since threads may be late. */
static void NAME(share)(NAME(block) *x, int threads) {
    const at_product *p = x->p;
    const int64_t tiles = (x->m + ROWS - 1) / ROWS, slivers = (x->n + NR - 1) / NR, near = NEAR / (NR * x->block_k * (int64_t)sizeof(T)) + 1;
    int64_t wanted = 1, parts = 1, blocks = (x->m + MC - 1) / MC;
    if (threads > 1) {
        const double pieces = (double)x->m * (double)x->n * (double)x->k / LEAST_PIECE;
        wanted = pieces < 1 ? 1 : pieces < PIECES * threads ? (int64_t)pieces : PIECES * threads;
        parts = x->packed_b ? (slivers + near - 1) / near : wanted < slivers ? wanted : slivers;
        if (blocks * parts < wanted) blocks = (wanted + parts - 1) / parts;
    }
    if (p->after) {
        const int64_t hot = HOT / (p->n * (int64_t)sizeof(T)), rows = hot > 24 ? hot : 24;
        if (blocks < (x->m + rows - 1) / rows) blocks = (x->m + rows - 1) / rows;
    }
    x->row_pieces = blocks < tiles ? blocks : tiles;
    if (x->row_pieces * parts < wanted) parts = (wanted + x->row_pieces - 1) / x->row_pieces;
    x->parts = parts < slivers ? parts : slivers;
}

static int64_t NAME(block_of_k)(int64_t k) {
    const int64_t blocks = (k + KC - 1) / KC;
    return ((k + blocks - 1) / blocks + 3) / 4 * 4;
}

/* A span: rows and columns from i0 and j0 on, k from k0 on. `last`: nothing is added to its rows any more. */
static int NAME(span)(at_call *at, NAME(block) *x, int threads, int serial, int last) {
    const int64_t rows = 4 * ROWS, blocks = (x->k + x->block_k - 1) / x->block_k;
    x->to_pack = x->b_to_pack + (x->packed_a ? blocks * ((x->m + rows - 1) / rows) : 0);
    NAME(share)(x, threads);
    const int64_t pieces = x->row_pieces * x->parts, counted = last && x->parts > 1 ? x->row_pieces : 0;
    _Atomic int few[256], *counts = x->to_pack + counted <= 256 ? few : rt->alloc((x->to_pack + counted) * (int64_t)sizeof(int));
    if (!counts) return -1;
    for (int64_t t = 0; t < x->to_pack + counted; t++) atomic_init(&counts[t], t < x->to_pack ? 0 : (int)x->parts);
    x->taken = counts;
    x->open = counted ? counts + x->to_pack : NULL;
    x->finish = last;
    x->done = 0;
    const int status = pieces == 1 ? NAME(piece)(at, x, 0) : rt->parallel(at, NAME(piece), x, pieces, serial);
    if (counts != few) rt->release((void *)counts);
    return status;
}

/* The product; a_k and b_k have an offset for every k, or for those of a block where there is one level. */
static int NAME(product)(at_call *at, const at_product *p, int64_t k, const int64_t *a_k, const int64_t *b_k) {
    const double work = (double)p->m * (double)p->n * (double)k;
    const int serial = work + (double)p->m * (double)p->after_work < 500000.0, small = work < 2e6;
    /* b is packed unless it lies along its columns and is near, or there are few rows; a where it is not read along its rows by many columns */
    const int pack_b = p->b_n != 1 || (p->m > FEW_TO_PACK && k * p->n * (int64_t)sizeof(T) > PACK_B && p->levels == 1);
    const int pack_a = p->levels == 1 ? p->a_k[0] != 1 && pack_b && p->n > NR && !small : pack_b;
    const int threads = serial ? 1 : rt->threads();
    NAME(block) x = {.p = p, .a_k = a_k, .b_k = b_k, .a = p->a, .b = p->b, .c = p->c, .m = p->m, .n = p->n, .k = k, .block_k = k, .row_pieces = 1, .parts = 1, .first = !p->adds};
    if (k == 0) {
        for (int64_t i = 0; i < p->m && !p->adds; i++) memset((T *)p->c + i * p->c_m, 0, (size_t)p->n * sizeof(T));
        return follow(at, p);
    }
    if (NAME(has_few_columns)(p, k)) return NAME(by_columns)(at, p, k, serial);
    if (NAME(has_few_rows)(p, k)) return NAME(by_rows)(at, p, k, a_k, b_k, serial);
    x.symmetric = !small && !p->adds && p->m == p->n && p->a == p->b && p->a_m == p->b_n;
    for (int l = 0; l < p->levels; l++) x.symmetric = x.symmetric && p->a_k[l] == p->b_k[l];
    x.block_k = NAME(block_of_k)(k);
    /* One span when what is packed fits the third-level cache; one thread packs rows just before it uses them. */
    int64_t most_m = p->m, most_n = p->n, most_k = k;
    const int64_t whole_n = (p->n + NR - 1) / NR * NR;
    if (((pack_a ? p->m : 0) + (pack_b ? whole_n : 0)) * k * (int64_t)sizeof(T) > TOGETHER || (threads == 1 && pack_a && p->m > MC)) {
        most_k = x.block_k;
        if (most_n > NC) most_n = NC;
        const int64_t blocks = (p->m + MC - 1) / MC, fit = threads == 1 ? 1 : TOGETHER / 2 / (MC * most_k * (int64_t)sizeof(T));
        if (pack_a && blocks > fit) most_m = ((p->m + blocks - 1) / blocks + ROWS - 1) / ROWS * ROWS * (fit > 1 ? fit : 1);
    }
    int status = 0;
    const int follows = p->after && !x.symmetric && most_n == p->n;
    if (pack_b && !(x.packed_b = rt->alloc(most_k * ((most_n + NR - 1) / NR * NR) * (int64_t)sizeof(T)))) return -1;
    if (pack_a && !(x.packed_a = rt->alloc((most_k + (most_k + x.block_k - 1) / x.block_k * VL) * (most_m < p->m ? most_m : p->m) * (int64_t)sizeof(T)))) status = -1;
    for (x.j0 = 0; x.j0 < p->n && !status; x.j0 += most_n) {
        x.n = p->n - x.j0 < most_n ? p->n - x.j0 : most_n;
        for (x.k0 = 0; x.k0 < k && !status; x.k0 += most_k) {
            x.k = k - x.k0 < most_k ? k - x.k0 : most_k;
            x.first = x.k0 == 0 && !p->adds;
            for (x.i0 = 0; x.i0 < p->m && !status; x.i0 += most_m) {
                x.m = p->m - x.i0 < most_m ? p->m - x.i0 : most_m;
                x.b_to_pack = pack_b && x.i0 == 0 ? (x.n + NR - 1) / NR * ((x.k + x.block_k - 1) / x.block_k) : 0;
                status = NAME(span)(at, &x, x.symmetric ? 2 * threads : threads, serial, follows && x.k0 + x.k == k);
                if (!status && !serial && rt->poll(at)) status = -2;
            }
        }
    }
    rt->release(x.packed_a);
    rt->release(x.packed_b);
    if (x.symmetric && !status) status = rt->parallel(at, NAME(mirror), (void *)p, (p->m + 63) / 64, 0);
    return status || follows ? status : follow(at, p);
}

/* Small products, as batches have them: straight from memory, no tables, nothing to decide. 0 when it is not one. */
static int NAME(small)(const at_product *p) {
    const int64_t m = p->m, n = p->n, k = p->extent[0];
    if (m > 512 || n > 512 || k > 512 || m * n * k > SMALL_WORK || p->b_n != 1 || p->levels != 1 || p->after || (n <= FEW_COLUMNS && NAME(has_few_columns)(p, k)) || (m == 1 && n > 2 * NR)) return 0;
    for (int64_t j = 0; j < n; j += NR) NAME(strip)(m, n - j < NR ? n - j : NR, k, p->a, p->a_m, p->a_k[0], (const T *)p->b + j, p->b_k[0], (T *)p->c + j, p->c_m, p->adds, 0);
    return 1;
}

/* Offsets of every k, through all levels. */
static void NAME(count_k)(const at_product *p, int64_t k, int64_t *a_k, int64_t *b_k) {
    int64_t at_[4] = {0, 0, 0, 0}, a = 0, b = 0;
    for (int64_t t = 0; t < k; t++) {
        a_k[t] = a;
        b_k[t] = b;
        for (int l = p->levels - 1; l >= 0; l--) {
            a += p->a_k[l];
            b += p->b_k[l];
            if (++at_[l] < p->extent[l]) break;
            a -= p->a_k[l] * at_[l];
            b -= p->b_k[l] * at_[l];
            at_[l] = 0;
        }
    }
}

static int NAME(any_product)(at_call *at, const at_product *p) {
    if (NAME(small)(p)) return 0;
    int64_t k = 1, few[512];
    for (int l = 0; l < p->levels; l++) k *= p->extent[l] > 0 ? p->extent[l] : 0;
    /* thin products of one level need no tables, others those of a block */
    const int64_t length = p->levels > 1 || k == 0 ? k : NAME(has_few_columns)(p, k) || NAME(has_few_rows)(p, k) ? 0 : NAME(block_of_k)(k);
    int64_t *offsets = length <= 256 ? few : rt->alloc(2 * length * (int64_t)sizeof(int64_t));
    if (!offsets) return -1;
    int64_t *a_k = offsets, *b_k = offsets + length;
    if (p->levels > 1) NAME(count_k)(p, k, a_k, b_k);
    else
        for (int64_t t = 0; t < length; t++) { a_k[t] = t * p->a_k[0]; b_k[t] = t * p->b_k[0]; }
    const int status = NAME(product)(at, p, k, a_k, b_k);
    if (offsets != few) rt->release(offsets);
    return status;
}
