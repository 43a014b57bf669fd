/* Sums of products of two arrays, of any shape: matrix products, batched, transposed, convolutions.
 *
 *     c[i * c_m + j] = sum over k of a[i * a_m + a_k] * b[j * b_n + b_k]
 *
 * k counts through up to four levels and its offsets are kept in tables, so a convolution is read in place. Shapes and constants are
 * those of notes/c_shapes.md section 1: a tile of 6 rows by four vectors (two with 16 registers) in registers, a read in place along its rows, b packed where
 * it is large. What follows a product row by row is done for every piece of rows
 * while it is in the cache. With ATOLL_BLAS a library does what it can.
 */
#define _GNU_SOURCE
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
#define NEAR 262144        /* bytes of b that stay beside what is written */
#define SECOND 3145728     /* bytes of b that mostly stay in the second-level cache from call to call */
#define NOT_FAR 12582912   /* bytes of b that need no help to come near */
#define PACK_B 1048576     /* bytes of b beyond which its columns are packed */
#define FEW_TO_PACK 100    /* rows that do not pay for packing b */
#define WRITES 8388608     /* bytes of c that do not stay near */
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

/* Vectors that are not full, at the edge of a matrix: loads give zeros beyond it. */
#if defined(__AVX512F__)
#include <immintrin.h>
#define MASKED 1
#define MASK __mmask16
static inline MASK mask_f32(int64_t n) { return (MASK)(n >= 16 ? 0xffff : (1 << n) - 1); }
static inline MASK mask_f64(int64_t n) { return (MASK)(n >= 8 ? 0xff : (1 << n) - 1); }
static inline __m512 load_masked_f32(const float *from, MASK mask) { return _mm512_maskz_loadu_ps(mask, from); }
static inline void store_masked_f32(float *to, __m512 v, MASK mask) { _mm512_mask_storeu_ps(to, mask, v); }
static inline __m512d load_masked_f64(const double *from, MASK mask) { return _mm512_maskz_loadu_pd((__mmask8)mask, from); }
static inline void store_masked_f64(double *to, __m512d v, MASK mask) { _mm512_mask_storeu_pd(to, (__mmask8)mask, v); }
static inline __m256 load_half_f32(const float *from, MASK mask) { return _mm256_maskz_loadu_ps((__mmask8)mask, from); }
static inline __m256d load_half_f64(const double *from, MASK mask) { return _mm256_maskz_loadu_pd((__mmask8)mask, from); }
static inline void store_half_f32(float *to, __m256 v, MASK mask) { _mm256_mask_storeu_ps(to, (__mmask8)mask, v); }
static inline void store_half_f64(double *to, __m256d v, MASK mask) { _mm256_mask_storeu_pd(to, (__mmask8)mask, v); }
static inline float total_f32(__m512 v) { return _mm512_reduce_add_ps(v); }
static inline double total_f64(__m512d v) { return _mm512_reduce_add_pd(v); }
static inline __m512 load_all_f32(const float *from) { return _mm512_loadu_ps(from); }
static inline __m512d load_all_f64(const double *from) { return _mm512_loadu_pd(from); }
static inline void store_all_f32(float *to, __m512 v) { _mm512_storeu_ps(to, v); }
static inline void store_all_f64(double *to, __m512d v) { _mm512_storeu_pd(to, v); }
static inline __m512 pick_f32(__m512 a, __m512i places, __m512 b) { return _mm512_permutex2var_ps(a, places, b); } /* elements of both */
static inline __m512d pick_f64(__m512d a, __m512i places, __m512d b) { return _mm512_permutex2var_pd(a, places, b); }
#define PLACES __m512i
#define WIDE_f32 __m512
#define HALF_f32 __m256
#define HALF_f64 __m256d
#define WIDE_f64 __m512d
#else
#define MASKED 0
#define MASK int64_t
typedef float WIDE_f32 __attribute__((vector_size(VECTOR), aligned(4)));
typedef double WIDE_f64 __attribute__((vector_size(VECTOR), aligned(8)));
#define PARTS_OF(T, NAME) \
    static inline MASK mask_##NAME(int64_t n) { return n; } \
    static inline WIDE_##NAME load_masked_##NAME(const T *from, MASK n) { \
        T part[VECTOR / sizeof(T)] = {0}; \
        for (int64_t q = 0; q < n && q < (int64_t)(VECTOR / sizeof(T)); q++) part[q] = from[q]; \
        return *(WIDE_##NAME *)part; \
    } \
    static inline void store_masked_##NAME(T *to, WIDE_##NAME v, MASK n) { \
        for (int64_t q = 0; q < n && q < (int64_t)(VECTOR / sizeof(T)); q++) to[q] = v[q]; \
    } \
    static inline T total_##NAME(WIDE_##NAME v) { \
        T part[VECTOR / sizeof(T)]; \
        *(WIDE_##NAME *)part = v; \
        for (int half = VECTOR / sizeof(T) / 2; half > 0; half /= 2) \
            for (int q = 0; q < half; q++) part[q] += part[q + half]; \
        return part[0]; \
    }
PARTS_OF(float, f32)
PARTS_OF(double, f64)
#endif

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

typedef void (*sgemm_function)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void (*dgemm_function)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
static sgemm_function blas_sgemm;
static dgemm_function blas_dgemm;

/* Addresses of cblas_sgemm and cblas_dgemm with 32-bit integers, or null for the code above. */
void atoll_set_blas(void *sgemm, void *dgemm) {
    blas_sgemm = (sgemm_function)sgemm;
    blas_dgemm = (dgemm_function)dgemm;
}

static int by_blas(const at_product *p, int is_double) {
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
    if (is_double) blas_dgemm(101, a_way, b_way, (int)p->m, (int)p->n, (int)k, 1.0, p->a, (int)lda, p->b, (int)ldb, p->adds ? 1.0 : 0.0, p->c, (int)p->c_m);
    else blas_sgemm(101, a_way, b_way, (int)p->m, (int)p->n, (int)k, 1.0f, p->a, (int)lda, p->b, (int)ldb, p->adds ? 1.0f : 0.0f, p->c, (int)p->c_m);
    return 1;
}

/* c = a * b; 0, or -1 when there is no memory. */
int atoll_product(at_call *at, const at_product *p, int is_double) {
    if (p->m <= 0 || p->n <= 0) return 0;
    if (by_blas(p, is_double)) return follow(at, p);
    if (is_double ? small_f64(p) : small_f32(p)) return 0;
    int64_t k = 1;
    for (int l = 0; l < p->levels; l++) k *= p->extent[l] > 0 ? p->extent[l] : 0;
    int64_t few[512], length = k;
    if (p->levels == 1 && (is_double ? has_few_columns_f64(p, k) || has_few_rows_f64(p, k) : has_few_columns_f32(p, k) || has_few_rows_f32(p, k))) length = 0;
    else if (p->levels == 1) length = is_double ? block_of_k_f64(k) : block_of_k_f32(k);
    int64_t *offsets = length <= 256 ? few : rt->alloc(2 * length * (int64_t)sizeof(int64_t));
    if (!offsets) return -1;
    int64_t *a_k = offsets, *b_k = offsets + length;
    if (p->levels == 1) {
        for (int64_t t = 0; t < length; t++) { a_k[t] = t * p->a_k[0]; b_k[t] = t * p->b_k[0]; }
    } else {
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
    int status = is_double ? product_f64(at, p, k, a_k, b_k) : product_f32(at, p, k, a_k, b_k);
    if (offsets != few) rt->release(offsets);
    return status;
}
