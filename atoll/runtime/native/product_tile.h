/* Tiles of one element type, and how rows and columns are packed for them; a part of product.h.
 *
 * A tile is a few rows of c by up to WIDE_TILE vectors of its columns, in registers over a block of k. a and b are read with fixed steps,
 * in place or packed; where the last vector is not even half full it is half as wide.
 */
#if MASKED
typedef T NAME(half) __attribute__((vector_size(VL / 2 * sizeof(T)), aligned(sizeof(T))));
#endif

/* mr rows by nv vectors and perhaps a half; the last of them has `columns` elements. fetch: where what will be read next is, by `step` for
 * every k. Steps are in bytes. Every third row of a has a pointer and the two after it are read from there, so that all fit in registers and
 * nothing is prepared for a tile: products of a batch are short. */
static inline __attribute__((always_inline)) void NAME(tile)(const int mr, const int nv, const int half, int64_t k, const char *a, int64_t a_m, int64_t a_k, const char *b, int64_t b_k, char *c,
        int64_t c_m, const MASK last, int cut, int adds, const int fetches, const char *fetch, int64_t step) {
    NAME(vector) acc[12][4];
    const char *row[4];
    int64_t second = 2 * a_m;
    HIDDEN(second);
#pragma GCC unroll 4
    for (int g = 0; 3 * g < mr; g++) {
        row[g] = g ? row[g - 1] + second + a_m : a;
        HIDDEN(row[g]);
    }
#if MASKED
    NAME(half) part[12];
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++) part[i] = (NAME(half)){0};
#endif
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 4
        for (int j = 0; j < nv; j++) acc[i][j] = (NAME(vector)){0};
    if (k >= 48 || adds & WRITES_ON) {
        const char *to = k >= 48 ? c : c + NR * (int64_t)sizeof(T); /* of these columns, or, where k is short, of those after them */
#pragma GCC unroll 12
        for (int i = 0; i < mr; i++) {
#pragma GCC unroll 4
            for (int j = 0; j < nv + half; j++) __builtin_prefetch(to + j * VECTOR, 1, 3);
            to += c_m;
            HIDDEN(to);
        }
    }
    for (int64_t p = k; p > 0; p--) {
        NAME(vector) v[4];
        if (fetches) {
            __builtin_prefetch(fetch, 0, 2);
            __builtin_prefetch(fetch + VECTOR, 0, 2);
            fetch += step;
        }
#pragma GCC unroll 4
        for (int j = 0; j < nv; j++) v[j] = !half && j == nv - 1 ? (NAME(vector))NAME(load_masked)((const T *)b + j * VL, last) : *(const NAME(vector) *)(b + j * VECTOR);
#if MASKED
        NAME(half) w;
        if (half) w = (NAME(half))NAME(load_half)((const T *)b + nv * VL, last);
#endif
#pragma GCC unroll 12
        for (int i = 0; i < mr; i++) {
            const T x = *(const T *)(row[i / 3] + (i % 3 == 0 ? 0 : i % 3 == 1 ? a_m : second));
#pragma GCC unroll 4
            for (int j = 0; j < nv; j++) acc[i][j] += x * v[j];
#if MASKED
            if (half) part[i] += x * w;
#endif
        }
#pragma GCC unroll 4
        for (int g = 0; 3 * g < mr; g++) row[g] += a_k;
        b += b_k;
    }
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++) {
        T *to = (T *)c;
#pragma GCC unroll 4
        for (int j = 0; j < nv; j++) {
            const int part_only = !half && j == nv - 1 && cut; /* stores of parts take longer */
            if (adds & ADDS) acc[i][j] += !half && j == nv - 1 ? (NAME(vector))NAME(load_masked)(to + j * VL, last) : *(const NAME(vector) *)(to + j * VL);
            if (part_only) NAME(store_masked)(to + j * VL, (WIDE)acc[i][j], last);
            else *(NAME(vector) *)(to + j * VL) = acc[i][j];
        }
#if MASKED
        if (half) {
            if (adds & ADDS) part[i] += (NAME(half))NAME(load_half)(to + nv * VL, last);
            NAME(store_half)(to + nv * VL, (HALF)part[i], last);
        }
#endif
        c += c_m;
        HIDDEN(c);
    }
}

/* All rows of some columns: tiles of `high` rows, then of fewer. While a tile is computed what comes next is asked for: the columns after these, two
 * vectors of them at a time, where b is far (they are `ahead` bytes from b on), then the rows of the next tile where rows follow each other. */
#define ROWS_OF(mr) do { \
        const char *fetch = joined ? a + mr * a_m : (const char *)b; \
        int64_t step = joined ? mr * a_k : 0; \
        if (nv > 0 && after) { \
            fetch = after; \
            step = b_k; \
            after += 2 * VECTOR; \
            if (after >= end) after = NULL; \
        } \
        HIDDEN(fetch); \
        NAME(tile)(mr, nv, half, k, a, a_m, a_k, (const char *)b, b_k, (char *)c, c_m, last, cut, adds, mr == most ? nv > 0 : nv > 2, fetch, step); \
        a += mr * a_m; \
        c += mr * c_m; \
        m -= mr; \
    } while (0)
#define STRIP(nv_, half_, high) \
    static __attribute__((noinline)) void NAME(strip_##nv_##half_)(int64_t m, int64_t k, const char *a, int64_t a_m, int64_t a_k, const T *b, int64_t b_k, char *c, int64_t c_m, int64_t columns, int adds, int64_t ahead) { \
        enum { nv = nv_, half = half_, most = high }; \
        const MASK last = NAME(mask)(columns); \
        const int cut = columns < VL, joined = a_k == (int64_t)sizeof(T) && a_m == k * a_k; \
        const char *after = ahead ? (const char *)b + ahead : NULL, *end = after + nv * VECTOR; \
        while (m >= high) ROWS_OF(high); \
        if (high == 12 && m >= 8) ROWS_OF(8); \
        if (m >= 4) ROWS_OF(4); \
        if (m >= 2) ROWS_OF(2); \
        if (m > 0) ROWS_OF(1); \
    }
typedef void (*NAME(strip_function))(int64_t, int64_t, const char *, int64_t, int64_t, const T *, int64_t, char *, int64_t, int64_t, int, int64_t);
#if MASKED
#define STEP (VL / 2) /* columns by which strips differ */
STRIP(0, 1, 12) STRIP(1, 0, 12) STRIP(1, 1, 12) STRIP(2, 0, 12) STRIP(2, 1, 8) STRIP(3, 0, 8) STRIP(3, 1, 6) STRIP(4, 0, 6)
static const NAME(strip_function) NAME(strips)[8] = {
    NAME(strip_01), NAME(strip_10), NAME(strip_11), NAME(strip_20), NAME(strip_21), NAME(strip_30), NAME(strip_31), NAME(strip_40),
};
#else
#define STEP VL
STRIP(1, 0, 6) STRIP(2, 0, 6)
static const NAME(strip_function) NAME(strips)[2] = {NAME(strip_10), NAME(strip_20)};
#endif
#undef STRIP
#undef ROWS_OF

/* m rows by at most NR columns. */
static inline void NAME(strip)(int64_t m, int64_t columns, int64_t k, const T *a, int64_t a_m, int64_t a_k, const T *b, int64_t b_k, T *c, int64_t c_m, int adds, int64_t ahead) {
    const int64_t steps = (columns + STEP - 1) / STEP, full = (steps - 1) * STEP / VL * VL;
    NAME(strips)[steps - 1](m, k, (const char *)a, a_m * (int64_t)sizeof(T), a_k * (int64_t)sizeof(T), b, b_k * (int64_t)sizeof(T), (char *)c, c_m * (int64_t)sizeof(T), columns - full, adds, ahead * (int64_t)sizeof(T));
}
#undef STEP

/* The same for k of several levels, as convolutions have: mr rows by nv vectors, a and b in place at offsets of k. */
static inline __attribute__((always_inline)) void NAME(at_offsets)(const int mr, const int nv, const int full, int64_t k, const T *a, int64_t a_m, const int64_t *a_k, const T *b, const int64_t *b_k,
        T *c, int64_t c_m, int64_t columns, int adds) {
    NAME(vector) acc[12][8];
    const MASK last = NAME(mask)(columns - (nv - 1) * VL);
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) acc[i][j] = (NAME(vector)){0};
    for (int64_t p = 0; p < k; p++) {
        const T *row = a + a_k[p], *line = b + b_k[p];
        NAME(vector) v[8];
        if (full && mr == 1) { /* a thin product, whose cost is to read b */
            const T *next = b + b_k[p + 8 < k ? p + 8 : k - 1];
#pragma GCC unroll 8
            for (int j = 0; j < nv; j++) __builtin_prefetch(next + j * VL, 0, 3);
        }
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) v[j] = !full && j == nv - 1 ? (NAME(vector))NAME(load_masked)(line + j * VL, last) : *(const NAME(vector) *)(line + j * VL);
#pragma GCC unroll 12
        for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
            for (int j = 0; j < nv; j++) acc[i][j] += row[i * a_m] * v[j];
    }
#pragma GCC unroll 12
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
        for (int j = 0; j < nv; j++) {
            T *to = c + i * c_m + j * VL;
            const int cut = !full && j == nv - 1;
            if (adds) acc[i][j] += cut ? (NAME(vector))NAME(load_masked)(to, last) : *(const NAME(vector) *)to;
            if (cut) NAME(store_masked)(to, (WIDE)acc[i][j], last);
            else *(NAME(vector) *)to = acc[i][j];
        }
}

#define DOWN(mr) \
    for (; i + mr <= m; i += mr) { \
        if (columns > VL) NAME(at_offsets)(mr, 2, 0, k, a + i * a_m, a_m, a_k, b, b_k, c + i * c_m, c_m, columns, adds); \
        else NAME(at_offsets)(mr, 1, 0, k, a + i * a_m, a_m, a_k, b, b_k, c + i * c_m, c_m, columns, adds); \
    }
static __attribute__((noinline)) void NAME(strip_at_offsets)(int64_t m, int64_t columns, int64_t k, const T *a, int64_t a_m, const int64_t *a_k, const T *b, const int64_t *b_k, T *c, int64_t c_m, int adds) {
    int64_t i = 0;
    DOWN(HIGH) DOWN(4) DOWN(1)
}
#undef DOWN

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

/* NR columns of b for k offsets, as [k][NR], zeros where there are fewer. */
static void NAME(pack_columns)(const T *from, int64_t step, int64_t columns, const int64_t *offset, int64_t k, T *to) {
    if (step == 1) {
        for (int64_t p = 0; p < k; p++)
            for (int q = 0; q < NV; q++) {
                __builtin_prefetch(from + offset[p] + (NV + q) * VL, 0, 2); /* of the next columns */
                NAME(vector) v = {0};
                if (columns >= (q + 1) * VL) v = *(const NAME(vector) *)(from + offset[p] + q * VL);
                else if (columns > q * VL) v = (NAME(vector))NAME(load_masked)(from + offset[p] + q * VL, NAME(mask)(columns - q * VL));
                *(NAME(vector) *)(to + p * NR + q * VL) = v;
            }
        return;
    }
    if (columns < NR) memset(to, 0, (size_t)(k * NR) * sizeof(T));
    NAME(turn)(from, step, columns < NR ? columns : NR, offset, k, to, NR);
}

/* Rows of a for k offsets, as [rows][line]. */
static void NAME(pack_rows)(const T *from, int64_t step, int64_t rows, const int64_t *offset, int64_t k, T *restrict to, int64_t line) {
    if (step != 1) {
        for (int64_t i = 0; i < rows; i++)
            for (int64_t p = 0; p < k; p++) to[i * line + p] = from[i * step + offset[p]];
        return;
    }
    for (int64_t p0 = 0; p0 < k; p0 += 32) {
        const int64_t p1 = p0 + 32 < k ? p0 + 32 : k;
        int64_t i = 0;
        for (; i + 4 <= rows; i += 4) {
            int64_t p = p0;
            for (; p + 4 <= p1; p += 4) {
                NAME(four) r[4];
                for (int l = 0; l < 4; l++) r[l] = *(const NAME(four) *)(from + offset[p + l] + i);
                TURN(r)
                for (int l = 0; l < 4; l++) *(NAME(four) *)(to + (i + l) * line + p) = r[l];
            }
            for (; p < p1; p++)
                for (int l = 0; l < 4; l++) to[(i + l) * line + p] = from[offset[p] + i + l];
        }
        for (; i < rows; i++)
            for (int64_t p = p0; p < p1; p++) to[i * line + p] = from[offset[p] + i];
    }
}
