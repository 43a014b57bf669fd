type expr = Num of float | X | Add of expr * expr | Mul of expr * expr | Sin of expr | Cos of expr | Exp of expr

let plus a b = match a, b with
  | Num 0.0, _ -> b
  | _, Num 0.0 -> a
  | Num x, Num y -> Num (x +. y)
  | _ -> Add (a, b)

let times a b = match a, b with
  | Num 0.0, _ -> a
  | _, Num 0.0 -> b
  | Num 1.0, _ -> b
  | _, Num 1.0 -> a
  | Num x, Num y -> Num (x *. y)
  | Num x, Mul (Num y, c) -> Mul (Num (x *. y), c)
  | _ -> Mul (a, b)

let rec derivative e = match e with
  | Num _ -> Num 0.0
  | X -> Num 1.0
  | Add (a, b) -> plus (derivative a) (derivative b)
  | Mul (a, b) -> plus (times (derivative a) b) (times a (derivative b))
  | Sin a -> times (Cos a) (derivative a)
  | Cos a -> times (Num (-1.0)) (times (Sin a) (derivative a))
  | Exp a -> times e (derivative a)

let rec size = function
  | Num _ | X -> 1
  | Add (a, b) | Mul (a, b) -> 1 + size a + size b
  | Sin a | Cos a | Exp a -> 1 + size a

let derived_size n =
  let e = ref (Mul (X, Exp (Sin (Mul (X, X))))) in
  for _ = 1 to n do e := derivative !e done;
  size !e

let () = Timing.report (fun () -> derived_size 7) string_of_int
