"""Error codes of what runs beyond one machine or within a given memory, E12xx: rows in the shape of `catalog._ROWS`."""

from __future__ import annotations

from atoll.errors import base as b

_T, _C = b.TypeError, b.CompileError

ROWS: list[tuple[str, type[b.Error], str, str, str]] = [
    ("E1201", _C, "{name} cannot be distributed: {reason}", "gather the array first: x.compute()", "A function is distributed with the bits of one machine or not at all. What needs everything in one place (a sort along the axis that is cut, sums from left to right), prints, or reads a large array at places that are data is refused before any task is made."),
    ("E1202", _C, "{name} needs the package {package}, which is not installed", "pip install 'atoll[{extra}]'", "Dask, MPI and zarr are extras: nothing else of Atoll needs them."),
    ("E1203", _T, "{fn}: the chunks of {name} have unknown sizes", "call {name}.compute_chunk_sizes() first", "Sizes are what a program is planned with. Dask does not know them after a selection by values."),
    ("E1204", _T, "{fn} is called with {what} for {name}, which would be gathered into the memory of this process", "write {fn}.distribute(...) for lazy results, or gather it yourself: np.asarray({name})", "A plain call works on arrays in memory. Arrays that are elsewhere are never gathered silently."),
    ("E1205", _C, "{name}: this worker has no C compiler, and was sent code for another processor", "install gcc or clang there, or pip install ziglang", "Programs travel as C, which every machine compiles once, together with what was compiled for the processor of the sender ({there}); this one is {here}."),
    ("E1206", _C, "{name} does not fit into {memory}: {reason}", "allow more memory", "Memory is known before anything runs. A call that cannot keep to it is refused."),
    ("E1207", _T, "{name} cannot be cut over {over}: {reason}", "leave over= out, or name one of {sizes}", "over= names the size along which work is shared out. Loops are cut along their outermost index."),
    ("E1208", _C, "{path} holds the beginning of another computation: {reason}", "give another out=, or delete the file to begin anew", "A stream or a loop that was interrupted goes on where it ended, if it is the same program with the same arguments."),
]
