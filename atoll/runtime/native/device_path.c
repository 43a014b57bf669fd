/* The quick way to call a program on a device: arguments that are DeviceArrays, tensors of PyTorch on its usual stream, and numbers. Everything else, and every
 * argument that does not fit, goes the long way (`slow`), which words what is wrong.
 *
 * make(type, device, dtypes, prepare, entry, run, queue, params, results, single, sizes, values, slow, fail) returns a callable. `type` is DeviceArray, `dtypes` the
 * NumPy types of arguments and results, `params` and `results` are as in call.c, `queue` is the address of a queue, of which every call has a copy.
 * torch(callable, Tensor, dtypes, device, stream) tells it the types and the device by which tensors are known, and whom to ask for the stream. */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include "abi.h"
#include "device.h"
#include "device_request.h"
#include "scalars.h"

enum { MOST = 64 };   /* leaves, axes in all, sizes, values of a check; programs beyond go the long way */

typedef struct { int type, axes; int64_t width; PyObject *dtype, *tensor; } leaf;

typedef struct {
    int (*prepare)(at_call *, const int64_t *, int64_t *, int64_t *);
    int (*entry)(at_call *, at_queue *);
    int (*run)(request *);
    const at_queue *queue;
    int inputs, outputs, single, values;
    PyObject *type, *device, *slow, *fail;
    PyObject *tensor, *place, *stream, *number;   /* of torch; NULL until it is told */
    PyMethodDef method;
    leaf in[MOST], out[MOST];
} program;

typedef struct { int failed; PyObject *error[3]; } host;

static PyObject *n_device, *n_shape, *n_dtype, *n_pointer, *n_owner, *n_foreign, *n_data_ptr, *n_is_contiguous, *n_requires_grad;

static int poll_signals(at_call *at) {
    host *h = at->host;
    if (h->failed) return 1;
    PyGILState_STATE state = PyGILState_Ensure();
    if (PyErr_CheckSignals() != 0) {
        PyErr_Fetch(&h->error[0], &h->error[1], &h->error[2]);
        h->failed = 1;
    }
    PyGILState_Release(state);
    return h->failed;
}

/* Whether an attribute of an object is this very object; -1 with an error set. */
static int attribute_is(PyObject *x, PyObject *name, PyObject *wanted) {
    PyObject *found = PyObject_GetAttr(x, name);
    if (!found) return -1;
    Py_DECREF(found);
    return found == wanted;
}

static int address_of(PyObject *found, void **into) {
    if (!found) return -1;
    *into = PyLong_AsVoidPtr(found);
    Py_DECREF(found);
    return PyErr_Occurred() ? -1 : 1;
}

static int extents_of(PyObject *x, int axes, int64_t *into) {
    PyObject *shape = PyObject_GetAttr(x, n_shape);
    if (!shape) return -1;
    int fits = PyTuple_Check(shape) && PyTuple_GET_SIZE(shape) == axes;
    for (int k = 0; fits == 1 && k < axes; k++) {
        into[k] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, k));
        if (into[k] == -1 && PyErr_Occurred()) fits = -1;
    }
    Py_DECREF(shape);
    return fits;
}

#define IF(test) if ((fits = (test)) != 1) return fits

/* One of ours, on this device, of the declared type: 1, else 0; -1 with an error set. */
static int ours(program *p, PyObject *x, const leaf *l, void **data, int64_t *extents) {
    int fits;
    PyObject *owner = PyObject_GetAttr(x, n_owner);
    if (!owner) return -1;
    Py_DECREF(owner);
    if (owner == x) return 0;   /* freed */
    IF(attribute_is(x, n_device, p->device));
    IF(attribute_is(x, n_dtype, l->dtype));
    IF(attribute_is(x, n_foreign, Py_False));
    IF(extents_of(x, l->axes, extents));
    return address_of(PyObject_GetAttr(x, n_pointer), data);
}

static int torchs(program *p, PyObject *x, const leaf *l, void **data, int64_t *extents) {
    int fits;
    if (!l->tensor) return 0;
    IF(attribute_is(x, n_dtype, l->tensor));
    IF(attribute_is(x, n_requires_grad, Py_False));
    PyObject *place = PyObject_GetAttr(x, n_device);
    if (!place) return -1;
    fits = PyObject_RichCompareBool(place, p->place, Py_EQ);
    Py_DECREF(place);
    if (fits != 1) return fits;
    PyObject *contiguous = PyObject_CallMethodNoArgs(x, n_is_contiguous);
    if (!contiguous) return -1;
    Py_DECREF(contiguous);
    if (contiguous != Py_True) return 0;
    IF(extents_of(x, l->axes, extents));
    return address_of(PyObject_CallMethodNoArgs(x, n_data_ptr), data);
}

/* Whether torch's current stream is the one we are on. */
static int usual_stream(program *p) {
    PyObject *found = PyObject_CallOneArg(p->stream, p->number);
    if (!found) return -1;
    const int usual = PyObject_Not(found);
    Py_DECREF(found);
    return usual;
}

static PyObject *result(program *p, const leaf *l, void *data, const int64_t *dims) {
    PyTypeObject *type = (PyTypeObject *)p->type;
    PyObject *made = type->tp_alloc(type, 0), *shape = PyTuple_New(l->axes), *pointer = PyLong_FromVoidPtr(data);
    int bad = !made || !shape || !pointer;
    for (int k = 0; !bad && k < l->axes; k++) {
        PyObject *n = PyLong_FromLongLong(dims[k]);
        if (n) PyTuple_SET_ITEM(shape, k, n);
        else bad = 1;
    }
    bad = bad || PyObject_SetAttr(made, n_device, p->device) || PyObject_SetAttr(made, n_shape, shape) || PyObject_SetAttr(made, n_dtype, l->dtype) ||
          PyObject_SetAttr(made, n_foreign, Py_False) || PyObject_SetAttr(made, n_owner, Py_None) || PyObject_SetAttr(made, n_pointer, pointer);
    Py_XDECREF(shape);
    Py_XDECREF(pointer);
    if (bad) Py_CLEAR(made);
    return made;
}

static PyObject *results(program *p, void *const *out, const int64_t *dims) {
    PyObject *all = p->single ? NULL : PyTuple_New(p->outputs);
    if (!p->single && !all) return NULL;
    for (int k = 0; k < p->outputs; dims += p->out[k++].axes) {
        PyObject *made = result(p, &p->out[k], out[k], dims);
        if (!made || p->single) return made ? made : (Py_XDECREF(all), NULL);
        PyTuple_SET_ITEM(all, k, made);
    }
    return all;
}

static PyObject *failed(program *p, int status, const at_queue *q, const at_arg *args) {
    PyObject *values = PyList_New(p->values);
    for (int k = 0; values && k < p->values; k++) {
        PyObject *value = Py_BuildValue("(Ld)", (long long)args[k].i, args[k].d);
        if (!value) Py_CLEAR(values);
        else PyList_SET_ITEM(values, k, value);
    }
    PyObject *raised = values ? PyObject_CallFunction(p->fail, "iKO", status, (unsigned long long)(uintptr_t)q, values) : NULL;
    Py_XDECREF(raised);
    Py_XDECREF(values);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "atoll: the program failed without a reason");
    return NULL;
}

/* NULL without an error set: go the long way. */
static PyObject *quick(program *p, PyObject *const *args) {
    number numbers[MOST];
    void *given[MOST], *in[MOST], *out[MOST];
    int64_t bytes[MOST], axes[MOST], widths[MOST], shape[MOST], sizes[MOST], dims[MOST];
    at_arg shown[MOST];
    int place = 0, arrays = 0, foreign = 0, fits;
    for (int k = 0; k < p->inputs; k++) {
        bytes[k] = -1;
        if (p->in[k].axes < 0) {
            if (!scalar(args[k], p->in[k].type, &numbers[k])) return NULL;
            given[k] = &numbers[k];
            continue;
        }
        PyObject *kind = (PyObject *)Py_TYPE(args[k]);
        fits = kind == p->type ? ours(p, args[k], &p->in[k], &given[k], &shape[place]) : kind == p->tensor ? torchs(p, args[k], &p->in[k], &given[k], &shape[place]) : 0;
        if (fits != 1) return NULL;
        foreign |= kind == p->tensor;
        place += p->in[k].axes;
        arrays++;
    }
    if (!arrays || (foreign && usual_stream(p) != 1)) return NULL;
    host h = {0};
    at_queue q = *p->queue;
    request r = {.call = {.sizes = sizes, .in = given, .out = out, .host = &h, .poll = poll_signals, .room = p->values, .args = shown},
                 .entry = p->entry, .queue = &q, .inputs = p->inputs, .outputs = p->outputs, .given = given, .bytes = bytes, .axes = axes, .widths = widths,
                 .dims = dims, .in = in, .out = out};
    for (int k = 0; k < p->outputs; k++) {
        axes[k] = p->out[k].axes;
        widths[k] = p->out[k].width;
    }
    const int prepared = p->prepare(&r.call, shape, sizes, dims);
    if (prepared) return NULL;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = p->run(&r);
    Py_END_ALLOW_THREADS
    if (h.failed) return PyErr_Restore(h.error[0], h.error[1], h.error[2]), NULL;
    return status ? failed(p, status, &q, shown) : results(p, out, dims);
}

static PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    program *p = PyCapsule_GetPointer(self, "atoll.device");
    if (!p) return NULL;
    if (n == p->inputs && (!names || PyTuple_GET_SIZE(names) == 0)) {
        PyObject *made = quick(p, args);
        if (made || PyErr_Occurred()) return made;
    }
    return PyObject_Vectorcall(p->slow, args, (size_t)n, names);
}

static void drop(PyObject *capsule) {
    program *p = PyCapsule_GetPointer(capsule, "atoll.device");
    if (!p) return;
    PyObject *held[] = {p->type, p->device, p->slow, p->fail, p->tensor, p->place, p->stream, p->number};
    for (size_t k = 0; k < sizeof held / sizeof *held; k++) Py_XDECREF(held[k]);
    for (int k = 0; k < MOST; k++) Py_XDECREF(p->in[k].dtype), Py_XDECREF(p->in[k].tensor), Py_XDECREF(p->out[k].dtype);
    PyMem_Free(p);
}

/* (type number, axes, bytes of an element, NumPy's type) for each leaf; how many, or -1 with an error set */
static int read_leaves(PyObject *tuple, leaf *into) {
    const Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    for (Py_ssize_t k = 0; k < n; k++) {
        long long width;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(tuple, k), "iiLO", &into[k].type, &into[k].axes, &width, &into[k].dtype)) return into[k].dtype = NULL, -1;
        into[k].width = width;
        Py_INCREF(into[k].dtype);
    }
    return (int)n;
}

static PyObject *make(PyObject *module, PyObject *args) {
    (void)module;
    unsigned long long prepare, entry, run, queue;
    PyObject *type, *device, *params, *outs, *slow, *fail;
    int single, values;
    if (!PyArg_ParseTuple(args, "O!OKKKKO!O!piOO", &PyType_Type, &type, &device, &prepare, &entry, &run, &queue, &PyTuple_Type, &params, &PyTuple_Type, &outs, &single, &values, &slow, &fail))
        return NULL;
    program *p = PyMem_Calloc(1, sizeof *p);
    PyObject *capsule = p ? PyCapsule_New(p, "atoll.device", drop) : PyErr_NoMemory();
    if (!capsule) {
        PyMem_Free(p);
        return NULL;
    }
    p->prepare = (int (*)(at_call *, const int64_t *, int64_t *, int64_t *))(uintptr_t)prepare;
    p->entry = (int (*)(at_call *, at_queue *))(uintptr_t)entry;
    p->run = (int (*)(request *))(uintptr_t)run;
    p->queue = (const at_queue *)(uintptr_t)queue;
    p->single = single;
    p->values = values;
    p->type = Py_NewRef(type);
    p->device = Py_NewRef(device);
    p->slow = Py_NewRef(slow);
    p->fail = Py_NewRef(fail);
    p->method = (PyMethodDef){"program", (PyCFunction)(void (*)(void))call, METH_FASTCALL | METH_KEYWORDS, NULL};
    p->inputs = read_leaves(params, p->in);
    p->outputs = p->inputs < 0 ? -1 : read_leaves(outs, p->out);
    PyObject *made = p->outputs < 0 ? NULL : PyCFunction_New(&p->method, capsule);
    Py_DECREF(capsule);
    return made;
}

/* torch(callable, Tensor, (dtype or None, ...), device, stream, number) */
static PyObject *torch(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *callable, *tensor, *dtypes, *place, *stream, *number;
    if (!PyArg_ParseTuple(args, "OOO!OOO", &callable, &tensor, &PyTuple_Type, &dtypes, &place, &stream, &number)) return NULL;
    program *p = PyCFunction_Check(callable) ? PyCapsule_GetPointer(PyCFunction_GET_SELF(callable), "atoll.device") : NULL;
    if (!p) return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_TypeError, "a program"), NULL);
    if (!p->tensor) {
        for (int k = 0; k < p->inputs && k < PyTuple_GET_SIZE(dtypes); k++)
            if (PyTuple_GET_ITEM(dtypes, k) != Py_None) p->in[k].tensor = Py_NewRef(PyTuple_GET_ITEM(dtypes, k));
        p->place = Py_NewRef(place);
        p->stream = Py_NewRef(stream);
        p->number = Py_NewRef(number);
        p->tensor = Py_NewRef(tensor);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"make", make, METH_VARARGS, NULL}, {"torch", torch, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "atoll_device", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_atoll_device(void) {
    import_array();
    const struct { PyObject **name; const char *text; } names[] = {
        {&n_device, "device"}, {&n_shape, "shape"}, {&n_dtype, "dtype"}, {&n_pointer, "pointer"}, {&n_owner, "_owner"}, {&n_foreign, "_foreign"},
        {&n_data_ptr, "data_ptr"}, {&n_is_contiguous, "is_contiguous"}, {&n_requires_grad, "requires_grad"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!(*names[k].name = PyUnicode_InternFromString(names[k].text))) return NULL;
    return PyModule_Create(&definition);
}
