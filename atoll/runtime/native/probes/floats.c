/* floats: NaN, infinities, the sign of zero, numbers below the normal ones, and the order of sums are as IEEE 754 has them; -ffast-math and its parts change them.
 * without: -fno-fast-math -fno-unsafe-math-optimizations -fno-finite-math-only -fsigned-zeros -fno-associative-math -fno-reciprocal-math
 */
static __attribute__((noinline)) int floats_nans(const double *x, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) count += isnan(x[i]) + (x[i] != x[i]);
    return count;
}

static __attribute__((noinline)) double floats_sum(const double *x, int n) {
    double total = 0;
    for (int i = 0; i < n; i++) total += x[i];
    return total;
}

static __attribute__((noinline)) void floats_divide(double *x, double by, int n) {
    for (int i = 0; i < n; i++) x[i] = x[i] / by;
}

static __attribute__((noinline)) double floats_plus_zero(double x) { return x + 0.0; }

static __attribute__((noinline)) double floats_product_sum(double x, double y, double z) { return x * y + z; }

static int floats(void) {
    volatile double nan = strtod("nan", NULL), infinite = strtod("inf", NULL), small = 1e-310, big = 1e16, tiny = -0.0, third = 1.0 + 0x1p-30;
    double x[11] = {1, nan, 2, infinite, nan, 3, 4, 5, nan, 6, -infinite};
    int wrong = floats_nans(x, 11) != 6;
    wrong += !isinf(infinite) + !isnan(infinite - infinite);
    double y[16] = {big, 1, -big, 1, big, 1, -big, 1, big, 1, -big, 1, big, 1, -big, 1};
    double total = 0;
    for (volatile int i = 0; i < 16; i++) total += y[i];
    wrong += floats_sum(y, 16) != total;
    double z[7] = {1, 2, 3, 5, 7, 11, 13}, w[7];
    for (volatile int i = 0; i < 7; i++) { volatile double by = 49; w[i] = z[i] / by; }
    floats_divide(z, 49, 7);
    for (int i = 0; i < 7; i++) wrong += z[i] != w[i];
    wrong += small * 0.5 == 0;
    wrong += signbit(floats_plus_zero(tiny)) != 0;
    volatile double square = third * third;
    wrong += floats_product_sum(third, third, -square) != 0;
    return wrong;
}
