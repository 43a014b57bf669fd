/* The product of one element type; included twice by product.c, with T, NAME, VL, KC, MC defined.
 *
 * Blocks of k are added in order and every element of c is one chain of multiply-adds inside a block, so how rows and columns are
 * shared out changes nothing in the result.
 */
typedef T NAME(vector) __attribute__((vector_size(VL * sizeof(T)), aligned(sizeof(T))));

#if defined(__AVX512F__)
typedef WHOLE NAME(places) __attribute__((vector_size(VL * sizeof(T))));
#endif

typedef struct {
    const at_product *p;
    const int64_t *a_k, *b_k; /* offsets of every k */
    const T *a, *b;
    T *c, *packed;
    int64_t j0, n, k0, k, rows, columns; /* the block, and how it is shared out: pieces of rows by columns */
    int64_t row_pieces;
    int pack_a, pack_b, first, symmetric, finish; /* finish: rows are complete after this, and what follows is done at once */
} NAME(block);

/* mr rows by nv vectors of c, the last perhaps not full. a and b are packed or read in place through the offsets of k. */
static inline __attribute__((always_inline)) void NAME(tile)(const int mr, const int nv, const int full, const int in_a, const int in_b, int64_t k,
        const T *a, int64_t a_m, const int64_t *a_k, const T *b, const int64_t *b_k, T *c, int64_t c_m, int64_t columns, int first) {
    NAME(vector) acc[H0][8];
    const MASK last = NAME(mask)(columns - (nv - 1) * VL);
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) acc[i][j] = (NAME(vector)){0};
    if (!first || k >= 128)
#pragma GCC unroll 12
        for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
            for (int j = 0; j < nv; j++) __builtin_prefetch(c + i * c_m + j * VL, 1, 3);
    for (int64_t p = 0; p < k; p++) {
        const T *row = in_a ? a + a_k[p] : a;
        const T *line = in_b ? b + b_k[p] : b;
        NAME(vector) v[8];
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++)
            v[j] = MASKED && in_b && !full && j == nv - 1 ? (NAME(vector))NAME(load_masked)(line + j * VL, last) : *(const NAME(vector) *)(line + j * VL);
#pragma GCC unroll 12
        for (int i = 0; i < mr; i++) {
            const T x = in_a ? row[i * a_m] : row[i];
#pragma GCC unroll 8
            for (int j = 0; j < nv; j++) acc[i][j] += x * v[j];
        }
        if (!in_a) a += mr;
        if (!in_b) b += NR;
    }
    if (!first)
#pragma GCC unroll 12
        for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
            for (int j = 0; j < nv; j++) {
                const T *from = c + i * c_m + j * VL;
                acc[i][j] += full || j < nv - 1 ? *(const NAME(vector) *)from : (NAME(vector))NAME(load_masked)(from, last);
            }
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) {
            T *to = c + i * c_m + j * VL;
            if (full || j < nv - 1) *(NAME(vector) *)to = acc[i][j];
            else NAME(store_masked)(to, (WIDE)acc[i][j], last);
        }
}

#define TILE(h, in_a, in_b) \
    static __attribute__((noinline)) void NAME(tile_##h##_##in_a##in_b)(int64_t k, const T *a, int64_t a_m, const int64_t *a_k, const T *b, const int64_t *b_k, T *c, int64_t c_m, int64_t columns, int first) { \
        if (columns == NR && h < 2) NAME(tile)(H##h, 2, 1, in_a, in_b, k, a, a_m, a_k, b, b_k, c, c_m, columns, first); \
        else if (columns > VL) NAME(tile)(H##h, 2, 0, in_a, in_b, k, a, a_m, a_k, b, b_k, c, c_m, columns, first); \
        else NAME(tile)(H##h, 1, 0, in_a, in_b, k, a, a_m, a_k, b, b_k, c, c_m, columns, first); \
    }
TILE(0, 0, 0) TILE(1, 0, 0) TILE(2, 0, 0) TILE(3, 0, 0) TILE(4, 0, 0)
TILE(0, 1, 0) TILE(1, 1, 0) TILE(2, 1, 0) TILE(3, 1, 0) TILE(4, 1, 0)
TILE(0, 1, 1) TILE(1, 1, 1) TILE(2, 1, 1) TILE(3, 1, 1) TILE(4, 1, 1)
#undef TILE

typedef void (*NAME(tile_function))(int64_t, const T *, int64_t, const int64_t *, const T *, const int64_t *, T *, int64_t, int64_t, int);
static const NAME(tile_function) NAME(tiles)[3][5] = {
    {NAME(tile_0_00), NAME(tile_1_00), NAME(tile_2_00), NAME(tile_3_00), NAME(tile_4_00)},
    {NAME(tile_0_10), NAME(tile_1_10), NAME(tile_2_10), NAME(tile_3_10), NAME(tile_4_10)},
    {NAME(tile_0_11), NAME(tile_1_11), NAME(tile_2_11), NAME(tile_3_11), NAME(tile_4_11)},
};

typedef T NAME(four) __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T))));
typedef WHOLE NAME(lanes) __attribute__((vector_size(4 * sizeof(T))));

/* to[p * width + q] = from[q * step + offset[p]] for `rows` q and k p: what is packed from rows that lie along k. Four by four where four
 * p follow each other in memory; sixteen p of a row before the next, so that a line of memory is used while it is near. */
static void NAME(turn)(const T *from, int64_t step, int64_t rows, const int64_t *offset, int64_t k, T *restrict to, int64_t width) {
    for (int64_t p0 = 0; p0 < k; p0 += 16) {
        const int64_t p1 = p0 + 16 < k ? p0 + 16 : k;
        int64_t q = 0;
        for (; q + 4 <= rows; q += 4) {
            const T *row = from + q * step;
            int64_t p = p0;
            for (; p + 4 <= p1; p += 4) {
                const T *at = row + offset[p];
                if (offset[p + 1] != offset[p] + 1 || offset[p + 2] != offset[p] + 2 || offset[p + 3] != offset[p] + 3) break;
                NAME(four) r[4];
                for (int l = 0; l < 4; l++) r[l] = *(const NAME(four) *)(at + l * step);
                TURN(r)
                for (int l = 0; l < 4; l++) *(NAME(four) *)(to + (p + l) * width + q) = r[l];
            }
            for (; p < p1; p++)
                for (int l = 0; l < 4; l++) to[p * width + q + l] = row[l * step + offset[p]];
        }
        for (; q < rows; q++)
            for (int64_t p = p0; p < p1; p++) to[p * width + q] = from[q * step + offset[p]];
    }
}

/* Columns j..j+NR of b for k0..k0+k, as [k][NR], zeros beyond the last column. */
static void NAME(pack_columns)(const NAME(block) *x, int64_t j, T *to) {
    const int64_t step = x->p->b_n, columns = x->n - j < NR ? x->n - j : NR;
    const T *from = x->b + (x->j0 + j) * step;
    const int64_t *offset = x->b_k + x->k0;
    if (step == 1 && columns == NR) {
        for (int64_t p = 0; p < x->k; p++)
            for (int q = 0; q < NV; q++) {
                __builtin_prefetch(from + offset[p] + (NV + q) * VL, 0, 2); /* of the next columns */
                *(NAME(vector) *)(to + p * NR + q * VL) = *(const NAME(vector) *)(from + offset[p] + q * VL);
            }
        return;
    }
    if (step == 1) {
        for (int64_t p = 0; p < x->k; p++)
            for (int q = 0; q < NV; q++)
                *(NAME(vector) *)(to + p * NR + q * VL) = columns > q * VL ? (NAME(vector))NAME(load_masked)(from + offset[p] + q * VL, NAME(mask)(columns - q * VL)) : (NAME(vector)){0};
        return;
    }
    if (columns < NR) memset(to, 0, (size_t)(x->k * NR) * sizeof(T));
    NAME(turn)(from, step, columns, offset, x->k, to, NR);
}

/* Rows i..i+mr of a for k0..k0+k, as [k][mr]. */
static inline __attribute__((always_inline)) void NAME(pack_rows)(const int mr, const NAME(block) *x, int64_t i, T *restrict to) {
    const int64_t step = x->p->a_m;
    const T *from = x->a + i * step;
    const int64_t *offset = x->a_k + x->k0;
    if (step != 1) {
        NAME(turn)(from, step, mr, offset, x->k, to, mr);
        return;
    }
    for (int64_t p = 0; p < x->k; p++)
#pragma GCC unroll 12
        for (int q = 0; q < mr; q++) to[p * mr + q] = from[offset[p] + q];
}

static int NAME(pack_piece)(at_call *at, void *context, int64_t piece) {
    const NAME(block) *x = context;
    (void)at;
    for (int64_t s = piece * 8; s < piece * 8 + 8 && s * NR < x->n; s++) NAME(pack_columns)(x, s * NR, x->packed + s * NR * x->k);
    return 0;
}

/* One piece of the rows by one piece of the columns of a block. c is written row after row, as far as the columns of b stay near. */
static int NAME(piece)(at_call *at, void *context, int64_t number) {
    const NAME(block) *x = context;
    const at_product *p = x->p;
    (void)at;
    const int64_t i0 = x->row_pieces == 1 ? 0 : number % x->row_pieces * x->rows, j0 = x->row_pieces == 1 ? number * x->columns : number / x->row_pieces * x->columns;
    const int64_t i1 = i0 + x->rows < p->m ? i0 + x->rows : p->m, j1 = j0 + x->columns < x->n ? j0 + x->columns : x->n;
    const int64_t sliver = NR * x->k * (int64_t)sizeof(T), wide = (NEAR / sliver + 1) * NR;
    T *packed = NULL, *rest = NULL;
    if (x->pack_a && !(packed = rt->alloc((i1 - i0) * x->k * (int64_t)sizeof(T)))) return -1;
    /* packed rows need packed columns */
    const int copy_b = !x->pack_b && (x->pack_a || (i1 - i0 > 24 && x->k * x->n * (int64_t)sizeof(T) > FAR));
    if (!x->pack_b && (copy_b || (!MASKED && (j1 % NR) != 0)) && !(rest = rt->alloc((wide < x->n + NR ? wide : x->n + NR) * x->k * (int64_t)sizeof(T)))) { rt->release(packed); return -1; }
    if (x->pack_a) {
        T *to = packed;
        for (int64_t i = i0; i < i1;) {
            int h = 0;
            while (product_heights[h] > i1 - i) h++;
            switch (h) {
                case 0: NAME(pack_rows)(H0, x, i, to); break;
                case 1: NAME(pack_rows)(H1, x, i, to); break;
                case 2: NAME(pack_rows)(H2, x, i, to); break;
                case 3: NAME(pack_rows)(H3, x, i, to); break;
                default: NAME(pack_rows)(H4, x, i, to); break;
            }
            i += product_heights[h];
            to += product_heights[h] * x->k;
        }
    }
    for (int64_t j2 = j0; j2 < j1; j2 += wide) {
        const int64_t j3 = j2 + wide < j1 ? j2 + wide : j1;
        if (rest)
            for (int64_t j = j2; j < j3; j += NR)
                if (copy_b || j3 - j < NR) NAME(pack_columns)(x, j, rest + (j - j2) * x->k);
        const T *a = packed;
        for (int64_t i = i0; i < i1;) {
            const int64_t left = i1 - i;
            int h = 0;
            while (product_heights[h] > left) h++;
            const int mr = product_heights[h];
            for (int64_t j = j2; j < j3; j += NR) {
                const int64_t columns = j3 - j < NR ? j3 - j : NR;
                T *c = x->c + i * p->c_m + x->j0 + j;
                if (x->symmetric && x->j0 + j + columns <= i) continue; /* below the diagonal: copied from above it in the end */
                const int in_b = !x->pack_b && !copy_b && (MASKED || columns == NR);
                const T *b = x->pack_b ? x->packed + j * x->k : in_b ? x->b + x->j0 + j : rest + (j - j2) * x->k;
                if (x->pack_a) NAME(tiles)[0][h](x->k, a, 0, NULL, b, NULL, c, p->c_m, columns, x->first);
                else NAME(tiles)[1 + in_b][h](x->k, x->a + i * p->a_m, p->a_m, x->a_k + x->k0, b, x->b_k + x->k0, c, p->c_m, columns, x->first);
            }
            if (x->pack_a) a += mr * x->k;
            i += mr;
        }
    }
    rt->release(packed);
    rt->release(rest);
    return x->finish ? p->after(at, p->context, i0, i1) : 0;
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

/* How a block is shared out. Many more pieces than threads, since threads may be late; few rows are cut by columns first. */
static void NAME(share)(NAME(block) *x, int threads) {
    const at_product *p = x->p;
    const int64_t tiles = (p->m + H0 - 1) / H0, slivers = (x->n + NR - 1) / NR, most_parts = slivers > 1 ? slivers / 2 : 1;
    int64_t wanted = 1, parts = 1, blocks = (p->m + MC - 1) / MC;
    if (threads > 1) {
        const double pieces = (double)p->m * (double)x->n * (double)x->k / LEAST_PIECE;
        wanted = pieces < 1 ? 1 : pieces < 8 * threads ? (int64_t)pieces : 8 * threads;
        if (!x->pack_b) parts = wanted < most_parts ? wanted : most_parts;
        if (blocks * parts < wanted) blocks = (wanted + parts - 1) / parts;
    }
    x->rows = (tiles + blocks - 1) / blocks * H0;
    if (x->rows < 24 && x->pack_b) x->rows = 24;
    if (p->after) {
        const int64_t hot = HOT / (p->n * (int64_t)sizeof(T)) / H0 * H0;
        if (x->rows > hot) x->rows = hot > 24 ? hot : 24;
    }
    x->row_pieces = (p->m + x->rows - 1) / x->rows;
    if (x->row_pieces * parts < wanted) parts = (wanted + x->row_pieces - 1) / x->row_pieces;
    if (parts > most_parts) parts = most_parts;
    x->columns = (slivers + parts - 1) / parts * NR;
}

static int64_t NAME(block_of_k)(int64_t k) {
    const int64_t blocks = (k + KC - 1) / KC;
    return ((k + blocks - 1) / blocks + 3) / 4 * 4;
}

/* The product; a_k and b_k have an offset for every k, or for those of a block where there is one level. */
static int NAME(product)(at_call *at, const at_product *p, int64_t k, const int64_t *a_k, const int64_t *b_k) {
    T *packed = NULL;
    int status = 0, done = 0;
    const double work = (double)p->m * (double)p->n * (double)k;
    const int serial = work + (double)p->m * (double)p->after_work < 500000.0, small = work < 2e6;
    const int near = k * p->n * (int64_t)sizeof(T) <= HOT && p->m <= 288; /* b stays in the second-level cache for all rows */
    const int pack_b = !(p->b_n == 1 && (p->m <= MC || small || near));
    const int pack_a = !(p->n <= (pack_b ? 4 : 16) * NR || small);
    const int threads = serial ? 1 : rt->threads();
    if (serial && p->b_n == 1 && k > 0 && k <= KC && p->n <= NC && !p->after && p->m > FEW_ROWS && p->n > FEW_COLUMNS) { /* nothing to decide */
        NAME(block) x = {.p = p, .a_k = a_k, .b_k = b_k, .a = p->a, .b = p->b, .c = p->c, .n = p->n, .k = k, .rows = p->m, .columns = p->n, .row_pieces = 1, .first = !p->adds};
        return NAME(piece)(at, &x, 0);
    }
    int symmetric = !small && !p->adds && p->m == p->n && p->a == p->b && p->a_m == p->b_n;
    for (int l = 0; l < p->levels; l++) symmetric = symmetric && p->a_k[l] == p->b_k[l];
    if (k == 0) {
        for (int64_t i = 0; i < p->m && !p->adds; i++) memset((T *)p->c + i * p->c_m, 0, (size_t)p->n * sizeof(T));
        return follow(at, p);
    }
    if (NAME(has_few_columns)(p, k)) return NAME(by_columns)(at, p, k, serial);
    if (NAME(has_few_rows)(p)) return NAME(by_rows)(at, p, k, a_k, b_k, serial);
    const int64_t most_k = NAME(block_of_k)(k), most_n = p->n < NC ? p->n : NC;
    if (pack_b && !(packed = rt->alloc(most_k * ((most_n + NR - 1) / NR * NR) * (int64_t)sizeof(T)))) return -1;
    for (int64_t j0 = 0; j0 < p->n && !status; j0 += NC) {
        for (int64_t k0 = 0; k0 < k && !status; k0 += most_k) {
            NAME(block) x = {.p = p, .a_k = a_k, .b_k = b_k, .a = p->a, .b = p->b, .c = p->c, .packed = packed, .j0 = j0, .k0 = k0};
            if (p->levels == 1) {
                x.k0 = 0;
                x.a += k0 * p->a_k[0];
                x.b += k0 * p->b_k[0];
            }
            x.n = p->n - j0 < NC ? p->n - j0 : NC;
            x.k = k - k0 < most_k ? k - k0 : most_k;
            x.pack_a = pack_a;
            x.pack_b = pack_b;
            x.first = k0 == 0 && !p->adds;
            x.symmetric = symmetric;
            NAME(share)(&x, symmetric ? 2 * threads : threads);
            const int64_t slivers = (x.n + NR - 1) / NR, pieces = x.row_pieces * ((x.n + x.columns - 1) / x.columns);
            done = x.finish = p->after && !symmetric && j0 + x.n == p->n && k0 + x.k == k && x.columns >= x.n;
            if (pack_b) status = rt->parallel(at, NAME(pack_piece), &x, (slivers + 7) / 8, serial || slivers * NR * x.k < 65536);
            if (!status) status = pieces == 1 ? NAME(piece)(at, &x, 0) : rt->parallel(at, NAME(piece), &x, pieces, serial);
        }
    }
    rt->release(packed);
    if (symmetric && !status) status = rt->parallel(at, NAME(mirror), (void *)p, (p->m + 63) / 64, 0);
    return status || done ? status : follow(at, p);
}
