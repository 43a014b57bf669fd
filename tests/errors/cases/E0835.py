import atoll as at
from atoll import f64
from atoll.runtime.shared import build_shared


@at.record
class Leaf:
    value: f64


@at.record
class Node:
    left: "Tree"
    right: "Tree"


Tree = Leaf | Node


@at.fn
def total(t: Tree) -> f64:
    match t:
        case Leaf(value):
            return value
        case Node(left, right):
            return total(left) + total(right)


build_shared([total], "trees", ".")

#> E0835: total cannot be built as a shared library: it has recursion, unions or functions that are values, which run on a heap of their own
#>    help: build a function of arrays, numbers, tuples and records that calls it
