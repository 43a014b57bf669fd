import os
import shlex
import subprocess
import sys
from pathlib import Path

import atoll as at

program = Path(__file__).parent / "compile_one.py"
compiler = shlex.join(["sh", f"{Path(__file__).parent}/failing_compiler.sh"])
environment = {**os.environ, "ATOLL_CC": compiler, "ATOLL_CACHE_DIR": "."}
done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True)
raise at.CompileError(done.stdout.strip() + done.stderr, "E0803")

#> E0803: the C compiler sh failed: out of ideas
#>    help: this is a bug in Atoll; please report it with the program
