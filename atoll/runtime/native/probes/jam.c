/* jam: a skewed loop whose rounds write one element after the other. gcc 11 and 12 -O3 unroll the outer loop into the inner one or exchange them, so that another round wins.
 * without: -fno-loop-unroll-and-jam -fno-loop-interchange
 */
static __attribute__((noinline)) void jam_wave(int64_t m, double *restrict result, double *restrict left, double *restrict kept) {
    for (int64_t step = 0; step < m - 64; step++) {
        for (int64_t lane = 0; lane < 64; lane++) {
            const double l = left[lane], k = kept[lane];
            result[lane + step + 1] = l;
            left[lane] = l + k;
            kept[lane] = l;
        }
    }
}

static int jam(void) {
    double result[200] = {0}, left[64], kept[64], wanted[200] = {0}, a[64], b[64];
    int wrong = 0;
    for (int i = 0; i < 64; i++) left[i] = a[i] = i % 7, kept[i] = b[i] = i % 5;
    jam_wave(130, result, left, kept);
    for (volatile int step = 0; step < 66; step++) {
        for (volatile int i = 0; i < 64; i++) {
            const double l = a[i], k = b[i];
            wanted[i + step + 1] = l, a[i] = l + k, b[i] = l;
        }
    }
    for (int i = 0; i < 200; i++) wrong += result[i] != wanted[i];
    return wrong;
}
