/* The matrix kernel under the sanitizers, on random shapes: exact memory, exact values (small integers), and what follows done once for
 * every row. Run by `make sanitize` (tests/speed/sanitize.py), with and without AVX-512. */
#include "product.c"
#include <stdio.h>
#include <stdlib.h>

static int threads = 1, finished;

static void *exact(int64_t bytes) { return malloc((size_t)bytes); }
static int number_of_threads(void) { return threads; }
static int goes_on(at_call *at) { return (void)at, 0; }

/* Pieces backwards, so that none may rely on another. */
static int backwards(at_call *at, int (*task)(at_call *, void *, int64_t), void *context, int64_t pieces, int serial) {
    (void)serial;
    for (int64_t k = pieces - 1; k >= 0; k--) {
        int status = task(at, context, k);
        if (status) return status;
    }
    return 0;
}

static int follows(at_call *at, void *context, int64_t low, int64_t high) {
    char *seen = context;
    (void)at;
    for (int64_t i = low; i < high; i++) finished += seen[i]++ ? 1 << 20 : 1;
    return 0;
}

static uint64_t state = 88172645463325252u;
static int64_t below(int64_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

static int64_t size(void) {
    static const int64_t most[4] = {8, 50, 300, 700};
    return below(16) ? 1 + below(most[below(4)]) : below(2);
}

#define CASE(T, is_double) do { \
        T *a = exact(m * k * (int64_t)sizeof(T)), *b = exact(k * n * (int64_t)sizeof(T)), *c = exact(m * n * (int64_t)sizeof(T)); \
        for (int64_t i = 0; i < m * n; i++) c[i] = (T)(adds ? 3 : 1 << 20); \
        char *seen = calloc((size_t)m, 1); \
        for (int64_t i = 0; i < m * k; i++) a[i] = (T)(below(17) - 8); \
        for (int64_t i = 0; i < k * n; i++) b[i] = (T)(below(17) - 8); \
        const at_product p = {m, n, {k}, {a_turned ? m : 1}, {b_turned ? 1 : n}, a_turned ? 1 : k, b_turned ? k : 1, n, a, b, c, 1, adds, alone ? NULL : follows, seen, n}; \
        at_call at = {0}; \
        finished = 0; \
        int wrong = atoll_product(&at, &p, is_double) != 0 || finished != (alone ? 0 : m); \
        for (int64_t i = 0; i < m; i++) \
            for (int64_t j = 0; j < n; j += 1 + n / 40) { \
                double sum = adds ? 3 : 0; \
                for (int64_t q = 0; q < k; q++) sum += (double)(a_turned ? a[q * m + i] : a[i * k + q]) * (double)(b_turned ? b[j * k + q] : b[q * n + j]); \
                wrong |= sum != (double)c[i * n + j]; \
            } \
        if (wrong) { \
            printf("wrong: %s %ld by %ld over %ld, %d %d %d %d, %d threads\n", #T, (long)m, (long)n, (long)k, a_turned, b_turned, alone, adds, threads); \
            fflush(stdout); \
            return 1; \
        } \
        free(a); free(b); free(c); free(seen); \
    } while (0)

int main(int count, char **given) {
    static at_runtime runtime;
    runtime.alloc = exact;
    runtime.release = free;
    runtime.parallel = backwards;
    runtime.threads = number_of_threads;
    runtime.poll = goes_on;
    atoll_product_init(&runtime);
    for (int cases = count > 1 ? atoi(given[1]) : 1000; cases > 0; cases--) {
        int64_t m = size(), n = size(), k = size();
        if (below(8) == 0) n = 2000 + below(300);
        if (below(8) == 0) k = 1000 + below(3000);
        while (m * n * k > 8000000) *(k > 20 ? &k : m > n ? &m : &n) /= 2;
        const int a_turned = below(3) == 0, b_turned = below(3) == 0, alone = (int)below(2), adds = below(4) == 0;
        threads = 1 + (int)below(4);
        if (below(2)) CASE(float, 0);
        else CASE(double, 1);
    }
    return 0;
}
