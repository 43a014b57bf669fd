let rec numbers k xs = if k = 0 then xs else numbers (k - 1) (k :: xs)
let rec map f = function [] -> [] | x :: rest -> let y = f x in y :: map f rest
let rec filter p = function [] -> [] | x :: rest -> if p x then x :: filter p rest else filter p rest
let rec fold f a = function [] -> a | x :: rest -> fold f (f a x) rest

let pipeline size rounds =
  let total = ref 0 in
  for r = 0 to rounds - 1 do
    let xs = map (fun x -> x * 3 + r) (numbers size []) in
    total := !total + fold (fun a x -> a + x) 0 (map (fun x -> x * x mod 1009) (filter (fun x -> x mod 3 <> 0 || x mod 2 = 0) xs))
  done;
  !total

let () = Timing.report (fun () -> pipeline 10000 100) string_of_int
