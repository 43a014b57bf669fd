"""Ordinary imperative programs whose state is arrays: algorithms, stacks and heaps, records and tuples as state, helpers with an early return.

Each is text for Atoll and for plain Python alike (tests/oracle.py). What `COPY` names needs a copy in every round, and must say so.
"""

from __future__ import annotations

import atoll as at
from atoll import bool_, i64

n, k, h, w = at.sizes("n k h w")
COPY = {"old_version_needed"}


@at.record
class Two:
    a: i64[n]
    b: i64[n]


@at.fn
def if_else_in_if_reads(m: bool_[n], out: i64[n]) -> i64[n]:
    c = 0
    for i in range(n):
        if m[i]:
            if i > 0 and m[i - 1]:
                out[i] = out[i - 1]
            else:
                c += 1
                out[i] = c
    return out


@at.fn
def stack_push_pop(m: bool_[n], out: i64[n]) -> i64[n]:
    st = zeros(n, dtype=i64)
    sp = 0
    for i in range(n):
        if m[i]:
            st[sp] = i
            sp += 1
        elif sp > 0:
            sp -= 1
            out[st[sp]] = i
    return out


@at.fn
def flag_loop(m: bool_[n], out: i64[n]) -> i64[n]:
    i = 0
    going = n > 0
    while going:
        if m[i]:
            out[i] = i
        if i == n - 1:
            going = False
        else:
            i += 1
    return out


@at.fn
def match_update(m: bool_[n], out: i64[n]) -> i64[n]:
    for i in range(n):
        match i % 4:
            case 0:
                out[i] = 1
            case 1:
                out[i] = out[i] + 2
            case _:
                if m[i]:
                    out[i] = 3
    return out


@at.fn
def helper_in_nested(m: bool_[n], out: i64[n]) -> i64[n]:
    def push(a: i64[n], i: i64, v: i64) -> i64[n]:
        if v < 3:
            return a
        a[i] = v
        return a
    for i in range(n):
        if m[i]:
            if i % 2 == 0:
                out = push(out, i, i)
            else:
                out = push(out, n - 1 - i, -i)
    return out


@at.fn
def union_find(m: bool_[n], out: i64[n]) -> i64[n]:
    parent = iota(n)
    for i in range(n):
        if m[i]:
            a = i
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            b = (i * 7 + 3) % n
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a != b:
                if a < b:
                    parent[b] = a
                else:
                    parent[a] = b
    return parent


@at.fn
def heap_sort(m: bool_[n], out: i64[n]) -> i64[n]:
    heap = zeros(n, dtype=i64)
    size = 0
    for i in range(n):
        j = size
        heap[j] = out[i]
        size += 1
        while j > 0 and heap[(j - 1) // 2] > heap[j]:
            p = (j - 1) // 2
            heap[j], heap[p] = heap[p], heap[j]
            j = p
    for t in range(n):
        out[t] = heap[0]
        size -= 1
        heap[0] = heap[size]
        i = 0
        going = True
        while going:
            c = 2 * i + 1
            if c + 1 < size and heap[c + 1] < heap[c]:
                c += 1
            if c < size and heap[c] < heap[i]:
                heap[i], heap[c] = heap[c], heap[i]
                i = c
            else:
                going = False
    return out


@at.fn
def labels(mask: bool_[h, w]) -> i64[h, w]:
    out = zeros((h, w), dtype=i64)
    count = 0
    for y in range(h):
        for x in range(w):
            if mask[y, x]:
                if x > 0 and mask[y, x - 1]:
                    out[y, x] = out[y, x - 1]
                else:
                    count += 1
                    out[y, x] = count
    return out


@at.fn
def union(mask: bool_[h, w]) -> i64[h * w]:
    def find(parent: i64[k], i: i64) -> i64:
        while parent[i] != i:
            i = parent[i]
        return i
    parent = iota(h * w)
    for y in range(h):
        for x in range(w):
            if mask[y, x]:
                if x > 0 and mask[y, x - 1]:
                    a = find(parent, y * w + x)
                    b = find(parent, y * w + x - 1)
                    parent[max(a, b)] = min(a, b)
                if y > 0 and mask[y - 1, x]:
                    a = find(parent, y * w + x)
                    b = find(parent, (y - 1) * w + x)
                    parent[max(a, b)] = min(a, b)
    return parent


@at.fn
def partition(m: bool_[n], out: i64[n]) -> i64[n]:
    lo = 0
    hi = n - 1
    while lo < hi:
        if out[lo] <= 5:
            lo += 1
        elif out[hi] > 5:
            hi -= 1
        else:
            t = out[lo]
            out[lo] = out[hi]
            out[hi] = t
    return out


@at.fn
def move_to_front(m: bool_[n], out: i64[n]) -> i64[n]:
    """LRU of at most 4 places."""
    cache = full(n + 4, -1)
    hits = 0
    for i in range(n):
        x = out[i] % 6
        p = 0
        while p < 3 and cache[p] != x:
            p += 1
        if cache[p] == x:
            hits += 1
        if p > 0:
            while p > 0:
                cache[p] = cache[p - 1]
                p -= 1
            cache[0] = x
        elif cache[0] != x:
            cache[0] = x
        out[i] = hits * 100 + cache[1]
    return out


@at.fn
def record_state(m: bool_[n], out: i64[n]) -> i64[n]:
    s = Two(out, zeros(n, dtype=i64))
    for i in range(n):
        if m[i]:
            if i % 2 == 0:
                s.a[i] = s.b[i] + 1
            else:
                s.b[i] = s.a[i - 1]
                s.a[n - 1 - i] = i
    return s.a + s.b


@at.fn
def two_arrays(m: bool_[n], out: i64[n]) -> (i64[n], i64[n]):
    b = zeros(n, dtype=i64)
    for i in range(n):
        if m[i]:
            out[i], b[i] = b[(i + 1) % n] + i, out[i]
        elif i % 3 == 0:
            b[i] = out[i]
        else:
            if out[i] > 3:
                out[i] = b[(i * 2) % n]
    return out, b


@at.fn
def rare_rebuild(m: bool_[n], out: i64[n]) -> i64[n]:
    for i in range(n):
        if i == n // 2:
            out = [x * 2 + 1 for x in out]
        else:
            out[i] = i
    return out


@at.fn
def best_so_far(m: bool_[n], out: i64[n]) -> (i64[n], i64[n]):
    best = zeros(n, dtype=i64)
    for i in range(n):
        if m[i]:
            out[i] = i
        if i == n // 2 or i == n - 1:
            best = out
    return out, best


@at.fn
def swap_arrays_rarely(m: bool_[n], out: i64[n]) -> (i64[n], i64[n]):
    b = iota(n)
    for i in range(n):
        if i == n // 3 or i == n // 2:
            out, b = b, out
        else:
            out[i] += b[i]
    return out, b


@at.fn
def old_version_read(m: bool_[n], out: i64[n]) -> (i64[n], i64):
    s = 0
    for i in range(n):
        old = out
        if m[i]:
            if i % 2 == 0:
                out[i] = 9
        s += old[i] * 2 - out[i]
    return out, s


@at.fn
def old_version_needed(m: bool_[n], out: i64[n]) -> (i64[n], i64):
    s = 0
    for i in range(n):
        old = out
        if m[i]:
            out[(out[i] * 5) % n] = 9
        s += old[out[i] % n]
    return out, s


@at.fn
def rows_2d(mask: bool_[h, w]) -> i64[h, w]:
    out = zeros((h, w), dtype=i64)
    for y in range(h):
        if y % 2 == 0:
            if y > 0:
                out[y] = out[y - 1] + 1
            else:
                out[y] = [i64(mask[y, x]) for x in range(w)]
        elif y % 3 == 0:
            out[y, 0] = 5
    return out


@at.fn
def pairs(m: bool_[n], out: i64[n]) -> i64[n]:
    st = [(0, 0) for i in range(n)]
    sp = 0
    for i in range(n):
        if m[i]:
            st[sp] = (i, out[i])
            sp += 1
        elif sp > 0:
            sp -= 1
            a, b = st[sp]
            out[a] = b + i
    return out


@at.fn
def insertion_sort(m: bool_[n], out: i64[n]) -> i64[n]:
    for i in range(min(n, 6)):
        j = i
        while j > 0 and out[j - 1] > out[j]:
            out[j - 1], out[j] = out[j], out[j - 1]
            j -= 1
    return out


@at.fn
def sieve(m: bool_[n], out: i64[n]) -> i64[n]:
    prime = full(n, 1)
    for i in range(2, n):
        if prime[i] == 1:
            j = 2 * i
            while j < n:
                if prime[j] == 1:
                    prime[j] = 0
                j += i
    return prime


@at.fn
def ring_buffer(m: bool_[n], out: i64[n]) -> i64[n]:
    ring = zeros(8, dtype=i64)
    head = 0
    tail = 0
    for i in range(n):
        if m[i]:
            if tail - head < 8:
                ring[tail % 8] = out[i]
                tail += 1
        elif tail > head:
            out[i] = ring[head % 8]
            head += 1
    return out


@at.fn
def linked_list(m: bool_[n], out: i64[n]) -> i64[n]:
    after = full(n + 1, -1)
    last = n
    for i in range(n):
        if m[i]:
            after[last] = i
            last = i
        elif last < n and out[i] > 5:
            after[i] = after[n]
            after[n] = i
    at_node = after[n]
    place = 0
    while at_node >= 0:
        out[place] = at_node
        place += 1
        at_node = after[at_node]
    return out


@at.fn
def open_hash(m: bool_[n], out: i64[n]) -> i64[n]:
    keys = full(2 * n + 1, -1)
    counts = zeros(2 * n + 1, dtype=i64)
    for i in range(n):
        x = out[i] * 7 + 1
        p = x % (2 * n + 1)
        while keys[p] != -1 and keys[p] != x:
            p = (p + 1) % (2 * n + 1)
        if keys[p] == -1:
            keys[p] = x
            counts[p] = 1
        else:
            counts[p] += 1
        out[i] = counts[p]
    return out


@at.fn
def two_helpers(m: bool_[n], out: i64[n]) -> (i64[n], i64):
    def sift(a: i64[n], i: i64) -> (i64[n], i64):
        while i > 0 and a[i // 2] < a[i]:
            a[i // 2], a[i] = a[i], a[i // 2]
            i = i // 2
        return a, i
    def mark(a: i64[n], i: i64, v: i64) -> i64[n]:
        if a[i] == v:
            return a
        elif v > 4:
            a[i] = v
        else:
            a[i] -= 1
        return a
    s = 0
    for i in range(n):
        if m[i]:
            out, j = sift(out, i)
            s += j
        else:
            out = mark(out, i, s % 7)
    return out, s


@at.fn
def state_machine(m: bool_[n], out: i64[n]) -> i64[n]:
    state = 0
    start = 0
    for i in range(n):
        match state:
            case 0:
                if m[i]:
                    state = 1
                    start = i
            case 1:
                if out[i] > 4:
                    state = 2
                    out[start] = i
                elif not m[i]:
                    state = 0
            case _:
                out[i] += out[start]
                if m[i] and out[i] % 2 == 0:
                    state = 0
    return out


@at.fn
def rows_swapped(mask: bool_[h, w]) -> i64[h, w]:
    a = [[i64(mask[y, x]) + y for x in range(w)] for y in range(h)]
    for y in range(1, h):
        if w > 0 and mask[y, 0]:
            if mask[y - 1, 0]:
                a[y], a[y - 1] = a[y - 1], a[y]
            else:
                a[y] = a[y] * 2
    return a


@at.fn
def flood(mask: bool_[h, w]) -> i64[h, w]:
    out = zeros((h, w), dtype=i64)
    stack = zeros(4 * h * w + 1, dtype=i64)
    label = 0
    for y in range(h):
        for x in range(w):
            if mask[y, x] and out[y, x] == 0:
                label += 1
                sp = 1
                stack[0] = y * w + x
                while sp > 0:
                    sp -= 1
                    v = stack[sp] // w
                    u = stack[sp] % w
                    if mask[v, u] and out[v, u] == 0:
                        out[v, u] = label
                        if v > 0:
                            stack[sp] = (v - 1) * w + u
                            sp += 1
                        if v < h - 1:
                            stack[sp] = (v + 1) * w + u
                            sp += 1
                        if u > 0:
                            stack[sp] = v * w + u - 1
                            sp += 1
                        if u < w - 1:
                            stack[sp] = v * w + u + 1
                            sp += 1
    return out
