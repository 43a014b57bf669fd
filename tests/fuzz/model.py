"""What generated programs are made of: types, sizes, and bounds on floats.

Sizes are polynomials with the text of each atom as its name ("n", "len(v3)"), compared in normal form like Atoll's own.

`Num` bounds every float in a value, so that stages may round differently without a false alarm:
    magnitude   |x| <= 2**magnitude
    fraction    x is a multiple of 2**-fraction, or INEXACT
    error       two stages differ by at most 2**error ulps of 1.0, or NONE while the value is exact
Only exact floats are compared, sorted, rounded or converted to integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTS = SIGNED + UNSIGNED
FLOATS = ("f32", "f64")
COMPLEX = ("c64", "c128")
BITS = {name: int(name[1:]) for name in INTS + FLOATS + COMPLEX}


def promote(a: str, b: str) -> str | None:
    """The dtype of `a op b` (docs/reference.md section 9)."""
    if a == b:
        return a
    if "bool" in (a, b):
        return b if a == "bool" else a
    if a in COMPLEX or b in COMPLEX:
        wide = any(x in ("f64", "c128") for x in (a, b))
        return "c128" if wide else "c64"
    if a in FLOATS or b in FLOATS:
        return max((x for x in (a, b) if x in FLOATS), key=lambda x: BITS[x])
    if a[0] == b[0]:
        return a if BITS[a] > BITS[b] else b
    signed, unsigned = (a, b) if a[0] == "i" else (b, a)
    if BITS[unsigned] < BITS[signed]:
        return signed
    return {8: "i16", 16: "i32", 32: "i64"}.get(BITS[unsigned])


# -- sizes


@dataclass(frozen=True)
class Size:
    """A sum of products of atoms; terms sorted, no zero coefficients."""

    terms: tuple[tuple[tuple[str, ...], int], ...]

    @staticmethod
    def of(x: int | str) -> Size:
        return Size((((), x),) if x else ()) if isinstance(x, int) else Size((((x,), 1),))

    @staticmethod
    def _make(pairs: Iterable[tuple[tuple[str, ...], int]]) -> Size:
        found: dict[tuple[str, ...], int] = {}
        for atoms, c in pairs:
            found[atoms] = found.get(atoms, 0) + c
        return Size(tuple(sorted((a, c) for a, c in found.items() if c)))

    def __add__(self, other: Size | int) -> Size:
        return Size._make(self.terms + _size(other).terms)

    def __sub__(self, other: Size | int) -> Size:
        return self + _size(other) * -1

    def __mul__(self, other: Size | int) -> Size:
        right = _size(other).terms
        return Size._make((tuple(sorted(a + b)), c * d) for a, c in self.terms for b, d in right)

    @property
    def constant(self) -> int | None:
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def least(self) -> int:
        """A lower bound, given that atoms are not negative; -1000 when there is none."""
        if any(c < 0 for atoms, c in self.terms if atoms):
            return -1000
        return dict(self.terms).get((), 0)

    @property
    def degree(self) -> int:
        return max((len(atoms) for atoms, _ in self.terms), default=0)

    @property
    def atoms(self) -> frozenset[str]:
        return frozenset(a for atoms, _ in self.terms for a in atoms)

    @property
    def text(self) -> str:
        if self.constant is not None:
            return str(self.constant)
        parts: list[str] = []
        for atoms, c in sorted(self.terms, key=lambda term: (not term[0], term)):
            product = "*".join(atoms)
            shown = str(abs(c)) if not atoms else product if abs(c) == 1 else f"{abs(c)}*{product}"
            parts.append(("- " if c < 0 else "+ " if parts else "") + shown)
        return " ".join(parts).replace("- ", "-", 1) if parts[0].startswith("- ") else " ".join(parts)

    def __str__(self) -> str:
        return self.text


def _size(x: Size | int) -> Size:
    return x if isinstance(x, Size) else Size.of(x)


# -- types


@dataclass(frozen=True)
class Scalar:
    dtype: str

    def __str__(self) -> str:
        return "at.bool_" if self.dtype == "bool" else self.dtype


@dataclass(frozen=True)
class Array:
    elem: Type
    size: Size

    def __str__(self) -> str:
        sizes, elem = shape(self)
        return f"{elem}[{', '.join(map(str, sizes))}]"


@dataclass(frozen=True)
class Tuple:
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"at.Tuple[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True)
class Record:
    name: str
    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return self.name


Type = Scalar | Array | Tuple | Record
I64 = Scalar("i64")
BOOL = Scalar("bool")


def shape(t: Type) -> tuple[list[Size], Type]:
    sizes = []
    while isinstance(t, Array):
        sizes.append(t.size)
        t = t.elem
    return sizes, t


def rank(t: Type) -> int:
    return len(shape(t)[0])


def leaf_dtypes(t: Type) -> list[str]:
    _, t = shape(t)
    if isinstance(t, Scalar):
        return [t.dtype]
    items = t.items if isinstance(t, Tuple) else tuple(f for _, f in t.fields)  # type: ignore[union-attr]
    return [d for item in items for d in leaf_dtypes(item)]


def has_floats(t: Type) -> bool:
    return any(d in FLOATS + COMPLEX for d in leaf_dtypes(t))


def sizes_of(t: Type) -> list[Size]:
    sizes, elem = shape(t)
    parts: tuple[Type, ...] = ()
    if isinstance(elem, Tuple):
        parts = elem.items
    elif isinstance(elem, Record):
        parts = tuple(f for _, f in elem.fields)
    return sizes + [s for part in parts for s in sizes_of(part)]


# -- bounds on floats

INEXACT = 1000
NONE = -1000


@dataclass(frozen=True)
class Num:
    magnitude: int = 0
    fraction: int = 0
    error: int = NONE

    @property
    def exact(self) -> bool:
        return self.fraction < INEXACT

    def join(self, other: Num) -> Num:
        """A bound for a value that may be either."""
        return Num(max(self.magnitude, other.magnitude), max(self.fraction, other.fraction), max(self.error, other.error))


WHOLE = Num()


@dataclass(frozen=True)
class Precision:
    """How much a program's floats may grow before the generator stops trusting them."""

    exact_bits: int
    magnitude: int
    error: int

    def fits(self, x: Num) -> bool:
        return x.magnitude <= self.magnitude and x.error <= self.error

    def rounded(self, magnitude: int, fraction: int, error: int) -> Num:
        """The bound after an operation with this magnitude, whose inputs differ by `error` already."""
        if fraction < INEXACT and magnitude + fraction <= self.exact_bits:
            return Num(magnitude, fraction)
        return Num(magnitude, INEXACT, max(error, magnitude) + 1)

    def add(self, a: Num, b: Num) -> Num:
        return self.rounded(max(a.magnitude, b.magnitude) + 1, max(a.fraction, b.fraction), max(a.error, b.error))

    def mul(self, a: Num, b: Num) -> Num:
        return self.rounded(
            a.magnitude + b.magnitude,
            min(INEXACT, a.fraction + b.fraction),
            max(a.magnitude + b.error, b.magnitude + a.error) + 1,
        )

    def grow(self, a: Num, bits: int) -> Num:
        """A sum of 2**bits such values."""
        return self.rounded(a.magnitude + bits, a.fraction, a.error + bits if a.error > NONE else NONE)

    def smooth(self, a: Num, magnitude: int) -> Num:
        """A function with slope at most 2, correct to a few ulps."""
        return Num(magnitude, INEXACT, max(a.error, 0) + 2)


NARROW = Precision(22, 9, 11)  # some f32 in the program
WIDE = Precision(48, 20, 26)


# -- code and variables


@dataclass(frozen=True)
class Code:
    text: str
    num: Num = WHOLE
    weak: bool = False


@dataclass
class Var:
    name: str
    type: Type
    num: Num = WHOLE
    level: int = 0  # loops around its binding
    frozen: bool = False  # may not be rebound
    below: Size | None = None  # an index: 0 <= it < below


@dataclass(frozen=True)
class Helper:
    """A function of the module that others may call."""

    name: str
    params: tuple[Type, ...]
    result: Type
    num: Num
    sizes: tuple[str, ...] = ()
