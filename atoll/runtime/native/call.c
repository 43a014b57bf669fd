/* The call path: checks arguments, measures sizes, allocates results, runs the program without the interpreter lock.
 *
 * make(prepare, entry, params, results, single, sizes, values, slow, fail, show, look=None) returns a callable. `params` is a tuple of (type number,
 * axes) with axes -1 for scalars, `results` the same; `sizes` is how many sizes the program has, `values` the most that a check of it shows:
 * everything a call needs is as large as the program says. `slow(*args, **kw)` is called for anything out of the ordinary and may call the
 * callable's second form with arguments already in order; `fail(status, values)` raises; `show(number, items)` prints.
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION   /* arrays with memory of their owner's choice */
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include "abi.h"

typedef struct { int type; int axes; } leaf;

typedef struct {
    int (*prepare)(at_call *, const int64_t *, int64_t *, int64_t *);
    int (*entry)(at_call *);
    int inputs, outputs, sizes, shape_count, dim_count, values, single;
    PyObject *slow, *fail, *show, *look;     /* look: called when a run looks whether to stop, which it does if that raises; or NULL */
    PyMethodDef method;
    leaf *out;                               /* after the last of `in` */
    leaf in[];
} program;

typedef struct {
    program *p;
    PyObject **results;
    int failed;                              /* a callback raised: the error, whatever thread it was in */
    PyObject *error[3];
} host;

#include "scalars.h"
#include "results.h"

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
    npy_intp shape[NPY_MAXDIMS];
    if (ndim > NPY_MAXDIMS) return NULL;   /* refused when the program was made */
    PyGILState_STATE state = PyGILState_Ensure();
    for (int k = 0; k < ndim; k++) shape[k] = dims[k] < 0 ? 0 : (npy_intp)dims[k];
    PyObject *made = new_array(ndim, shape, h->p->out[result].type, h->p->outputs > 1);
    if (!made) PyErr_Clear();
    Py_XSETREF(h->results[result], made);
    PyGILState_Release(state);
    return made ? PyArray_DATA((PyArrayObject *)made) : NULL;
}

/* The extents of an array as a tuple, or NULL with an error set. */
static PyObject *extents(int ndim, const int64_t *dims) {
    PyObject *made = PyTuple_New(ndim);
    for (int k = 0; made && k < ndim; k++) {
        PyObject *extent = PyLong_FromLongLong(dims[k]);
        if (!extent) Py_CLEAR(made);
        else PyTuple_SET_ITEM(made, k, extent);
    }
    return made;
}

static PyObject *shown(const at_shown *x) {
    if (x->kind) return Py_BuildValue("(iLdd)", x->kind, (long long)x->v[0].i, x->v[0].d, x->v[1].d);
    PyObject *dims = extents(x->ndim, x->dims);
    return dims ? Py_BuildValue("(KN)", (unsigned long long)(uintptr_t)x->data, dims) : NULL;
}

/* A list that takes over its items; NULL with an error set if one of them is. */
static PyObject *append(PyObject *list, PyObject *item) {
    if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
    Py_XDECREF(item);
    return list;
}

static void print_items(at_call *at, int number, int count, const at_shown *items) {
    host *h = at->host;
    if (h->failed) return;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; k++) list = append(list, shown(&items[k]));
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
    if (!stop && h->p->look) {
        PyObject *seen = PyObject_CallNoArgs(h->p->look);
        stop = !seen;
        Py_XDECREF(seen);
    }
    if (stop) keep_error(h);
    PyGILState_Release(state);
    return stop;
}

/* The program's own error for a status: always returns NULL with an error set. */
static PyObject *raise_status(program *p, int status, const at_arg *args) {
    PyObject *values = PyList_New(0);
    for (int k = 0; values && args && k < p->values; k++) values = append(values, Py_BuildValue("(Ld)", (long long)args[k].i, args[k].d));
    PyObject *raised = values ? PyObject_CallFunction(p->fail, "iO", status, values) : NULL;
    Py_XDECREF(raised);
    Py_XDECREF(values);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "atoll: the program failed without a reason");
    return NULL;
}

static PyObject *give_scalar(int type, number *n) {
    PyArray_Descr *d = PyArray_DescrFromType(type);
    PyObject *made = d ? PyArray_Scalar(n, d, NULL) : NULL;
    Py_XDECREF(d);
    return made;
}

/* The results, which then belong to the caller; NULL with an error set if one cannot be made. */
static PyObject *finish(program *p, host *h, number *scalars) {
    for (int k = 0; k < p->outputs; k++)
        if (p->out[k].axes < 0 && !(h->results[k] = give_scalar(p->out[k].type, &scalars[k]))) return NULL;
    if (p->single) {
        PyObject *only = h->results[0];
        h->results[0] = NULL;
        return only;
    }
    PyObject *tuple = PyTuple_New(p->outputs);
    for (int k = 0; tuple && k < p->outputs; k++) {
        PyTuple_SET_ITEM(tuple, k, h->results[k]);
        h->results[k] = NULL;
    }
    return tuple;
}

/* What one call needs, one after the other in one block. */
typedef struct {
    number *in_numbers, *out_numbers;
    void **in, **out;
    PyObject **results;
    int64_t *shape, *sizes, *dims;
    at_arg *args;
} space;

enum { SMALL = 4096 };   /* bytes of it on the stack */

static size_t space_bytes(const program *p) {
    const size_t leaves = (size_t)p->inputs + (size_t)p->outputs;
    const size_t words = leaves + (size_t)p->outputs + (size_t)p->shape_count + (size_t)p->sizes + (size_t)p->dim_count + (size_t)p->values;
    return leaves * sizeof(number) + words * 8;
}

static space divided(const program *p, void *block) {
    space s;
    s.in_numbers = block;
    s.out_numbers = s.in_numbers + p->inputs;
    s.in = (void **)(s.out_numbers + p->outputs);
    s.out = s.in + p->inputs;
    s.results = (PyObject **)(s.out + p->outputs);
    s.shape = (int64_t *)(s.results + p->outputs);
    s.sizes = s.shape + p->shape_count;
    s.dims = s.sizes + p->sizes;
    s.args = (at_arg *)(s.dims + p->dim_count);
    return s;
}

/* Memory for results of known extents; 0, or -1 with an error set. */
static int make_results(program *p, host *h, const space *s, PyObject *const *args, const int *donor) {
    const int64_t *dims = s->dims;
    for (int k = 0; k < p->outputs; k++) {
        int axes = p->out[k].axes, open = 0;
        if (axes < 0) {
            s->out[k] = &s->out_numbers[k];
            continue;
        }
        npy_intp wanted[NPY_MAXDIMS];
        if (axes > NPY_MAXDIMS) return PyErr_NoMemory(), -1;   /* refused when the program was made */
        for (int j = 0; j < axes; j++) {
            if (dims[j] < 0) open = 1;
            wanted[j] = (npy_intp)dims[j];
        }
        dims += axes;
        s->out[k] = NULL;
        if (open) continue;
        if (donor && donor[k] >= 0)   /* the result takes over the memory of an argument that was given away */
            h->results[k] = Py_NewRef(args[donor[k]]);
        else
            h->results[k] = new_array(axes, wanted, p->out[k].type, p->outputs > 1);
        if (!h->results[k]) return -1;
        s->out[k] = PyArray_DATA((PyArrayObject *)h->results[k]);
    }
    return 0;
}

/* Run on leaves in order. Returns NULL without an error set when the arguments are not ordinary. */
static PyObject *run_in(program *p, space s, PyObject *const *args, int strict, const int *donor) {
    int axes = 0;
    for (int k = 0; k < p->inputs; k++) {
        PyObject *arg = args[k];
        if (p->in[k].axes < 0) {
            if (!scalar(arg, p->in[k].type, &s.in_numbers[k])) return NULL;
            s.in[k] = &s.in_numbers[k];
            continue;
        }
        if (!PyArray_CheckExact(arg)) return NULL;
        PyArrayObject *a = (PyArrayObject *)arg;
        if (PyArray_NDIM(a) != p->in[k].axes || !PyArray_IS_C_CONTIGUOUS(a) || !PyArray_ISALIGNED(a) ||
            PyArray_ISBYTESWAPPED(a) || !PyArray_EquivTypenums(PyArray_TYPE(a), p->in[k].type))
            return NULL;
        for (int j = 0; j < p->in[k].axes; j++) s.shape[axes++] = PyArray_DIM(a, j);
        s.in[k] = PyArray_DATA(a);
    }
    host h = {.p = p, .results = s.results, .failed = 0};
    for (int k = 0; k < p->outputs; k++) s.results[k] = NULL;
    at_call at = {.sizes = s.sizes, .in = s.in, .out = s.out, .host = &h, .open_result = open_result, .print = print_items,
                  .poll = poll_signals, .piece = 0, .site = 0, .room = p->values, .args = s.args};
    int prepared = p->prepare(&at, s.shape, s.sizes, s.dims);
    if (prepared == 2) return raise_status(p, -1, NULL);
    if (prepared != 0) {
        if (strict) PyErr_SetString(PyExc_SystemError, "atoll: sizes were accepted by the slow path only");
        return NULL;
    }
    PyObject *made = NULL;
    if (make_results(p, &h, &s, args, donor) != 0) {
        PyErr_Clear();
        raise_status(p, -1, NULL);
    } else {
        int status;
        Py_BEGIN_ALLOW_THREADS
        status = p->entry(&at);
        Py_END_ALLOW_THREADS
        if (h.failed) PyErr_Restore(h.error[0], h.error[1], h.error[2]);
        else if (status != 0) raise_status(p, status, s.args);
        else made = finish(p, &h, s.out_numbers);
    }
    if (!made) {   /* what destructors do must not see the error */
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        for (int k = 0; k < p->outputs; k++) Py_CLEAR(s.results[k]);
        PyErr_Restore(kind, value, trace);
    }
    return made;
}

static PyObject *run(program *p, PyObject *const *args, int strict, const int *donor) {
    _Alignas(number) char small[SMALL];
    const size_t bytes = space_bytes(p);
    if (bytes <= SMALL) return run_in(p, divided(p, small), args, strict, donor);
    void *block = PyMem_Malloc(bytes);
    if (!block) return raise_status(p, -1, NULL);
    PyObject *made = run_in(p, divided(p, block), args, strict, donor);
    PyMem_Free(block);
    return made;
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
    Py_XDECREF(p->look);
    PyMem_Free(p);
}

/* Leaves of a tuple, and how many axes they have in all. */
static int read_leaves(PyObject *tuple, leaf *into, int *axes) {
    const Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    for (Py_ssize_t k = 0; k < n; k++) {
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(tuple, k), "ii", &into[k].type, &into[k].axes)) return -1;
        if (into[k].axes > 0) *axes += into[k].axes;
    }
    return (int)n;
}

static PyObject *make(PyObject *module, PyObject *args) {
    (void)module;
    unsigned long long prepare, entry;
    PyObject *params, *results, *slow, *fail, *show, *look = Py_None;
    int single, sizes, values;
    if (!PyArg_ParseTuple(args, "KKO!O!piiOOO|O", &prepare, &entry, &PyTuple_Type, &params, &PyTuple_Type, &results, &single, &sizes,
                          &values, &slow, &fail, &show, &look))
        return NULL;
    const size_t leaves = (size_t)(PyTuple_GET_SIZE(params) + PyTuple_GET_SIZE(results));
    program *p = PyMem_Calloc(1, sizeof *p + leaves * sizeof(leaf));
    if (!p) return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(p, "atoll.program", drop);
    if (!capsule) {
        PyMem_Free(p);
        return NULL;
    }
    p->prepare = (int (*)(at_call *, const int64_t *, int64_t *, int64_t *))(uintptr_t)prepare;
    p->entry = (int (*)(at_call *))(uintptr_t)entry;
    p->out = p->in + PyTuple_GET_SIZE(params);
    p->single = single;
    p->sizes = sizes;
    p->values = values;
    p->slow = Py_NewRef(slow);
    p->fail = Py_NewRef(fail);
    p->show = Py_NewRef(show);
    p->look = look == Py_None ? NULL : Py_NewRef(look);
    p->method = (PyMethodDef){"program", (PyCFunction)(void (*)(void))call, METH_FASTCALL | METH_KEYWORDS, NULL};
    p->inputs = read_leaves(params, p->in, &p->shape_count);
    p->outputs = p->inputs < 0 ? -1 : read_leaves(results, p->out, &p->dim_count);
    PyObject *made = p->outputs < 0 ? NULL : PyCFunction_New(&p->method, capsule);
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
    int *donor = NULL;
    if (n > 2) {
        donor = PyMem_Malloc(sizeof *donor * (size_t)(p->outputs + 1));
        if (!donor) return PyErr_NoMemory();
        for (int k = 0; k < p->outputs; k++) donor[k] = -1;
    }
    for (Py_ssize_t k = 2; k < n; k++) {
        int from, to;
        if (!PyArg_ParseTuple(args[k], "ii", &from, &to)) {
            PyMem_Free(donor);
            return NULL;
        }
        if (from >= 0 && from < p->inputs && to >= 0 && to < p->outputs) donor[to] = from;
    }
    PyObject *result = run(p, &PyTuple_GET_ITEM(args[1], 0), 0, donor);
    PyMem_Free(donor);
    return result || PyErr_Occurred() ? result : Py_NewRef(Py_NotImplemented);
}

/* Calls of a function that is ready, without a frame of Python: `_ready` is the callable of its program, None while there is something to
 * decide or to look at first, which `_decide` does. `told` says what the user is told of an exception (errors/plain.py). */
static PyObject *ready_name, *decide_name, *told;

static PyObject *call_ready(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    PyObject *ready = PyObject_GetAttr(self, ready_name);
    if (ready == Py_None) {
        Py_DECREF(ready);
        ready = PyObject_GetAttr(self, decide_name);
    }
    if (!ready) return NULL;
    PyObject *result = PyObject_Vectorcall(ready, args, (size_t)n, names);
    Py_DECREF(ready);
    if (!result && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        PyErr_NormalizeException(&kind, &value, &trace);
        if (trace) PyException_SetTraceback(value, trace);
        PyObject *other = PyObject_CallOneArg(told, value);
        if (other) {
            Py_XDECREF(kind);
            Py_XDECREF(value);
            Py_XDECREF(trace);
            PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(other)), other, PyException_GetTraceback(other));
        } else {
            PyErr_Clear();   /* no memory left to say it better */
            PyErr_Restore(kind, value, trace);
        }
    }
    return result;
}

static PyMethodDef ready_method = {"__call__", (PyCFunction)(void (*)(void))call_ready, METH_FASTCALL | METH_KEYWORDS, NULL};

/* caller(Function, told): what Function.__call__ may be. */
static PyObject *caller(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *function, *how;
    if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &function, &how)) return NULL;
    if (!ready_name) ready_name = PyUnicode_InternFromString("_ready");
    if (!decide_name) decide_name = PyUnicode_InternFromString("_decide");
    if (!ready_name || !decide_name) return NULL;
    Py_XSETREF(told, Py_NewRef(how));
    return PyDescr_NewMethod((PyTypeObject *)function, &ready_method);
}

static PyMethodDef methods[] = {
    {"make", make, METH_VARARGS, "make(prepare, entry, params, results, single, sizes, values, slow, fail, show, look=None)"},
    {"run_leaves", (PyCFunction)(void (*)(void))run_leaves, METH_FASTCALL, "run_leaves(callable, leaves)"},
    {"try_leaves", (PyCFunction)(void (*)(void))try_leaves, METH_FASTCALL, "try_leaves(callable, leaves)"},
    {"caller", caller, METH_VARARGS, "caller(Function, told)"},
    {"use_blocks", use_blocks, METH_VARARGS, "use_blocks(block, reblock, unblock)"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "atoll_call", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_atoll_call(void) {
    import_array();
    return PyModule_Create(&definition);
}
