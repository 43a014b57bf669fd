/* The same kernels as kernels.madl, as an embedded engineer writes them. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static const float taps[16] = {0.01f, 0.02f, 0.04f, 0.06f, 0.08f, 0.09f, 0.1f, 0.1f, 0.1f, 0.1f, 0.09f, 0.08f, 0.06f, 0.04f, 0.02f, 0.01f};

#if defined(FIR)
typedef struct { float line[16]; } fir_state;
const unsigned state_bytes = sizeof(fir_state);
void fir_init(fir_state *s) { memset(s, 0, sizeof *s); }
void fir_step(fir_state *s, float x, float *y) {
    float sum = 0.0f;
    for (int32_t k = 15; k > 0; k--) s->line[k] = s->line[k - 1];
    s->line[0] = x;
    for (int32_t k = 0; k < 16; k++) sum += taps[k] * s->line[k];
    *y = sum;
}
#elif defined(IIR)
typedef struct { float s1, s2; } iir_state;
const unsigned state_bytes = sizeof(iir_state);
void iir_init(iir_state *s) { s->s1 = s->s2 = 0.0f; }
void iir_step(iir_state *s, float x, float *y) {
    const float r = 0.2f * x + s->s1;
    s->s1 = 0.4f * x + 0.37f * r + s->s2;
    s->s2 = 0.2f * x - 0.2f * r;
    *y = r;
}
#elif defined(PID)
typedef struct { float i, b; } pid_state;
const unsigned state_bytes = sizeof(pid_state);
static float clip(float x, float low, float high) { return x < low ? low : x > high ? high : x; }
void pid_init(pid_state *s) { s->i = s->b = 0.0f; }
void pid_step(pid_state *s, float r, float y, float *u) {
    const float e = r - y;
    s->i = clip(s->i + 0.1f * e, -1.0f, 1.0f);
    *u = clip(2.0f * e + s->i + 0.5f * (e - s->b), -10.0f, 10.0f);
    s->b = e;
}
#elif defined(KALMAN)
typedef struct { float x, v, p00, p01, p11; } kalman_state;
const unsigned state_bytes = sizeof(kalman_state);
void kalman_init(kalman_state *s) { s->x = s->v = s->p01 = 0.0f; s->p00 = s->p11 = 1.0f; }
void kalman_step(kalman_state *s, float z, float *p, float *v) {
    const float x = s->x + s->v, a = s->p00 + 2.0f * s->p01 + s->p11 + 0.01f, b = s->p01 + s->p11, d = s->p11 + 0.01f;
    const float k0 = a / (a + 1.0f), k1 = b / (a + 1.0f), e = z - x;
    s->x = x + k0 * e;
    s->v = s->v + k1 * e;
    s->p00 = a - k0 * a;
    s->p01 = b - k0 * b;
    s->p11 = d - k1 * b;
    *p = s->x;
    *v = s->v;
}
#elif defined(INVERSE)
const unsigned state_bytes = 0;
void inverse(float m[3][3], float n[3][3]) {
    const float a = m[0][0], b = m[0][1], c = m[0][2], d = m[1][0], e = m[1][1], f = m[1][2], g = m[2][0], h = m[2][1], i = m[2][2];
    const float r = 1.0f / (a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g));
    n[0][0] = (e * i - f * h) * r; n[0][1] = (c * h - b * i) * r; n[0][2] = (b * f - c * e) * r;
    n[1][0] = (f * g - d * i) * r; n[1][1] = (a * i - c * g) * r; n[1][2] = (c * d - a * f) * r;
    n[2][0] = (d * h - e * g) * r; n[2][1] = (b * g - a * h) * r; n[2][2] = (a * e - b * d) * r;
}
#elif defined(CONV)
const unsigned state_bytes = 0;
void conv(float w[2][3][3], float im[8][8], float out[2][6][6]) {
    for (int32_t o = 0; o < 2; o++)
        for (int32_t i = 0; i < 6; i++)
            for (int32_t j = 0; j < 6; j++) {
                float s = 0.0f;
                for (int32_t k = 0; k < 3; k++)
                    for (int32_t l = 0; l < 3; l++) s += w[o][k][l] * im[i + k][j + l];
                out[o][i][j] = s;
            }
}
#elif defined(FFT)
const unsigned state_bytes = 0;
static const double cosines[8] = {1.0, 0.9238795325112867, 0.7071067811865476, 0.3826834323650898, 0.0, -0.3826834323650898, -0.7071067811865476, -0.9238795325112867};
static const double sines[8] = {0.0, 0.3826834323650898, 0.7071067811865476, 0.9238795325112867, 1.0, 0.9238795325112867, 0.7071067811865476, 0.3826834323650898};
void fft(const double in_re[16], const double in_im[16], double re[16], double im[16]) {
    for (int32_t i = 0; i < 16; i++) {
        const int32_t r = ((i & 1) << 3) | ((i & 2) << 1) | ((i & 4) >> 1) | ((i & 8) >> 3);
        re[r] = in_re[i];
        im[r] = in_im[i];
    }
    for (int32_t half = 1; half < 16; half *= 2)
        for (int32_t i = 0; i < 16; i += 2 * half)
            for (int32_t j = 0; j < half; j++) {
                const double c = cosines[j * (8 / half)], s = sines[j * (8 / half)];
                const double tr = re[i + j + half] * c + im[i + j + half] * s, ti = im[i + j + half] * c - re[i + j + half] * s;
                re[i + j + half] = re[i + j] - tr;
                im[i + j + half] = im[i + j] - ti;
                re[i + j] += tr;
                im[i + j] += ti;
            }
}
#endif
