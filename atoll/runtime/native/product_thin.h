/* Thin products of one element type, whose cost is to read the large side once; a part of product.h.
 *
 * Few rows: b as it lies in memory, sums in registers where it is near, else in c. Few columns: sums along k.
 */
/* Where number k of the sums is, in a and in b. */
static inline int64_t NAME(a_at)(const NAME(block) *x, int64_t k) { return x->p->levels == 1 ? k * x->p->a_k[0] : x->a_k[k]; }
static inline int64_t NAME(b_at)(const NAME(block) *x, int64_t k) { return x->p->levels == 1 ? k * x->p->b_k[0] : x->b_k[k]; }

/* One k of few rows, columns j0 to j1 of c. */
static void NAME(one_k)(const NAME(block) *x, int64_t k, int64_t j0, int64_t j1) {
    const at_product *p = x->p;
    const T *line = x->b + NAME(b_at)(x, k);
    for (int64_t i = 0; i < p->m; i++) {
        const T left = x->a[i * p->a_m + NAME(a_at)(x, k)];
        T *to = x->c + i * p->c_m;
        for (int64_t j = j0; j < j1; j++) to[j] += left * line[j];
    }
}

/* Few rows of c: columns of a piece, k0 to k1, kr of them at a time, b as it lies in memory. far: what comes next is asked for early. */
static inline __attribute__((always_inline)) void NAME(along_rows)(const int kr, const NAME(block) *x, int64_t j0, int64_t j1, int64_t k0, int64_t k1, int far) {
    const at_product *p = x->p;
    const int64_t m = p->m, c_m = p->c_m;
    for (; k0 + kr <= k1; k0 += kr) {
        T left[FEW_ROWS][8];
        const T *line[8], *next[8];
        for (int q = 0; q < kr; q++) {
            line[q] = x->b + NAME(b_at)(x, k0 + q);
            next[q] = x->b + NAME(b_at)(x, k0 + kr + q < k1 ? k0 + kr + q : k0 + q);
            for (int64_t i = 0; i < m; i++) left[i][q] = x->a[i * p->a_m + NAME(a_at)(x, k0 + q)];
        }
        for (int64_t j = j0; j < j1; j += 2 * VL) {
            NAME(vector) v[8][2];
            if (far)
#pragma GCC unroll 8
                for (int q = 0; q < kr; q++) {
                    __builtin_prefetch(next[q] + j, 0, 2);
                    if (VECTOR == 64) __builtin_prefetch(next[q] + j + VL, 0, 2);
                }
#pragma GCC unroll 8
            for (int q = 0; q < kr; q++) {
                v[q][0] = *(const NAME(vector) *)(line[q] + j);
                v[q][1] = *(const NAME(vector) *)(line[q] + j + VL);
            }
            T *to = x->c + j;
            for (int64_t i = 0; i < m; i++, to += c_m) {
                NAME(vector) acc0 = *(NAME(vector) *)to, acc1 = *(NAME(vector) *)(to + VL);
#pragma GCC unroll 8
                for (int q = 0; q < kr; q++) {
                    acc0 += left[i][q] * v[q][0];
                    acc1 += left[i][q] * v[q][1];
                }
                *(NAME(vector) *)to = acc0;
                *(NAME(vector) *)(to + VL) = acc1;
            }
        }
    }
    for (; k0 < k1; k0++) NAME(one_k)(x, k0, j0, j1);
}

/* One row where b is near, kr k at a time. Lines of memory are read in halves, since those that a whole vector lies across are read twice. */
enum { NAME(narrow_lanes) = 32 / sizeof(T) };
typedef T NAME(narrow) __attribute__((vector_size(32), aligned(sizeof(T))));

static inline __attribute__((always_inline)) void NAME(along_row)(const int kr, const NAME(block) *x, int64_t j0, int64_t j1, int64_t k0, int64_t k1) {
    for (; k0 + kr <= k1; k0 += kr) {
        NAME(narrow) left[8];
        const T *line[8];
#pragma GCC unroll 8
        for (int q = 0; q < kr; q++) {
            line[q] = x->b + NAME(b_at)(x, k0 + q);
            left[q] = x->a[NAME(a_at)(x, k0 + q)] - (NAME(narrow)){0};
        }
        for (int64_t j = j0; j < j1; j += NAME(narrow_lanes)) {
            NAME(narrow) acc = *(NAME(narrow) *)(x->c + j);
#pragma GCC unroll 8
            for (int q = 0; q < kr; q++) acc += left[q] * *(const NAME(narrow) *)(line[q] + j);
            *(NAME(narrow) *)(x->c + j) = acc;
        }
    }
    for (; k0 < k1; k0++) NAME(one_k)(x, k0, j0, j1);
}

/* Columns of c, as many as make whole vectors; the rest is done in registers. Eight rows of b that are a multiple of a page apart would push each
 * other out of the first-level cache. */
static int NAME(few_rows)(at_call *at, void *context, int64_t piece) {
    const NAME(block) *x = context;
    const at_product *p = x->p;
    const int one = p->m == 1 && !x->first;
    const int64_t j0 = piece * x->columns, j1 = j0 + x->columns < x->n ? j0 + x->columns : x->n;
    const int64_t unit = one ? NAME(narrow_lanes) : 2 * VL, whole = j0 + (j1 - j0) / unit * unit;
    for (int64_t i = 0; i < p->m; i++) memset(x->c + i * p->c_m + j0, 0, (size_t)(whole - j0) * sizeof(T));
    const int apart = p->b_k[p->levels - 1] * (int64_t)sizeof(T) % 4096 != 0;
    for (int64_t k0 = 0; k0 < x->k; k0 += BETWEEN_LOOKS) {
        const int64_t k1 = x->k - k0 < BETWEEN_LOOKS ? x->k : k0 + BETWEEN_LOOKS;
        if (k0 > 0 && rt->poll(at)) return -2;
        if (one && apart) NAME(along_row)(8, x, j0, whole, k0, k1);
        else if (one) NAME(along_row)(4, x, j0, whole, k0, k1);
        else if (apart && DEEP == 8) NAME(along_rows)(DEEP, x, j0, whole, k0, k1, x->first);
        else NAME(along_rows)(4, x, j0, whole, k0, k1, x->first);
    }
    if (whole == j1) return 0;
    if (p->levels == 1) NAME(strip)(p->m, j1 - whole, x->k, x->a, p->a_m, p->a_k[0], x->b + whole, p->b_k[0], x->c + whole, p->c_m, 0, 0);
    else NAME(strip_at_offsets)(p->m, j1 - whole, x->k, x->a, p->a_m, x->a_k, x->b + whole, x->b_k, x->c + whole, p->c_m, 0);
    return 0;
}

/* Few columns of c: sums along k in lanes, some rows at a time as a lies in memory. b is packed as [n][k], a vector is read in place. */
static inline __attribute__((always_inline)) void NAME(along_k)(const int mr, const int nr, const int chains, const NAME(block) *x, int64_t i, int64_t line) {
    const int64_t step = x->p->a_m;
    const T *a = x->a + i * step;
    NAME(vector) acc[4][3][4] = {{{{0}}}};
    int64_t k = 0;
    for (; k + chains * VL <= x->k; k += chains * VL)
#pragma GCC unroll 4
        for (int q = 0; q < chains; q++) {
            NAME(vector) v[3];
#pragma GCC unroll 3
            for (int j = 0; j < nr; j++) {
                v[j] = *(const NAME(vector) *)(x->packed + j * line + k + q * VL);
                if (nr > 2) KEPT(v[j]);
            }
#pragma GCC unroll 4
            for (int r = 0; r < mr; r++) {
                const NAME(vector) u = *(const NAME(vector) *)(a + r * step + k + q * VL);
#pragma GCC unroll 3
                for (int j = 0; j < nr; j++) acc[r][j][q] += u * v[j];
            }
        }
    for (; k < x->k; k += VL)
#pragma GCC unroll 4
        for (int r = 0; r < mr; r++) {
            const NAME(vector) u = (NAME(vector))NAME(load_masked)(a + r * step + k, NAME(mask)(x->k - k));
#pragma GCC unroll 3
            for (int j = 0; j < nr; j++) acc[r][j][0] += u * (NAME(vector))NAME(load_masked)(x->packed + j * line + k, NAME(mask)(x->k - k));
        }
#pragma GCC unroll 4
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 3
        for (int j = 0; j < nr; j++) {
            NAME(vector) sum = acc[r][j][0];
            if (chains == 2) sum += acc[r][j][1];
            if (chains == 4) sum = (acc[r][j][0] + acc[r][j][1]) + (acc[r][j][2] + acc[r][j][3]);
            x->c[(i + r) * x->p->c_m + j] = NAME(total)((WIDE)sum);
        }
}

static int NAME(few_columns)(at_call *at, void *context, int64_t piece) {
    const NAME(block) *x = context;
    const at_product *p = x->p;
    const int64_t i0 = piece * x->rows, i1 = i0 + x->rows < p->m ? i0 + x->rows : p->m, line = (x->k + VL - 1) / VL * VL;
    for (int64_t i = i0; i < i1;) {
        const int several = i + SEVERAL <= i1;
        switch (p->n) {
            case 1: if (several) NAME(along_k)(SEVERAL, 1, 4, x, i, line); else NAME(along_k)(1, 1, 4, x, i, line); break;
            case 2: if (several) NAME(along_k)(SEVERAL, 2, 2, x, i, line); else NAME(along_k)(1, 2, 2, x, i, line); break;
            default: if (several) NAME(along_k)(SEVERAL, 3, 2, x, i, line); else NAME(along_k)(1, 3, 2, x, i, line); break;
        }
        i += several ? SEVERAL : 1;
    }
    return x->finish ? p->after(at, p->context, i0, i1) : 0;
}

/* b, whose rows are n elements, by columns. */
static void NAME(pack_few)(const NAME(block) *x, int64_t line) {
    const int64_t n = x->p->n, step = x->p->b_n;
    int64_t k = 0;
#if defined(__AVX512F__)
    if (step == 1 && x->p->b_k[0] == n && n > 1) { /* two or three vectors shuffled into as many: element t of column j is number n * t + j of them */
        NAME(places) low[3], high[3];
        for (int j = 0; j < n; j++)
            for (int t = 0; t < VL; t++) {
                const int from = (int)n * t + j;
                low[j][t] = from;
                high[j][t] = from < 2 * VL ? t : from - VL;
            }
        for (; k + VL <= x->k; k += VL) {
            const T *from = x->b + k * n;
            const WIDE v0 = *(const WIDE *)from, v1 = *(const WIDE *)(from + VL);
            if (n == 2) {
                for (int j = 0; j < 2; j++) *(WIDE *)(x->packed + j * line + k) = NAME(pick)(v0, (WIDE)low[j], v1);
            } else {
                const WIDE v2 = *(const WIDE *)(from + 2 * VL);
                for (int j = 0; j < 3; j++) *(WIDE *)(x->packed + j * line + k) = NAME(pick)(NAME(pick)(v0, (WIDE)low[j], v1), (WIDE)high[j], v2);
            }
        }
    }
#endif
    for (int64_t j = 0; j < n; j++) {
        T *to = x->packed + j * line;
        for (int64_t q = k; q < x->k; q++) to[q] = x->b[j * step + q * x->p->b_k[0]];
        for (int64_t q = x->k; q < line; q++) to[q] = 0;
    }
}

/* Few rows: whether this is a product of them. As many as a tile has are a tile, where b is near. */
static int NAME(is_far)(const at_product *p, int64_t k) { return k * p->n * (int64_t)sizeof(T) > NOT_FAR; }
static int NAME(has_few_rows)(const at_product *p, int64_t k) { return p->m <= FEW_ROWS && p->b_n == 1 && p->n >= 4 * VL && !p->adds && (p->m < FEW_ROWS || NAME(is_far)(p, k)); }

static int NAME(by_rows)(at_call *at, const at_product *p, int64_t k, const int64_t *a_k, const int64_t *b_k, int serial) {
    NAME(block) x = {.p = p, .a_k = a_k, .b_k = b_k, .a = p->a, .b = p->b, .c = p->c, .n = p->n, .k = k};
    const int threads = serial ? 1 : rt->threads();
    const int64_t shares = threads == 1 ? 1 : 4 * threads, most = 16384 / (int64_t)sizeof(T) / p->m / (2 * VL) * (2 * VL);
    x.first = NAME(is_far)(p, k);
    x.columns = (p->n / shares + 8 * VL) / (8 * VL) * (8 * VL);
    if (x.columns > most) x.columns = most;
    const int status = rt->parallel(at, NAME(few_rows), &x, (p->n + x.columns - 1) / x.columns, serial);
    return status ? status : follow(at, p);
}

/* Few columns, and k along the rows of a. */
static int NAME(has_few_columns)(const at_product *p, int64_t k) { return p->n <= FEW_COLUMNS && !p->adds && p->levels == 1 && p->a_k[0] == 1 && (k >= 8 * VL || p->n == 1) && !NAME(has_few_rows)(p, k); }

static int NAME(by_columns)(at_call *at, const at_product *p, int64_t k, int serial) {
    NAME(block) x = {.p = p, .a = p->a, .b = p->b, .c = p->c, .n = p->n, .k = k};
    const int64_t line = (k + VL - 1) / VL * VL;
    const int in_place = p->n == 1 && p->b_k[0] == 1;
    if (in_place) x.packed = (T *)p->b;
    else if (!(x.packed = rt->alloc(p->n * line * (int64_t)sizeof(T)))) return -1;
    else NAME(pack_few)(&x, line);
    x.rows = 65536 / k + 1;
    x.finish = p->after != NULL;
    const int status = rt->parallel(at, NAME(few_columns), &x, (p->m + x.rows - 1) / x.rows, serial);
    if (!in_place) rt->release(x.packed);
    return status;
}

