"""The run on a machine with a GPU (on_gpu.py, bench/gpu), as far as it can be looked at without one."""

from __future__ import annotations

import json
import os

from bench.gpu.page import merged
from bench.gpu.run import ENDED, again
from tests.cuda.on_gpu import PARTS, Parts, shared_out


def test_parts_end_in_time(tmp_path):
    """With everything they started; what they said is told, and the next goes on."""
    parts = Parts(tmp_path, tmp_path, {**os.environ, "PYTHONUNBUFFERED": "1"})
    assert parts.end("poem", parts.begin("poem", "this"), 60) == 0
    process = parts.begin("server", "http.server", "0")
    assert parts.end("server", process, parts.since() + 1.0) is None and process.wait(10) != 0
    assert parts.end("bench", parts.begin("bench", "no_such_module"), 60) == 1
    assert parts.ended == {"poem": "right", "server": "ran out of time", "bench": "exit 1"}
    report = (tmp_path / "report.txt").read_text()
    assert "Beautiful is better than ugly" in report and "== server: ran out of time" in report and "no_such_module" in (tmp_path / "bench.txt").read_text()


def test_cores_are_shared_out():
    assert shared_out(16, PARTS) == 4 and shared_out(16, ("portable", "constructs")) == 15 and shared_out(16, ("corpus", "tests", "large", "fuzz")) == 7 and shared_out(2, PARTS) == 1
    assert shared_out(16, ("bench",)) == 16


def _row(kernel, numbers, **more):
    return {"kernel": kernel, "numbers": numbers, "times": {"atoll": 1.0, "jax": 2.0}, "errors": {}, **more}


def test_rows_of_a_later_run(tmp_path):
    """Those that are old are asked for, after those that are named, and take their places; what was not timed does not."""
    old = {"facts": {}, "asked": 3, "rows": [_row("softmax f32", 10**8, earlier="May"), _row("sort 1M f32", 10**8), _row("cholesky", 10**8, earlier="May")]}
    table = tmp_path / "gpu.json"
    table.write_text(json.dumps(old))
    asked = [(kernel.name, numbers) for kernel, numbers in again(table, ["sort 1M f32"])]
    assert asked[:3] == [("sort 1M f32", 10**8), ("softmax f32", 10**8), ("cholesky", 10**8)] and len(asked) == len(set(asked))
    assert asked.index(("gelu f32", 10**8)) < asked.index(("sort 1M f32", 10**4)) < asked.index(("gelu f32", 10**6))
    new = {"rows": [{**_row("softmax f32", 10**8), "times": {"atoll": 0.5}}, {**_row("cholesky", 10**8), "times": {"jax": 3.0}}, _row("gelu f32", 10**8), {**_row("sort 1M f32", 10**8), "times": {}, "errors": {"atoll": ENDED}}]}
    found = {row["kernel"]: row for row in merged(old, new, "June")["rows"]}
    assert found["softmax f32"]["times"] == {"atoll": 0.5} and found["softmax f32"]["later"] == "June" and "earlier" not in found["softmax f32"]
    assert found["cholesky"]["earlier"] == "May" and found["gelu f32"]["later"] == "June" and found["sort 1M f32"]["times"] and "later" not in found["sort 1M f32"]
    new["rows"] = [new["rows"][-1], new["rows"][0]]  # it ended a process, and another went on
    assert {row["kernel"]: row for row in merged(old, new, "June")["rows"]}["sort 1M f32"]["errors"] == {"atoll": ENDED}
