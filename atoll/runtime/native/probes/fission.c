/* fission: a loop that takes values out of one place and puts them to others. gcc 12 -O3 makes several loops of it, in an order that the places do not allow.
 * without: -fno-tree-loop-distribution
 */
static __attribute__((noinline)) void fission_run(int64_t n, int64_t m, double *restrict a, double *restrict b, double *restrict c) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i; j < 8; j++) {
            a[j + 2] = c[i * m + j];
            c[j - i + 73] = a[j] + 1;
            b[j] = a[j + 4];
            a[j + 4] = 0;
            b[i + 16] += c[3 * j + i + 2] + 1;
        }
    }
}

static int fission(void) {
    double a[128], b[128], c[512], wanted_a[128], wanted_b[128], wanted_c[512];
    int wrong = 0;
    for (int m = 1; m < 40; m += 7) {
        for (int k = 0; k < 128; k++) a[k] = wanted_a[k] = k % 13, b[k] = wanted_b[k] = k % 7 + 1;
        for (int k = 0; k < 512; k++) c[k] = wanted_c[k] = k % 5;
        fission_run(m / 4, m, a, b, c);
        for (volatile int i = 0; i < m / 4; i++) {
            for (volatile int j = i; j < 8; j++) {
                wanted_a[j + 2] = wanted_c[i * m + j];
                wanted_c[j - i + 73] = wanted_a[j] + 1;
                wanted_b[j] = wanted_a[j + 4];
                wanted_a[j + 4] = 0;
                wanted_b[i + 16] += wanted_c[3 * j + i + 2] + 1;
            }
        }
        for (int k = 0; k < 128; k++) wrong += a[k] != wanted_a[k] || b[k] != wanted_b[k] || c[k] != wanted_c[k];
    }
    return wrong;
}
