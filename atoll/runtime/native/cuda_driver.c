/* The table of device.h over NVIDIA's driver, libcuda, which is found when it is first asked for; nothing of CUDA is needed to compile this.
 *
 * A device is used through its primary context, the one that frameworks in the same process use. Queues run on the legacy default stream unless another is
 * given, so what PyTorch and CuPy put there before and after is in order with what we put there. Memory comes from a pool of our own that keeps what is freed. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device.h"

typedef uint64_t address;
typedef struct { int type, handles, place, device; void *windows; size_t most; unsigned short usage; unsigned char unused[54]; } pool_kind;

enum { NO_MEMORY = 2, MOST_DEVICES = 64 };
enum { MAJOR = 75, MINOR = 76, PROCESSORS = 16, POOLS = 115, KEEP = 4, DYNAMIC_SHARED = 8, REGISTERS = 4, LOCAL = 3 };

#define FUNCTIONS(F)                                                                                                                    \
    F(cuInit, (unsigned)) F(cuDriverGetVersion, (int *)) F(cuGetErrorName, (int, const char **)) F(cuGetErrorString, (int, const char **)) \
    F(cuDeviceGetCount, (int *)) F(cuDeviceGet, (int *, int)) F(cuDeviceGetName, (char *, int, int)) F(cuDeviceTotalMem_v2, (size_t *, int)) \
    F(cuDeviceGetAttribute, (int *, int, int)) F(cuDevicePrimaryCtxRetain, (void **, int)) F(cuCtxPushCurrent_v2, (void *))             \
    F(cuCtxPopCurrent_v2, (void **)) F(cuModuleLoadData, (void **, const void *)) F(cuModuleGetFunction, (void **, void *, const char *)) \
    F(cuFuncSetAttribute, (void *, int, int)) F(cuFuncGetAttribute, (int *, int, void *)) F(cuMemPoolCreate, (void **, const pool_kind *)) \
    F(cuMemPoolSetAttribute, (void *, int, void *)) F(cuMemPoolTrimTo, (void *, size_t)) F(cuMemAllocFromPoolAsync, (address *, size_t, void *, void *)) \
    F(cuMemFreeAsync, (address, void *)) F(cuMemHostAlloc, (void **, size_t, unsigned)) F(cuMemFreeHost, (void *)) F(cuMemcpyHtoDAsync_v2, (address, const void *, size_t, void *))                               \
    F(cuMemcpyDtoHAsync_v2, (void *, address, size_t, void *)) F(cuMemcpyDtoDAsync_v2, (address, address, size_t, void *))              \
    F(cuMemsetD8Async, (address, unsigned char, size_t, void *)) F(cuStreamSynchronize, (void *)) F(cuEventCreate, (void **, unsigned)) \
    F(cuEventRecord, (void *, void *)) F(cuStreamWaitEvent, (void *, void *, unsigned)) F(cuMemGetInfo_v2, (size_t *, size_t *))        \
    F(cuEventElapsedTime, (float *, void *, void *)) F(cuEventSynchronize, (void *)) F(cuEventDestroy_v2, (void *))                     \
    F(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))

/* what not every driver has: without them loops are not recorded */
#define GRAPHS(F)                                                                                                                       \
    F(cuStreamCreate, (void **, unsigned)) F(cuStreamDestroy_v2, (void *)) F(cuStreamBeginCapture_v2, (void *, int)) F(cuStreamEndCapture, (void *, void **)) \
    F(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long)) F(cuGraphLaunch, (void *, void *)) F(cuGraphExecDestroy, (void *)) F(cuGraphDestroy, (void *))

#define FIELD(name, types) int (*name) types;
static struct { FUNCTIONS(FIELD) GRAPHS(FIELD) int graphs; } cu;

static void *driver, *contexts[MOST_DEVICES], *pools[MOST_DEVICES];

/* Find the driver: 0, a code of the driver's, or -1 with the reason in words. */
int atoll_cuda_find(const char *path, char *reason, int room) {
    if (!driver) {
        void *found = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (!found) {
            snprintf(reason, (size_t)room, "%s", dlerror());
            return -1;
        }
#define FIND(name, types)                                                                                  \
    if (!(cu.name = (int (*) types)dlsym(found, #name))) {                                                 \
        snprintf(reason, (size_t)room, "%s has no %s: it is too old, CUDA 11.2 or later is needed", path, #name); \
        return -1;                                                                                         \
    }
        FUNCTIONS(FIND)
        cu.graphs = 1;
#define LOOK(name, types) cu.graphs &= (cu.name = (int (*) types)dlsym(found, #name)) != 0;
        GRAPHS(LOOK)
        driver = found;
    }
    return cu.cuInit(0);
}

void atoll_cuda_words(int code, char *words, int room) {
    const char *name = 0, *text = 0;
    if (driver) cu.cuGetErrorName(code, &name), cu.cuGetErrorString(code, &text);
    snprintf(words, (size_t)room, "%s (%d)%s%s", name ? name : "error", code, text ? ": " : "", text ? text : "");
}

int atoll_cuda_count(int *count, int *version) {
    const int code = cu.cuDriverGetVersion(version);
    return code ? code : cu.cuDeviceGetCount(count);
}

/* facts: major and minor of what it can compute, multiprocessors, whether it has pools of memory, bytes of memory */
int atoll_cuda_describe(int device, char *name, int room, int64_t *facts) {
    int handle, code, value;
    size_t bytes;
    static const int asked[] = {MAJOR, MINOR, PROCESSORS, POOLS};
    if ((code = cu.cuDeviceGet(&handle, device)) || (code = cu.cuDeviceGetName(name, room, handle))) return code;
    for (int k = 0; k < 4; k++) {
        if ((code = cu.cuDeviceGetAttribute(&value, asked[k], handle))) return code;
        facts[k] = value;
    }
    if ((code = cu.cuDeviceTotalMem_v2(&bytes, handle))) return code;
    facts[4] = (int64_t)bytes;
    return 0;
}

static int enter(int device) { return cu.cuCtxPushCurrent_v2(contexts[device]); }
static void leave(void) {
    void *was;
    cu.cuCtxPopCurrent_v2(&was);
}

int atoll_cuda_open(int device) {
    int handle, code;
    if (device < 0 || device >= MOST_DEVICES) return 101;
    if (pools[device]) return 0;
    if ((code = cu.cuDeviceGet(&handle, device)) || (code = cu.cuDevicePrimaryCtxRetain(&contexts[device], handle)) || (code = enter(device))) return code;
    pool_kind kind = {.type = 1, .place = 1, .device = handle};
    uint64_t all = UINT64_MAX;
    if (!(code = cu.cuMemPoolCreate(&pools[device], &kind))) code = cu.cuMemPoolSetAttribute(pools[device], KEEP, &all);
    leave();
    return code;
}

/* Load kernels, by their names, one after the other with a 0 after each. */
int atoll_cuda_load(int device, const void *image, const char *names, int count, void **kernels) {
    void *module;
    int code = enter(device);
    if (code) return code;
    if (!(code = cu.cuModuleLoadData(&module, image)))
        for (int k = 0; k < count && !code; k++, names += strlen(names) + 1) code = cu.cuModuleGetFunction(&kernels[k], module, names);
    leave();
    return code;
}

/* registers, and bytes of local memory, of a kernel */
int atoll_cuda_kernel(void *kernel, int *facts) {
    const int code = cu.cuFuncGetAttribute(&facts[0], REGISTERS, kernel);
    return code ? code : cu.cuFuncGetAttribute(&facts[1], LOCAL, kernel);
}

/* -- the table */

static int refused(at_queue *q, int code, const char *doing) {
    if (!code) return 0;
    if (!q->error) q->error = code, q->doing = doing;
    return code == NO_MEMORY ? AT_NO_ROOM : AT_DEVICE;
}

/* Blocks that were given back are kept by their size: everything is on one stream, so the next that asks may have one at once. Sizes are rounded up to eighths of
 * a power of two; large blocks go to the driver's pool, which can cut and join them. */
enum { LARGEST_KEPT = 1 << 25, LEAST_BYTES = 512, SIZES = 8 * 18, PLACES = 1 << 16 };
typedef struct block { address at; int size, device; struct block *next; } block;
static struct { pthread_mutex_t lock; block *idle[MOST_DEVICES][SIZES], *out[PLACES]; } kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t bytes_of(int size) { return ((size_t)LEAST_BYTES << size / 8) / 8 * (size_t)(8 + size % 8); }
static int size_for(size_t bytes) {
    int size = 0;
    while (bytes_of(size) < bytes) size += bytes_of(size + 8) < bytes ? 8 : 1;
    return size;
}
static size_t place_of(address a) { return (size_t)((a >> 9) * UINT64_C(0x9e3779b97f4a7c15) >> 48) % PLACES; }

static void *take_kept(int device, int size) {
    pthread_mutex_lock(&kept.lock);
    block *b = kept.idle[device][size];
    if (b) {
        block **place = &kept.out[place_of(b->at)];
        kept.idle[device][size] = b->next;
        b->next = *place;
        *place = b;
    }
    pthread_mutex_unlock(&kept.lock);
    return b ? (void *)b->at : 0;
}

/* Whether a block is ours to keep; then it is. */
static int keep(void *a) {
    pthread_mutex_lock(&kept.lock);
    block **place = &kept.out[place_of((address)a)], *b;
    while (*place && (*place)->at != (address)a) place = &(*place)->next;
    if ((b = *place)) {
        *place = b->next;
        b->next = kept.idle[b->device][b->size];
        kept.idle[b->device][b->size] = b;
    }
    pthread_mutex_unlock(&kept.lock);
    return b != 0;
}

static void note(address a, int device, int size) {
    block *b = malloc(sizeof *b);
    if (!b) return; /* it goes back to the pool */
    *b = (block){a, size, device, 0};
    pthread_mutex_lock(&kept.lock);
    block **place = &kept.out[place_of(a)];
    b->next = *place;
    *place = b;
    pthread_mutex_unlock(&kept.lock);
}

static void give_up_kept(int device, void *stream) {
    pthread_mutex_lock(&kept.lock);
    for (int size = 0; size < SIZES; size++)
        for (block *b; (b = kept.idle[device][size]); free(b)) {
            kept.idle[device][size] = b->next;
            cu.cuMemFreeAsync(b->at, stream);
        }
    pthread_mutex_unlock(&kept.lock);
}

static int gpu_alloc(at_queue *q, int64_t bytes, void **made) {
    const int size = bytes <= LARGEST_KEPT ? size_for(bytes > 0 ? (size_t)bytes : 1) : -1;
    if (size >= 0 && (*made = take_kept(q->device, size))) return 0;
    const size_t wanted = size >= 0 ? bytes_of(size) : (size_t)bytes;
    void *pool = pools[q->device];
    address found = 0;
    int code = cu.cuMemAllocFromPoolAsync(&found, wanted, pool, q->stream);
    if (code == NO_MEMORY) { /* what was freed may still be in the queue, or kept in pieces */
        give_up_kept(q->device, q->stream);
        cu.cuStreamSynchronize(q->stream);
        cu.cuMemPoolTrimTo(pool, 0);
        code = cu.cuMemAllocFromPoolAsync(&found, wanted, pool, q->stream);
    }
    if (code == NO_MEMORY) return AT_NO_ROOM;
    if (code) return refused(q, code, "to give memory");
    if (size >= 0) note(found, q->device, size);
    *made = (void *)found;
    return 0;
}

static void gpu_release(at_queue *q, void *a) {
    if (a && !keep(a)) refused(q, cu.cuMemFreeAsync((address)a, q->stream), "to take memory back");
}

/* The host's memory, where the device can write as well. */
static void *at_pinned(size_t bytes) {
    void *made = 0;
    return cu.cuMemHostAlloc(&made, bytes, 3) ? 0 : made; /* for all contexts, mapped */
}
static void at_unpinned(void *made) { cu.cuMemFreeHost(made); }
#include "device_states.h"

static int gpu_to_device(at_queue *q, void *target, const void *source, int64_t bytes) {
    return bytes <= 0 ? 0 : refused(q, cu.cuMemcpyHtoDAsync_v2((address)target, source, (size_t)bytes, q->stream), "to copy an array to it");
}

static int gpu_to_host(at_queue *q, void *target, const void *source, int64_t bytes) {
    int code = bytes <= 0 ? 0 : cu.cuMemcpyDtoHAsync_v2(target, (address)source, (size_t)bytes, q->stream);
    return refused(q, code ? code : cu.cuStreamSynchronize(q->stream), "to copy an array from it");
}

static int gpu_copy(at_queue *q, void *target, const void *source, int64_t bytes) {
    return bytes <= 0 ? 0 : refused(q, cu.cuMemcpyDtoDAsync_v2((address)target, (address)source, (size_t)bytes, q->stream), "to copy an array");
}

static int gpu_fill(at_queue *q, void *target, int byte, int64_t bytes) {
    return bytes <= 0 ? 0 : refused(q, cu.cuMemsetD8Async((address)target, (unsigned char)byte, (size_t)bytes, q->stream), "to fill an array");
}

static int gpu_launch(at_queue *q, int kernel, int64_t gx, int64_t gy, int64_t gz, int bx, int by, int bz, int64_t shared, void **args) {
    if (gx <= 0 || gy <= 0 || gz <= 0) return 0;
    if (gx > INT32_MAX || gy > 65535 || gz > 65535) return refused(q, 1, "to start a kernel on so large a grid");
    void *function = q->kernels[kernel];
    q->launches++;
    int code = shared > 48 * 1024 ? cu.cuFuncSetAttribute(function, DYNAMIC_SHARED, (int)shared) : 0;
    if (!code) code = cu.cuLaunchKernel(function, (unsigned)gx, (unsigned)gy, (unsigned)gz, (unsigned)bx, (unsigned)by, (unsigned)bz, (unsigned)shared, q->stream, args, 0);
    return refused(q, code, "to start a kernel");
}

#include "cuda_products.h"

/* Loops of launches as CUDA graphs. The legacy stream cannot be captured, so they are captured on another, and played on it. */
static int at_capture(at_queue *q) {
    const char *wanted = getenv("ATOLL_GRAPHS");
    void *apart;
    if (!cu.graphs || (wanted && *wanted == '0') || cu.cuStreamCreate(&apart, 1)) return 0;
    if (cu.cuStreamBeginCapture_v2(apart, 2)) { /* of this stream alone, whatever others do */
        cu.cuStreamDestroy_v2(apart);
        return 0;
    }
    q->tape = q->stream;
    q->stream = apart;
    return 1;
}

static void *at_captured(at_queue *q) {
    void *graph = 0, *made = 0;
    const int code = cu.cuStreamEndCapture(q->stream, &graph);
    cu.cuStreamDestroy_v2(q->stream);
    q->stream = q->tape;
    q->tape = 0;
    if (!code && graph && cu.cuGraphInstantiateWithFlags(&made, graph, 0)) made = 0;
    if (graph) cu.cuGraphDestroy(graph);
    return made;
}

static int at_play(at_queue *q, void *made) { return refused(q, cu.cuGraphLaunch(made, q->stream), "to run a loop of kernels"); }

static void at_drop(at_queue *q, void *made) {
    cu.cuStreamSynchronize(q->stream); /* it may still run */
    cu.cuGraphExecDestroy(made);
}
#include "device_records.h"

static int gpu_sync(at_queue *q) { return refused(q, cu.cuStreamSynchronize(q->stream), "to run a kernel"); }

static int gpu_enter(at_queue *q) { return refused(q, enter(q->device), "to be used by this thread"); }
static void gpu_leave(at_queue *q) {
    (void)q;
    leave();
}

void atoll_cuda_queue(at_queue *q, int device, void *const *kernels) {
    *q = (at_queue){gpu_alloc, gpu_release, gpu_to_device, gpu_to_host, gpu_copy, gpu_fill, gpu_launch, gpu_sync, gpu_enter, gpu_leave, at_lend, at_take_back, kernels, 0, 0, 0, device, 0, gpu_product, at_record_loop, at_recorded_loop, 0, 0, 0};
}

/* Loops that were recorded, and how often they were played again. */
void atoll_cuda_records(int64_t *counts) { counts[0] = at_records.made, counts[1] = at_records.played; }

/* One stream waits for what another has in its queue. */
int atoll_cuda_wait(int device, void *waits, void *for_) {
    void *event;
    int code = enter(device);
    if (code) return code;
    if (!(code = cu.cuEventCreate(&event, 2))) {
        if (!(code = cu.cuEventRecord(event, for_))) code = cu.cuStreamWaitEvent(waits, event, 0);
        cu.cuEventDestroy_v2(event);
    }
    leave();
    return code;
}

int atoll_cuda_memory(int device, int64_t *room) {
    size_t left, all;
    int code = enter(device);
    if (code) return code;
    code = cu.cuMemGetInfo_v2(&left, &all);
    room[0] = (int64_t)left, room[1] = (int64_t)all;
    leave();
    return code;
}

int atoll_cuda_event(int device, void **event) {
    int code = enter(device);
    if (code) return code;
    if (!(code = cu.cuEventCreate(event, 0))) code = cu.cuEventRecord(*event, 0);
    leave();
    return code;
}

/* Milliseconds between two events, which are done away with. */
int atoll_cuda_between(int device, void *first, void *last, float *milliseconds) {
    int code = enter(device);
    if (code) return code;
    if (!(code = cu.cuEventSynchronize(last))) code = cu.cuEventElapsedTime(milliseconds, first, last);
    cu.cuEventDestroy_v2(first), cu.cuEventDestroy_v2(last);
    leave();
    return code;
}
