"""The library written in Atoll itself: lists, options, trees, persistent maps, strings of bytes.

    lists     List[a] = Nil | Cons(head, tail)              from Python: a list
    options   Option[a] = Some(value) | None                from Python: None or the value
    trees     Tree[a] = Leaf | Node(left, value, right)     search trees by a given order
    maps      Map[k, v], a balanced search tree             a new map shares what it did not change with the old one
    text      strings of bytes: u8[n], and Bytes where the length is a value's own

Functions are generic and compiled where they are used; functions given to them vanish (functions/specialise.py).
"""

from __future__ import annotations

from atoll.std.lists import Cons, List, Nil
from atoll.std.maps import Map
from atoll.std.options import Option, Some
from atoll.std.text import Bytes
from atoll.std.trees import Leaf, Node, Tree

__all__ = ["Bytes", "Cons", "Leaf", "List", "Map", "Nil", "Node", "Option", "Some", "Tree"]
