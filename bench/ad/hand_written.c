/* Value and gradient as a person would write them, for the smallest programs. */
#include <math.h>
#include <stdint.h>

double log_sum_exp(int64_t n, const double *restrict x, double *restrict dx) {
    double top = -INFINITY, total = 0.0;
    for (int64_t i = 0; i < n; i++) top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < n; i++) { dx[i] = exp(x[i] - top); total += dx[i]; }
    for (int64_t i = 0; i < n; i++) dx[i] /= total;
    return log(total) + top;
}

double dot(int64_t n, const double *restrict x, const double *restrict y, double *restrict dx, double *restrict dy) {
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) { total += x[i] * y[i]; dx[i] = y[i]; dy[i] = x[i]; }
    return total;
}

double elementwise(int64_t n, const double *restrict x, double *restrict dx) {
    double total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double s = x[i] * x[i], r = 1.0 / (1.0 + s);
        total += s * r;
        dx[i] = 2.0 * x[i] * r * r;
    }
    return total;
}
