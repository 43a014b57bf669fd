"""The cache on disk: found again by content, shared by processes, never trusted when damaged, never required to be writable."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import atoll as at
from atoll.runtime.cache import Cache
from tests.front.modules import ROOT, python

PROGRAM = """
import atoll as at, numpy as np
n = at.sizes("n")
@at.fn
def f(x: at.f64[n]):
    return {factor} * x + sum(x)
print(f(np.ones(3)).tolist(), at.cache.stats()["hits"], at.cache.stats()["misses"], at.cache.stats()["damaged"], at.cache.dir)
"""


@pytest.fixture(scope="module")
def seed(tmp_path_factory):
    """A copy of this Atoll, so that its files stay as they are, and a cache with the three entries of the program."""
    folder = tmp_path_factory.mktemp("seed")
    shutil.copytree(ROOT / "atoll", folder / "lib" / "atoll")
    assert run(folder, folder)[:3] == (0, 3, 0)  # runtime, call path, program
    return folder


@pytest.fixture
def project(seed, tmp_path):
    shutil.copytree(seed / "cache", tmp_path / "cache")
    return tmp_path


def run(seed, project, factor="2.0", **env):
    """Run the program; what came of it in the cache."""
    (project / "p.py").write_text(PROGRAM.format(factor=factor))
    done = python("p.py", cwd=project, env={"ATOLL_CACHE_DIR": str(project / "cache"), "PYTHONPATH": str(seed / "lib"), **env})
    assert done.returncode == 0, done.stderr
    values, rest = done.stdout.split("] ")
    assert values == "[" + ", ".join([str(float(factor) + 3)] * 3)
    hits, misses, damaged, folder = rest.split(maxsplit=3)
    return int(hits), int(misses), int(damaged), folder.strip()


def test_found_by_content(seed, project):
    """Another place in the file is the same program, another number is not."""
    assert run(seed, project)[:3] == (3, 0, 0)
    assert run(seed, project, "5.0")[:3] == (2, 1, 0)
    (project / "q.py").write_text("# a comment\n\n" + PROGRAM.format(factor="2.0"))
    done = python("q.py", cwd=project, env={"ATOLL_CACHE_DIR": str(project / "cache"), "PYTHONPATH": str(seed / "lib")})
    assert done.stdout.split("] ")[1].split()[:2] == ["3", "0"]


def test_everything_the_binary_depends_on_is_in_the_key(monkeypatch):
    from atoll.runtime import identity, toolchain

    def key(text="a", optimise="3", extra=()):
        return identity.build_key(text, optimise=optimise, extra=list(extra))

    cc = toolchain.compiler()
    plain = key()
    assert plain == key()
    others = [key("b"), key(optimise="0"), key(extra=["-g"])]
    monkeypatch.setenv("CPATH", "/nowhere")
    others.append(key())
    monkeypatch.undo()
    assert len({plain, *others}) == 5
    monkeypatch.setattr(identity, "mending", lambda *_: [])  # what is tried is not the matter here
    plain = key()
    others = [key("b"), key(optimise="0"), key(extra=["-g"])]
    for other in ((cc.command, "another version"), ((*cc.command, "-DX"), cc.version), ((*cc.command, "-DX", "-DY"), cc.version), ((*cc.command, "-DX -DY"), cc.version)):
        monkeypatch.setattr(identity, "compiler", lambda other=other: toolchain.Compiler(other[0], cc.kind, other[1]))
        others.append(key())
    monkeypatch.setattr(identity, "compiler", lambda: cc)
    monkeypatch.setattr(identity, "target", lambda: "another processor")
    others.append(key())
    monkeypatch.setattr(identity, "atoll_itself", lambda: "another Atoll")
    others.append(key())
    assert len({plain, *others}) == len(others) + 1


def test_a_script_that_starts_the_compiler_is_part_of_the_key(tmp_path):
    """Its text may hold options; so may a file of options."""
    from atoll.runtime import toolchain

    found = set()
    for k, text in enumerate(("-O1", "-O1 -DX")):
        path = tmp_path / str(k)
        path.mkdir()
        (path / "cc").write_text(f'#!/bin/sh\nexec gcc {text} "$@"\n')
        (path / "options").write_text(text)
        found.add(toolchain.Compiler((str(path / "cc"),), "gcc", "1").identity.replace(str(path), ""))
        found.add(toolchain.Compiler(("gcc", f"@{path}/options"), "gcc", "1").identity.replace(str(path), ""))
    assert len(found) == 4


def entries(folder):
    """The entries in a cache but for what the compiler was tried with."""
    found = [p for p in folder.iterdir() if p.name != ".atoll-cache"]
    return [p for p in found if json.loads((p / "meta.json").read_text())["kind"] != "probes"]


def damage(entry, how):
    meta, library = entry / "meta.json", entry / "program.so"
    match how:
        case "library cut short":
            library.write_bytes(library.read_bytes()[:1000])
        case "library empty":
            library.write_bytes(b"")
        case "one bit":
            data = bytearray(library.read_bytes())
            data[len(data) // 2] ^= 1
            library.unlink()
            library.write_bytes(data)
        case "library missing":
            library.unlink()
        case "meta cut short":
            meta.write_text(meta.read_text()[:50])
        case "meta empty":
            meta.write_text("")
        case "meta is something else":
            meta.write_text("[1, 2]")
        case "meta of another":
            meta.write_text(json.dumps({**json.loads(meta.read_text()), "key": "x"}))
        case "meta is a folder":
            meta.unlink()
            meta.mkdir()
        case "meta is no text":
            meta.write_bytes(b"\xff\xfe\x00")
        case "meta without a part":
            meta.write_text(json.dumps({k: v for k, v in json.loads(meta.read_text()).items() if k != "kind"}))
        case "meta changed":
            meta.write_text(meta.read_text().replace('"test"', '"tost"'))
        case "meta nested":
            meta.write_text("[" * 100_000)
        case "source changed":
            (entry / "program.c").write_text("int evil;")


@pytest.mark.parametrize(
    "how",
    ["library cut short", "library empty", "one bit", "library missing", "meta cut short", "meta empty", "meta is something else", "meta of another", "meta is a folder", "meta is no text"]
    + ["meta without a part", "meta changed", "meta nested", "source changed"],
)
def test_damaged_entries_are_noticed(tmp_path, how, monkeypatch):
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path))
    cache = Cache()

    def build(folder):
        (folder / "program.so").write_bytes(bytes(range(256)) * 10)
        (folder / "program.c").write_text("int good;")
        return {"kind": "test"}

    path, _ = cache.get("c" * 64, build)
    damage(path.parent, how)
    again, meta = cache.get("c" * 64, build)
    assert again.read_bytes() == bytes(range(256)) * 10 and meta["kind"] == "test"
    assert (cache.hits, cache.misses) == (0, 2) and cache.damaged == 1
    assert cache.get("c" * 64, build)[0] == again and cache.hits == 1


def test_a_damaged_program_is_built_anew(seed, project):
    kinds = {json.loads((p / "meta.json").read_text())["kind"]: p for p in entries(project / "cache")}
    damage(kinds["program"], "library cut short")
    damage(kinds["call path"], "meta cut short")
    assert run(seed, project)[:3] == (1, 2, 2)


def test_processes_at_once(seed, project):
    (project / "p.py").write_text(PROGRAM.format(factor="7.0"))
    env = {**os.environ, "PYTHONPATH": str(seed / "lib"), "ATOLL_CACHE_DIR": str(project / "cache")}
    start = [sys.executable, "p.py"]
    started = [subprocess.Popen(start, cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for process in started:
        out, err = process.communicate(timeout=120)
        assert out.startswith("[10.0, 10.0, 10.0]"), err
    found = entries(project / "cache")
    assert len(found) == 4 and not [p for p in found if p.name.startswith(".")]


def test_threads_and_processes_that_build_one_entry(tmp_path, monkeypatch):
    """Many builders of one key: each gets a whole entry."""
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path))

    def build(folder):
        (folder / "program.so").write_bytes(b"x" * 100_000)
        return {}

    def job(_):
        return Cache().get("a" * 64, build)[0].read_bytes()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(job, range(64))) == {b"x" * 100_000}


def test_a_home_that_cannot_be_written(seed, project):
    """Root may write anywhere a file system allows, so the folder is one that cannot exist."""
    temporary = project / "temporary"
    temporary.mkdir()
    hits, misses, damaged, folder = run(seed, project, ATOLL_CACHE_DIR="/proc/nowhere", TMPDIR=str(temporary))
    assert (hits, misses, damaged) == (0, 3, 0) and folder.startswith(str(temporary))
    assert not list(temporary.iterdir())  # gone with the process


def test_folders_that_cannot_be(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "below", tmp_path / "file"):
        monkeypatch.setenv("ATOLL_CACHE_DIR", str(folder))
        cache = Cache()
        assert cache.dir.is_dir() and cache.dir != folder
        assert cache.find("a" * 64) is None and cache.damaged == 0


def test_no_home_at_all(monkeypatch):
    def no_home():
        raise RuntimeError

    monkeypatch.delenv("ATOLL_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", no_home)
    assert Cache().dir.is_dir()


def test_the_usual_places(tmp_path, monkeypatch):
    monkeypatch.delenv("ATOLL_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert Cache().dir == tmp_path / "xdg" / "atoll"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Cache().dir == tmp_path / "home" / ".cache" / "atoll"
    monkeypatch.setenv("ATOLL_CACHE_DIR", "~/mine")
    assert Cache().dir == tmp_path / "home" / "mine"


def test_a_cache_that_can_only_be_read_is_read(project, monkeypatch):
    monkeypatch.setattr("atoll.runtime.cache._writable", lambda path: False)
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(project / "cache"))
    cache = Cache()
    name = next(p.name for p in entries(project / "cache"))
    found = cache.find(name)
    assert found is not None and found[0].parent == project / "cache" / name
    assert cache.dir != project / "cache"


def test_a_cache_that_stops_being_writable(tmp_path, monkeypatch):
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path / "c"))
    cache = Cache()
    assert cache.dir == tmp_path / "c"
    shutil.rmtree(tmp_path / "c")
    (tmp_path / "c").write_text("")

    def build(folder):
        (folder / "program.so").write_bytes(b"x")
        return {}

    assert cache.get("a" * 64, build)[0].read_bytes() == b"x"


def test_cleared_while_another_builds(tmp_path, monkeypatch):
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path))
    cache, tries = Cache(), []

    def build(folder):
        tries.append(folder)
        Cache().clear()  # which leaves alone what is being built
        if len(tries) < 3:
            shutil.rmtree(folder)  # somebody does not
        (folder / "program.so").write_bytes(b"x")
        return {}

    assert cache.get("a" * 64, build)[0].read_bytes() == b"x"
    assert len(tries) == 3


def test_cleared_before_it_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path))
    cache, loads = Cache(), []

    def build(folder):
        (folder / "program.so").write_bytes(b"x")
        return {}

    def load(path):
        loads.append(path)
        if len(loads) < 3:
            Cache().clear()
        return path.read_bytes()

    assert cache.use("a" * 64, build, load)[0] == b"x"
    assert len(loads) == 3


def test_a_failed_build_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path))

    def build(folder):
        (folder / "program.c").write_text("")
        raise at.Error("no")

    with pytest.raises(at.Error):
        Cache().get("a" * 64, build)
    assert [p.name for p in tmp_path.iterdir()] == [".atoll-cache"]


def test_left_overs_are_swept(tmp_path, monkeypatch):
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path))
    for name in (".atoll-deadbeef-old", ".atoll-deadbeef-new", ".deadbeef-old", ".my-notes"):  # the last two are not ours
        (tmp_path / name).mkdir()
        if "new" not in name:
            os.utime(tmp_path / name, (0, 0))
    (tmp_path / ".atoll-cache").write_text("")
    os.utime(tmp_path / ".atoll-cache", (0, 0))  # nobody has looked for long

    def build(folder):
        (folder / "program.so").write_bytes(b"x")
        return {}

    Cache().get("a" * 64, build)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".atoll-cache", ".atoll-deadbeef-new", ".deadbeef-old", ".my-notes", "a" * 64]


def test_the_api(tmp_path, monkeypatch):
    f = at.fn(source="import atoll as at\nn = at.sizes('n')\ndef f(x: at.f64[n]):\n    return x * 77.125\n")
    f(np.ones(1))  # the runtime is there
    f.refresh()
    monkeypatch.setenv("ATOLL_CACHE_DIR", str(tmp_path / "mine"))
    assert at.cache.dir == tmp_path / "mine"
    before = at.cache.stats()
    np.testing.assert_array_equal(f(np.ones(2)), [77.125, 77.125])
    after = at.cache.stats()
    assert after["misses"] == before["misses"] + 1 and after["entries"] == 1 and after["bytes"] > 1000
    assert after["dir"] == str(tmp_path / "mine")
    at.cache.clear()
    assert at.cache.stats()["entries"] == 0 and at.cache.stats()["bytes"] == 0
    np.testing.assert_array_equal(f(np.ones(2)), [77.125, 77.125])  # what is loaded keeps working


def test_two_versions_do_not_share(seed, project):
    """Another Atoll compiles for itself: its files are part of the key."""
    other = project / "other"
    shutil.copytree(seed / "lib", other)
    (other / "atoll" / "lower" / "__init__.py").write_text('"""Another version."""\n')
    assert run(seed, project, PYTHONPATH=str(other))[:2] == (2, 1)
    assert run(seed, project)[:2] == (3, 0)


def test_a_program_that_cannot_be_loaded(tmp_path):
    """As from a file system mounted noexec: said in words."""
    from atoll.runtime.library import load

    (tmp_path / "program.so").write_bytes(b"this is no library")
    with pytest.raises(at.CompileError) as error:
        load(tmp_path / "program.so")
    assert str(error.value).startswith(f"E0815: the compiled program {tmp_path}/program.so cannot be loaded: ")
    assert str(error.value).endswith("help: set ATOLL_CACHE_DIR to a folder whose files may be run")


def test_no_compiler(seed, project):
    (project / "p.py").write_text(PROGRAM.format(factor="2.0"))
    env = {"ATOLL_CACHE_DIR": str(project / "cache"), "ATOLL_CC": "/nonexistent/cc"}
    done = python("p.py", cwd=project, env=env)
    assert "E0802: no C compiler works here (tried /nonexistent/cc)" in done.stderr
    assert "help: install gcc or clang, or pip install ziglang" in done.stderr


def test_a_compiler_that_fails(project):
    (project / "p.py").write_text(PROGRAM.format(factor="2.0"))
    (project / "mycc").write_text('#!/bin/sh\nif [ "$1" = --version ]; then echo "gcc mine 2"; else echo "out of wishes" >&2; exit 1; fi\n')
    (project / "mycc").chmod(0o755)
    done = python("p.py", cwd=project, env={"ATOLL_CACHE_DIR": str(project / "cache"), "ATOLL_CC": str(project / "mycc")})
    assert "E0803: the C compiler" in done.stderr and "out of wishes" in done.stderr
