type tree = Hole | Node of int * tree * tree

let smash t u = match t, u with
  | Node (x, t1, Hole), Node (y, u1, Hole) ->
    if x > y then Node (x, Node (y, u1, t1), Hole) else Node (y, Node (x, t1, u1), Hole)
  | _ -> Hole

let rec carry q t = match q, t with
  | [], Hole -> []
  | [], _ -> [t]
  | Hole :: rest, _ -> t :: rest
  | _ :: _, Hole -> q
  | u :: rest, _ -> Hole :: carry rest (smash t u)

let rec join p q c = match p, q, c with
  | [], _, _ -> carry q c
  | _, [], _ -> carry p c
  | Hole :: p1, Hole :: q1, _ -> c :: join p1 q1 Hole
  | Hole :: p1, b :: q1, Hole -> b :: join p1 q1 Hole
  | Hole :: p1, b :: q1, _ -> Hole :: join p1 q1 (smash c b)
  | a :: p1, Hole :: q1, Hole -> a :: join p1 q1 Hole
  | a :: p1, Hole :: q1, _ -> Hole :: join p1 q1 (smash c a)
  | a :: p1, b :: q1, _ -> c :: join p1 q1 (smash a b)

let insert q x = carry q (Node (x, Hole, Hole))

let rec greatest q best = match q with
  | [] -> best
  | Hole :: rest -> greatest rest best
  | Node (x, _, _) :: rest -> greatest rest (if x > best then x else best)

let filled first step count =
  let q = ref [] in
  for k = 0 to count - 1 do q := insert !q ((first + k * step) mod 7919) done;
  !q

let merged_greatest count times =
  let total = ref 0 in
  for k = 0 to times - 1 do
    total := !total + greatest (join (filled k 31 count) (filled (k + 5) 17 count) Hole) 0
  done;
  !total

let () = Timing.report (fun () -> merged_greatest 1000 500) string_of_int
