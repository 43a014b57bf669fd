"""Persistent maps from numbers to anything: weight-balanced search trees (Adams). A new map shares what it did not change.

A node's two sides differ in weight by at most a factor of 3; single and double rotations keep it so.
"""

from __future__ import annotations

import atoll as at
from atoll import i64
from atoll.std.lists import Cons, List
from atoll.std.options import Option, Some

k, v, w, b = at.types("k v w b")


@at.record
class Empty:
    """The map without entries."""


@at.record
class Entry:
    """A key and its value, smaller keys on the left, `count` entries in all."""

    count: i64
    key: k
    value: v
    left: Map
    right: Map


Map = Empty | Entry


@at.fn
def size(m: Map[k, v]) -> i64:
    """How many entries."""
    match m:
        case Empty():
            return 0
        case Entry(count):
            return count


@at.fn
def entry(key: k, value: v, left: Map[k, v], right: Map[k, v]) -> Map[k, v]:
    """A map of these parts, which are balanced already."""
    return Entry(size(left) + size(right) + 1, key, value, left, right)


@at.fn
def balance(key: k, value: v, left: Map[k, v], right: Map[k, v]) -> Map[k, v]:
    """A map of these parts, one of which may have become too heavy by one."""
    l, r = size(left), size(right)
    if l + r <= 1:
        return Entry(l + r + 1, key, value, left, right)
    if r > 3 * l:
        match right:
            case Entry(_, rk, rv, rl, rr):
                if size(rl) < 2 * size(rr):
                    return entry(rk, rv, entry(key, value, left, rl), rr)
                match rl:
                    case Entry(_, mk, mv, ml, mr):
                        return entry(mk, mv, entry(key, value, left, ml), entry(rk, rv, mr, rr))
                    case Empty():
                        return entry(rk, rv, entry(key, value, left, rl), rr)
            case Empty():
                return entry(key, value, left, right)
    if l > 3 * r:
        match left:
            case Entry(_, lk, lv, ll, lr):
                if size(lr) < 2 * size(ll):
                    return entry(lk, lv, ll, entry(key, value, lr, right))
                match lr:
                    case Entry(_, mk, mv, ml, mr):
                        return entry(mk, mv, entry(lk, lv, ll, ml), entry(key, value, mr, right))
                    case Empty():
                        return entry(lk, lv, ll, entry(key, value, lr, right))
            case Empty():
                return entry(key, value, left, right)
    return Entry(l + r + 1, key, value, left, right)


@at.fn
def put(m: Map[k, v], key: k, value: v) -> Map[k, v]:
    """The map with this value at the key."""
    match m:
        case Empty():
            return Entry(1, key, value, Empty(), Empty())
        case Entry(count, k_, v_, l, r):
            if key < k_:
                return balance(k_, v_, put(l, key, value), r)
            if key > k_:
                return balance(k_, v_, l, put(r, key, value))
            return Entry(count, key, value, l, r)


@at.fn
def get(m: Map[k, v], key: k) -> Option[v]:
    """The value at the key, if there is one."""
    match m:
        case Empty():
            return None
        case Entry(_, k_, v_, l, r):
            if key < k_:
                return get(l, key)
            if key > k_:
                return get(r, key)
            return Some(v_)


@at.fn
def least(m: Map[k, v], key: k, value: v) -> (k, v):
    """The entry with the least key; of an empty map the one given."""
    match m:
        case Empty():
            return key, value
        case Entry(_, k_, v_, l, _):
            return least(l, k_, v_)


@at.fn
def remove_least(m: Map[k, v]) -> Map[k, v]:
    """The map without its least key."""
    match m:
        case Empty():
            return m
        case Entry(_, k_, v_, l, r):
            match l:
                case Empty():
                    return r
                case Entry():
                    return balance(k_, v_, remove_least(l), r)


@at.fn
def remove(m: Map[k, v], key: k) -> Map[k, v]:
    """The map without the key."""
    match m:
        case Empty():
            return m
        case Entry(_, k_, v_, l, r):
            if key < k_:
                return balance(k_, v_, remove(l, key), r)
            if key > k_:
                return balance(k_, v_, l, remove(r, key))
            match r:
                case Empty():
                    return l
                case Entry():
                    nk, nv = least(r, k_, v_)
                    return balance(nk, nv, l, remove_least(r))


@at.fn
def map_values(f: at.Fn[[v], w], m: Map[k, v]) -> Map[k, w]:
    """f of every value."""
    match m:
        case Empty():
            return Empty()
        case Entry(count, k_, v_, l, r):
            return Entry(count, k_, f(v_), map_values(f, l), map_values(f, r))


@at.fn
def fold_map(f: at.Fn[[b, k, v], b], start: b, m: Map[k, v]) -> b:
    """f over the entries, smaller keys first."""
    match m:
        case Empty():
            return start
        case Entry(_, k_, v_, l, r):
            return fold_map(f, f(fold_map(f, start, l), k_, v_), r)


@at.fn
def keys_onto(m: Map[k, v], ks: List[k]) -> List[k]:
    """The keys in order, then ks."""
    match m:
        case Empty():
            return ks
        case Entry(_, k_, _, l, r):
            return keys_onto(l, Cons(k_, keys_onto(r, ks)))
