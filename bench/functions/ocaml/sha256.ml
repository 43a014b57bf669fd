(* Words are ints kept below 2^32. *)
let mask = 0xffffffff
let rotate x k = ((x lsr k) lor (x lsl (32 - k))) land mask
let primes count =
  let rec go p found = if List.length found = count then List.rev found
    else go (p + 1) (if List.exists (fun q -> p mod q = 0) found then found else p :: found) in
  go 2 []
(* floor of the fraction of a root times 2^32, by bisection in arbitrary precision would need a library: the constants are computed with
   floats of 53 bits, which are enough for 32 bits of fraction of numbers below 32 *)
let fraction root p = int_of_float (Float.rem (root (float_of_int p)) 1.0 *. 4294967296.0) land mask
let k_ = Array.of_list (List.map (fraction Float.cbrt) (primes 64))
let h_ = Array.of_list (List.map (fraction Float.sqrt) (primes 8))

let rec nth xs k = match xs with x :: rest -> if k = 0 then x else nth rest (k - 1) | [] -> 0
let rec snoc xs x = match xs with [] -> [x] | y :: rest -> y :: snoc rest x

let rec schedule window left = if left = 0 then [] else match window with
  | w0 :: w1 :: rest ->
    let w9 = nth rest 7 and w14 = nth rest 12 in
    let s0 = rotate w1 7 lxor rotate w1 18 lxor (w1 lsr 3) in
    let s1 = rotate w14 17 lxor rotate w14 19 lxor (w14 lsr 10) in
    w0 :: schedule (w1 :: snoc rest ((w0 + s0 + w9 + s1) land mask)) (left - 1)
  | _ -> []

let rec rounds words k (a, b, c, d, e, f, g, h) = match words with
  | [] -> (a, b, c, d, e, f, g, h)
  | w :: rest ->
    let s1 = rotate e 6 lxor rotate e 11 lxor rotate e 25 in
    let choice = (e land f) lxor (lnot e land mask land g) in
    let t1 = (h + s1 + choice + k_.(k) + w) land mask in
    let s0 = rotate a 2 lxor rotate a 13 lxor rotate a 22 in
    let majority = (a land b) lxor (a land c) lxor (b land c) in
    rounds rest (k + 1) ((t1 + s0 + majority) land mask, a, b, c, (d + t1) land mask, e, f, g)

let rec take_words bytes count = if count = 0 then [], bytes else match bytes with
  | a :: b :: c :: d :: rest ->
    let word = (a lsl 24) lor (b lsl 16) lor (c lsl 8) lor d in
    let words, after = take_words rest (count - 1) in
    word :: words, after
  | _ -> [], []

let rec blocks bytes (a, b, c, d, e, f, g, h) = match bytes with
  | [] -> (a, b, c, d, e, f, g, h)
  | _ ->
    let words, rest = take_words bytes 16 in
    let a', b', c', d', e', f', g', h' = rounds (schedule words 64) 0 (a, b, c, d, e, f, g, h) in
    let (+) x y = (x + y) land mask in
    blocks rest (a + a', b + b', c + c', d + d', e + e', f + f', g + g', h + h')

let padding zeros bits =
  let tail = ref [] in
  for k = 0 to 7 do tail := ((bits lsr (8 * k)) land 255) :: !tail done;
  for _ = 1 to zeros do tail := 0 :: !tail done;
  128 :: !tail

let sha256 message =
  let n = Bytes.length message in
  let bytes = ref (padding (((119 - n mod 64) + 64) mod 64) (8 * n)) in
  for k = 0 to n - 1 do bytes := Char.code (Bytes.get message (n - 1 - k)) :: !bytes done;
  let a, _, _, _, _, _, _, _ = blocks !bytes (h_.(0), h_.(1), h_.(2), h_.(3), h_.(4), h_.(5), h_.(6), h_.(7)) in
  a

let repeated times =
  let total = ref 0 in
  for k = 0 to times - 1 do
    let m = Bytes.make 484 'a' in
    Bytes.set m 0 (Char.chr (k mod 256));
    total := !total lxor sha256 m
  done;
  !total

let () = Timing.report (fun () -> repeated 200) string_of_int
