/* Sums of products of two arrays, of any shape: matrix products, batched, transposed, convolutions.
 *
 *     c[i * c_m + j] = sum over k of a[i * a_m + a_k] * b[j * b_n + b_k]
 *
 * k counts through up to four levels and its offsets are kept in tables, so a convolution is read in place. Shapes and constants are
 * those of docs/sources.md C1: a tile of 6 rows by four vectors (two with 16 registers) in registers, a read in place along its rows, b packed where
 * it is large. What follows a product row by row is done for every piece of rows
 * while it is in the cache. With ATOLL_BLAS a library does what it can.
 */
#define _GNU_SOURCE
#include <math.h>
#include "abi.h"
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

static const at_runtime *rt;
void atoll_product_init(const at_runtime *runtime) { rt = runtime; }

#if defined(__AVX512F__)
#define VECTOR 64
#else
#define VECTOR 32
#endif
#if defined(__AVX512F__)
#define NV 4 /* vectors of columns of a tile */
#define HIGH 12 /* rows of a tile of two vectors */
#define SEVERAL 4 /* rows whose sums along k have registers */
#define DEEP 8    /* k of few rows */
#else
#define NV 2
#define HIGH 6
#define SEVERAL 2
#define DEEP 4
#endif
#define ROWS 12 /* rows are shared out in multiples of these */
#define NR (NV * VL)
#define NC 2048
#define LEAST_PIECE 100000 /* multiply-adds worth handing to another thread */
#define PIECES 32          /* for every thread, at most */
#define SMALL_WORK 300000  /* multiply-adds of products that are not worth any preparation */
#define FEW_ROWS 6         /* so few that b is read along its rows */
#define FEW_COLUMNS 3      /* so few that sums are made along k */
#define BETWEEN_LOOKS 65536 /* k of few rows, a multiple of 8: then whether to stop is asked */
#define NEAR 262144        /* bytes of b that stay beside what is written */
#define SECOND 3145728     /* bytes of b that mostly stay in the second-level cache from call to call */
#define NOT_FAR 12582912   /* bytes of b that need no help to come near */
#define PACK_B 1048576     /* bytes of b beyond which its columns are packed */
#define FEW_TO_PACK 100    /* rows that do not pay for packing b */
#define WRITES 4194304     /* bytes of c that do not stay near */
#define ADDS 1             /* of a tile: c is added to */
#define WRITES_ON 2        /* c is far and the columns after the tile's are written next */
#define TOGETHER 8388608   /* bytes of packed rows and columns that stay in the third-level cache */
#define HOT 524288         /* bytes that stay in the second-level cache: of b for all rows, of the result until what follows is done */

static void wait_a_little(int spins) {
#if defined(__x86_64__) || defined(__i386__)
    if (spins % 1024 != 1023) {
        __builtin_ia32_pause();
        return;
    }
#endif
    (void)spins;
    sched_yield();
}

/* What a compiler may not look into, so that it keeps what is there instead of computing it in ways of its own. */
#define HIDDEN(x) __asm__("" : "+r"(x))
/* A vector that stays in its register, though it could be read again. */
#if defined(__AVX2__)
#define KEPT(v) __asm__("" : "+v"(v))
#else
#define KEPT(v) (void)(v)
#endif

/* Two vectors shuffled into one, by compilers old and new. */
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(lanes, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(lanes, a, b, ...) __builtin_shuffle(a, b, (lanes){__VA_ARGS__})
#endif

static int64_t rows_to_follow(const at_product *p) { return p->after_work < 32768 ? 32768 / (p->after_work > 0 ? p->after_work : 1) : 1; }

static int follow_piece(at_call *at, void *context, int64_t piece) {
    const at_product *p = context;
    const int64_t rows = rows_to_follow(p), high = (piece + 1) * rows;
    return p->after(at, p->context, piece * rows, high < p->m ? high : p->m);
}

/* What follows the product, where it was not done piece by piece. */
static int follow(at_call *at, const at_product *p) {
    if (!p->after) return 0;
    const int64_t rows = rows_to_follow(p);
    return rt->parallel(at, follow_piece, (void *)p, (p->m + rows - 1) / rows, (double)p->m * (double)p->after_work < 65536.0);
}

/* Vectors that are not full, at the edge of a matrix: loads give zeros beyond it. Instructions are written here as they are, because to read the
 * compiler's header of all of them takes a tenth of the time it takes to compile this file. */
typedef struct { char bytes[VECTOR]; } __attribute__((may_alias)) line_of_memory;
#define LINE(from) (*(line_of_memory *)(from))
typedef float WIDE_f32 __attribute__((vector_size(VECTOR), aligned(4)));
typedef double WIDE_f64 __attribute__((vector_size(VECTOR), aligned(8)));
#if defined(__AVX512F__)
#define MASKED 1
#define MASK uint16_t
typedef float HALF_f32 __attribute__((vector_size(32), aligned(4)));
typedef double HALF_f64 __attribute__((vector_size(32), aligned(8)));
#define PARTS_OF(T, NAME, P, MOVE) \
    static inline MASK mask_##NAME(int64_t n) { return (MASK)(n >= VECTOR / (int)sizeof(T) ? (1 << VECTOR / sizeof(T)) - 1 : (1 << n) - 1); } \
    static inline WIDE_##NAME load_masked_##NAME(const T *from, MASK mask) { \
        WIDE_##NAME v; \
        __asm__(MOVE " %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(LINE(from)), "Yk"(mask)); \
        return v; \
    } \
    static inline HALF_##NAME load_half_##NAME(const T *from, MASK mask) { \
        HALF_##NAME v; \
        __asm__(MOVE " %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(LINE(from)), "Yk"(mask)); \
        return v; \
    } \
    static inline void store_masked_##NAME(T *to, WIDE_##NAME v, MASK mask) { __asm__ volatile(MOVE " %1, %0%{%2%}" : "+m"(LINE(to)) : "v"(v), "Yk"(mask)); } \
    static inline void store_half_##NAME(T *to, HALF_##NAME v, MASK mask) { __asm__ volatile(MOVE " %1, %0%{%2%}" : "+m"(LINE(to)) : "v"(v), "Yk"(mask)); } \
    static inline WIDE_##NAME pick_##NAME(WIDE_##NAME a, WIDE_##NAME places, WIDE_##NAME b) { /* elements of both */ \
        __asm__("vpermt2" P " %2, %1, %0" : "+v"(a) : "v"(places), "v"(b)); \
        return a; \
    }
PARTS_OF(float, f32, "ps", "vmovups")
PARTS_OF(double, f64, "pd", "vmovupd")
#elif defined(__AVX2__)
#define MASKED 0
#define MASK WIDE_f32
static const int32_t edge[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
#define PARTS_OF(T, NAME, MOVE) \
    static inline MASK mask_##NAME(int64_t n) { return *(const MASK *)(edge + 8 - (n >= VECTOR / (int)sizeof(T) ? 8 : n * (int)sizeof(T) / 4)); } \
    static inline WIDE_##NAME load_masked_##NAME(const T *from, MASK mask) { \
        WIDE_##NAME v; \
        __asm__(MOVE " %1, %2, %0" : "=x"(v) : "m"(LINE(from)), "x"(mask)); \
        return v; \
    } \
    static inline void store_masked_##NAME(T *to, WIDE_##NAME v, MASK mask) { __asm__ volatile(MOVE " %1, %2, %0" : "+m"(LINE(to)) : "x"(v), "x"(mask)); }
PARTS_OF(float, f32, "vmaskmovps")
PARTS_OF(double, f64, "vmaskmovpd")
#else
#define MASKED 0
#define MASK int64_t
#define PARTS_OF(T, NAME) \
    static inline MASK mask_##NAME(int64_t n) { return n; } \
    static inline WIDE_##NAME load_masked_##NAME(const T *from, MASK n) { \
        if (n >= (int64_t)(VECTOR / sizeof(T))) return *(const WIDE_##NAME *)from; \
        T part[VECTOR / sizeof(T)] = {0}; \
        for (int64_t q = 0; q < n; q++) part[q] = from[q]; \
        return *(WIDE_##NAME *)part; \
    } \
    static inline void store_masked_##NAME(T *to, WIDE_##NAME v, MASK n) { \
        for (int64_t q = 0; q < n && q < (int64_t)(VECTOR / sizeof(T)); q++) to[q] = v[q]; \
    }
PARTS_OF(float, f32)
PARTS_OF(double, f64)
#endif
#undef PARTS_OF

/* The sum of the elements of a vector: halves are added, then their halves. */
#if defined(__clang__) || __GNUC__ >= 12
static inline float total_f32(WIDE_f32 v) {
#if VECTOR == 64
    const WIDE_f32 all = v;
    const HALF_f32 eight = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    const WIDE_f32 eight = v;
#endif
    const float four __attribute__((vector_size(16))) = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
    return (four[0] + four[2]) + (four[1] + four[3]);
}
static inline double total_f64(WIDE_f64 v) {
#if VECTOR == 64
    const WIDE_f64 all = v;
    const HALF_f64 four = __builtin_shufflevector(all, all, 0, 1, 2, 3) + __builtin_shufflevector(all, all, 4, 5, 6, 7);
#else
    const WIDE_f64 four = v;
#endif
    return (four[0] + four[2]) + (four[1] + four[3]);
}
#else
#define TOTAL_OF(T, NAME) \
    static inline T total_##NAME(WIDE_##NAME v) { \
        T part[VECTOR / sizeof(T)]; \
        *(WIDE_##NAME *)part = v; \
        for (int half = VECTOR / sizeof(T) / 2; half > 0; half /= 2) \
            for (int q = 0; q < half; q++) part[q] += part[q + half]; \
        return part[0]; \
    }
TOTAL_OF(float, f32)
TOTAL_OF(double, f64)
#undef TOTAL_OF
#endif

/* ELEMENTS: f32 (1), f64 (2) or both: a library of one takes half as long to build. */
#ifndef ELEMENTS
#define ELEMENTS 3
#endif

#if ELEMENTS & 1
#define T float
#define NAME(x) x##_f32
#define VL (VECTOR / 4)
#define KC 512
#define MC 288
#define WHOLE int32_t
#define WIDE WIDE_f32
#define HALF HALF_f32
/* rows r[0..3] to columns, in instructions that stay inside 16 bytes */
#define TURN(r) \
    const NAME(four) t0 = SHUFFLE(NAME(lanes), r[0], r[1], 0, 4, 1, 5), t1 = SHUFFLE(NAME(lanes), r[2], r[3], 0, 4, 1, 5); \
    const NAME(four) t2 = SHUFFLE(NAME(lanes), r[0], r[1], 2, 6, 3, 7), t3 = SHUFFLE(NAME(lanes), r[2], r[3], 2, 6, 3, 7); \
    r[0] = SHUFFLE(NAME(lanes), t0, t1, 0, 1, 4, 5); r[1] = SHUFFLE(NAME(lanes), t0, t1, 2, 3, 6, 7); \
    r[2] = SHUFFLE(NAME(lanes), t2, t3, 0, 1, 4, 5); r[3] = SHUFFLE(NAME(lanes), t2, t3, 2, 3, 6, 7);
#include "product.h"
#undef TURN
#undef WHOLE
#undef WIDE
#undef HALF
#undef T
#undef NAME
#undef VL
#undef KC
#undef MC
#endif

#if ELEMENTS & 2
#define T double
#define NAME(x) x##_f64
#define VL (VECTOR / 8)
#define KC 512
#define MC 144
#define WHOLE int64_t
#define WIDE WIDE_f64
#define HALF HALF_f64
#define TURN(r) \
    const NAME(four) t0 = SHUFFLE(NAME(lanes), r[0], r[1], 0, 4, 2, 6), t1 = SHUFFLE(NAME(lanes), r[0], r[1], 1, 5, 3, 7); \
    const NAME(four) t2 = SHUFFLE(NAME(lanes), r[2], r[3], 0, 4, 2, 6), t3 = SHUFFLE(NAME(lanes), r[2], r[3], 1, 5, 3, 7); \
    r[0] = SHUFFLE(NAME(lanes), t0, t2, 0, 1, 4, 5); r[1] = SHUFFLE(NAME(lanes), t1, t3, 0, 1, 4, 5); \
    r[2] = SHUFFLE(NAME(lanes), t0, t2, 2, 3, 6, 7); r[3] = SHUFFLE(NAME(lanes), t1, t3, 2, 3, 6, 7);
#include "product.h"
#undef TURN
#undef WHOLE
#undef WIDE
#undef HALF
#undef T
#undef NAME
#undef VL
#undef KC
#undef MC
#endif

typedef void (*sgemm_function)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void (*dgemm_function)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
static sgemm_function blas_sgemm;
static dgemm_function blas_dgemm;

/* Addresses of cblas_sgemm and cblas_dgemm with 32-bit integers, or null for the code above. */
void atoll_set_blas(void *sgemm, void *dgemm) {
    blas_sgemm = (sgemm_function)sgemm;
    blas_dgemm = (dgemm_function)dgemm;
}

/* In blocks of c, so that a look at whether to stop is never far. 0: not a product for BLAS; else 1, or -2 when the user wants to stop. */
static int by_blas(at_call *at, const at_product *p, int is_double) {
    if (!(is_double ? (void *)blas_dgemm : (void *)blas_sgemm) || p->levels != 1 || p->extent[0] == 0) return 0;
    const int64_t most = 2147483647, k = p->extent[0];
    if (p->m > most || p->n > most || k > most || p->a_m > most || p->b_n > most || p->a_k[0] > most || p->b_k[0] > most || p->c_m > most) return 0;
    int a_way, b_way;
    int64_t lda, ldb;
    if (p->a_k[0] == 1 && p->a_m >= k) { a_way = 111; lda = p->a_m; }
    else if (p->a_m == 1 && p->a_k[0] >= p->m) { a_way = 112; lda = p->a_k[0]; }
    else return 0;
    if (p->b_n == 1 && p->b_k[0] >= p->n) { b_way = 111; ldb = p->b_k[0]; }
    else if (p->b_k[0] == 1 && p->b_n >= k) { b_way = 112; ldb = p->b_n; }
    else return 0;
    if (p->c_m < p->n) return 0;
    const double at_once = 2e9 / (double)k;   /* elements of c */
    const int64_t whole = (double)p->m * (double)p->n < 2 * at_once, side = (int64_t)sqrt(at_once) > 512 ? (int64_t)sqrt(at_once) : 512;
    const int64_t rows = whole ? p->m : side, columns = whole ? p->n : side, size = is_double ? 8 : 4;
    for (int64_t i = 0; i < p->m; i += rows)
        for (int64_t j = 0; j < p->n; j += columns) {
            const int m = (int)(p->m - i < rows ? p->m - i : rows), n = (int)(p->n - j < columns ? p->n - j : columns);
            const void *a = (const char *)p->a + i * p->a_m * size, *b = (const char *)p->b + j * p->b_n * size;
            void *c = (char *)p->c + (i * p->c_m + j) * size;
            if (i + j > 0 && rt->poll(at)) return -2;
            if (is_double) blas_dgemm(101, a_way, b_way, m, n, (int)k, 1.0, a, (int)lda, b, (int)ldb, p->adds ? 1.0 : 0.0, c, (int)p->c_m);
            else blas_sgemm(101, a_way, b_way, m, n, (int)k, 1.0f, a, (int)lda, b, (int)ldb, p->adds ? 1.0f : 0.0f, c, (int)p->c_m);
        }
    return 1;
}

/* c = a * b; 0, or -1 when there is no memory. */
int atoll_product(at_call *at, const at_product *p, int is_double) {
    if (p->m <= 0) return 0;
    if (p->n <= 0) return follow(at, p);
    const int blas = by_blas(at, p, is_double);
    if (blas) return blas < 0 ? blas : follow(at, p);
#if ELEMENTS & 1
    if (!is_double) return any_product_f32(at, p);
#endif
#if ELEMENTS & 2
    if (is_double) return any_product_f64(at, p);
#endif
    return -1;
}
