"""The cache deletes only what Atoll made, is the user's alone, stays below its limit, and many processes may clear and fill it at once."""

import os
import subprocess
import sys
import time

import pytest

import atoll as at
from atoll.runtime.cache import Cache
from tests.front.modules import ROOT, python


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path / "c"))
    return tmp_path / "c"


def build(folder, size=1):
    (folder / "program.so").write_bytes(b"x" * size)
    return {}


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_clear_deletes_only_entries(folder):
    """Whatever stands beside them, old or not, is somebody else's."""
    folder.mkdir(mode=0o700)
    others = ["precious", ".notes-old", "A" * 64, "a" * 63, "f" * 65, ".git", "b" * 64 + ".d"]
    for name in others:
        (folder / name).mkdir()
        (folder / name / "file").write_text("mine")
        os.utime(folder / name, (0, 0))
    (folder / "file").write_text("mine")
    (folder / ("1" * 64)).write_text("a file with an entry's name")
    (folder / ("2" * 64)).symlink_to(folder / "precious")
    (folder / ("3" * 64)).mkdir()
    (folder / ("3" * 64) / "thesis.tex").write_text("in a folder with an entry's name")
    cache = Cache()
    for key in ("a" * 64, "b" * 64):
        cache.get(key, build)
    os.utime(folder / ".atoll-cache", (0, 0))
    cache.get("c" * 64, build)
    assert cache.stats()["entries"] == 3
    cache.clear()
    assert cache.stats()["entries"] == 0
    assert names(folder) == sorted([*others, "file", "1" * 64, "2" * 64, "3" * 64, ".atoll-cache"])
    assert (folder / ("3" * 64) / "thesis.tex").exists() and (folder / "precious" / "file").exists()


def test_a_folder_without_the_mark_is_left_alone(folder):
    cache = Cache()
    cache.get("a" * 64, build)
    (folder / ".atoll-cache").unlink()
    cache.clear()
    assert names(folder) == ["a" * 64]


def test_the_folder_is_the_users_alone(folder, tmp_path):
    before = os.umask(0)
    try:
        Cache().get("a" * 64, build)
        os.environ["ATOLL_CACHE_DIR"] = str(tmp_path / "deep" / "er")
        Cache().get("a" * 64, build)
    finally:
        os.umask(before)
    for made in (folder, tmp_path / "deep", tmp_path / "deep" / "er", folder / ("a" * 64)):
        assert made.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_folder_that_others_can_write_is_refused(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    for ask in (lambda: Cache().dir, lambda: Cache().stats(), lambda: Cache().clear(), lambda: Cache().get("a" * 64, build)):
        with pytest.raises(at.CompileError, match=r"E0830: the cache folder .* cannot be trusted: others can write in it"):
            ask()
    assert not names(folder)
    folder.chmod(0o755)
    Cache().get("a" * 64, build)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(folder):
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(at.CompileError, match=r"E0830: .* it belongs to another user \(12345\)"):
        Cache().get("a" * 64, build)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_an_entry_of_another_user_is_built_anew(folder):
    """As one that was put there while others could write."""
    path, _ = Cache().get("a" * 64, build)
    os.chown(path, 12345, 12345)
    cache = Cache()
    cache.get("a" * 64, build)
    assert (cache.hits, cache.misses, cache.damaged) == (0, 1, 1)


def test_the_oldest_go_when_there_is_too_much(folder, monkeypatch):
    monkeypatch.setenv("ATOLL_CACHE_SIZE", "1")
    cache = Cache()
    for k in range(8):
        cache.get(f"{k:064x}", lambda f: build(f, 300_000))
        os.utime(folder / f"{k:064x}" / "meta.json", (time.time() - 100 + k,) * 2)
    assert cache.stats()["bytes"] < 1.4e6
    assert names(folder) == [".atoll-cache", *(f"{k:064x}" for k in range(4, 8))]
    cache.find(f"{4:064x}")
    os.utime(folder / f"{5:064x}" / "meta.json", (0, 0))
    cache.find(f"{5:064x}")  # a use is written down: now it is the youngest
    cache.get("f" * 64, lambda f: build(f, 300_000))
    assert (folder / f"{5:064x}").exists() and not (folder / f"{4:064x}").exists()
    monkeypatch.setenv("ATOLL_CACHE_SIZE", "much")
    with pytest.raises(at.CompileError, match="E0826: ATOLL_CACHE_SIZE is 'much', which is not a number of megabytes"):
        cache.get("e" * 64, build)


PROGRAM = """
import os, random, sys, time
import numpy as np, atoll as at
n = at.sizes("n")
r = random.Random(int(sys.argv[1]))
for k in range(12):
    f = at.fn(source=f"import atoll as at\\nn = at.sizes('n')\\ndef f(x: at.f64[n]):\\n    return x * {r.randrange(3)}.0 + 1.0\\n")
    y = f.compile("0").call(np.zeros(2))
    assert y.tolist() == [1.0, 1.0], y
    if r.random() < 0.7:
        at.cache.clear()
print("good", at.cache.stats()["hits"] >= 0)
"""


def test_processes_that_clear_and_compile_at_once(tmp_path):
    (tmp_path / "p.py").write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ATOLL_CACHE_DIR": str(tmp_path / "c")}
    run = [subprocess.Popen([sys.executable, "p.py", str(k)], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for k in range(4)]
    for process in run:
        out, err = process.communicate(timeout=300)
        assert out == "good True\n", err
    assert not [name for name in names(tmp_path / "c") if name.startswith(".atoll-") and name != ".atoll-cache"]


def test_metadata_of_a_program_that_was_changed(tmp_path):
    """Sites and prints without what belongs there are never looked at: the entry is built anew."""
    program = """
import atoll as at, numpy as np
n = at.sizes("n")
@at.fn
def f(x: at.f64[n], k: at.i64):
    assert k > 2, f"k is {k}"
    print("x", x[0])
    return x[k]
try:
    f(np.ones(3), 1)
except at.RunError as error:
    print(str(error).splitlines()[0], at.cache.stats()["damaged"])
"""
    (tmp_path / "p.py").write_text(program)
    env = {"ATOLL_CACHE_DIR": str(tmp_path / "c")}
    first = python("p.py", cwd=tmp_path, env=env)
    assert first.stdout == "E0704: k is 1 0\n" or first.stdout.endswith("k is 1 0\n"), first.stderr
    for change in (('"sites"', '"sitos"'), ('"prints": [[', '"prints": [[[[['), ('"span": ', '"span": 99'), ('"kinds"', '"kind"')):
        for meta in (tmp_path / "c").glob("*/meta.json"):
            text = meta.read_text()
            if '"program"' in text:
                assert change[0] in text
                meta.write_text(text.replace(*change))
        done = python("p.py", cwd=tmp_path, env=env)
        assert done.stdout == first.stdout.replace(" 0\n", " 1\n"), done.stderr
