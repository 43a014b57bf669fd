/* One call of a program on a device, as the call path asks for it (device_call.c). */
typedef struct {
    at_call call;                              /* first: the program hands it back when it asks for a result */
    int (*entry)(at_call *, at_queue *);
    at_queue *queue;
    int inputs, outputs;
    void *const *given;                        /* arrays of the host or the device, addresses of scalars */
    const int64_t *bytes;                      /* of arrays of the host, which are copied to the device; -1: taken as it is */
    const int64_t *axes, *widths;              /* of results: how many axes, bytes of an element */
    int64_t *dims;                             /* of all results, one after the other; -1: the program says it when it runs */
    void **in, **out;
} request;
