/* Tiles of one element type, and how rows and columns are packed for them; a part of product.h. */
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

/* NR columns of b for k offsets, as [k][NR], zeros where there are fewer. */
static void NAME(pack_columns)(const T *from, int64_t step, int64_t columns, const int64_t *offset, int64_t k, T *to) {
    if (step == 1 && columns >= NR) {
        for (int64_t p = 0; p < k; p++)
            for (int q = 0; q < NV; q++) {
                __builtin_prefetch(from + offset[p] + (NV + q) * VL, 0, 2); /* of the next columns */
                *(NAME(vector) *)(to + p * NR + q * VL) = *(const NAME(vector) *)(from + offset[p] + q * VL);
            }
        return;
    }
    if (step == 1) {
        for (int64_t p = 0; p < k; p++)
            for (int q = 0; q < NV; q++)
                *(NAME(vector) *)(to + p * NR + q * VL) = columns > q * VL ? (NAME(vector))NAME(load_masked)(from + offset[p] + q * VL, NAME(mask)(columns - q * VL)) : (NAME(vector)){0};
        return;
    }
    if (columns < NR) memset(to, 0, (size_t)(k * NR) * sizeof(T));
    NAME(turn)(from, step, columns < NR ? columns : NR, offset, k, to, NR);
}

/* mr rows of a for k offsets, as [k][mr]. */
static inline __attribute__((always_inline)) void NAME(pack_tile)(const int mr, const T *from, int64_t step, const int64_t *offset, int64_t k, T *restrict to) {
    if (step != 1) {
        NAME(turn)(from, step, mr, offset, k, to, mr);
        return;
    }
    for (int64_t p = 0; p < k; p++)
#pragma GCC unroll 12
        for (int q = 0; q < mr; q++) to[p * mr + q] = from[offset[p] + q];
}

/* Some rows of a, tile after tile. */
static void NAME(pack_rows)(const T *from, int64_t step, int64_t rows, const int64_t *offset, int64_t k, T *to) {
    for (int64_t i = 0; i < rows;) {
        int h = 0;
        while (product_heights[h] > rows - i) h++;
        switch (h) {
            case 0: NAME(pack_tile)(H0, from + i * step, step, offset, k, to + i * k); break;
            case 1: NAME(pack_tile)(H1, from + i * step, step, offset, k, to + i * k); break;
            case 2: NAME(pack_tile)(H2, from + i * step, step, offset, k, to + i * k); break;
            case 3: NAME(pack_tile)(H3, from + i * step, step, offset, k, to + i * k); break;
            default: NAME(pack_tile)(H4, from + i * step, step, offset, k, to + i * k); break;
        }
        i += product_heights[h];
    }
}
