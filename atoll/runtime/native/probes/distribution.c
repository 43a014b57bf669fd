/* distribution: loops that copy a row and clear it, for two rows. gcc 12 makes memcpy and memset of them, and clears the second row before it is copied.
 * without: -fno-tree-loop-distribute-patterns
 */
static __attribute__((noinline)) void distribution_plain(int64_t low, int64_t high, int64_t m, int64_t n, int64_t u, double *restrict kept, double *restrict rows, double *restrict other) {
    for (int64_t j = low; j < high; j++) {
        kept[j] = rows[(n - u - 1) * m + j];
        rows[(n - u - 1) * m + j] = 0.0;
        other[j] = rows[u * m + j];
        rows[u * m + j] = 0.0;
    }
}

static __attribute__((noinline)) void distribution_independent(int64_t low, int64_t high, int64_t m, int64_t n, int64_t u, double *restrict kept, double *restrict rows, double *restrict other) {
    INDEPENDENT
    for (int64_t j = low; j < high; j++) {
        kept[j] = rows[j];
        rows[j] = 0.0;
        other[j] = rows[(n - u - 1) * m + j];
        rows[(n - u - 1) * m + j] = 0.0;
    }
}

static int distribution(void) {
    int wrong = 0;
    for (int m = 1; m < 20; m += 6) {
        double rows[40], kept[20] = {0}, other[20] = {0};
        for (int k = 0; k < 2 * m; k++) rows[k] = k + 1;
        distribution_plain(0, m, m, 2, 0, kept, rows, other);
        for (int k = 0; k < m; k++) wrong += kept[k] != m + k + 1 || other[k] != k + 1 || rows[k] != 0 || rows[m + k] != 0;
        for (int k = 0; k < 2 * m; k++) rows[k] = k + 1;
        distribution_independent(0, m, m, 2, 0, kept, rows, other);
        for (int k = 0; k < m; k++) wrong += kept[k] != k + 1 || other[k] != m + k + 1 || rows[k] != 0 || rows[m + k] != 0;
    }
    return wrong;
}
