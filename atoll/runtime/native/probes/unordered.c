/* unordered: comparisons with NaN, joined by and, or. gcc 11 and 12 make one test of them that is true for NaN.
 * without: -fno-trapping-math
 */
static __attribute__((noinline)) int unordered_f64(double a, double b) { return a < b || (a != b && a >= b); }

static __attribute__((noinline)) int unordered_f32(float a, float b) { return a > b || (a != b && a <= b); }

static int unordered(void) {
    volatile double nan = strtod("nan", NULL), one = 1;
    return unordered_f64(nan, one) + unordered_f64(one, nan) + unordered_f32((float)nan, 1) + unordered_f32(1, (float)nan) + !unordered_f64(one, 2) + !unordered_f32(2, (float)one);
}
