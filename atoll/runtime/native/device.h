/* What a device offers to the host part of a program. Two tables have this form: of a GPU (cuda_driver.c) and of fibers on the CPU (cuda_on_cpu.h).
 *
 * Everything is put in a queue and done in its order; only to_host and sync wait. Functions return 0, AT_NO_ROOM where the device has no memory left, or
 * AT_DEVICE where it refused (what it said is in `error`, `doing`); the program hands that on as its status, after it released what it holds. */
#include <stdint.h>

enum { AT_NO_ROOM = -4, AT_DEVICE = -3 };

typedef struct at_queue at_queue;

/* What a program keeps on the device during a call: its scalars, and which check failed. */
typedef struct at_lent {
    void *there, *mirror;   /* on the device, and as much of the host's memory */
    int32_t *told;          /* of the host, 0; a kernel writes here that a check failed */
    int fresh;              /* nothing is in it yet */
    uint64_t program;
    int64_t bytes;
    int device;
    struct at_lent *next;
} at_lent;

/* c[i, j] = sum over k of a[i, k] * b[k, j], added to what is there where `adds`; numbers of 4 or 8 bytes. Steps are in elements; c's columns are next to each other. */
typedef struct at_matrices {
    int bytes, adds;
    int64_t rows, columns, depth, a_row, a_sum, b_column, b_sum, c_row;
    const void *a, *b;
    void *c;
} at_matrices;

/* A variable of a program that a loop of launches uses; `changes`: the loop may leave another value in it. */
typedef struct at_value { void *at; int bytes, changes; } at_value;
enum { AT_RUN = 0, AT_DONE = 1, AT_RECORD = 2, AT_AGAIN = 3 };

struct at_queue {
    int (*alloc)(at_queue *q, int64_t bytes, void **made);                        /* 256 bytes aligned; 0 bytes are some address too */
    void (*release)(at_queue *q, void *block);                                    /* once what is in the queue is done; NULL is nothing */
    int (*to_device)(at_queue *q, void *target, const void *source, int64_t bytes); /* source may be changed when this returns */
    int (*to_host)(at_queue *q, void *target, const void *source, int64_t bytes);   /* waits */
    int (*copy)(at_queue *q, void *target, const void *source, int64_t bytes);      /* within the device */
    int (*fill)(at_queue *q, void *target, int byte, int64_t bytes);
    /* kernel k of the program; args[j] is the address of its j-th argument; shared: bytes of dynamic shared memory. An empty grid is nothing. */
    int (*launch)(at_queue *q, int kernel, int64_t grid_x, int64_t grid_y, int64_t grid_z, int block_x, int block_y, int block_z, int64_t shared, void **args);
    int (*sync)(at_queue *q);
    int (*enter)(at_queue *q);   /* before any of these is called from outside, and */
    void (*leave)(at_queue *q);  /* after; a program calls neither */
    int (*lend)(at_queue *q, int64_t bytes, at_lent **made);        /* a state of this program's */
    void (*take_back)(at_queue *q, at_lent *lent, int clean);       /* clean: the program left it as it found it */
    void *const *kernels;   /* of the program that runs */
    void *stream;           /* the device's own word for the queue */
    int error;              /* the device's code for what went wrong, and */
    const char *doing;      /* what it was asked to do */
    int device;             /* which of several */
    uint64_t program;       /* no other has this number; 0: none */
    int (*product)(at_queue *q, const at_matrices *p); /* 1: done by a library the device has; 0: it has none, or p is none for it, and nothing was done */
    /* Before a loop of launches: it is to be run (AT_RUN, AT_RECORD), or was done already as it was recorded (AT_DONE), or a status. After one that was run comes
     * `recorded`: 0, a status, or AT_AGAIN where nothing was done and it is to be run again. `values` NULL: it was left before its end. */
    int (*record)(at_queue *q, int loop, const at_value *values, int count);
    int (*recorded)(at_queue *q, const at_value *values, int count);
    void *recording;        /* between the two */
    void *tape;             /* the device's own, while it writes down */
    int64_t launches;       /* so far */
};
