/* The call path: checks arguments, measures sizes, allocates results, runs the program without the interpreter lock.
 *
 * make(init, prepare, entry, params, results, slow, fail, show) returns a callable. `params` is a tuple of (type number, axes) with
 * axes -1 for scalars, `results` the same; `slow(*args, **kw)` is called for anything out of the ordinary and may call the
 * callable's second form with arguments already in order; `fail(status, site, values)` raises; `show(number, items)` prints.
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION   /* arrays with memory of their owner's choice */
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include "abi.h"

enum { MOST = 64, AXES = 256 };

typedef struct { int type; int axes; } leaf;

typedef struct {
    int (*prepare)(at_call *, const int64_t *, int64_t *, int64_t *);
    int (*entry)(at_call *);
    int inputs, outputs, sizes, shape_count, dim_count, single;
    leaf in[MOST], out[MOST];
    PyObject *slow, *fail, *show;
    PyMethodDef method;
} program;

typedef struct {
    program *p;
    PyObject *results[MOST];
    int failed;                              /* a callback raised: the error, whatever thread it was in */
    PyObject *error[3];
} host;

typedef union { int8_t i8; int16_t i16; int32_t i32; int64_t i64; uint8_t u8; uint16_t u16; uint32_t u32; uint64_t u64;
                float f32; double f64; npy_bool b; double c128[2]; float c64[2]; } number;

/* Results of more than a few pages take blocks that the runtime keeps between calls (blocks.h), through NumPy's own way to choose
 * where an array's memory comes from: such an array owns its data like any other. */
enum { FEW_PAGES = 1 << 16 };
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

static PyObject *new_array(int axes, npy_intp *shape, int type) {
    double bytes = (double)sizeof(npy_intp);   /* as large as elements get, but for complex numbers */
    for (int k = 0; k < axes; k++) bytes *= (double)shape[k];
    if (!from_blocks || bytes < FEW_PAGES) return PyArray_SimpleNew(axes, shape, type);
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

static void keep_error(host *h) {
    if (h->failed) {
        PyErr_Clear();
        return;
    }
    PyErr_Fetch(&h->error[0], &h->error[1], &h->error[2]);
    h->failed = 1;
}

static void *open_result(at_call *at, int result, int ndim, const int64_t *dims) {
    host *h = at->host;
    PyGILState_STATE state = PyGILState_Ensure();
    npy_intp shape[NPY_MAXDIMS];
    for (int k = 0; k < ndim; k++) shape[k] = dims[k] < 0 ? 0 : (npy_intp)dims[k];
    PyObject *made = new_array(ndim, shape, h->p->out[result].type);
    if (!made) PyErr_Clear();
    Py_XSETREF(h->results[result], made);
    PyGILState_Release(state);
    return made ? PyArray_DATA((PyArrayObject *)made) : NULL;
}

static void print_items(at_call *at, int number, int count, const at_shown *items) {
    host *h = at->host;
    if (h->failed) return;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; k++) {
        PyObject *item;
        if (items[k].data) {
            PyObject *dims = PyTuple_New(items[k].ndim);
            for (int j = 0; dims && j < items[k].ndim; j++) PyTuple_SET_ITEM(dims, j, PyLong_FromLongLong(items[k].dims[j]));
            item = Py_BuildValue("(KN)", (unsigned long long)(uintptr_t)items[k].data, dims);
        } else {
            item = Py_BuildValue("(iLdd)", items[k].kind, (long long)items[k].v[0].i, items[k].v[0].d, items[k].v[1].d);
        }
        if (item) PyList_Append(list, item);
        Py_XDECREF(item);
    }
    PyObject *done = list ? PyObject_CallFunction(h->p->show, "iO", number, list) : NULL;
    if (!done) keep_error(h);
    Py_XDECREF(done);
    Py_XDECREF(list);
    PyGILState_Release(state);
}

static int poll_signals(at_call *at) {
    host *h = at->host;
    if (h->failed) return 1;
    PyGILState_STATE state = PyGILState_Ensure();
    int stop = PyErr_CheckSignals() != 0;
    if (stop) keep_error(h);
    PyGILState_Release(state);
    return stop;
}

/* A scalar argument of the declared type: 1 converted, 0 not ordinary. */
static int scalar(PyObject *arg, int type, number *n) {
    if (PyFloat_CheckExact(arg)) {
        double x = PyFloat_AS_DOUBLE(arg);
        if (type == NPY_DOUBLE) { n->f64 = x; return 1; }
        if (type == NPY_FLOAT) {
            n->f32 = (float)x;
            return !(isinf(n->f32) && !isinf(x));
        }
        return 0;
    }
    if (PyLong_CheckExact(arg)) {
        int overflow;
        long long x = PyLong_AsLongLongAndOverflow(arg, &overflow);
        if (overflow) return 0;
        switch (type) {
            case NPY_LONG: n->i64 = x; return 1;
            case NPY_DOUBLE: n->f64 = (double)x; return 1;
            case NPY_FLOAT: n->f32 = (float)x; return 1;
            case NPY_INT: n->i32 = (int32_t)x; return x == (int32_t)x;
            case NPY_SHORT: n->i16 = (int16_t)x; return x == (int16_t)x;
            case NPY_BYTE: n->i8 = (int8_t)x; return x == (int8_t)x;
            case NPY_UBYTE: n->u8 = (uint8_t)x; return x == (uint8_t)x;
            case NPY_USHORT: n->u16 = (uint16_t)x; return x == (uint16_t)x;
            case NPY_UINT: n->u32 = (uint32_t)x; return x == (uint32_t)x;
        }
        return 0;
    }
    if (PyBool_Check(arg)) {
        if (type != NPY_BOOL) return 0;
        n->b = arg == Py_True;
        return 1;
    }
    if (PyArray_IsScalar(arg, Generic)) {
        PyArray_Descr *d = PyArray_DescrFromScalar(arg);
        int same = d && PyArray_EquivTypenums(d->type_num, type);
        Py_XDECREF(d);
        if (!same) return 0;
        PyArray_ScalarAsCtype(arg, n);
        return 1;
    }
    return 0;
}

/* The program's own error for a status: always returns NULL with an error set. */
static PyObject *raise_status(program *p, int status, const at_arg *args) {
    PyObject *values = PyList_New(0);
    for (int k = 0; values && args && k < 8; k++) {
        PyObject *pair = Py_BuildValue("(Ld)", (long long)args[k].i, args[k].d);
        if (pair) PyList_Append(values, pair);
        Py_XDECREF(pair);
    }
    PyObject *raised = values ? PyObject_CallFunction(p->fail, "iO", status, values) : NULL;
    Py_XDECREF(raised);
    Py_XDECREF(values);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "atoll: the program failed without a reason");
    return NULL;
}

static PyObject *finish(program *p, host *h, number *scalars, void **out) {
    PyObject *values[MOST];
    (void)out;
    for (int k = 0; k < p->outputs; k++) {
        if (p->out[k].axes >= 0) {
            values[k] = h->results[k];
            h->results[k] = NULL;
        } else {
            PyArray_Descr *d = PyArray_DescrFromType(p->out[k].type);
            values[k] = PyArray_Scalar(&scalars[k], d, NULL);
            Py_DECREF(d);
        }
    }
    if (p->single) return values[0];
    PyObject *tuple = PyTuple_New(p->outputs);
    for (int k = 0; k < p->outputs; k++) PyTuple_SET_ITEM(tuple, k, values[k]);
    return tuple;
}

/* Run on leaves in order. Returns NULL without an error set when the arguments are not ordinary. */
static PyObject *run(program *p, PyObject *const *args, int strict, const int *donor) {
    number in_numbers[MOST], out_numbers[MOST];
    void *in[MOST], *out[MOST];
    int64_t shape[AXES], sizes[AXES], dims[AXES];
    int s = 0;
    for (int k = 0; k < p->inputs; k++) {
        PyObject *arg = args[k];
        if (p->in[k].axes < 0) {
            if (!scalar(arg, p->in[k].type, &in_numbers[k])) return NULL;
            in[k] = &in_numbers[k];
            continue;
        }
        if (!PyArray_CheckExact(arg)) return NULL;
        PyArrayObject *a = (PyArrayObject *)arg;
        if (PyArray_NDIM(a) != p->in[k].axes || !PyArray_IS_C_CONTIGUOUS(a) || !PyArray_ISALIGNED(a) ||
            PyArray_ISBYTESWAPPED(a) || !PyArray_EquivTypenums(PyArray_TYPE(a), p->in[k].type))
            return NULL;
        for (int j = 0; j < p->in[k].axes; j++) shape[s++] = PyArray_DIM(a, j);
        in[k] = PyArray_DATA(a);
    }
    host h = {.p = p, .failed = 0};
    memset(h.results, 0, sizeof(PyObject *) * (size_t)p->outputs);
    at_call at = {.sizes = sizes, .in = in, .out = out, .host = &h, .open_result = open_result, .print = print_items,
                  .poll = poll_signals, .piece = 0, .site = 0};
    int prepared = p->prepare(&at, shape, sizes, dims);
    if (prepared == 2) return raise_status(p, -1, NULL);
    if (prepared != 0) {
        if (strict) PyErr_SetString(PyExc_SystemError, "atoll: sizes were accepted by the slow path only");
        return NULL;
    }
    int d = 0;
    for (int k = 0; k < p->outputs; k++) {
        int axes = p->out[k].axes;
        if (axes < 0) {
            out[k] = &out_numbers[k];
            continue;
        }
        npy_intp wanted[NPY_MAXDIMS];
        int open = 0;
        for (int j = 0; j < axes; j++) {
            if (dims[d] < 0) open = 1;
            wanted[j] = (npy_intp)dims[d++];
        }
        out[k] = NULL;
        if (open) continue;
        if (donor && donor[k] >= 0) {   /* the result takes over the memory of an argument that was given away */
            h.results[k] = Py_NewRef(args[donor[k]]);
            out[k] = PyArray_DATA((PyArrayObject *)h.results[k]);
            continue;
        }
        h.results[k] = new_array(axes, wanted, p->out[k].type);
        if (!h.results[k]) {
            for (int j = 0; j < k; j++) Py_CLEAR(h.results[j]);
            PyErr_Clear();
            return raise_status(p, -1, NULL);
        }
        out[k] = PyArray_DATA((PyArrayObject *)h.results[k]);
    }
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = p->entry(&at);
    Py_END_ALLOW_THREADS
    if (status == 0 && !h.failed) return finish(p, &h, out_numbers, out);
    for (int k = 0; k < p->outputs; k++) Py_CLEAR(h.results[k]);
    if (h.failed) {
        PyErr_Restore(h.error[0], h.error[1], h.error[2]);
        return NULL;
    }
    return raise_status(p, status, at.args);
}

static PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    program *p = PyCapsule_GetPointer(self, "atoll.program");
    if (!p) return NULL;
    if (n == p->inputs && (!names || PyTuple_GET_SIZE(names) == 0)) {
        PyObject *result = run(p, args, 0, NULL);
        if (result || PyErr_Occurred()) return result;
    }
    return PyObject_Vectorcall(p->slow, args, (size_t)n, names);
}

static void drop(PyObject *capsule) {
    program *p = PyCapsule_GetPointer(capsule, "atoll.program");
    if (!p) return;
    Py_XDECREF(p->slow);
    Py_XDECREF(p->fail);
    Py_XDECREF(p->show);
    PyMem_Free(p);
}

static int read_leaves(PyObject *tuple, leaf *into) {
    Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    if (n > MOST) {
        PyErr_SetString(PyExc_ValueError, "too many arguments or results");
        return -1;
    }
    for (Py_ssize_t k = 0; k < n; k++)
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(tuple, k), "ii", &into[k].type, &into[k].axes)) return -1;
    return (int)n;
}

static PyObject *make(PyObject *module, PyObject *args) {
    (void)module;
    unsigned long long prepare, entry;
    PyObject *params, *results, *slow, *fail, *show;
    int single;
    if (!PyArg_ParseTuple(args, "KKO!O!pOOO", &prepare, &entry, &PyTuple_Type, &params, &PyTuple_Type, &results, &single, &slow,
                          &fail, &show))
        return NULL;
    program *p = PyMem_Calloc(1, sizeof *p);
    if (!p) return PyErr_NoMemory();
    p->prepare = (int (*)(at_call *, const int64_t *, int64_t *, int64_t *))(uintptr_t)prepare;
    p->entry = (int (*)(at_call *))(uintptr_t)entry;
    p->inputs = read_leaves(params, p->in);
    p->outputs = p->inputs < 0 ? -1 : read_leaves(results, p->out);
    if (p->outputs < 0) {
        PyMem_Free(p);
        return NULL;
    }
    p->single = single;
    p->slow = Py_NewRef(slow);
    p->fail = Py_NewRef(fail);
    p->show = Py_NewRef(show);
    PyObject *capsule = PyCapsule_New(p, "atoll.program", drop);
    if (!capsule) return NULL;
    p->method = (PyMethodDef){"program", (PyCFunction)(void (*)(void))call, METH_FASTCALL | METH_KEYWORDS, NULL};
    PyObject *made = PyCFunction_New(&p->method, capsule);
    Py_DECREF(capsule);
    return made;
}

static program *leaves_of(PyObject *const *args, Py_ssize_t n) {
    if (n < 2 || !PyCFunction_Check(args[0]) || !PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "a program and a tuple");
        return NULL;
    }
    program *p = PyCapsule_GetPointer(PyCFunction_GET_SELF(args[0]), "atoll.program");
    if (p && PyTuple_GET_SIZE(args[1]) != p->inputs) {
        PyErr_SetString(PyExc_TypeError, "wrong number of leaves");
        return NULL;
    }
    return p;
}

/* run_leaves(callable, leaves): for the slow path, arguments already converted. */
static PyObject *run_leaves(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    (void)module;
    program *p = leaves_of(args, n);
    if (!p) return NULL;
    PyObject *result = run(p, &PyTuple_GET_ITEM(args[1], 0), 1, NULL);
    if (!result && !PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "atoll: an argument was accepted by the slow path only");
    return result;
}

/* try_leaves(callable, leaves, (input, result)...): NotImplemented when some leaf is not ordinary. */
static PyObject *try_leaves(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    (void)module;
    program *p = leaves_of(args, n);
    if (!p) return NULL;
    int donor[MOST];
    for (int k = 0; k < p->outputs; k++) donor[k] = -1;
    for (Py_ssize_t k = 2; k < n; k++) {
        int from, to;
        if (!PyArg_ParseTuple(args[k], "ii", &from, &to)) return NULL;
        if (from >= 0 && from < p->inputs && to >= 0 && to < p->outputs) donor[to] = from;
    }
    PyObject *result = run(p, &PyTuple_GET_ITEM(args[1], 0), 0, donor);
    return result || PyErr_Occurred() ? result : Py_NewRef(Py_NotImplemented);
}

/* Calls of a function that is ready, without a frame of Python: `_ready` is the callable of its program, None while there is something to
 * decide or to look at first, which `_decide` does. Errors of Atoll's own leave without what happened inside. */
static PyObject *ready_name, *decide_name, *own_error;

static PyObject *call_ready(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    PyObject *ready = PyObject_GetAttr(self, ready_name);
    if (ready == Py_None) {
        Py_DECREF(ready);
        ready = PyObject_GetAttr(self, decide_name);
    }
    if (!ready) return NULL;
    PyObject *result = PyObject_Vectorcall(ready, args, (size_t)n, names);
    Py_DECREF(ready);
    if (!result && PyErr_ExceptionMatches(own_error)) {
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        PyErr_NormalizeException(&kind, &value, &trace);
        PyException_SetTraceback(value, Py_None);
        PyException_SetCause(value, NULL);   /* raise ... from None */
        Py_XDECREF(trace);
        PyErr_Restore(kind, value, NULL);
    }
    return result;
}

static PyMethodDef ready_method = {"__call__", (PyCFunction)(void (*)(void))call_ready, METH_FASTCALL | METH_KEYWORDS, NULL};

/* caller(Function, Error): what Function.__call__ may be. */
static PyObject *caller(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *function, *error;
    if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &function, &error)) return NULL;
    if (!ready_name) ready_name = PyUnicode_InternFromString("_ready");
    if (!decide_name) decide_name = PyUnicode_InternFromString("_decide");
    if (!ready_name || !decide_name) return NULL;
    Py_XSETREF(own_error, Py_NewRef(error));
    return PyDescr_NewMethod((PyTypeObject *)function, &ready_method);
}

static PyMethodDef methods[] = {
    {"make", make, METH_VARARGS, "make(prepare, entry, params, results, single, slow, fail, show)"},
    {"run_leaves", (PyCFunction)(void (*)(void))run_leaves, METH_FASTCALL, "run_leaves(callable, leaves)"},
    {"try_leaves", (PyCFunction)(void (*)(void))try_leaves, METH_FASTCALL, "try_leaves(callable, leaves)"},
    {"caller", caller, METH_VARARGS, "caller(Function, Error)"},
    {"use_blocks", use_blocks, METH_VARARGS, "use_blocks(block, reblock, unblock)"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "atoll_call", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_atoll_call(void) {
    import_array();
    return PyModule_Create(&definition);
}
