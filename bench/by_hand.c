/* What one would write by hand, one loop nest each: compared with Atoll's programs by bench/by_hand.py. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void blur(int64_t n, int64_t m, const float *restrict img, float *restrict out) {
    float *restrict tall = malloc(m * sizeof(float));
    for (int64_t i = 0; i < n - 8; i++) {
        for (int64_t j = 0; j < m; j++) {
            float s = 0;
            for (int t = 0; t < 9; t++) s += img[(i + t) * m + j];
            tall[j] = s / 9;
        }
        for (int64_t j = 0; j < m - 8; j++) {
            float s = 0;
            for (int t = 0; t < 9; t++) s += tall[j + t];
            out[i * (m - 8) + j] = s / 9;
        }
    }
    free(tall);
}

static double below(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }

void black_scholes(int64_t n, const double *restrict price, const double *restrict strike, const double *restrict years, double rate, double volatility, double *restrict out) {
    for (int64_t i = 0; i < n; i++) {
        double spread = volatility * sqrt(years[i]);
        double high = (log(price[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) / spread;
        out[i] = price[i] * below(high) - strike[i] * exp(-rate * years[i]) * below(high - spread);
    }
}

void matrix_product(int64_t n, int64_t k, int64_t m, const float *restrict a, const float *restrict b, float *restrict out) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) out[i * m + j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < m; j++) out[i * m + j] += a[i * k + p] * b[p * m + j];
    }
}

void kmeans_step(int64_t n, int64_t d, int64_t k, const double *restrict points, const double *restrict centres, double *restrict out) {
    double *restrict count = calloc(k, sizeof(double));
    for (int64_t j = 0; j < k * d; j++) out[j] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t best = 0;
        double least = INFINITY;
        for (int64_t c = 0; c < k; c++) {
            double s = 0;
            for (int64_t t = 0; t < d; t++) {
                double e = points[i * d + t] - centres[c * d + t];
                s += e * e;
            }
            if (s < least) least = s, best = c;
        }
        for (int64_t t = 0; t < d; t++) out[best * d + t] += points[i * d + t];
        count[best] += 1;
    }
    for (int64_t j = 0; j < k; j++)
        for (int64_t t = 0; t < d; t++) out[j * d + t] = count[j] > 0 ? out[j * d + t] / count[j] : centres[j * d + t];
    free(count);
}

void drawdown(int64_t n, const double *restrict prices, double *restrict out) {
    double top = 0;
    for (int64_t i = 0; i < n; i++) {
        top = prices[i] > top ? prices[i] : top;
        out[i] = 1 - prices[i] / top;
    }
}

void chain(int64_t n, const double *restrict x, double *restrict out) {
    for (int64_t i = 0; i < n; i++) {
        double y = x[i];
        y = y * 1.5; y = y + x[i]; y = y - 0.25; y = y * y; y = y + 1.0; y = sqrt(y); y = y * 0.5; y = y - x[i]; y = y * 2.0; y = y + 3.0;
        y = fabs(y); y = y * x[i]; y = y + 0.125; y = y * 0.75; y = y - 1.0; y = y * y; y = y + x[i]; y = y * 1.25; y = -y; y = y + 2.0;
        out[i] = y;
    }
}

double chain_sum(int64_t n, const double *restrict x) { /* the same, and the sum: in 16 partial sums, since the order of additions is free */
    double s[16] = {0};
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int l = 0; l < 16; l++) {
            double y = x[i + l];
            y = y * 1.5; y = y + x[i + l]; y = y - 0.25; y = y * y; y = y + 1.0; y = sqrt(y); y = y * 0.5; y = y - x[i + l]; y = y * 2.0; y = y + 3.0;
            y = fabs(y); y = y * x[i + l]; y = y + 0.125; y = y * 0.75; y = y - 1.0; y = y * y; y = y + x[i + l]; y = y * 1.25; y = -y; y = y + 2.0;
            s[l] += y;
        }
    double total = 0;
    for (int l = 0; l < 16; l++) total += s[l];
    for (; i < n; i++) {
        double y = x[i];
        y = y * 1.5; y = y + x[i]; y = y - 0.25; y = y * y; y = y + 1.0; y = sqrt(y); y = y * 0.5; y = y - x[i]; y = y * 2.0; y = y + 3.0;
        y = fabs(y); y = y * x[i]; y = y + 0.125; y = y * 0.75; y = y - 1.0; y = y * y; y = y + x[i]; y = y * 1.25; y = -y; y = y + 2.0;
        total += y;
    }
    return total;
}
