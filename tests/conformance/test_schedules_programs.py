"""The conformance rows of ATL about whole programs, 21 to 36: each derived from its plain form by examples/schedules, equal to it on
distinct awkward sizes, its loops checked, its certificate accepted, with the operator counts of figure 6."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atoll.schedule import term as tm
from tests.schedule.holding import holds
from tests.schedule.small_terms import ramp

FOLDER = Path(__file__).parents[2] / "examples" / "schedules"


def load(name: str) -> Any:
    """An example as a module."""
    key = f"example_schedules_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, FOLDER / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[key] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[key])
    return sys.modules[key]


blur, matmul, tensor, conv = load("blur"), load("matmul"), load("tensor_product"), load("convolution")
pipeline, identity, unsharp, stencil, conv2d = load("pipeline"), load("identity"), load("unsharp"), load("stencil"), load("conv2d")

BLUR_SIZES = [(11, 13), (10, 10), (12, 9), (2, 3), (1, 1), (1, 5)]


def box(v: Any) -> Any:
    """The 3 x 3 sum with a border of zeros, in NumPy."""
    padded = np.pad(v, 1)
    n, m = v.shape
    return sum(padded[a : a + n, b : b + m] for a in range(3) for b in range(3))


def images(*shapes: tuple[int, int]) -> list[tuple[Any]]:
    rng = np.random.default_rng(3)
    return [(rng.integers(0, 10, shape).astype(np.float32),) for shape in shapes]


def blurs(s: Any, *shapes: tuple[int, int]) -> None:
    """The schedule holds, and its program is the blur of NumPy."""
    given = images(*(shapes or BLUR_SIZES))
    fast = holds(s, *given, terms=not shapes)
    for (v,) in given:
        np.testing.assert_array_equal(fast(v), box(v))


def guards(t: tm.Term) -> int:
    return sum(isinstance(u, tm.Guard) for _, u in tm.walk(t))


def test_row_21_two_stage_with_tails() -> None:
    blurs(blur.two_stage_tails())


def test_row_22_fused_has_no_buffer() -> None:
    s = blur.fused()
    blurs(s)
    assert not s.lowered.report.walk.allocated and blur.two_stage().lowered.report.walk.allocated


def test_row_23_fused_with_tails_has_no_guard_inside() -> None:
    s = blur.fused_tails()
    blurs(s)
    assert guards(s._work.at_loop(s._work.loop("y_1/x_1"))) == 0


def test_row_24_isolated() -> None:
    blurs(blur.isolated())


@pytest.mark.long
@pytest.mark.parametrize(("rows", "columns", "shape"), [(4, 4, (11, 13)), (4, 4, (10, 10)), (3, 2, (12, 9)), (64, 64, (70, 131))])
def test_row_25_tiled(rows: int, columns: int, shape: tuple[int, int]) -> None:
    s = blur.tiled(rows, columns)
    blurs(s, shape, (1, 9), (2, 2))
    (scratch,) = [b for b in s.lowered.report.walk.allocated if b.name == "tile"]
    assert [p.const() for p in scratch.extents] == [rows + 2, columns]


@pytest.mark.parametrize("name", ["two_stage", "two_stage_tails", "fused", "fused_tails", "isolated"])
def test_row_26_every_blur_is_numpy_s(name: str) -> None:
    v = images((37, 50))[0][0]
    np.testing.assert_array_equal(getattr(blur, name)().compile()(v), box(v))


def test_interior_fused_and_tiled() -> None:
    for s in (blur.fused_inside(), blur.tiled_inside()):
        fast = holds(s, *images((7, 9), (2, 3), (10, 6)))
        v = images((10, 11))[0][0]
        np.testing.assert_array_equal(fast(v), box(v)[1:-1, 1:-1])


MATRICES = [(ramp(7, 5), ramp(5, 9)), (ramp(8, 5), ramp(5, 8)), (ramp(3, 2), ramp(2, 2)), (ramp(1, 0), ramp(0, 3))]


@pytest.mark.parametrize("name", ["tiled", "tiled_tails", "rows_in_order"])
def test_rows_27_and_28_matrix_products(name: str) -> None:
    fast = holds(getattr(matmul, name)(), *MATRICES)
    for a, b in MATRICES:
        np.testing.assert_array_equal(fast(a, b), a @ b)


def test_row_28_the_last_rows_are_not_tiled_by_columns() -> None:
    s = matmul.tiled_tails()
    tail = s._work.at_loop(s._work.loop("i_o_1"))
    assert [u.sym.name for _, u in tm.walk(tail) if isinstance(u, tm.Gen)] == ["i_o_1", "i_i", "j"]


def test_row_29_tensor_product_in_one_loop() -> None:
    s = tensor.one_loop()
    x = ramp(2, 4, 3, 5)
    np.testing.assert_array_equal(holds(s, (x, x), (x[:, :0], x[:, :0]))(x, x), x * x)
    assert [u.sym.name for _, u in tm.walk(s.program) if isinstance(u, tm.Gen)] == ["i"]


def convolved(x: Any, f: Any) -> Any:
    b, c, w = x.shape
    k, _, r = f.shape
    out = np.zeros((b, k, w), np.float32)
    for p in range(w):
        for q in range(min(r, w - p)):
            out[:, :, p] += np.einsum("bc,kc->bk", x[:, :, p + q], f[:, :, q])
    return out


def test_row_30_scatter_is_gather() -> None:
    x, f = ramp(2, 2, 6), ramp(3, 2, 3)
    scatter, gather = conv.scatter(), conv.gather()
    for s in (scatter, gather):
        np.testing.assert_array_equal(holds(s, (x, f))(x, f), convolved(x, f))
    kinds = [a.kind for a in scatter.lowered.report.walk.accesses if a.buffer.kind == "out"]
    assert kinds == ["store", "update"]  # zeros first, then +=
    assert "reassociate" in gather.licences and not scatter.licences
    line = conv.scatter_line()
    holds(line, (ramp(6), ramp(2)))


def test_row_31_im2col() -> None:
    s = conv.columns()
    holds(s, (ramp(2, 3, 8), ramp(4, 3, 2)))
    (columns,) = s.lowered.report.walk.allocated
    assert [repr(p) for p in columns.extents] == ["b", "w", "c", "r"]


def test_row_32_im2col_mini() -> None:
    holds(conv.columns_mini(), (6, ramp(7), ramp(7, 3)))


@pytest.mark.parametrize(("n", "m"), [(9, 9), (9, 5), (1, 1)])
def test_row_33_a_kernel_of_one_is_a_shift(n: int, m: int) -> None:
    x, like = ramp(m), ramp(n)
    s = conv.shift()
    expected = np.concatenate([[0, 0], x, np.zeros(n)])[:n]
    np.testing.assert_array_equal(holds(s, (x, like))(x, like), expected)
    assert not any(isinstance(u, tm.Sum) for _, u in tm.walk(s.program))


def test_row_34_pipeline() -> None:
    s = pipeline.tiles(4)
    x = ramp(10)
    np.testing.assert_array_equal(holds(s, (x,), (ramp(8),), (ramp(0),))(x), 2 * (x + np.concatenate([[0], x[:-1]])))
    (tile,) = s.lowered.report.walk.allocated
    assert [p.const() for p in tile.extents] == [4]


@pytest.mark.parametrize("name", ["transposed", "halves", "side_by_side", "turned_halves", "quarters", "tiles"])
def test_row_35_copies_are_copies(name: str) -> None:
    s = identity.tiles(4) if name == "tiles" else getattr(identity, name)()
    fast = holds(s, (ramp(5, 7),), (ramp(8, 4),), (ramp(1, 1),), (ramp(2, 1),))
    np.testing.assert_array_equal(fast(ramp(9, 10)), ramp(9, 10))


ORDER = ("gen", "concat", "trunc", "transpose", "flatten", "split")
FIGURE_6 = [
    ("gather", lambda: conv.gather(), (3,)),
    ("scatter", lambda: conv.scatter(), (3,)),
    ("im2col conv", lambda: conv.at.schedule(conv.conv), (3,)),
    ("im2col mat", lambda: conv.columns(), (7,)),
    ("matmul", lambda: matmul.plain(), (2,)),
    ("tiled", lambda: matmul.tiled(), (4, 0, 2, 1, 2)),
    ("tiled+tails", lambda: matmul.tiled_tails(), (10, 2, 2, 1, 2)),
    ("two-stage", lambda: blur.two_stage(), (4,)),
    ("fused", lambda: blur.fused(), (2,)),
    ("fused+tails", lambda: blur.fused_tails(), (8, 4)),
    ("tiled+tails+staged", lambda: blur.tiled(), (21, 6, 3, 7, 3)),
    ("tensor add", lambda: tensor.plain(), (4,)),
    ("split add", lambda: tensor.one_loop(), (1, 0, 0, 0, 0, 3)),
]


@pytest.mark.parametrize(("name", "make", "counts"), FIGURE_6, ids=[row[0] for row in FIGURE_6])
def test_row_36_operator_counts(name: str, make: Any, counts: tuple[int, ...]) -> None:
    found = make().operators()
    assert tuple(found.get(kind, 0) for kind in ORDER) == counts + (0,) * (6 - len(counts))


# -- schedules ATL has not


def test_packed_matrix_product() -> None:
    s = matmul.packed(4, 16, 8)
    holds(s, (ramp(9, 5), ramp(5, 53)), (ramp(8, 5), ramp(5, 48)), (ramp(1, 1), ramp(1, 1)), (ramp(3, 0), ramp(0, 2)))
    assert s.licences == {"contract"}
    assert {name for name, *_ in s.lowered.report.alignment} >= {"acc.j_i", "j_i", "b_panel.1"}


def test_unsharp() -> None:
    for s in (unsharp.fused(8), unsharp.strips(4, 8), unsharp.tiles(4, 8, 8)):
        holds(s, *images((9, 21), (4, 4)))
        assert not s.licences


def test_sliding_window() -> None:
    s = stencil.window()
    holds(s, *images((9, 21), (1, 1)))
    (rows,) = s.lowered.report.walk.allocated
    assert rows.rows == 3
    holds(stencil.strips(4, 8), *images((9, 21), (1, 1), (3, 2)))


def test_convolution_in_registers() -> None:
    s = conv2d.register_tile(2, 8, 8)
    holds(s, (ramp(2, 4, 11), ramp(3, 2, 3, 2)), (ramp(2, 4, 4), ramp(2, 2, 3, 2)))
