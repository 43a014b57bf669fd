/* Results of more than a few pages take blocks that the runtime keeps between calls (blocks.h), through NumPy's own way to choose
 * where an array's memory comes from: such an array owns its data like any other. Where a program has several results, those of two pages
 * do, so that they lie at different places within a page; asking NumPy twice takes a fifth of a microsecond, which a single one does not gain. */
enum { FEW_PAGES = 1 << 16, TWO_PAGES = 1 << 13 };
static void *(*block)(int64_t);
static void *(*reblock)(void *, int64_t);
static void (*unblock)(void *);
static PyObject *from_blocks;   /* NumPy's capsule of the four functions below */

static void *data_malloc(void *context, size_t bytes) { return (void)context, block((int64_t)bytes); }
static void *data_calloc(void *context, size_t count, size_t each) {
    void *made = data_malloc(context, count * each);
    return made ? memset(made, 0, count * each) : NULL;
}
static void *data_realloc(void *context, void *data, size_t bytes) { return (void)context, reblock(data, (int64_t)bytes); }
static void data_free(void *context, void *data, size_t bytes) { (void)context, (void)bytes, unblock(data); }
static PyDataMem_Handler handler = {"atoll blocks", 1, {NULL, data_malloc, data_calloc, data_realloc, data_free}};

static PyObject *new_array(int axes, npy_intp *shape, int type, int several) {
    double bytes = (double)sizeof(npy_intp);   /* as large as elements get, but for complex numbers */
    for (int k = 0; k < axes; k++) bytes *= (double)shape[k];
    if (!from_blocks || bytes < (several ? TWO_PAGES : FEW_PAGES)) return PyArray_SimpleNew(axes, shape, type);
    PyObject *before = PyDataMem_SetHandler(from_blocks);
    if (!before) {
        PyErr_Clear();
        return PyArray_SimpleNew(axes, shape, type);
    }
    PyObject *made = PyArray_SimpleNew(axes, shape, type);
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyObject *ours = PyDataMem_SetHandler(before);
    if (!ours) PyErr_Clear();
    Py_XDECREF(ours);
    Py_DECREF(before);
    PyErr_Restore(kind, value, trace);
    return made;
}

static PyObject *use_blocks(PyObject *module, PyObject *args) {
    (void)module;
    unsigned long long a, b, c;
    if (!PyArg_ParseTuple(args, "KKK", &a, &b, &c)) return NULL;
    block = (void *(*)(int64_t))(uintptr_t)a;
    reblock = (void *(*)(void *, int64_t))(uintptr_t)b;
    unblock = (void (*)(void *))(uintptr_t)c;
    Py_XSETREF(from_blocks, PyCapsule_New(&handler, "mem_handler", NULL));
    if (!from_blocks) return NULL;
    Py_RETURN_NONE;
}
