/* How long short parallel loops take, each of eight pieces: the pool of runtime.c, and OpenMP (bench/waits.py). */
#include "runtime.c"
#include <stdio.h>

static double each[1 << 20];

static int piece(at_call *call, void *context, int64_t number) {
    (void)call, (void)context, (void)number;
    volatile double sum = 0;
    for (int i = 0; i < 6000; i++) sum += i;
    return 0;
}

static int by_length(const void *a, const void *b) {
    double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}

static void loop(at_call *call, int how, int threads) {
    if (how == 0) {
        atoll_parallel(call, piece, NULL, 8, 0);
    } else if (how == 1) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int k = 0; k < 8; k++) piece(NULL, NULL, k);
    } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int k = 0; k < 8; k++) piece(NULL, NULL, k);
    }
}

int main(int count, char **words) {
    (void)count;
    int how = atoi(words[1]), loops = atoi(words[2]), threads = atoi(words[3]), long_ones = 0;
    double all = 0;
    at_arg shown[1];
    at_call call = {.args = shown};
    atoll_threads(threads);
    for (int k = 0; k < loops; k++) {
        double start = now();
        loop(&call, how, threads);
        each[k] = now() - start;
        all += each[k];
        long_ones += each[k] > 1e-3;
    }
    qsort(each, (size_t)loops, sizeof *each, by_length);
    printf("mean %6.1f us, median %6.1f, one in a hundred over %7.1f, worst %8.1f; over 1 ms: %d of %d\n", all / loops * 1e6, each[loops / 2] * 1e6, each[loops * 99 / 100] * 1e6, each[loops - 1] * 1e6, long_ones, loops);
    return 0;
}
