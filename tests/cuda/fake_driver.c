/* A driver of NVIDIA's as far as ours is concerned, without a GPU: memory is this process's, kernels are not run. What is put on streams is written to the file that
 * FAKE_DRIVER_LOG names, a word for each call: for tests of what the real one would be asked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *file;
static uintptr_t next = 16;
static int capturing;
static void say(const char *what, void *stream) {
    if (!file) file = fopen(getenv("FAKE_DRIVER_LOG"), "w");
    fprintf(file, "%s %s\n", what, stream ? "apart" : "legacy");
    fflush(file);
}
int cuInit(unsigned f) { (void)f; return 0; }
int cuDriverGetVersion(int *v) { return *v = 13000, 0; }
int cuGetErrorName(int c, const char **s) { (void)c; return *s = "FAKE", 0; }
int cuGetErrorString(int c, const char **s) { (void)c; return *s = "of the fake driver", 0; }
int cuDeviceGetCount(int *n) { return *n = 1, 0; }
int cuDeviceGet(int *d, int k) { return *d = k, 0; }
int cuDeviceGetName(char *s, int room, int d) { (void)d; return snprintf(s, (size_t)room, "a fake GPU"), 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; return *n = 1u << 30, 0; }
int cuDeviceGetAttribute(int *v, int what, int d) { (void)d; return *v = what == 75 ? 9 : what == 76 ? 0 : 1, 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; return *c = (void *)8, 0; }
int cuCtxPushCurrent_v2(void *c) { (void)c; return 0; }
int cuCtxPopCurrent_v2(void **c) { return *c = 0, 0; }
int cuModuleLoadData(void **m, const void *image) { (void)image; return *m = (void *)8, 0; }
int cuModuleGetFunction(void **f, void *m, const char *name) { (void)m, (void)name; return *f = (void *)(next += 16), 0; }
int cuFuncSetAttribute(void *f, int a, int v) { (void)f, (void)a, (void)v; return 0; }
int cuFuncGetAttribute(int *v, int a, void *f) { (void)f, (void)a; return *v = 1, 0; }
int cuMemPoolCreate(void **p, const void *kind) { (void)kind; return *p = (void *)8, 0; }
int cuMemPoolSetAttribute(void *p, int a, void *v) { (void)p, (void)a, (void)v; return 0; }
int cuMemPoolTrimTo(void *p, size_t n) { (void)p, (void)n; return 0; }
int cuMemAllocFromPoolAsync(uint64_t *a, size_t n, void *p, void *s) { (void)p, (void)s; return capturing ? 900 : (*a = (uint64_t)(uintptr_t)calloc(1, n), 0); }
int cuMemFreeAsync(uint64_t a, void *s) { (void)s; return capturing ? 900 : (free((void *)(uintptr_t)a), 0); }
int cuMemHostAlloc(void **p, size_t n, unsigned f) { (void)f; return (*p = calloc(1, n)) ? 0 : 2; }
int cuMemFreeHost(void *p) { free(p); return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t t, const void *f, size_t n, void *s) { (void)s; memcpy((void *)(uintptr_t)t, f, n); return 0; }
int cuMemcpyDtoHAsync_v2(void *t, uint64_t f, size_t n, void *s) { (void)s; memcpy(t, (void *)(uintptr_t)f, n); return 0; }
int cuMemcpyDtoDAsync_v2(uint64_t t, uint64_t f, size_t n, void *s) { (void)t, (void)f, (void)n; say("copy", s); return 0; }
int cuMemsetD8Async(uint64_t t, unsigned char b, size_t n, void *s) { (void)t, (void)b, (void)n; say("fill", s); return 0; }
int cuStreamSynchronize(void *s) { (void)s; return 0; }
int cuEventCreate(void **e, unsigned f) { (void)f; return *e = (void *)8, 0; }
int cuEventRecord(void *e, void *s) { (void)e, (void)s; return 0; }
int cuStreamWaitEvent(void *s, void *e, unsigned f) { (void)s, (void)e, (void)f; return 0; }
int cuMemGetInfo_v2(size_t *a, size_t *b) { return *a = *b = 1u << 30, 0; }
int cuEventElapsedTime(float *t, void *a, void *b) { (void)a, (void)b; return *t = 0, 0; }
int cuEventSynchronize(void *e) { (void)e; return 0; }
int cuEventDestroy_v2(void *e) { (void)e; return 0; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **args, void **extra) {
    (void)f, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)args, (void)extra;
    say("launch", s);
    return 0;
}
int cuStreamCreate(void **s, unsigned f) { (void)f; return *s = (void *)(next += 16), 0; }
int cuStreamDestroy_v2(void *s) { (void)s; return 0; }
int cuStreamBeginCapture_v2(void *s, int mode) { (void)mode; return capturing = 1, say("begin", s), s ? 0 : 901; }
int cuStreamEndCapture(void *s, void **g) { return capturing = 0, *g = (void *)8, say("end", s), 0; }
int cuGraphInstantiateWithFlags(void **e, void *g, unsigned long long f) { (void)g, (void)f; return *e = (void *)(next += 16), getenv("FAKE_DRIVER_NO_GRAPHS") ? 801 : 0; }
int cuGraphLaunch(void *e, void *s) { (void)e; say("play", s); return 0; }
int cuGraphExecDestroy(void *e) { (void)e; say("drop", 0); return 0; }
int cuGraphDestroy(void *g) { (void)g; return 0; }
