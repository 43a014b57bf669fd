(** The checkers of rows, of questions and of whole schedules as OCaml: what atoll prove --verified runs. One file a theory. *)
Require Import Arithmetic Questions Terms Applied Replay ExtrOcamlBasic ZArith.
Extraction Language OCaml.
Separate Extraction rows_ok impossible poly_eq replay all_moves Z.add Z.mul Z.opp.
