"""A view is an index map: reshapes cost nothing, they say where an element is read or written (`catalogue`)."""
