(* The weight-balanced maps of atoll/std/maps.py. *)
type 'v map = Empty | Entry of int * int * 'v * 'v map * 'v map
let size = function Empty -> 0 | Entry (c, _, _, _, _) -> c
let entry k v l r = Entry (size l + size r + 1, k, v, l, r)
let balance k v l r =
  let a = size l and b = size r in
  if a + b <= 1 then Entry (a + b + 1, k, v, l, r)
  else if b > 3 * a then match r with
    | Entry (_, rk, rv, rl, rr) ->
      if size rl < 2 * size rr then entry rk rv (entry k v l rl) rr
      else (match rl with
        | Entry (_, mk, mv, ml, mr) -> entry mk mv (entry k v l ml) (entry rk rv mr rr)
        | Empty -> entry rk rv (entry k v l rl) rr)
    | Empty -> entry k v l r
  else if a > 3 * b then match l with
    | Entry (_, lk, lv, ll, lr) ->
      if size lr < 2 * size ll then entry lk lv ll (entry k v lr r)
      else (match lr with
        | Entry (_, mk, mv, ml, mr) -> entry mk mv (entry lk lv ll ml) (entry k v mr r)
        | Empty -> entry lk lv ll (entry k v lr r))
    | Empty -> entry k v l r
  else Entry (a + b + 1, k, v, l, r)
let rec put m (k : int) v = match m with
  | Empty -> Entry (1, k, v, Empty, Empty)
  | Entry (c, k', v', l, r) ->
    if k < k' then balance k' v' (put l k v) r else if k > k' then balance k' v' l (put r k v) else Entry (c, k, v, l, r)
let rec get m (k : int) = match m with
  | Empty -> None
  | Entry (_, k', v, l, r) -> if k < k' then get l k else if k > k' then get r k else Some v
let rec least m k v = match m with Empty -> k, v | Entry (_, k', v', l, _) -> least l k' v'
let rec remove_least m = match m with
  | Empty -> m
  | Entry (_, _, _, Empty, r) -> r
  | Entry (_, k, v, l, r) -> balance k v (remove_least l) r
let rec remove m (k : int) = match m with
  | Empty -> m
  | Entry (_, k', v', l, r) ->
    if k < k' then balance k' v' (remove l k) r
    else if k > k' then balance k' v' l (remove r k)
    else match r with Empty -> l | _ -> let nk, nv = least r k' v' in balance nk nv l (remove_least r)

let neighbours g node = match get g node with Some s -> s | None -> Empty
let with_edge g a b = put g a (put (neighbours g a) b 1)
let rec without g node = function
  | Empty -> g
  | Entry (_, other, _, l, r) ->
    let here = put g other (remove (neighbours g other) node) in
    without (without here node l) node r
let rec few g colours = match g with
  | Empty -> None
  | Entry (_, node, around, l, r) ->
    (match few l colours with Some f -> Some f | None -> if size around < colours then Some node else few r colours)
let rec simplify g colours stack =
  if size g = 0 then stack
  else
    let node = match few g colours with Some n -> n | None -> (match g with Entry (_, n, _, _, _) -> n | Empty -> -1) in
    simplify (remove (without g node (neighbours g node)) node) colours (node :: stack)
let rec taken around coloured colour = match around with
  | Empty -> false
  | Entry (_, other, _, l, r) ->
    (match get coloured other with
     | Some c when c = colour -> true
     | _ -> taken l coloured colour || taken r coloured colour)
let rec first_free around coloured c = if taken around coloured c then first_free around coloured (c + 1) else c
let rec select g stack coloured = match stack with
  | [] -> coloured
  | node :: rest -> select g rest (put coloured node (first_free (neighbours g node) coloured 0))

let () =
  let edges = ref [] in
  let file = open_in Sys.argv.(1) in
  (try while true do Scanf.sscanf (input_line file) "%d %d" (fun a b -> edges := (a, b) :: !edges) done with End_of_file -> ());
  let ends = Array.of_list (List.rev !edges) in
  Timing.report (fun () ->
      let g = ref Empty in
      for k = 0 to 155 do g := put !g k Empty done;
      Array.iter (fun (a, b) -> g := with_edge (with_edge !g a b) b a) ends;
      let found = select !g (simplify !g 12 []) Empty in
      let total = ref 0 in
      for k = 0 to 155 do total := !total + (match get found k with Some c -> (k + 1) * c | None -> 0) done;
      !total) string_of_int
