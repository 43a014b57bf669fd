/* One call of a program on a device, from arguments to results, and arrays of the device as DLPack's capsules. Of Python's interface only functions that are
 * handed in are used, so this needs no headers of it. */
#include <stdlib.h>
#include <string.h>
#include "abi.h"
#include "device.h"
#include "device_request.h"

static void *open_result(at_call *at, int result, int ndim, const int64_t *dims) {
    request *r = (request *)at;
    int64_t bytes = r->widths[result], first = 0;
    for (int k = 0; k < result; k++) first += r->axes[k];
    for (int k = 0; k < ndim; k++) {
        r->dims[first + k] = dims[k] < 0 ? 0 : dims[k];
        bytes *= r->dims[first + k];
    }
    return r->queue->alloc(r->queue, bytes, &r->out[result]) ? NULL : r->out[result];
}

/* The status of the program, or of the device. When it is 0 the results are the caller's. */
int atoll_device_call(request *r) {
    at_queue *q = r->queue;
    int status = q->enter(q);
    if (status) return status;
    r->call.in = r->in;
    r->call.out = r->out;
    r->call.open_result = open_result;
    memset(r->out, 0, (size_t)r->outputs * sizeof *r->out);
    for (int k = 0; k < r->inputs; k++) r->in[k] = r->bytes[k] < 0 ? r->given[k] : NULL;
    for (int k = 0; k < r->inputs && !status; k++)
        if (r->bytes[k] >= 0 && !(status = q->alloc(q, r->bytes[k], &r->in[k]))) status = q->to_device(q, r->in[k], r->given[k], r->bytes[k]);
    const int64_t *dims = r->dims;
    for (int k = 0; k < r->outputs && !status; dims += r->axes[k++]) {
        int64_t bytes = r->widths[k];
        int open = 0;
        for (int a = 0; a < r->axes[k]; a++) bytes *= dims[a], open |= dims[a] < 0;
        if (!open) status = q->alloc(q, bytes, &r->out[k]);
    }
    if (!status) status = r->entry(&r->call, q);
    for (int k = 0; k < r->inputs; k++)
        if (r->bytes[k] >= 0) q->release(q, r->in[k]);
    if (!status && q->error) status = AT_DEVICE; /* found when memory was given back */
    for (int k = 0; k < r->outputs && status; k++) q->release(q, r->out[k]);
    q->leave(q);
    return status;
}

/* -- single functions of a table, for arrays that belong to no program */

int atoll_device_alloc(at_queue *q, int64_t bytes, void **made) {
    int status = q->enter(q);
    if (status) return status;
    status = q->alloc(q, bytes, made);
    q->leave(q);
    return status;
}

int atoll_device_release(at_queue *q, void *block) {
    const int status = q->enter(q);
    if (status) return status;
    q->release(q, block);
    q->leave(q);
    return 0;
}

int atoll_device_copy(at_queue *q, void *target, const void *source, int64_t bytes, int way) { /* 0: to the device, 1: from it, 2: within */
    int status = q->enter(q);
    if (status) return status;
    status = (way == 0 ? q->to_device : way == 1 ? q->to_host : q->copy)(q, target, source, bytes);
    q->leave(q);
    return status;
}

int atoll_device_sync(at_queue *q) {
    int status = q->enter(q);
    if (status) return status;
    status = q->sync(q);
    q->leave(q);
    return status;
}

/* -- DLPack, whose structures have this layout */

typedef struct { void *data; int32_t device_type, device; int32_t ndim; uint8_t code, bits; uint16_t lanes; int64_t *shape, *strides; uint64_t offset; } dl_tensor;
typedef struct dl_managed { dl_tensor tensor; void *context; void (*deleter)(struct dl_managed *); } dl_managed;

static struct {
    int (*lock)(void);
    void (*unlock)(int);
    void (*up)(void *), (*down)(void *);
    void *(*capsule)(void *, const char *, void (*)(void *));
    int (*is_valid)(void *, const char *);
    void *(*pointer)(void *, const char *);
} python;

void atoll_device_python(void *const *functions) { memcpy(&python, functions, sizeof python); }

static void let_go(dl_managed *m) {
    const int state = python.lock();
    python.down(m->context);
    python.unlock(state);
    free(m);
}

static void nobody_took_it(void *capsule) {
    if (python.is_valid(capsule, "dltensor")) {
        dl_managed *m = python.pointer(capsule, "dltensor");
        if (m) m->deleter(m);
    }
}

/* A capsule that keeps `owner`; NULL with an error of Python's, or with none where there is no memory. */
void *atoll_device_capsule(void *owner, void *data, int device_type, int device, int code, int bits, int ndim, const int64_t *shape) {
    dl_managed *m = malloc(sizeof *m + 2 * (size_t)(ndim + 1) * sizeof(int64_t));
    if (!m) return NULL;
    int64_t *extents = (int64_t *)(m + 1), *steps = extents + ndim + 1, step = 1;
    for (int k = ndim - 1; k >= 0; k--) {
        extents[k] = shape[k];
        steps[k] = step;
        step *= shape[k] > 1 ? shape[k] : 1;
    }
    *m = (dl_managed){{data, device_type, device, ndim, (uint8_t)code, (uint8_t)bits, 1, extents, steps, 0}, owner, let_go};
    void *made = python.capsule(m, "dltensor", nobody_took_it);
    if (made) python.up(owner);
    else free(m);
    return made;
}
