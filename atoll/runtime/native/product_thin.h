/* Thin products of one element type, whose cost is to read the large side once; a part of product.h.
 *
 * Few rows: b as it lies in memory, sums in registers where it is near, else in c. Few columns: sums along k.
 */
/* Few rows of c: columns of a piece, eight or four k at a time, b as it lies in memory. far: what comes next is asked for early. */
static inline __attribute__((always_inline)) void NAME(along_rows)(const int mr, const int kr, const int far, const NAME(block) *x, int64_t j0, int64_t j1) {
    const at_product *p = x->p;
    for (int i = 0; i < mr; i++) memset(x->c + i * p->c_m + j0, 0, (size_t)(j1 - j0) * sizeof(T));
    int64_t k0 = 0;
    for (; k0 + kr <= x->k; k0 += kr) {
        NAME(vector) left[6][8];
        const T *line[8], *next[8];
#pragma GCC unroll 8
        for (int q = 0; q < kr; q++) {
            line[q] = x->b + x->b_k[k0 + q];
            next[q] = x->b + x->b_k[k0 + kr + q < x->k ? k0 + kr + q : k0 + q];
#pragma GCC unroll 6
            for (int i = 0; i < mr; i++) left[i][q] = x->a[i * p->a_m + x->a_k[k0 + q]] - (NAME(vector)){0};
        }
        int64_t j = j0;
        for (; j + VL <= j1; j += VL) {
            NAME(vector) acc[6];
            if (far)
#pragma GCC unroll 8
                for (int q = 0; q < kr; q++) __builtin_prefetch(next[q] + j, 0, 2);
#pragma GCC unroll 6
            for (int i = 0; i < mr; i++) acc[i] = *(NAME(vector) *)(x->c + i * p->c_m + j);
#pragma GCC unroll 8
            for (int q = 0; q < kr; q++) {
                const NAME(vector) v = *(const NAME(vector) *)(line[q] + j);
#pragma GCC unroll 6
                for (int i = 0; i < mr; i++) acc[i] += left[i][q] * v;
            }
#pragma GCC unroll 6
            for (int i = 0; i < mr; i++) *(NAME(vector) *)(x->c + i * p->c_m + j) = acc[i];
        }
        if (j < j1) {
            const MASK last = NAME(mask)(j1 - j);
            for (int i = 0; i < mr; i++) {
                NAME(vector) acc = (NAME(vector))NAME(load_masked)(x->c + i * p->c_m + j, last);
#pragma GCC unroll 8
                for (int q = 0; q < kr; q++) acc += left[i][q] * (NAME(vector))NAME(load_masked)(line[q] + j, last);
                NAME(store_masked)(x->c + i * p->c_m + j, (WIDE)acc, last);
            }
        }
    }
    for (; k0 < x->k; k0++)
        for (int i = 0; i < mr; i++) {
            const T left = x->a[i * p->a_m + x->a_k[k0]], *line = x->b + x->b_k[k0];
            T *to = x->c + i * p->c_m;
            for (int64_t j = j0; j < j1; j += VL) {
                const MASK part = NAME(mask)(j1 - j);
                NAME(vector) acc = (NAME(vector))NAME(load_masked)(to + j, part);
                acc += left * (NAME(vector))NAME(load_masked)(line + j, part);
                NAME(store_masked)(to + j, (WIDE)acc, part);
            }
        }
}

/* The same where b is near: sums stay in registers, nv vectors of columns at a time. The last ones begin where they end with the last column:
 * some are computed twice, alike. */
static inline __attribute__((always_inline)) void NAME(in_registers)(const int mr, const int nv, const NAME(block) *x, int64_t j0, int64_t j1) {
    const at_product *p = x->p;
    for (int64_t j = j0; j < j1; j += nv * VL) {
        if (j + nv * VL > j1) j = j1 - nv * VL;
        NAME(at_offsets)(mr, nv, 1, x->k, x->a, p->a_m, x->a_k, x->b + j, x->b_k, x->c + j, p->c_m, nv * VL, 0);
    }
}

#define FEW(mr, nv) \
    if (j1 - j0 >= nv * VL) NAME(in_registers)(mr, nv, x, j0, j1); \
    else if (j1 - j0 >= 2 * VL) NAME(in_registers)(mr, 2, x, j0, j1); \
    else NAME(along_rows)(mr, 4, 0, x, j0, j1); \
    break;

static int NAME(few_rows)(at_call *at, void *context, int64_t piece) {
    const NAME(block) *x = context;
    const int64_t j0 = piece * x->columns, j1 = j0 + x->columns < x->n ? j0 + x->columns : x->n;
    (void)at;
    if (x->first) {
        switch (x->p->m) {
            case 1:
                if (x->first == 2) {
                    NAME(along_rows)(1, 8, 0, x, j0, j1);
                    break;
                }
                FEW(1, W1)
            case 2: FEW(2, W2)
            case 3: FEW(3, W3)
            case 4: FEW(4, W4)
            case 5: FEW(5, W5)
            default: FEW(6, W5)
        }
        return 0;
    }
    switch (x->p->m) {
        case 1: NAME(along_rows)(1, 8, 1, x, j0, j1); break;
        case 2: NAME(along_rows)(2, 8, 1, x, j0, j1); break;
        case 3: NAME(along_rows)(3, 4, 1, x, j0, j1); break;
        case 4: NAME(along_rows)(4, 4, 1, x, j0, j1); break;
        case 5: NAME(along_rows)(5, 4, 1, x, j0, j1); break;
        default: NAME(along_rows)(6, 4, 1, x, j0, j1); break;
    }
    return 0;
}

#undef FEW

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
            for (int j = 0; j < nr; j++) v[j] = *(const NAME(vector) *)(x->packed + j * line + k + q * VL);
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
            const WIDE v0 = NAME(load_all)(from), v1 = NAME(load_all)(from + VL);
            if (n == 2) {
                for (int j = 0; j < 2; j++) NAME(store_all)(x->packed + j * line + k, NAME(pick)(v0, (PLACES)low[j], v1));
            } else {
                const WIDE v2 = NAME(load_all)(from + 2 * VL);
                for (int j = 0; j < 3; j++) NAME(store_all)(x->packed + j * line + k, NAME(pick)(NAME(pick)(v0, (PLACES)low[j], v1), (PLACES)high[j], v2));
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

/* Few rows: whether this is a product of them. */
static int NAME(has_few_rows)(const at_product *p) { return p->m <= FEW_ROWS && p->b_n == 1 && p->n >= 4 * VL && !p->adds; }

static int NAME(by_rows)(at_call *at, const at_product *p, int64_t k, const int64_t *a_k, const int64_t *b_k, int serial) {
    NAME(block) x = {.p = p, .a_k = a_k, .b_k = b_k, .a = p->a, .b = p->b, .c = p->c, .n = p->n, .k = k};
    const int64_t shares = serial ? 1 : 4 * rt->threads(), most = 16384 / (int64_t)sizeof(T) / p->m / VL * VL;
    x.first = k * p->n * (int64_t)sizeof(T) <= SECOND ? 2 : k * p->n * (int64_t)sizeof(T) <= NOT_FAR;
    x.columns = (p->n / shares + 8 * VL) / (8 * VL) * (8 * VL);
    if (x.columns > most) x.columns = most;
    const int status = rt->parallel(at, NAME(few_rows), &x, (p->n + x.columns - 1) / x.columns, serial);
    return status ? status : follow(at, p);
}

/* Few columns, and k along the rows of a. */
static int NAME(has_few_columns)(const at_product *p, int64_t k) { return p->n <= FEW_COLUMNS && !p->adds && p->levels == 1 && p->a_k[0] == 1 && (k >= 8 * VL || p->n == 1) && !NAME(has_few_rows)(p); }

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

