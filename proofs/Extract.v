(** The checker of rows as OCaml: what atoll prove --verified runs. *)
Require Import Arithmetic ExtrOcamlBasic ZArith.
Extraction Language OCaml.
Extraction "arithmetic.ml" rows_ok refutes poly_eq Z.add Z.mul Z.opp.
