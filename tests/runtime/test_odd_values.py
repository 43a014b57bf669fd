"""Public names with arguments that nobody should give: an at.Error or Python's own about their number, and no frame of ours but the one that raises again."""

import contextlib
import io
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import atoll as at
from atoll.types.builtins.names import BuiltinName
from tests.runtime.odd_values import odd_values

OURS = Path(at.__file__).parent
OUTSIDE = OURS / "errors" / "plain.py"  # what raises again
F = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n]) -> at.f64:\n    return sum(x * x)\n")


def targets():
    found = {f"at.{name}": getattr(at, name) for name in at.__all__ if isinstance(getattr(at, name, None), BuiltinName)}
    found |= {f"at.{t.dtype.name}": t for t in (at.f32, at.f64, at.i8, at.i64, at.u8, at.u64, at.c64, at.c128)}
    found |= {f"at.{t.dtype.name}[]": t.__getitem__ for t in (at.f64, at.i64)}
    found["at.idx[]"] = at.idx.__getitem__
    found["f.with_options"] = F.with_options
    found["f.export_c"] = lambda *a: F.export_c(*a) if not isinstance(a[0], str) else None  # a text is a folder
    steps = at.schedule(F)
    found |= {f"schedule.{name}": getattr(steps, name) for name in vars(type(steps)) if not name.startswith("_") and callable(getattr(type(steps), name))}
    return found


@pytest.mark.filterwarnings("ignore")
def test_every_odd_value(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen, wrong = Counter(), []
    for name, call in targets().items():
        for kind in odd_values():
            for args in ((odd_values()[kind],), (np.ones(2), odd_values()[kind])):
                seen["calls"] += 1
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        call(*args)
                    seen["fine"] += 1
                except (at.Error, TypeError) as error:
                    seen["refused"] += 1
                    frames = [Path(f.filename) for f in traceback.extract_tb(error.__traceback__)]
                    if any(OURS in f.parents and f != OUTSIDE for f in frames) or not str(error):
                        wrong.append((name, kind, len(args), repr(error)[:200]))
                except Exception as error:  # noqa: BLE001  what is looked for
                    wrong.append((name, kind, len(args), repr(error)[:200]))
    assert not wrong, wrong[:20]
    assert seen["calls"] > 5000 and seen["refused"] > 4000, seen


def test_numbers_of_many_digits(tmp_path, monkeypatch):
    (tmp_path / "p.py").write_text("import atoll as at\nn = at.sizes('n')\n@at.fn\ndef blur(x: at.f64[n]):\n    return x * 2.0\n")
    (tmp_path / "p.tune").write_text("[blur]\njam = " + "9" * 100_000 + "\n")
    from tests.front.modules import python

    done = python("-c", "import p, numpy as np; p.blur(np.ones(3))", cwd=tmp_path)
    assert "E0813" in done.stderr and "jam is 999" in done.stderr and len(done.stderr) < 5000 + 3 * 100_100, done.stderr[:2000]
    for name in ("ATOLL_NUM_THREADS", "ATOLL_KEEP", "ATOLL_CC_TIMEOUT", "ATOLL_CACHE_SIZE"):
        done = python("-c", "import p, numpy as np; p.blur(np.ones(3))", cwd=tmp_path, env={name: "9" * 5000, "ATOLL_CACHE_DIR": str(tmp_path / "c")})
        assert "at.Error" in done.stderr or "E08" in done.stderr, done.stderr[:500]
