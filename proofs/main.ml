(* Reads the claims that atoll prove --verified writes (atoll/check/verified.py and replayed.py have the format) and asks the checkers that are proved in Arithmetic.v,
   Questions.v and Replay.v. Trusted beside the proofs: this reader, what writes, extraction, the OCaml compiler. *)

open BinNums
open Datatypes

exception Bad of string

let words = Scanf.Scanning.stdin
let word () = try Scanf.bscanf words " %s" (fun s -> if s = "" then raise (Bad "it ends early") else s) with End_of_file -> raise (Bad "it ends early")
let count () = match int_of_string_opt (word ()) with Some n when n >= 0 -> n | _ -> raise (Bad "no count")

let rec positive_of n = if n = 1 then Coq_xH else if n land 1 = 1 then Coq_xI (positive_of (n lsr 1)) else Coq_xO (positive_of (n lsr 1))
let rec int_of = function Coq_xH -> 1 | Coq_xI p -> 2 * int_of p + 1 | Coq_xO p -> 2 * int_of p
let small n = if n = 0 then Z0 else Zpos (positive_of n)
let integer text =
  let negative = text.[0] = '-' in
  let digits = if negative then String.sub text 1 (String.length text - 1) else text in
  if digits = "" then raise (Bad "no number");
  let add_digit z c = if c < '0' || c > '9' then raise (Bad "no number") else BinInt.Z.add (BinInt.Z.mul z (small 10)) (small (Char.code c - 48)) in
  let z = Seq.fold_left add_digit Z0 (String.to_seq digits) in
  if negative then BinInt.Z.opp z else z

let key () = let n = count () in if n = 0 then raise (Bad "no unknown") else positive_of n
let nat_of n =
  let rec go n = if n = 0 then O else S (go (n - 1)) in
  if n > 10000 then raise (Bad "a number that is too large") else go n
let nat () = nat_of (count ())
let truth () = match word () with "true" -> true | "false" -> false | w -> raise (Bad ("no truth: " ^ w))
let rec times n f = if n = 0 then [] else let x = f () in let rest = times (n - 1) f in x :: rest
let many f = times (count ()) f

(* polynomials and rows *)

let rec poly () =
  let rec terms n = if n = 0 then Arithmetic.Zero else
    let c = integer (word ()) in
    let m = mono (count ()) in
    let rest = terms (n - 1) in
    Arithmetic.Plus (m, c, rest) in
  terms (count ())
and mono n = if n = 0 then Arithmetic.One else let a = atom () in let rest = mono (n - 1) in Arithmetic.Times (a, rest)
and atom () = match word () with
  | "u" -> Arithmetic.Unknown (key ())
  | "q" -> let n = poly () in let d = poly () in Arithmetic.Quotient (n, d)
  | w -> raise (Bad ("no atom: " ^ w))

let source () = match word () with
  | "known" -> Arithmetic.Known (poly ())
  | "below" -> let n = poly () in let d = poly () in Arithmetic.Below (n, d)
  | "above" -> let n = poly () in let d = poly () in Arithmetic.Above (n, d)
  | "atleast" -> let n = poly () in let d = poly () in let k = integer (word ()) in Arithmetic.AtLeast (n, d, k)
  | w -> raise (Bad ("no source: " ^ w))

let step () = match word () with
  | "row" ->
      let goal = poly () in let scale = poly () in let rest = poly () in
      let terms = many (fun () -> let m = poly () in let s = source () in (m, s)) in
      let cut = match word () with "cut" -> Some (poly ()) | "nocut" -> None | w -> raise (Bad ("no cut: " ^ w)) in
      Arithmetic.Sum { Arithmetic.goal; scale; rest; terms; cut }
  | "weaker" ->
      let k = integer (word ()) in let r = integer (word ()) in
      let inner = poly () in let goal = poly () in Arithmetic.Weaker (k, r, inner, goal)
  | w -> raise (Bad ("no row: " ^ w))

(* questions *)

let cond () = match word () with
  | "ge" -> Questions.Least (poly ())
  | "eq" -> Questions.Equal (poly ())
  | "ne" -> Questions.Differs (poly ())
  | "data" -> let k = key () in Questions.Data (k, truth ())
  | w -> raise (Bad ("no condition: " ^ w))
let conds () = many cond

let rec tree rows = match word () with
  | "refute" -> let steps = many step in rows := !rows + Stdlib.List.length steps; Questions.Rows steps
  | "contrary" -> Questions.Contrary (key ())
  | "cases" -> let k = nat () in Questions.Cases (k, many (fun () -> tree rows))
  | "apart" -> let p = poly () in let above = tree rows in let below = tree rows in Questions.Apart (p, above, below)
  | w -> raise (Bad ("no answer: " ^ w))

(* terms and steps of schedules *)

open Terms

let rec idx () = match word () with
  | "v" -> Var (nat ())
  | "n" -> Num (integer (word ()))
  | "+" -> let p = idx () in let q = idx () in IAdd (p, q)
  | "*" -> let p = idx () in let q = idx () in IMul (p, q)
  | "/" -> let p = idx () in let q = idx () in IDiv (p, q)
  | w -> raise (Bad ("no index: " ^ w))

let monoid () = let name = word () in let d = key () in match name with
  | "add" -> Add d | "mul" -> Mul d | "minimum" -> Min d | "maximum" -> Max d | "and" -> And d | "or" -> Or d | "xor" -> Xor d
  | w -> raise (Bad ("no monoid: " ^ w))
let view () = match word () with
  | "transpose" -> Transpose | "flatten" -> Flatten | "reverse" -> Reverse
  | "split" -> Split (idx ()) | "tile" -> Tile (idx ()) | "trunc_r" -> TruncR (idx ()) | "trunc_l" -> TruncL (idx ()) | "pad_r" -> PadR (idx ())
  | "pad_l" -> PadL (idx ()) | "sample" -> Sample (idx ()) | "window" -> Window (idx ())
  | w -> raise (Bad ("no view: " ^ w))
let test () = let k = (match word () with "ge" -> Ge | "eq" -> Eq | "ne" -> Ne | w -> raise (Bad ("no test: " ^ w))) in let p = idx () in (k, p)

let rec term () = match word () with
  | "gen" -> let lo = idx () in let hi = idx () in Gen (lo, hi, term ())
  | "sum" -> let m = monoid () in let lo = idx () in let hi = idx () in Sum (m, lo, hi, term ())
  | "guard" -> let cs = many idx in Guard (cs, term ())
  | "let" -> let x = term () in Let (x, term ())
  | "cat" -> let n = nat () in let a = term () in Cat (n, a, term ())
  | "plus" -> let m = monoid () in let a = term () in Plus (m, a, term ())
  | "view" -> let v = view () in let n = nat () in View (v, n, term ())
  | "zeros" -> Zeros (many idx)
  | "get" -> let x = nat () in Get (x, many idx)
  | "lit" -> Lit (key ())
  | "index" -> Index (idx ())
  | "op" -> let f = key () in Op (f, many term)
  | "mulacc" -> let a = term () in MulAcc (a, term ())
  | "choose" -> let ts = many test in let a = term () in Choose (ts, a, term ())
  | "choosev" -> let g = truth () in let c = term () in let a = term () in ChooseV (g, c, a, term ())
  | w -> raise (Bad ("no term: " ^ w))

let action () = let open Applied in let rule r = Replay.Rule r in match word () with
  | "gen_cut" -> rule (GenCut (idx ())) | "sum_cut" -> rule (SumCut (idx ()))
  | "loop_flat" -> let n = idx () in rule (LoopFlat (n, idx ()))
  | "loop_join" -> rule LoopJoin | "loop_trunc" -> rule (LoopTrunc (idx ())) | "loop_shift" -> rule (LoopShift (idx ()))
  | "exchange_range" -> let low = idx () in rule (ExchangeRange (low, idx ()))
  | "sum_one" -> rule SumOne | "swap" -> rule Swap | "float_out" -> rule FloatOut | "float_in" -> rule FloatIn | "distribute" -> rule Distribute
  | "guard_in" -> rule (GuardIn (truth ())) | "guard_mul" -> rule GuardMul | "contract" -> rule Contract | "expand" -> rule Expand
  | "wrap" -> let v = view () in rule (Wrap (v, nat ()))
  | "let_dead" -> rule LetDead | "let_out" -> rule (LetOut (nat ())) | "let_lift" -> rule LetLift | "let_roll" -> rule LetRoll
  | "simplify" -> Replay.Simplified | "unfold" -> Replay.Unfolded | "fold" -> Replay.Folded | "guard_get" -> Replay.GuardGet
  | "factor" -> Replay.Factor (many (fun () -> match word () with "0" -> true | "1" -> false | w -> raise (Bad ("no operand: " ^ w))))
  | "rescale" -> let at_ = idx () in let low = idx () in Replay.Rescale (at_, low, idx ())
  | "let_join" -> Replay.Join (nat ())
  | "let_bind" | "let_view" -> Replay.Named_
  | w -> raise (Bad ("no rule: " ^ w))
let move () =
  let path = many nat in let kind = action () in let coq_new = term () in let after = term () in
  { Replay.path; kind; coq_new; after }

let law l =
  let m o = let name, d = (match o with Add d -> "add", d | Mul d -> "mul", d | Min d -> "minimum", d | Max d -> "maximum", d | And d -> "and", d | Or d -> "or", d | Xor d -> "xor", d) in Printf.sprintf "%s %d" name (int_of d) in
  let n = int_of in
  match l with
  | Applied.AnyOrder o -> "anyorder " ^ m o | Applied.Regroup o -> "regroup " ^ m o | Applied.Unit o -> "unit " ^ m o | Applied.NoSign d -> Printf.sprintf "nosign %d" (n d)
  | Applied.Distributes (f, d, b) -> Printf.sprintf "distributes %d %d %b" (n f) (n d) b | Applied.Finite f -> Printf.sprintf "finite %d" (n f)
  | Applied.Fused (f, d) -> Printf.sprintf "fused %d %d" (n f) (n d) | Applied.FusedOp (f, g, h, b) -> Printf.sprintf "fusedop %d %d %d %b" (n f) (n g) (n h) b
  | Applied.One (f, c, b) -> Printf.sprintf "one %d %d %b" (n f) (n c) b | Applied.AddZero (f, b) -> Printf.sprintf "addzero %d %b" (n f) b | Applied.ZeroZero f -> Printf.sprintf "zerozero %d" (n f) 
  | Applied.Spreads (f, d) -> Printf.sprintf "spreads %d %d" (n f) (n d) | Applied.Fades (f, d) -> Printf.sprintf "fades %d %d" (n f) (n d)
  | Applied.Faded (f, d, e, s, m, l, k, j) -> Printf.sprintf "faded %d %d %d %d %d %d %d %d" (n f) (n d) (n e) (n s) (n m) (n l) (n k) (n j)
  | Applied.Commutes f -> Printf.sprintf "commutes %d" (n f) | Applied.Through (f, g, b) -> Printf.sprintf "through %d %d %b" (n f) (n g) b
  | Applied.Most d -> Printf.sprintf "most %d" (n d) | Applied.MostOf (f, d) -> Printf.sprintf "mostof %d %d" (n f) (n d)
  | Applied.Rescales (e, s, t, m, l, d) -> Printf.sprintf "rescales %d %d %d %d %d %d" (n e) (n s) (n t) (n m) (n l) (n d)
  | Applied.FiniteFused -> "finitefused" | Applied.Outside -> "outside"

let fuel = nat_of 400

let replay () =
  let table = many (fun () -> let known = many poly in let steps = many step in (known, steps)) in
  let facts = many idx in
  let inputs = many (fun () -> many idx) in
  let source = term () in
  let moves = many move in
  let final = term () in
  match Replay.replay table facts inputs fuel source moves final with
  | Some laws ->
      Printf.printf "verified: %d steps\n" (Stdlib.List.length moves);
      Stdlib.List.iter print_endline (Stdlib.List.sort_uniq compare (Stdlib.List.map law laws))
  | None ->
      if not (Stdlib.List.for_all (fun (known, steps) -> Arithmetic.rows_ok known steps) table) then print_endline "refused: a row"
      else begin
        (* which step it was, for people *)
        let rec walk k t = function
          | [] -> print_endline "refused: the last term is another one"
          | m :: more -> (match Replay.all_moves table facts inputs fuel [m] t with Some (u, _) -> walk (k + 1) u more | None -> Printf.printf "refused: step %d\n" k) in
        walk 0 source moves
      end;
      exit 1

let () =
  try
    let groups = count () in
    let rows = ref 0 and asked = ref 0 in
    for g = 1 to groups do
      let ok = match word () with
        | "rows" ->
            let known = many poly in
            let steps = many step in
            rows := !rows + Stdlib.List.length steps;
            Arithmetic.rows_ok known steps
        | "ask" ->
            let given = conds () in
            let cases = many (fun () -> many conds) in
            let answer = tree rows in
            incr asked;
            Questions.impossible answer given cases
        | "replay" -> if groups <> 1 then raise (Bad "a replay comes alone"); replay (); exit 0
        | w -> raise (Bad ("no group: " ^ w)) in
      if not ok then (Printf.printf "refused: group %d of %d\n" g groups; exit 1)
    done;
    if !asked > 0 then Printf.printf "verified: %d questions by %d rows\n" !asked !rows
    else Printf.printf "verified: %d rows from %d sets of hypotheses\n" !rows groups
  with Bad problem -> Printf.printf "not readable: %s\n" problem; exit 2
