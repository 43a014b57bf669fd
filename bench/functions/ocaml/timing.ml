(* Best of a few runs: prints the value and the seconds. *)
let report f show =
  let best = ref infinity and value = ref "" in
  for _ = 1 to 5 do
    let start = Sys.time () in
    let v = f () in
    let took = Sys.time () -. start in
    if took < !best then best := took;
    value := show v
  done;
  Printf.printf "%s %.9f\n" !value !best
