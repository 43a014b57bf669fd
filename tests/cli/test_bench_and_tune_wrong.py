"""`atoll bench` and `atoll tune` with sizes and times that make no sense."""

import subprocess
import sys

import pytest

PROGRAM = "import atoll as at\nn = at.sizes('n')\n@at.fn\ndef twice(x: at.f32[n], k: at.i64): return x * f32(k)\n"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["bench", "--size", "n=100000000000000"], "there is not enough memory for arguments of these sizes"),
        (["bench", "--size", "n=10", "--size", "q=3"], "twice has no size q; it has k, n"),
        (["bench"], "give --size n=NUMBER"),
        (["tune", "--size", "n=10", "--seconds", "-1"], "--seconds takes a time above 0, not -1"),
        (["tune", "--size", "n=10", "--seconds", "0"], "--seconds takes a time above 0, not 0"),
    ],
)
def test_wrong(tmp_path, command, says):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "atoll", command[0], f"{path}:twice", *command[1:]], capture_output=True, text=True)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr
