/* Numbers of Python and NumPy as numbers of C, for the call paths. */
typedef union { int8_t i8; int16_t i16; int32_t i32; int64_t i64; uint8_t u8; uint16_t u16; uint32_t u32; uint64_t u64;
                float f32; double f64; npy_bool b; double c128[2]; float c64[2]; } number;

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
