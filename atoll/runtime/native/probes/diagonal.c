/* diagonal: rounds of an outer loop write places that rounds before have written. gcc 11 and 12 -O3 put rounds of the outer loop into one vector unless at_order() stands there.
 * without: -fno-tree-loop-vectorize
 */
static __attribute__((noinline)) void diagonal_run(int64_t n, int64_t m, double *restrict to, const double *restrict from) {
    for (int64_t i = 0; i < n; i++) {
        at_order();
        for (int64_t j = 0; j < m; j++) to[i + j + 3] = from[i + j + 17] + from[j + 8];
    }
}

static int diagonal(void) {
    static double to[200], from[200], wanted[200];
    int wrong = 0;
    for (int m = 1; m < 70; m += 17) {
        for (int k = 0; k < 200; k++) to[k] = wanted[k] = k % 5, from[k] = k % 7 * k % 13;
        diagonal_run(66, m, to, from);
        for (volatile int i = 0; i < 66; i++) {
            for (volatile int j = 0; j < m; j++) wanted[i + j + 3] = from[i + j + 17] + from[j + 8];
        }
        for (int k = 0; k < 200; k++) wrong += to[k] != wanted[k];
    }
    return wrong;
}
