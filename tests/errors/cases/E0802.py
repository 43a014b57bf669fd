import os
import subprocess
import sys
from pathlib import Path

import atoll as at

program = Path(__file__).parent / "compile_one.py"
environment = {**os.environ, "ATOLL_CC": "no-such-compiler", "ATOLL_CACHE_DIR": "."}
done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True)
raise at.CompileError(done.stdout.strip() + done.stderr, "E0802")

#> E0802: no C compiler works here (tried no-such-compiler)
#>    help: install gcc or clang, or pip install ziglang
