/* Small products of one element type, as batches have them: nothing is packed, no tables are made; a part of product.h.
 *
 * A tile is as wide as four vectors, so that b is read as it lies in memory; where the last vector is not even half full it is half as wide.
 */
#if MASKED
typedef T NAME(half) __attribute__((vector_size(VL / 2 * sizeof(T)), aligned(sizeof(T))));

/* mr rows by nv vectors and perhaps a half; the last of them has `columns` elements. */
static inline __attribute__((always_inline)) void NAME(small_tile)(const int mr, const int nv, const int half, int64_t k, const T *a, int64_t a_m, int64_t a_k, const T *b, int64_t b_k, T *c,
        int64_t c_m, int64_t columns, int adds) {
    NAME(vector) acc[12][4];
    NAME(half) part[12];
    const MASK last = NAME(mask)(columns);
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++) {
#pragma GCC unroll 4
        for (int j = 0; j < nv; j++) acc[i][j] = (NAME(vector)){0};
        part[i] = (NAME(half)){0};
    }
    for (int64_t p = 0; p < k; p++) {
        NAME(vector) v[4];
        NAME(half) w;
#pragma GCC unroll 4
        for (int j = 0; j < nv; j++) v[j] = !half && j == nv - 1 ? (NAME(vector))NAME(load_masked)(b + j * VL, last) : *(const NAME(vector) *)(b + j * VL);
        if (half) w = (NAME(half))NAME(load_half)(b + nv * VL, last);
#pragma GCC unroll 12
        for (int i = 0; i < mr; i++) {
            const T x = a[i * a_m];
#pragma GCC unroll 4
            for (int j = 0; j < nv; j++) acc[i][j] += x * v[j];
            if (half) part[i] += x * w;
        }
        a += a_k;
        b += b_k;
    }
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++) {
        T *to = c + i * c_m;
#pragma GCC unroll 4
        for (int j = 0; j < nv; j++) {
            const int cut = !half && j == nv - 1;
            if (adds) acc[i][j] += cut ? (NAME(vector))NAME(load_masked)(to + j * VL, last) : *(const NAME(vector) *)(to + j * VL);
            if (cut) NAME(store_masked)(to + j * VL, (WIDE)acc[i][j], last);
            else *(NAME(vector) *)(to + j * VL) = acc[i][j];
        }
        if (half) {
            if (adds) part[i] += (NAME(half))NAME(load_half)(to + nv * VL, last);
            NAME(store_half)(to + nv * VL, (HALF)part[i], last);
        }
    }
}

/* All rows of some columns: tiles of `high` rows, then of fewer. */
#define SMALL(nv, half, high) \
    static __attribute__((noinline)) void NAME(small_##nv##half)(int64_t m, int64_t k, const T *a, int64_t a_m, int64_t a_k, const T *b, int64_t b_k, T *c, int64_t c_m, int64_t columns, int adds) { \
        int64_t i = 0; \
        for (; i + high <= m; i += high) NAME(small_tile)(high, nv, half, k, a + i * a_m, a_m, a_k, b, b_k, c + i * c_m, c_m, columns, adds); \
        if (high == 12 && i + 8 <= m) { NAME(small_tile)(8, nv, half, k, a + i * a_m, a_m, a_k, b, b_k, c + i * c_m, c_m, columns, adds); i += 8; } \
        if (i + 4 <= m) { NAME(small_tile)(4, nv, half, k, a + i * a_m, a_m, a_k, b, b_k, c + i * c_m, c_m, columns, adds); i += 4; } \
        if (i + 2 <= m) { NAME(small_tile)(2, nv, half, k, a + i * a_m, a_m, a_k, b, b_k, c + i * c_m, c_m, columns, adds); i += 2; } \
        if (i < m) NAME(small_tile)(1, nv, half, k, a + i * a_m, a_m, a_k, b, b_k, c + i * c_m, c_m, columns, adds); \
    }
SMALL(0, 1, 12) SMALL(1, 0, 12) SMALL(1, 1, 12) SMALL(2, 0, 12) SMALL(2, 1, 8) SMALL(3, 0, 8) SMALL(3, 1, 6) SMALL(4, 0, 6)
#undef SMALL

typedef void (*NAME(small_function))(int64_t, int64_t, const T *, int64_t, int64_t, const T *, int64_t, T *, int64_t, int64_t, int);
static const NAME(small_function) NAME(smalls)[8] = {
    NAME(small_01), NAME(small_10), NAME(small_11), NAME(small_20), NAME(small_21), NAME(small_30), NAME(small_31), NAME(small_40),
};

/* Whether this is one: 1, or 0 when it is not. */
static int NAME(small)(const at_product *p) {
    const int64_t m = p->m, n = p->n, k = p->extent[0], wide = 4 * VL;
    if (m > 512 || n > 512 || k > 512 || m * n * k > SMALL_WORK || p->b_n != 1 || p->levels != 1 || p->after) return 0;
    for (int64_t j = 0; j < n; j += wide) {
        const int64_t columns = n - j < wide ? n - j : wide, halves = (columns + VL / 2 - 1) / (VL / 2), full = (halves - 1) / 2 * VL;
        NAME(smalls)[halves - 1](m, k, p->a, p->a_m, p->a_k[0], (const T *)p->b + j, p->b_k[0], (T *)p->c + j, p->c_m, columns - full, p->adds);
    }
    return 1;
}
#else
static int NAME(small)(const at_product *p) { (void)p; return 0; }
#endif
