"""Public names with arguments that nobody should give: an at.Error or Python's own about their number, and no frame of ours but the one that raises again."""

import contextlib
import importlib.util
import io
import operator
import os
import traceback
import types
from collections import Counter
from pathlib import Path
from unittest import mock

import pytest

import atoll as at
from atoll.elaborate.builtins.names import BuiltinName
from atoll.errors.plain import is_plain
from tests.runtime.odd_values import odd_values
from tests.runtime.public_names import right_calls, with_one

SHARE = int(os.environ.get("ATOLL_ODD_SHARE", "4"))  # one of so many calls; make odd-values makes all of them

OURS = Path(at.__file__).parent
OUTSIDE = OURS / "errors" / "plain.py"  # what raises again
NOT_RIGHT = ("operator[]", "n lt", "n truediv", "at.module", "at.madl", "Certificate().check", "at.futhark", "at.futhark()", "at.DeviceArray", "f.within", "f.stream", "f.distribute")  # there is no such file, no GPU; those that have nothing right to give, or take keywords only
HAS_MPI = importlib.util.find_spec("mpi4py") is not None
OWN = ("at.tree.map", "at.tree.unflatten", "schedule.apply", "at.node", "node()", "node.reset")  # they call what they are given: its errors are its own


def wrong(name, error):
    """What is wrong with an error, if anything."""
    if isinstance(error, at.Error) and error.code == "E0899":
        return "a bug of ours"
    if not isinstance(error, (at.Error, TypeError)) and name not in OWN:
        return "not an error of ours"
    seen = error
    while seen is not None:
        if any(OURS in Path(f.filename).parents and Path(f.filename) != OUTSIDE for f in traceback.extract_tb(seen.__traceback__)):
            return "frames of ours"
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return None if str(error) else "no text"


@pytest.mark.filterwarnings("ignore")
def test_every_odd_value(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen, found = Counter(), []
    for name, call in right_calls(tmp_path).items():
        for kind in odd_values():
            for args, keywords in with_one(call, odd_values()[kind]):
                seen["calls"] += 1
                if seen["calls"] % SHARE:
                    continue
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        call[0](*args, **keywords)
                    seen["fine"] += 1
                except Exception as error:  # noqa: BLE001  what is looked for
                    seen["refused"] += 1
                    problem = wrong(name, error)
                    if problem is not None:
                        found.append((name, kind, len(args), [*keywords], problem, repr(error)[:200]))
    print(seen)
    assert not found, "\n".join(map(str, [len(found), *found[:20]]))
    assert seen["calls"] > 20_000 and seen["refused"] > 15_000 // SHARE, seen


NO_CALL = {"bool_", "i16", "i32", "u16", "u32", "doctor", "explore", "roofline", "check_early", "core", "type", "target"}
"""Dtypes, of which the others stand for all; what opens a browser or measures for seconds; what is no call."""


def test_every_public_name_is_tried(tmp_path):
    tried = {name.removesuffix("()") for name in right_calls(tmp_path)}
    ours = {f"at.{name}" for name in at.__all__ if name not in NO_CALL and not isinstance(getattr(at, name), type | BuiltinName) and callable(getattr(at, name))}
    ours |= {f"f.{name}" for name, value in vars(at.Function).items() if not name.startswith("_") and name not in NO_CALL and isinstance(value, types.FunctionType)}
    assert not ours - tried, ours - tried


def test_right_calls_are_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, (call, args, _) in right_calls(tmp_path).items():
        if not isinstance(call, BuiltinName):
            may_refuse = name in NOT_RIGHT or name.startswith("schedule.") or (name.startswith("at.mpi") and not HAS_MPI)
            with contextlib.suppress((at.Error, TypeError) if may_refuse else ()):
                call(*args)


def test_numbers_of_many_digits(tmp_path, monkeypatch):
    (tmp_path / "p.py").write_text("import atoll as at\nn = at.sizes('n')\n@at.fn\ndef blur(x: at.f64[n]):\n    return x * 2.0\n")
    (tmp_path / "p.tune").write_text("[blur]\njam = " + "9" * 100_000 + "\n")
    from tests.front.modules import python

    done = python("-c", "import p, numpy as np; p.blur(np.ones(3))", cwd=tmp_path)
    assert "E0813" in done.stderr and "jam is 999" in done.stderr and len(done.stderr) < 5000 + 3 * 100_100, done.stderr[:2000]
    for name in ("ATOLL_NUM_THREADS", "ATOLL_KEEP", "ATOLL_CC_TIMEOUT", "ATOLL_CACHE_SIZE"):
        done = python("-c", "import p, numpy as np; p.blur(np.ones(3))", cwd=tmp_path, env={name: "9" * 5000, "ATOLL_CACHE_DIR": str(tmp_path / "c")})
        assert "at.Error" in done.stderr or "E08" in done.stderr, done.stderr[:500]


def public():
    """Everything a user can call by a name of `at`, and the public methods of what these give."""
    from atoll.check.certificate import Certificate
    from atoll.madl import api
    from atoll.madl.node import Node
    from atoll.runtime.cache import Cache
    from atoll.schedule.api import Schedule
    from atoll.schedule.compiled import Compiled

    for name in at.__all__:
        value = getattr(at, name)
        if isinstance(value, types.FunctionType):
            yield name, value
    for module in (at.random, at.tree):
        for name, value in vars(module).items():
            if isinstance(value, types.FunctionType) and not name.startswith("_") and name in ("map", "leaves", "zip", "unflatten", *at.random.NAMES):
                yield f"{module.__name__}.{name}", value
    for cls in (at.Function, Schedule, Compiled, Certificate, Cache, api.Module, api.Operator, api.Instance, Node):
        for name, value in vars(cls).items():
            if not name.startswith("_") and isinstance(value, (types.FunctionType, property)):
                yield f"{cls.__name__}.{name}", value.fget if isinstance(value, property) else value


def test_everything_public_is_plain():
    found = dict(public())
    assert not [name for name, f in found.items() if not is_plain(f)]
    assert len(found) > 110, len(found)


def test_bugs_of_ours_are_told_as_such(monkeypatch):
    from atoll.sizes import declare

    monkeypatch.setattr(declare, "poly", mock.Mock(side_effect=KeyError("forgotten")))
    monkeypatch.delenv("ATOLL_DEBUG", raising=False)
    with pytest.raises(at.Error, match="E0899: sizes: this is a bug in Atoll .KeyError: 'forgotten'") as told:
        at.sizes("n")
    assert told.value.__cause__ is None
    monkeypatch.setenv("ATOLL_DEBUG", "1")
    with pytest.raises(at.Error, match="E0899") as told:
        at.sizes("n")
    assert any("declare.py" in f.filename for f in traceback.extract_tb(told.value.__cause__.__traceback__))


def test_errors_of_what_is_given_are_its_own():
    with pytest.raises(ZeroDivisionError) as told:
        at.tree.map(lambda x: 1 / 0, (1, 2))
    assert {Path(f.path).name for f in told.traceback} == {"test_odd_values.py", "plain.py"}


@pytest.mark.parametrize("size", [2.5, "2", None, [1]])
def test_sizes_are_made_of_whole_numbers(size):
    n = at.sizes("n")
    for op in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow):
        with pytest.raises(TypeError):
            op(n, size)
    with pytest.raises(TypeError):
        at.cdiv(n, size)
