"""The command with arguments that nobody should give: exit status 1 or 2 with words about it, never a traceback nor a bug of ours."""

from collections import Counter

import pytest

from atoll.cli import main

PROGRAM = "import atoll as at\nn = at.sizes('n')\n@at.fn\ndef f(x: at.f64[n]) -> at.f64:\n    return sum(x * x)\n"
BYTES = bytes(range(256))
FILES = {
    "ok.py": PROGRAM.encode(), "raises.py": b"1/0\n", "exits.py": b"raise SystemExit(3)\n", "num.py": b"9" * 100_000, "deep.py": b"(" * 5000 + b")" * 5000, "big.cert": b"[" * 200_000,
    "x.npy": b"\x93NUMPY garbage", "secret": b"x", **{f"bin{end}": BYTES for end in (".py", ".madl", ".cert")}, **{f"empty{end}": b"" for end in (".py", ".madl", ".cert")},
}  # fmt: skip
NAMES = [
    "", ".", "/", "none.py", "none.madl", "none.cert", "ok.py:g", "ok.py:f:f", ":f", "dir.py", "dir.madl", "dir.cert", "loop.py", "\udcff.py", "x" * 5000 + ".py", "a\nb.py", "a\0b.py",
    "-", "E9999", "/dev/null", "/proc/self/mem", "ü ö.py", *(name for name in FILES if name not in ("ok.py", "x.npy", "secret")),
]  # fmt: skip
VALUES = ["", "nan", "[[[", "none.npy", "x.npy", ".", "/dev/null", "9" * 5000, "__import__('os')", "\udcff", "{}", "(" * 3000, "a\0b.npy"]
SIZES = ["n", "n=-1", "n=x", "=3", "n=" + "9" * 5000, "n=99999999999999999999", "n=²"]


def calls():
    yield from ([], ["nope"], ["doctor", "x"], ["bench", "ok.py:f", "--nope"])
    for command in ("check", "show", "run", "build", "tune", "prove", "explain"):
        yield [command]
    for command in (["check"], ["show"], ["run"], ["build"], ["build", "--module"], ["tune"], ["bench"], ["prove"], ["explain"], ["prove", "empty.cert", "--program"]):
        yield from ([*command, name] for name in NAMES)
    yield from (["prove", "empty.cert", "--program", "ok.py:f", "--c", name] for name in NAMES)
    for value in VALUES:
        yield from (["run", "ok.py:f", value], ["run", "--interpret", "ok.py:f", value], ["run", "ok.py:f", "--cycles", value], ["show", "ok.py:f", "--stage", value])
        yield ["build", "ok.py:f", "--workspace", value]
    for folder in ("secret", "secret/x", "/proc/x", "a\0b", "x" * 5000):
        yield from (["build", "ok.py:f", "-o", folder], ["build", "--module", "ok.py", "-o", folder])
    for size in SIZES:
        yield from (["bench", "ok.py:f", "--size", size], ["tune", "ok.py:f", "--size", size])
    yield from (["tune", "ok.py:f", "--seconds", seconds] for seconds in ("0", "-1", "nan", "x"))


@pytest.mark.filterwarnings("ignore")
def test_every_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    for end in ("py", "madl", "cert"):
        (tmp_path / f"dir.{end}").mkdir()
    (tmp_path / "loop.py").symlink_to("loop.py")
    seen, wrong = Counter(), []
    for call in calls():
        status = main(call)
        told = "".join(capsys.readouterr())
        seen[status] += 1
        if status not in (0, 1, 2) or "bug in Atoll" in told or "Traceback" in told or not (status == 0 or told.strip()):
            wrong.append((call, status, told[-300:]))
    assert not wrong, "\n".join(map(ascii, wrong[:10]))
    assert seen.total() > 400 and seen[1] + seen[2] > 390, seen
