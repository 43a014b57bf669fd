"""What NumPy's names do, written in Atoll: functions of one axis, of a matrix or of numbers, generic in the element.

`atoll/elaborate/numpy_names` says how each is applied (axis=, keepdims=, lifting); a module is loaded when a program first needs one of its functions.
"""
