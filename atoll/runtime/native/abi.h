/* What compiled programs, the runtime library and the call path share. */
#include <stddef.h>
#include <stdint.h>

typedef union { int64_t i; double d; } at_arg;

/* A value to print: an array (kind 0: data, ndim, dims) or a scalar (kind 1: real, 2: complex). */
typedef struct { const void *data; int ndim; int kind; const int64_t *dims; at_arg v[2]; } at_shown;

typedef struct at_call at_call;

/* c[i * c_m + j] = sum over k of a[i * a_m + its offset] * b[j * b_n + its offset], 0 <= i < m, 0 <= j < n; k counts through `levels`
 * extents, the last one fastest, and level l steps a by a_k[l], b by b_k[l]. All steps count elements. When rows low..high are
 * complete, after(at, context, low, high) does what follows, about after_work operations for a row. With `adds`, c is added to. */
typedef struct {
    int64_t m, n, extent[4], a_k[4], b_k[4], a_m, b_n, c_m;
    const void *a, *b;
    void *c;
    int levels, adds;
    int (*after)(at_call *at, void *context, int64_t low, int64_t high);
    void *context;
    int64_t after_work;
} at_product;

/* What the runtime offers to programs. */
typedef struct {
    void *(*alloc)(int64_t bytes);
    void (*release)(void *block);
    int (*parallel)(at_call *at, int (*task)(at_call *, void *, int64_t), void *context, int64_t pieces, int alone);  /* alone: 1 on this thread, 2 if the others are asleep */
    int (*product)(at_call *at, const at_product *p, int is_double);
    int (*poll)(at_call *at);  /* now and then: whether to stop; asks the caller at most twenty times a second */
    int (*threads)(void);
} at_runtime;

/* One call of a program. */
struct at_call {
    const int64_t *sizes;
    void *const *in;   /* data of arrays, address of scalars */
    void **out;
    void *host;        /* the caller's own */
    void *(*open_result)(at_call *at, int result, int ndim, const int64_t *dims);
    void (*print)(at_call *at, int number, int count, const at_shown *items);
    int (*poll)(at_call *at);  /* non-zero: stop, the user asked for it */
    int64_t piece;     /* the piece that failed, while pieces run */
    int site;
    int room;          /* of args: as many values as any check of the program shows */
    at_arg *args;      /* what the check that failed shows */
    double polled;     /* when the caller was last asked */
};
