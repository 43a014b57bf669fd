"""AiNF, the normal form in which optimisation is simple: grammar (`ir`), translation (`from_core`), evaluator, printer, checker."""
