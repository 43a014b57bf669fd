/* The product of one element type; included twice by product.c, with T, NAME, VL, KC, MC defined.
 *
 * Blocks of k are added in order and every element of c is one chain of multiply-adds inside a block, so how rows and columns are
 * shared out changes nothing in the result.
 */
typedef T NAME(vector) __attribute__((vector_size(VL * sizeof(T)), aligned(sizeof(T))));

typedef struct {
    const at_product *p;
    const int64_t *a_k, *b_k; /* offsets of every k */
    const T *a, *b;
    T *c, *packed;
    int64_t j0, n, k0, k, rows, columns; /* the block, and how it is shared out: pieces of rows by columns */
    int64_t row_pieces;
    int pack_a, pack_b, first, symmetric, finish; /* finish: rows are complete after this, and what follows is done at once */
} NAME(block);

/* mr rows by nv vectors of c. a and b are packed or read in place through the offsets of k. */
static inline __attribute__((always_inline)) void NAME(tile)(const int mr, const int nv, const int in_a, const int in_b, int64_t k,
        const T *a, int64_t a_m, const int64_t *a_k, const T *b, const int64_t *b_k, T *c, int64_t c_m, int64_t columns, int first) {
    NAME(vector) acc[H0][2];
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 2
        for (int j = 0; j < nv; j++) acc[i][j] = (NAME(vector)){0};
    if (!first || k >= 128)
#pragma GCC unroll 12
        for (int i = 0; i < mr; i++)
#pragma GCC unroll 2
            for (int j = 0; j < nv; j++) __builtin_prefetch(c + i * c_m + j * VL, 1, 3);
    for (int64_t p = 0; p < k; p++) {
        const T *row = in_a ? a + a_k[p] : a;
        const T *line = in_b ? b + b_k[p] : b;
        NAME(vector) v[2];
#pragma GCC unroll 2
        for (int j = 0; j < nv; j++)
            v[j] = MASKED && in_b && j == nv - 1 ? (NAME(vector))NAME(load_part)(line + j * VL, columns - j * VL) : *(const NAME(vector) *)(line + j * VL);
#pragma GCC unroll 12
        for (int i = 0; i < mr; i++) {
            const T x = in_a ? row[i * a_m] : row[i];
#pragma GCC unroll 2
            for (int j = 0; j < nv; j++) acc[i][j] += x * v[j];
        }
        if (!in_a) a += mr;
        if (!in_b) b += NR;
    }
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++) {
#pragma GCC unroll 2
        for (int j = 0; j < nv; j++) {
            T *to = c + i * c_m + j * VL;
            const int64_t left = columns - j * VL;
            if (left >= VL) {
                if (!first) acc[i][j] += *(NAME(vector) *)to;
                *(NAME(vector) *)to = acc[i][j];
            } else {
                if (!first) acc[i][j] += (NAME(vector))NAME(load_part)(to, left);
                NAME(store_part)(to, (WIDE)acc[i][j], left);
            }
        }
    }
}

#define TILE(h, in_a, in_b) \
    static __attribute__((noinline)) void NAME(tile_##h##_##in_a##in_b)(int64_t k, const T *a, int64_t a_m, const int64_t *a_k, const T *b, const int64_t *b_k, T *c, int64_t c_m, int64_t columns, int first) { \
        if (columns > VL) NAME(tile)(H##h, 2, in_a, in_b, k, a, a_m, a_k, b, b_k, c, c_m, columns, first); \
        else NAME(tile)(H##h, 1, in_a, in_b, k, a, a_m, a_k, b, b_k, c, c_m, columns, first); \
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
                *(NAME(vector) *)(to + p * NR + q * VL) = columns > q * VL ? (NAME(vector))NAME(load_part)(from + offset[p] + q * VL, columns - q * VL) : (NAME(vector)){0};
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

/* One piece of the rows by one piece of the columns of a block. */
static int NAME(piece)(at_call *at, void *context, int64_t number) {
    const NAME(block) *x = context;
    const at_product *p = x->p;
    (void)at;
    const int64_t i0 = number % x->row_pieces * x->rows, j0 = number / x->row_pieces * x->columns;
    const int64_t i1 = i0 + x->rows < p->m ? i0 + x->rows : p->m, j1 = j0 + x->columns < x->n ? j0 + x->columns : x->n;
    T *packed = NULL, *rest = NULL;
    if (x->pack_a && !(packed = rt->alloc((i1 - i0) * x->k * (int64_t)sizeof(T)))) return -1;
    /* packed rows need packed columns */
    const int copy_b = !x->pack_b && (x->pack_a || (i1 - i0 > 24 && x->k * x->n * (int64_t)sizeof(T) > FAR));
    if (!x->pack_b && (copy_b || (!MASKED && (j1 % NR) != 0)) && !(rest = rt->alloc(NR * x->k * (int64_t)sizeof(T)))) { rt->release(packed); return -1; }
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
    const int64_t near = NR * x->k * (int64_t)sizeof(T) / (i1 - i0) + 1;
    for (int64_t j = j0; j < j1; j += NR) {
        const int64_t columns = j1 - j < NR ? j1 - j : NR;
        const T *b;
        int in_b = 0;
        if (x->pack_b) b = x->packed + j * x->k;
        else if ((MASKED || columns == NR) && !copy_b) { b = x->b + x->j0 + j; in_b = 1; }
        else { NAME(pack_columns)(x, j, rest); b = rest; }
        const T *a = packed;
        for (int64_t i = i0; i < i1;) {
            const int64_t left = i1 - i;
            int h = 0;
            while (product_heights[h] > left) h++;
            const int mr = product_heights[h];
            T *c = x->c + i * p->c_m + x->j0 + j;
            if (x->symmetric && x->j0 + j + columns <= i) { /* below the diagonal: copied from above it in the end */
                if (x->pack_a) a += mr * x->k;
                i += mr;
                continue;
            }
            if (x->pack_b && j + NR < j1) { /* the next columns come near while these are used */
                const char *next = (const char *)(x->packed + (j + NR) * x->k) + (i - i0) * near;
                for (int64_t q = 0; q < mr * near; q += 64) __builtin_prefetch(next + q, 0, 2);
            }
            if (x->pack_a) {
                NAME(tiles)[0][h](x->k, a, 0, NULL, b, NULL, c, p->c_m, columns, x->first);
                a += mr * x->k;
            } else {
                NAME(tiles)[1 + in_b][h](x->k, x->a + i * p->a_m, p->a_m, x->a_k + x->k0, b, x->b_k + x->k0, c, p->c_m, columns, x->first);
            }
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

/* Few rows of c: columns of a piece, eight or four k at a time, b as it lies in memory. */
static inline __attribute__((always_inline)) void NAME(along_rows)(const int mr, const int kr, const NAME(block) *x, int64_t j0, int64_t j1) {
    const at_product *p = x->p;
    for (int i = 0; i < mr; i++) memset(x->c + i * p->c_m + j0, 0, (size_t)(j1 - j0) * sizeof(T));
    for (int64_t k0 = 0; k0 < x->k; k0 += kr) {
        T left[6][8];
        const T *line[8], *next[8];
        for (int q = 0; q < kr; q++) { /* beyond the last k: nothing of a line that is there */
            const int64_t k = k0 + q < x->k ? k0 + q : k0;
            line[q] = x->b + x->b_k[k];
            next[q] = x->b + x->b_k[k + kr < x->k ? k + kr : k]; /* comes near while this is used */
            for (int i = 0; i < mr; i++) left[i][q] = k0 + q < x->k ? x->a[i * p->a_m + x->a_k[k]] : 0;
        }
        const int whole = k0 + kr <= x->k;
        for (int64_t j = j0; j < j1; j += VL) {
            NAME(vector) v[8];
            const int64_t n = j1 - j;
#pragma GCC unroll 8
            for (int q = 0; q < kr; q++) __builtin_prefetch(next[q] + j, 0, 2);
#pragma GCC unroll 8
            for (int q = 0; q < kr; q++) v[q] = n >= VL ? *(const NAME(vector) *)(line[q] + j) : (NAME(vector))NAME(load_part)(line[q] + j, n);
#pragma GCC unroll 6
            for (int i = 0; i < mr; i++) {
                T *to = x->c + i * p->c_m + j;
                NAME(vector) acc = n >= VL ? *(NAME(vector) *)to : (NAME(vector))NAME(load_part)(to, n);
                if (whole) {
#pragma GCC unroll 8
                    for (int q = 0; q < kr; q++) acc += left[i][q] * v[q];
                } else {
                    for (int64_t q = 0; q < x->k - k0; q++) acc += left[i][q] * v[q];
                }
                if (n >= VL) *(NAME(vector) *)to = acc;
                else NAME(store_part)(to, (WIDE)acc, n);
            }
        }
    }
}

static int NAME(few_rows)(at_call *at, void *context, int64_t piece) {
    const NAME(block) *x = context;
    const int64_t j0 = piece * x->columns, j1 = j0 + x->columns < x->n ? j0 + x->columns : x->n;
    (void)at;
    switch (x->p->m) {
        case 1: NAME(along_rows)(1, 8, x, j0, j1); break;
        case 2: NAME(along_rows)(2, 8, x, j0, j1); break;
        case 3: NAME(along_rows)(3, 4, x, j0, j1); break;
        case 4: NAME(along_rows)(4, 4, x, j0, j1); break;
        case 5: NAME(along_rows)(5, 4, x, j0, j1); break;
        default: NAME(along_rows)(6, 4, x, j0, j1); break;
    }
    return 0;
}

/* Few columns of c: sums along k in lanes, row by row as a lies in memory. b is packed as [n][k], zeros up to whole vectors. */
static inline __attribute__((always_inline)) void NAME(along_k)(const int nr, const NAME(block) *x, int64_t i, int64_t line) {
    const T *a = x->a + i * x->p->a_m;
    NAME(vector) acc[3][4] = {{{0}}};
    int64_t k = 0;
    for (; k + 4 * VL <= x->k; k += 4 * VL)
#pragma GCC unroll 4
        for (int q = 0; q < 4; q++)
#pragma GCC unroll 3
            for (int j = 0; j < nr; j++) acc[j][q] += *(const NAME(vector) *)(a + k + q * VL) * *(const NAME(vector) *)(x->packed + j * line + k + q * VL);
    for (; k < x->k; k += VL)
#pragma GCC unroll 3
        for (int j = 0; j < nr; j++) acc[j][0] += (NAME(vector))NAME(load_part)(a + k, x->k - k) * *(const NAME(vector) *)(x->packed + j * line + k);
#pragma GCC unroll 3
    for (int j = 0; j < nr; j++) x->c[i * x->p->c_m + j] = NAME(total)((WIDE)((acc[j][0] + acc[j][1]) + (acc[j][2] + acc[j][3])));
}

static int NAME(few_columns)(at_call *at, void *context, int64_t piece) {
    const NAME(block) *x = context;
    const at_product *p = x->p;
    const int64_t i0 = piece * x->rows, i1 = i0 + x->rows < p->m ? i0 + x->rows : p->m, line = (x->k + VL - 1) / VL * VL;
    for (int64_t i = i0; i < i1; i++) {
        if (p->n == 1) NAME(along_k)(1, x, i, line);
        else if (p->n == 2) NAME(along_k)(2, x, i, line);
        else NAME(along_k)(3, x, i, line);
    }
    return x->finish ? p->after(at, p->context, i0, i1) : 0;
}

/* Thin products, whose cost is to read the large side once. Whether this is one; `status` is then how it went. */
static int NAME(thin)(at_call *at, const at_product *p, int64_t k, const int64_t *a_k, const int64_t *b_k, int serial, int *status) {
    NAME(block) x = {.p = p, .a_k = a_k, .b_k = b_k, .a = p->a, .b = p->b, .c = p->c, .n = p->n, .k = k};
    if (p->m <= FEW_ROWS && p->b_n == 1 && p->n >= 4 * VL && k * p->n * (int64_t)sizeof(T) > FAR) {
        const int64_t shares = serial ? 1 : 4 * rt->threads(), most = 16384 / (int64_t)sizeof(T) / p->m / VL * VL;
        x.columns = (p->n / shares + 8 * VL) / (8 * VL) * (8 * VL);
        if (x.columns > most) x.columns = most;
        *status = rt->parallel(at, NAME(few_rows), &x, (p->n + x.columns - 1) / x.columns, serial);
        if (!*status) *status = follow(at, p);
        return 1;
    }
    if (p->n <= FEW_COLUMNS && p->levels == 1 && p->a_k[0] == 1 && k >= 8 * VL) {
        const int64_t line = (k + VL - 1) / VL * VL;
        if (!(x.packed = rt->alloc(p->n * line * (int64_t)sizeof(T)))) { *status = -1; return 1; }
        for (int64_t j = 0; j < p->n; j++)
            for (int64_t q = 0; q < line; q++) x.packed[j * line + q] = q < k ? x.b[j * p->b_n + b_k[q]] : 0;
        x.rows = 65536 / k + 1;
        x.finish = p->after != NULL;
        *status = rt->parallel(at, NAME(few_columns), &x, (p->m + x.rows - 1) / x.rows, serial);
        rt->release(x.packed);
        return 1;
    }
    return 0;
}

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

static int NAME(product)(at_call *at, const at_product *p, int64_t k, const int64_t *a_k, const int64_t *b_k) {
    T *packed = NULL;
    int status = 0, done = 0;
    const double work = (double)p->m * (double)p->n * (double)k;
    const int serial = work + (double)p->m * (double)p->after_work < 500000.0, small = work < 2e6;
    const int near = k * p->n * (int64_t)sizeof(T) <= HOT && p->m <= 288; /* b stays in the second-level cache for all rows */
    const int pack_b = !(p->b_n == 1 && (p->m <= MC || small || near));
    const int pack_a = !(p->n <= (pack_b ? 4 : 16) * NR || small);
    const int threads = serial ? 1 : rt->threads();
    int symmetric = !small && p->m == p->n && p->a == p->b && p->a_m == p->b_n;
    for (int l = 0; l < p->levels; l++) symmetric = symmetric && p->a_k[l] == p->b_k[l];
    if (k == 0) {
        for (int64_t i = 0; i < p->m; i++) memset((T *)p->c + i * p->c_m, 0, (size_t)p->n * sizeof(T));
        return follow(at, p);
    }
    if (NAME(thin)(at, p, k, a_k, b_k, serial, &status)) return status;
    const int64_t k_blocks = (k + KC - 1) / KC, most_k = ((k + k_blocks - 1) / k_blocks + 3) / 4 * 4, most_n = p->n < NC ? p->n : NC;
    if (pack_b && !(packed = rt->alloc(most_k * ((most_n + NR - 1) / NR * NR) * (int64_t)sizeof(T)))) return -1;
    for (int64_t j0 = 0; j0 < p->n && !status; j0 += NC) {
        for (int64_t k0 = 0; k0 < k && !status; k0 += most_k) {
            NAME(block) x = {.p = p, .a_k = a_k, .b_k = b_k, .a = p->a, .b = p->b, .c = p->c, .packed = packed, .j0 = j0, .k0 = k0};
            x.n = p->n - j0 < NC ? p->n - j0 : NC;
            x.k = k - k0 < most_k ? k - k0 : most_k;
            x.pack_a = pack_a;
            x.pack_b = pack_b;
            x.first = k0 == 0;
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
