type tree = Leaf | Red of tree * int * tree | Black of tree * int * tree

let balance l k r = match l, r with
  | Red (Red (a, x, b), y, c), d -> Red (Black (a, x, b), y, Black (c, k, d))
  | Red (a, x, Red (b, y, c)), d -> Red (Black (a, x, b), y, Black (c, k, d))
  | a, Red (Red (b, y, c), z, d) -> Red (Black (a, k, b), y, Black (c, z, d))
  | a, Red (b, y, Red (c, z, d)) -> Red (Black (a, k, b), y, Black (c, z, d))
  | _ -> Black (l, k, r)

let rec add t x = match t with
  | Leaf -> Red (Leaf, x, Leaf)
  | Red (l, y, r) -> if x < y then Red (add l x, y, r) else if x > y then Red (l, y, add r x) else t
  | Black (l, y, r) -> if x < y then balance (add l x) y r else if x > y then balance l y (add r x) else t

let insert t x = match add t x with Red (l, y, r) -> Black (l, y, r) | other -> other

let rec contains t (x : int) = match t with
  | Leaf -> false
  | Red (l, y, r) | Black (l, y, r) -> if x < y then contains l x else if x > y then contains r x else true

let many count =
  let t = ref Leaf and x = ref 12345 in
  for _ = 1 to count do
    x := (!x * 1103515245 + 12345) mod 2147483648;
    t := insert !t (!x mod (2 * count))
  done;
  let found = ref 0 in
  for k = 0 to 2 * count - 1 do if contains !t k then incr found done;
  !found

let () = Timing.report (fun () -> many 100000) string_of_int
