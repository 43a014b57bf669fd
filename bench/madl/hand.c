/* The five programs of examples/madl as an engineer would write them in C: what the generated code is measured against. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* -- FIR bank: 8 filters of 5 taps, frames of 64 */

typedef struct { double line[68]; } hand_fir_state;

void hand_fir_step(hand_fir_state *self, int n, const double (*restrict h)[5], const double *restrict x, double (*restrict y)[64]) {
    double *line = self->line;
    memcpy(line, line + 64, 4 * sizeof(double));
    memcpy(line + 4, x, 64 * sizeof(double));
    for (int f = 0; f < n; f++) {
        for (int t = 0; t < 64; t++) {
            double s = 0.0;
            for (int k = 0; k < 5; k++) s += h[f][4 - k] * line[t + k];
            y[f][t] = s;
        }
    }
}

/* -- biquad cascade */

void hand_biquad_step(int m, int n, double *restrict s1, double *restrict s2, const double *restrict b0, const double *restrict b1,
                      const double *restrict b2, const double *restrict a1, const double *restrict a2, const double *restrict x, double *restrict y) {
    for (int t = 0; t < n; t++) {
        double v = x[t];
        for (int j = 0; j < m; j++) {
            double in = v;
            v = b0[j] * in + s1[j];
            s1[j] = b1[j] * in - a1[j] * v + s2[j];
            s2[j] = b2[j] * in - a2[j] * v;
        }
        y[t] = v;
    }
}

/* -- Kalman filter: 4 states, 2 measurements */

typedef struct { double x[4], p[4][4]; } hand_kalman_state;

static void product(int m, int n, int k, const double *restrict a, const double *restrict b, double *restrict c) {
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < k; j++) {
            double s = 0.0;
            for (int l = 0; l < n; l++) s += a[i * n + l] * b[l * k + j];
            c[i * k + j] = s;
        }
    }
}

static void product_t(int m, int n, int k, const double *restrict a, const double *restrict b, double *restrict c) {
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < k; j++) {
            double s = 0.0;
            for (int l = 0; l < n; l++) s += a[i * n + l] * b[j * n + l];
            c[i * k + j] = s;
        }
    }
}

static void factor(int n, double *l) {
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            for (int i = j; i < n; i++) l[i * n + j] -= l[j * n + k] * l[i * n + k];
        for (int i = 0; i < j; i++) l[i * n + j] = 0.0;
        l[j * n + j] = sqrt(l[j * n + j]);
        for (int i = j + 1; i < n; i++) l[i * n + j] /= l[j * n + j];
    }
}

static void substitute(int m, int n, const double *restrict l, double *restrict b) {
    for (int i = 0; i < m; i++) {
        for (int k = 0; k < i; k++)
            for (int j = 0; j < n; j++) b[i * n + j] -= l[i * m + k] * b[k * n + j];
        for (int j = 0; j < n; j++) b[i * n + j] /= l[i * m + i];
    }
}

void hand_kalman_step(hand_kalman_state *self, double f[restrict 4][4], double q[restrict 4][4], double h[restrict 2][4], double r[restrict 2][2],
                      const double z[restrict 2], double out[restrict 4]) {
    double moved[4], fp[4][4], spread[4][4], seen[2], gap[2], hp[2][4], l[2][2];
    product(4, 4, 1, &f[0][0], self->x, moved);
    product(4, 4, 4, &f[0][0], &self->p[0][0], &fp[0][0]);
    product_t(4, 4, 4, &fp[0][0], &f[0][0], &spread[0][0]);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) spread[i][j] += q[i][j];
    product(2, 4, 1, &h[0][0], moved, seen);
    for (int i = 0; i < 2; i++) gap[i] = z[i] - seen[i];
    product(2, 4, 4, &h[0][0], &spread[0][0], &hp[0][0]);
    product_t(2, 4, 2, &hp[0][0], &h[0][0], &l[0][0]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) l[i][j] += r[i][j];
    factor(2, &l[0][0]);
    substitute(2, 4, &l[0][0], &hp[0][0]);
    substitute(2, 1, &l[0][0], gap);
    for (int i = 0; i < 4; i++) self->x[i] = moved[i] + hp[0][i] * gap[0] + hp[1][i] * gap[1];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) self->p[i][j] = spread[i][j] - hp[0][i] * hp[0][j] - hp[1][i] * hp[1][j];
    memcpy(out, self->x, sizeof self->x);
}

/* -- FFT by recursive splitting: x is overwritten */

void hand_fft(int n, const double *restrict wr, const double *restrict wi, double *restrict xr, double *restrict xi, double *restrict yr, double *restrict yi) {
    if (n == 1) {
        yr[0] = xr[0];
        yi[0] = xi[0];
        return;
    }
    int half = n / 2;
    for (int k = 0; k < half; k++) {
        yr[k] = xr[2 * k];
        yi[k] = xi[2 * k];
        yr[half + k] = xr[2 * k + 1];
        yi[half + k] = xi[2 * k + 1];
    }
    hand_fft(half, wr + half, wi + half, yr, yi, xr, xi);
    hand_fft(half, wr + half, wi + half, yr + half, yi + half, xr + half, xi + half);
    for (int k = 0; k < half; k++) {
        double re = wr[k] * xr[half + k] - wi[k] * xi[half + k], im = wr[k] * xi[half + k] + wi[k] * xr[half + k];
        yr[k] = xr[k] + re;
        yi[k] = xi[k] + im;
        yr[half + k] = xr[k] - re;
        yi[half + k] = xi[k] - im;
    }
}

/* -- PID */

typedef struct { double slope, before, sum; } hand_pid_state;

void hand_pid_step(hand_pid_state *self, double setpoint, double measured, bool clear, double *u) {
    if (clear) self->slope = self->before = self->sum = 0.0;
    double error = setpoint - measured;
    self->slope = 0.8 * self->slope + 0.2 * (self->before - measured) / 0.01;
    self->before = measured;
    double wanted = 2.0 * error + self->sum + 0.05 * self->slope;
    double command = wanted < -10.0 ? -10.0 : wanted > 10.0 ? 10.0 : wanted;
    self->sum += 0.01 * (1.5 * error + 4.0 * (command - wanted));
    *u = command;
}
