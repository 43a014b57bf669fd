"""NumPy's names with NumPy's meaning.

A dotted name into `numpy` (`np.sum`, `np.linalg.solve`, `np.add.reduce`) and a method of an array (`x.mean(axis=1)`) are looked up in a table
of their own, whose rows mean exactly what NumPy says: reductions without axis= reduce everything, `np.cumsum(a)` is flat, keepdims
keeps. Bare names that the language defines keep the language's meaning (`sum(A)` is the sums of rows); the other names of NumPy's
top level can be written bare too, and lift like any function of the language: `median(A)` is the medians of rows, as `mean(A)` is.

    names       the names alone, cheap to import; which of them may stand bare
    table       name -> the function that elaborates an application, whose own parameters are NumPy's
    call        what those functions are written with: arguments, axes, shapes, calls of the library
    refused     names that have no meaning here, each with what to write instead

What a word *does* is written in Atoll (`atoll/std/numpy/`): functions of one axis, of a matrix, of numbers, generic in the element. A row
says how it is applied, by what is known while a program is elaborated: the ranks and element types of the arguments, axis=, keepdims=, dtype=.
Sizes, checks, derivatives and schedules are those of any Atoll function. Sizes that values decide (nonzero, unique, masks) are
existential, as those of `filter`. Definitions are loaded when the first program uses them.

A parameter of NumPy's that is not there (out=, order=, casting=) is refused by its name. Nothing is taken and ignored.
"""
