/* Products of matrices by cuBLAS, where PyTorch, JAX or a toolkit has brought it. It is looked for when the first product is large enough, and gives the same bits
 * from run to run on one kind of device (its atomics stay off, numbers are multiplied as they are, not rounded to fewer bits first).
 *
 * Worth it: 2^24 multiplications and more, but not where two of the three sizes are at most 64 (docs/sources.md G6). */
typedef int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);

static struct {
    pthread_mutex_t lock;
    char *paths; /* one after the other, a line each; NULL once they were tried */
    void *library, *handles[MOST_DEVICES], *streams[MOST_DEVICES];
    int given_up[MOST_DEVICES];
    int (*create)(void **), (*set_stream)(void *, void *);
    gemm single, twice;
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER};

void atoll_cuda_products(const char *paths) {
    pthread_mutex_lock(&blas.lock);
    if (!blas.paths && !blas.library) blas.paths = strdup(paths);
    pthread_mutex_unlock(&blas.lock);
}

static int find_library(void) {
    char *rest = blas.paths;
    for (char *path; !blas.library && rest && (path = strsep(&rest, "\n"));)
        if (*path && (blas.library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
            blas.create = (int (*)(void **))dlsym(blas.library, "cublasCreate_v2");
            blas.set_stream = (int (*)(void *, void *))dlsym(blas.library, "cublasSetStream_v2");
            blas.single = (gemm)dlsym(blas.library, "cublasSgemm_v2");
            blas.twice = (gemm)dlsym(blas.library, "cublasDgemm_v2");
            if (!blas.create || !blas.set_stream || !blas.single || !blas.twice) dlclose(blas.library), blas.library = 0;
        }
    free(blas.paths);
    blas.paths = 0;
    return blas.library != 0;
}

/* The library's state for a device, with our stream; NULL where it cannot be had. */
static void *library_on(int device, void *stream) {
    if (blas.given_up[device] || (!blas.library && !find_library())) return 0;
    if (!blas.handles[device] && (blas.create(&blas.handles[device]) || blas.set_stream(blas.handles[device], stream))) blas.handles[device] = 0, blas.given_up[device] = 1;
    if (blas.handles[device] && blas.streams[device] != stream && blas.set_stream(blas.handles[device], stream)) return 0;
    blas.streams[device] = stream;
    return blas.handles[device];
}

/* How a matrix of so many rows and columns lies: 0 row after row, 1 column after column, `step` apart; -1 otherwise. */
static int lies(int64_t rows, int64_t columns, int64_t row, int64_t column, int64_t *step) {
    if (column == 1 && row >= columns) return *step = row, 0;
    if (row == 1 && column >= rows) return *step = column, 1;
    return -1;
}

static int gpu_product(at_queue *q, const at_matrices *p) {
    const int64_t m = p->rows, n = p->columns, k = p->depth;
    const int thin = (m <= 64) + (n <= 64) + (k <= 64);
    if (thin > 1 || m <= 0 || n <= 0 || k <= 0 || m > INT32_MAX || n > INT32_MAX || k > INT32_MAX || (double)m * (double)n * (double)k < 1 << 24) return 0;
    int64_t a_step, b_step;
    const int a = lies(m, k, p->a_row, p->a_sum, &a_step), b = lies(k, n, p->b_sum, p->b_column, &b_step);
    if (a < 0 || b < 0 || p->c_row < n || a_step > INT32_MAX || b_step > INT32_MAX || p->c_row > INT32_MAX) return 0;
    const float one = 1, had = (float)p->adds;
    const double one_ = 1, had_ = p->adds;
    const int twice = p->bytes == 8;
    if (!twice && p->bytes != 4) return 0;
    pthread_mutex_lock(&blas.lock);
    void *handle = library_on(q->device, q->stream);
    /* it goes by columns: rows of ours are columns of its, so sides change places */
    const int code = !handle ? 1 : (twice ? blas.twice : blas.single)(handle, b, a, (int)n, (int)m, (int)k, twice ? (const void *)&one_ : &one, p->b, (int)b_step, p->a, (int)a_step,
                                                                     twice ? (const void *)&had_ : &had, p->c, (int)p->c_row);
    pthread_mutex_unlock(&blas.lock);
    return code == 0;
}
