type value = Int of int | Pair of value * value | Stuck | Out
type rhs = Number of int | Binary of int * int * int | Call of int * int list | Make_pair of int * int | Part of int * int
type term = Let of rhs * term | If of int * term * term | Tail of int * int list | Ret of int

let rec variable env k = match env with [] -> Stuck | v :: rest -> if k = 0 then v else variable rest (k - 1)
let rec body fs k = match fs with [] -> Ret (-1) | b :: rest -> if k = 0 then b else body rest (k - 1)
let given env args =
  let rec go args done_ = match args with [] -> done_ | k :: rest -> go rest (variable env k :: done_) in
  go args []
let binary op x y = match x, y with
  | Int a, Int b ->
    if op = 0 then Int (a + b) else if op = 1 then Int (a - b) else if op = 2 then Int (a * b) else Int (if a < b then 1 else 0)
  | _ -> Stuck
let simple rhs env = match rhs with
  | Number k -> Int k
  | Binary (op, x, y) -> binary op (variable env x) (variable env y)
  | Make_pair (x, y) -> Pair (variable env x, variable env y)
  | Part (x, w) -> (match variable env x with Pair (a, b) -> if w = 0 then a else b | _ -> Stuck)
  | Call _ -> Stuck
let rec run fs term env fuel =
  if fuel <= 0 then Out, 0 else match term with
  | Ret x -> variable env x, fuel - 1
  | Tail (f, args) -> run fs (body fs f) (given env args) (fuel - 1)
  | If (x, a, b) -> (match variable env x with
      | Int 0 -> run fs b env (fuel - 1) | Int _ -> run fs a env (fuel - 1) | _ -> Stuck, fuel - 1)
  | Let (Call (f, args), rest) ->
    let v, left = run fs (body fs f) (given env args) (fuel - 1) in
    (match v with Out -> v, left | _ -> run fs rest (v :: env) left)
  | Let (rhs, rest) -> run fs rest (simple rhs env :: env) (fuel - 1)

let fact = Let (Number 1, Let (Binary (3, 1, 0), If (0, Ret 1, Let (Binary (1, 2, 1), Let (Call (0, [0]), Let (Binary (2, 4, 0), Ret 0))))))
let sum = Let (Number 1, Let (Binary (3, 2, 0), If (0, Ret 2, Let (Binary (1, 3, 1), Let (Binary (0, 3, 4), Tail (1, [1; 0]))))))
let main k = Let (Number k, Let (Call (0, [0]), Let (Number 0, Let (Call (1, [2; 0]), Let (Make_pair (2, 0), Ret 0)))))

let () = Timing.report (fun () -> snd (run [fact; sum] (main 20000) [] 100000000)) string_of_int
