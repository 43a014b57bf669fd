(* Reads the claims that atoll prove --verified writes (atoll/check/verified.py has the format) and asks the checkers that are proved in Arithmetic.v and Questions.v.
   Trusted beside the proof: this reader, extraction, the OCaml compiler. *)

open Arithmetic

exception Bad of string

let words = Scanf.Scanning.stdin
let word () = try Scanf.bscanf words " %s" (fun s -> if s = "" then raise (Bad "it ends early") else s) with End_of_file -> raise (Bad "it ends early")
let count () = match int_of_string_opt (word ()) with Some n when n >= 0 -> n | _ -> raise (Bad "no count")

let rec positive_of n = if n = 1 then XH else if n land 1 = 1 then XI (positive_of (n lsr 1)) else XO (positive_of (n lsr 1))
let small n = if n = 0 then Z0 else Zpos (positive_of n)
let integer text =
  let negative = text.[0] = '-' in
  let digits = if negative then String.sub text 1 (String.length text - 1) else text in
  if digits = "" then raise (Bad "no number");
  let add_digit z c = if c < '0' || c > '9' then raise (Bad "no number") else Z.add (Z.mul z (small 10)) (small (Char.code c - 48)) in
  let z = Seq.fold_left add_digit Z0 (String.to_seq digits) in
  if negative then Z.opp z else z

let key () = let n = count () in if n = 0 then raise (Bad "no unknown") else positive_of n

let rec poly () =
  let rec terms n = if n = 0 then Zero else
    let c = integer (word ()) in
    let m = mono (count ()) in
    let rest = terms (n - 1) in
    Plus (m, c, rest) in
  terms (count ())
and mono n = if n = 0 then One else let a = atom () in let rest = mono (n - 1) in Times (a, rest)
and atom () = match word () with
  | "u" -> Unknown (key ())
  | "q" -> let n = poly () in let d = poly () in Quotient (n, d)
  | w -> raise (Bad ("no atom: " ^ w))

let source () = match word () with
  | "known" -> Known (poly ())
  | "below" -> let n = poly () in let d = poly () in Below (n, d)
  | "above" -> let n = poly () in let d = poly () in Above (n, d)
  | "atleast" -> let n = poly () in let d = poly () in let k = integer (word ()) in AtLeast (n, d, k)
  | w -> raise (Bad ("no source: " ^ w))

let rec times n f = if n = 0 then [] else let x = f () in let rest = times (n - 1) f in x :: rest

let step () = match word () with
  | "row" ->
      let goal = poly () in let scale = poly () in let rest = poly () in
      let terms = times (count ()) (fun () -> let m = poly () in let s = source () in (m, s)) in
      let cut = match word () with "cut" -> Some (poly ()) | "nocut" -> None | w -> raise (Bad ("no cut: " ^ w)) in
      Sum { goal; scale; rest; terms; cut }
  | "weaker" ->
      let k = integer (word ()) in let r = integer (word ()) in
      let inner = poly () in let goal = poly () in Weaker (k, r, inner, goal)
  | w -> raise (Bad ("no row: " ^ w))

let truth () = match word () with "true" -> true | "false" -> false | w -> raise (Bad ("no truth: " ^ w))
let cond () = match word () with
  | "ge" -> Least (poly ())
  | "eq" -> Equal (poly ())
  | "ne" -> Differs (poly ())
  | "data" -> let k = key () in Data (k, truth ())
  | w -> raise (Bad ("no condition: " ^ w))
let conds () = times (count ()) cond

let nat_of n =
  let rec go n = if n = 0 then O else S (go (n - 1)) in
  if n > 10000 then raise (Bad "no group") else go n

let rec tree rows = match word () with
  | "refute" -> let steps = times (count ()) step in rows := !rows + List.length steps; Rows steps
  | "contrary" -> Contrary (key ())
  | "cases" -> let k = nat_of (count ()) in let n = count () in Cases (k, times n (fun () -> tree rows))
  | "apart" -> let p = poly () in let above = tree rows in let below = tree rows in Apart (p, above, below)
  | w -> raise (Bad ("no answer: " ^ w))

let () =
  try
    let groups = count () in
    let rows = ref 0 and asked = ref 0 in
    for g = 1 to groups do
      let ok = match word () with
        | "rows" ->
            let known = times (count ()) poly in
            let steps = times (count ()) step in
            rows := !rows + List.length steps;
            rows_ok known steps
        | "ask" ->
            let given = conds () in
            let cases = times (count ()) (fun () -> times (count ()) conds) in
            let answer = tree rows in
            incr asked;
            impossible answer given cases
        | w -> raise (Bad ("no group: " ^ w)) in
      if not ok then (Printf.printf "refused: group %d of %d\n" g groups; exit 1)
    done;
    if !asked > 0 then Printf.printf "verified: %d questions by %d rows\n" !asked !rows
    else Printf.printf "verified: %d rows from %d sets of hypotheses\n" !rows groups
  with Bad problem -> Printf.printf "not readable: %s\n" problem; exit 2
