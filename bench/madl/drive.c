/* Times the generated steps against the hand-written ones, in turns, in processor time. Prints `program generated hand` in nanoseconds per step, a line per round. */
#define _POSIX_C_SOURCE 199309L
#include "biquad.h"
#include "fft.h"
#include "fir_bank.h"
#include "kalman.h"
#include "pid.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { double line[68]; } hand_fir_state;
typedef struct { double x[4], p[4][4]; } hand_kalman_state;
typedef struct { double slope, before, sum; } hand_pid_state;
void hand_fir_step(hand_fir_state *, int, const double (*)[5], const double *, double (*)[64]);
void hand_biquad_step(int, int, double *, double *, const double *, const double *, const double *, const double *, const double *, const double *, double *);
void hand_kalman_step(hand_kalman_state *, double (*)[4], double (*)[4], double (*)[4], double (*)[2], const double *, double *);
void hand_fft(int, const double *, const double *, double *, double *, double *, double *);
void hand_pid_step(hand_pid_state *, double, double, bool, double *);

enum { FILTERS = 8, SECTIONS = 8, FRAME = 64 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double h[FILTERS][5], x[FRAME], y[FILTERS][FRAME], y2[FILTERS][FRAME];
static double b0[SECTIONS], b1[SECTIONS], b2[SECTIONS], a1[SECTIONS], a2[SECTIONS], s1[SECTIONS], s2[SECTIONS], t1[SECTIONS], t2[SECTIONS];
static double f[4][4], q[4][4], hm[2][4], r[2][2], z[2], out[4], out2[4];
static double wr[63], wi[63], xr[64], xi[64], yr[64], yi[64], zr[64], zi[64], kr[64], ki[64];

static fir_bank_state fir;
static hand_fir_state hand_fir;
static biquad_state biquad_self;
static kalman_state kalman_self;
static hand_kalman_state hand_kalman;
static pid_state pid_self;
static hand_pid_state hand_pid;
static double u, u2;

static void gen_fir(int k) { x[k % FRAME] += 0.001; fir_bank_step(&fir, FILTERS, &h[0][0], x, &y[0][0]); }
static void our_fir(int k) { x[k % FRAME] -= 0.001; hand_fir_step(&hand_fir, FILTERS, (const double (*)[5])h, x, y2); }
static void gen_biquad(int k) { (void)k; biquad_step(&biquad_self, SECTIONS, FRAME, b0, b1, b2, a1, a2, x, y[0]); }
static void our_biquad(int k) { (void)k; hand_biquad_step(SECTIONS, FRAME, t1, t2, b0, b1, b2, a1, a2, x, y2[0]); }
static void gen_kalman(int k) { z[0] = 0.001 * (k % 7); kalman_step(&kalman_self, out, f, hm, q, r, z); }
static void our_kalman(int k) { z[0] = 0.001 * (k % 7); hand_kalman_step(&hand_kalman, f, q, hm, r, z, out2); }
static void gen_fft(int k) { (void)k; memcpy(kr, xr, sizeof xr); memcpy(ki, xi, sizeof xi); fft64(wr, wi, kr, ki, yr, yi); }
static void our_fft(int k) { (void)k; memcpy(kr, xr, sizeof xr); memcpy(ki, xi, sizeof xi); hand_fft(64, wr, wi, kr, ki, zr, zi); }
static void gen_pid(int k) { double s = k % 50, m = k % 3; bool c = k % 100 == 0; pid_step(&pid_self, &c, &m, &s, &u); }
static void our_pid(int k) { double s = k % 50, m = k % 3; bool c = k % 100 == 0; hand_pid_step(&hand_pid, s, m, c, &u2); }

static double per_step(void (*step)(int), int count) {
    double start = now();
    for (int k = 0; k < count; k++) step(k);
    return (now() - start) / count;
}

static void same(const char *name, const double *a, const double *b, int n) {
    for (int k = 0; k < n; k++) {
        if (fabs(a[k] - b[k]) > 1e-9 * (1.0 + fabs(b[k]))) {
            fprintf(stderr, "%s: results differ at %d: %g, %g\n", name, k, a[k], b[k]);
            exit(1);
        }
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 15;
    for (int k = 0; k < FILTERS * 5; k++) (&h[0][0])[k] = 0.1 * (k % 7) - 0.2;
    for (int k = 0; k < FRAME; k++) x[k] = sin(0.37 * k);
    for (int k = 0; k < SECTIONS; k++) {
        b0[k] = 0.2, b1[k] = 0.3, b2[k] = 0.2, a1[k] = -0.4, a2[k] = 0.1;
    }
    for (int k = 0; k < 4; k++) {
        f[k][k] = 1.0, q[k][k] = 0.01, hm[k % 2][k % 2] = 1.0, r[k % 2][k % 2] = 0.1;
    }
    f[0][2] = f[1][3] = 0.1;
    for (int k = 0; k < 64; k++) xr[k] = cos(0.3 * k * k), xi[k] = 0.5 * sin(0.7 * k);
    for (int n = 64, at = 0; n > 1; at += n / 2, n /= 2)
        for (int k = 0; k < n / 2; k++) wr[at + k] = cos(2.0 * 3.14159265358979323846 * k / n), wi[at + k] = -sin(2.0 * 3.14159265358979323846 * k / n);
    fir_bank_init(&fir), biquad_init(&biquad_self, SECTIONS, FRAME, s1, s2), kalman_init(&kalman_self), pid_init(&pid_self);
    struct { const char *name; void (*generated)(int), (*hand)(int); int count; } rows[] = {
        {"fir_bank", gen_fir, our_fir, 4000}, {"biquad", gen_biquad, our_biquad, 2000}, {"kalman", gen_kalman, our_kalman, 20000},
        {"fft", gen_fft, our_fft, 4000}, {"pid", gen_pid, our_pid, 200000},
    };
    for (int round = 0; round < rounds; round++) {
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            double generated = per_step(rows[k].generated, rows[k].count), hand = per_step(rows[k].hand, rows[k].count);
            printf("%s %.2f %.2f\n", rows[k].name, generated, hand);
        }
        same("biquad", y[0], y2[0], FRAME), same("kalman", out, out2, 4), same("fft", yr, zr, 64), same("fft", yi, zi, 64), same("pid", &u, &u2, 1);
    }
    return 0;
}
