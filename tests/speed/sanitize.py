"""The matrix kernel under gcc's sanitizers, with and without AVX-512: python -m tests.speed.sanitize [cases]."""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "atoll" / "runtime" / "native"
COMMON = ["-O1", "-g", "-std=gnu11", "-ffp-contract=fast", "-fno-math-errno", "-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover", f"-I{NATIVE}"]


def main(cases: str = "1000") -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for target in ("native", "x86-64-v3"):
            program = Path(folder) / target
            subprocess.run(["gcc", f"-march={target}", *COMMON, "-o", str(program), str(HERE / "product_sanitized.c")], check=True)
            done = subprocess.run([str(program), cases], capture_output=True, text=True, check=False)
            print(f"products, {target}: {cases} cases {'right' if done.returncode == 0 else 'FAILED'}")
            if done.returncode != 0:
                print(done.stdout + done.stderr)
                failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
