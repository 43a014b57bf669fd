/* masked: sums of integers that read neighbours on one condition. gcc 12 with AVX2 adds the same neighbour to all of them unless at_order() stands there.
 * without: -fno-tree-loop-if-convert
 */
static __attribute__((noinline)) void masked_run(int64_t n, int64_t m, const int32_t *restrict x, int32_t *restrict sums) {
    int32_t a = 0, b = 0;
    for (int64_t i = 0; i < n; i++) {
        at_order();
        a += i < m ? x[2 * i] : 0;
        b += i < m ? x[2 * i + 1] : 0;
    }
    sums[0] = a;
    sums[1] = b;
}

static int masked(void) {
    static int32_t x[128];
    int wrong = 0;
    for (int k = 0; k < 128; k++) x[k] = k * k % 31;
    for (int m = 0; m < 64; m += 7) {
        int32_t a = 0, b = 0, sums[2];
        for (volatile int i = 0; i < m; i++) a += x[2 * i], b += x[2 * i + 1];
        masked_run(61, m, x, sums);
        wrong += (m < 61 && (sums[0] != a || sums[1] != b));
    }
    return wrong;
}
