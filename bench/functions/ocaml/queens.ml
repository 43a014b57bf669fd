let rec safe c d = function
  | [] -> true
  | q :: rest -> if q = c || q = c + d || q = c - d then false else safe c (d + 1) rest

let count_queens n =
  let rec place row queens = if row = n then 1 else columns row 0 queens
  and columns row c queens =
    if c = n then 0
    else
      let here = if safe c 1 queens then place (row + 1) (c :: queens) else 0 in
      here + columns row (c + 1) queens
  in
  place 0 []

let () = Timing.report (fun () -> count_queens 9) string_of_int
