"""GradBench: a tool that answers its protocol (`python -m bench.gradbench`), with a program of ours for each of its evals.

`tool.py` is the protocol, `evals/` one module for each eval, `workloads.py` inputs of the evals' kinds and sizes, `compare.py` runs both the tool and the manual
C++ of a checkout on them: every number within 1e-9, times of both. (GradBench's own validation accepts derivatives that are all zero for three evals.)
"""
