(** The checkers of rows and of questions as OCaml: what atoll prove --verified runs. *)
Require Import Arithmetic Questions ExtrOcamlBasic ZArith.
Extraction Language OCaml.
Extraction "arithmetic.ml" rows_ok impossible poly_eq Z.add Z.mul Z.opp.
