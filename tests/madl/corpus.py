"""The programs of the thesis, by the ids of docs/sources.md, Pauget: P1 to P18 (with printed C), Q1 to Q37 (without), in our concrete syntax.

Where the thesis leaves a type or size open that nothing else determines, it is written here; errata are told where a row differs, those that are
corrected. Operators that others use come first.
"""

from __future__ import annotations

CONS = """
let patt cons <<n>> (a of 't, u of [n]'t) returns (v of [n+1]'t): v = concat<<1,n>>([|a|], u)
let patt snoc <<n>> (u of [n]'t, a of 't) returns (v of [n+1]'t): v = concat<<n,1>>(u, [|a|])
let head ([|h|] ++ _) = (h)
"""
ZIP = "let patt zip (a, b) returns (z): z = flatten<<2>>(transpose([|a, b|]))\n"
DOT = """
let dot (u, v) returns (s):
  forward ([ui] = u) ([vi] = v) returns (s = {si}):
    si init 0 = last si + ui*vi
"""
NAT = "let nat () returns (n): n = !last p; p = n + 1 init 0\n"
ADD1 = "let add1 (u, v) returns (w): forward ([ui] = u) ([vi] = v) returns (w = [wi]): wi = ui + vi\n"
ADD2 = "let add2 (u at 'l, v) returns (w at 'l): forward ([ui] = u) ([vi] = v) returns (w = [wi]): wi = ui + vi\n"

P = {
    "P1": DOT,
    "P2": "let integr (rst, a) returns (v): forward ([ai] = a) returns (v = {s}): s init 0 += ai reset rst",
    "P3": """
let swap_ends (u at 'l) returns (v at 'l):
  c of [7]int;
  [|ul|] ++ c ++ [|ur|] = u;
  tmp, vl, vr = !ul, !ur, !tmp;
  v = [|vl|] ++ c ++ [|vr|]
""",
    "P4": """
let swap_ends (u at 'l) returns (v at 'l):
  c of [7]int; ul of [3]int; ur of [3]int;
  ul ++ c ++ ur = u;
  tmp, vl, vr = !ul, !ur, !tmp;
  v = vl ++ c ++ vr
""",
    "P5": "let c_transpose (m) = (n): n = !transpose(m) of [7][8]int",
    "P6": "let c_transpose_p (m) = (n): n = !transpose(m) of [_][_]int",
    "P7": "let rev (a at 'l) returns (b at 'l): b = !reverse(!a) of [42]int",
    "P8": """
let rev (a at 'l) returns (b at 'l):
  forward ([al] ++ reverse([ar]) = a) returns (b = [bl] ++ reverse([br])):
    tmp, bl, br = !al, !ar, !tmp of int
""",
    "P9": """
let mat_mat (a, b) returns (c):
  forward <<5>> [i] ([ai] = a), <<3>> [j] ([bj] = transpose(b)) returns (c = [[cij]]):
    forward <<7>> [k] ([aik] = ai) ([bkj] = bj) returns (cij = {s}):
      s init 0 = last s + aik*bkj
""",
    "P10": """
let mat_mat (a, b) returns (c):
  forward [i], [j] returns (c0 = [[c0ij]]): c0ij = 0 end
  forward <<5>> [i], <<7>> [k] ([[aik]] = a), <<3>> [j] ([[bkj]] = b) returns (c = [{[cij]}] init c0):
    cij += aik*bkj
""",
    "P11": """
let convol_2D <<k, l>> (ke of [4][5]_, im of [27][29]_) returns (res):
  forward [i], [j] returns (r0 = [[r]]): r = 0 end
  forward [i],
          [k] ([[ke]] = repeat<<_>>(ke)) ([[im]] = window<<k>>(im)),
          [j],
          [l] ([[ke]] = repeat<<_>>(ke)) ([[im]] = window<<l>>(im))
    returns (res = [{[{res}]}] init r0):
    res += ke*im
""",
    "P12": """
let pow2 <<n>> () returns (p):
  forward <<n>> [i] returns (p = [pi] as l):
    forward [k] ([pk] = l) returns (pi = {s}):
      s init 1 = last s + pk
""",
    "P13": """
let convol (ke, im) returns (res):
  forward [i] ([im_i] = window<<_>>(im)) returns (res = [res_i]):
    forward [j] ([ke_j] = ke) ([im_ij] = im_i) returns (res_i = {s}):
      s init 0 = last s + ke_j*im_ij
""",
    "P14": """
let c_convol (ke, c_im) returns (c_res):
  forward [i] ([im_i] = window<<2*'k+1>>(c_im)) returns (res = [res_i]):
    forward [j] ([ke_j] = ke) ([im_ij] = im_i) returns (res_i = {s}):
      s init 0 = last s + ke_j*im_ij
    end
  end
  l ++ _ = res;
  _ ++ r = res;
  dup_l of ['k]_ = !r;
  dup_r of ['k]_ = !l;
  c_res = dup_l ++ res ++ dup_r
""",
    "P15": """
let right_elem (_ ++ [|a|]) = (a)
let rotate_right (a at 'l) returns (b at 'l):
  a of [_]int;
  forward ([a] = a) returns (b = [b]):
    reg init !right_elem(a);
    tmp = !last reg;
    reg = !a;
    b = !tmp
""",
    "P16": CONS + """
let pascal () returns (m of [9][9]int):
  transpose(m) at cons('c, _);
  m at cons('r, _);
  d = 1;
  forward <<1:>> [i] returns (c = cons(d, [x])): x = 1 end
  c at 'c;
  forward <<1:>> [j] returns (r = cons(d, [x])): x = 1 end
  r at 'r;
  forward <<1:>> [i] (cons(_, [c]) = c) returns (m = cons(r, [m]) as snoc(_, r)),
          <<1:>> [j] (cons(_, [r]) = r) returns (m = cons(c, [m]) as snoc(_, c)):
    m = c + r
""",
    "P17": CONS + """
let chol (m of [10][10]int at 'l) returns (l at 'l):
  forward [j : size j] ([mF_j] = transpose(m)) returns (transpose(l) = [lF_j] as cF__):
    _ ++ mB_j = mF_j;
    _ ++ cB__ = transpose(cF__);
    forward [k] ([cB_k] = transpose(cB__)) returns (cons(sDjj, sB_j) = {s} init mB_j):
      forward <<j:>> [i] ([cBik] = cB_k) returns (s = [si]):
        si -= head(cB_k)*cBik
      resume
    end
    forward [i] returns (lT_j of [j]_ = [lTij]): lTij = 0 end
    lDjj = sqrt(sDjj);
    forward <<j+1:>> [i] ([sBij] = sB_j) returns (lB_j = [lBij]): lBij = sBij/lDjj end
    lF_j = lT_j ++ [|lDjj|] ++ lB_j
""",
    "P18": CONS + DOT + """
let fuse (l, d, r) = (l ++ [|d|] ++ r)
let chol (m of ['n]['n]int) returns (l of ['n]['n]_):
  forward [i : size i] ([fuse(miL, mii, _)] = m) returns (l = [liF] as cF):
    miL of [i]_;
    liF = fuse(liL, lii, liR);
    forward [j : size j] ([mij] = miL) ([fuse(cjL, cjj, _)] = cF) returns (liL = [lij] as ciL):
      cjL of [j]_;
      lij = (mij - dot(cjL, ciL))/cjj
    end
    lii = sqrt(mii - dot(liL, liL));
    forward returns (liR = [z]): z = 0 end
""",
}

_VEC_MAT = "let func vec_mat (u, a) returns (v): forward ([ui] = u) ([ai] = a) returns (v = {vl} init [_]0): "
_REVERSED = "let rev (a at 'l) returns (b at 'l): b = %s of [5]int"
_BLOCK = "let nat (c) returns (n): c of bool; n = !last p; block returns (%s = q): %s = last q + 1 %s"
_PASCAL = """
  d = 1;
  forward returns (c = cons(d, [i])): i = 1 end;
  forward returns (r = cons(d, [i])): i = 1 end;
  %s
  forward (cons(_, [c]) = c) returns (m = cons(r, [m]) as snoc(_, r)),
          (cons(_, [r]) = r) returns (m = cons(c, [m]) as snoc(_, c)):
    m = c + r
"""
_SPLITS = "let reshape <<a, b, c, d>> "

Q = {
    "Q1": NAT,
    "Q1'": "let nat () returns (n): n init -1 = last n + 1",
    "Q1b": "let nat () returns (n): n = !last (n + 1 init 0)",
    "Q2": "let i_pre (i) returns (o): o = !last (!i init 0)",
    "Q2b": "let i_pre (i) returns (o): m init 0 = !i; o = !last m",
    "Q2c": "let i_pre (i) returns (o): m init 0; m = !i; o = !last m",
    "Q3": "let fib () returns (n): n = !last a; a init 0 = !last b; b init 1 = n + a",
    "Q3b": "let fib () returns (n): n = !last (a init 0); a = !last (b init 1); b = n + a",
    "Q3c": "let fib () returns (n): n = !last a; a = !last b init 0; b = n + a init 1",
    "Q3d": "let fib () returns (n): [|a init 0, b init 1|] = [|c, d|]; n = !last a; c = !last b; d = n + c",
    "Q4": "let oscillate () returns (a): a = !last (!last (!a init 0) init 1)",
    "Q5": "let deriv (h, x) returns (d): d = (x - last (!x init 0)) / h",
    "Q5x": "let deriv (h, x) returns (d): x init 0; d = (x - last x) / h",
    "Q6": "let integral (v, c) returns (i): block returns (i = s): s init 0 = last s + v; reset c",
    "Q7": CONS + "let func set_first (data d) (h, u at d) returns (v at d): u of [_]int; cons(_, t) = u; v = cons(!h, t)",
    "Q8": CONS + "let inc_left (cons(o, a) at 'l) returns (cons(n, a) at 'l): n = o + 1",
    "Q8x": CONS + "let inc_left (cons(o, a)) returns (cons(n, a)): n = o + 1",
    "Q9a": ZIP,
    "Q9b": "let patt zip (a, b) returns (z): split<<2>>(z) = transpose([|a, b|])",
    "Q9c": "let patt zip (a, b) returns (z): transpose(split<<2>>(z)) = [|a, b|]",
    "Q9x": "let patt splits <<k>> (a) returns (b): b = sample<<k>>(window<<k>>(a))",
    "Q10": ZIP + """
let shuffle <<n>> (a) returns (b):
  forward <<n>> (concat([left_i], [right_i]) = a) returns (b = zip([even_i], [odd_i])):
    even_i = !left_i; odd_i = !right_i
""",
    "Q10b": ZIP + "let shuffle <<n>> (a of [2*n]_) returns (b): concat<<n,n>>(l, r) = a; e, o = !l, !r; b = zip(e, o)",
    "Q11": NAT + "let iota <<n>> () returns (a): forward <<n>> returns (a = [i]): i = nat()",
    "Q11'": "let nat () returns (n): n init -1 = last n + 1\nlet iota <<n>> () returns (a): forward <<n>> returns (a = [i]): i = nat()",
    "Q11b": "let iota <<n>> () returns (a): forward <<n>> [i] returns (a = [ai]): ai = !i",
    "Q12": """
let rotate_right <<n>> (a of [_]int at 'l) returns (b at 'l):
  concat(_, [|l|]) = a;
  forward <<n>> ([ai] = a) returns (b = [bi]): bi = !!last (!ai init !l)
""",
    "Q12x": """
let rotate_right <<n>> (a of [_]int at 'l) returns (b at 'l):
  concat(_, [|l|]) = a;
  forward <<n>> ([ai] = a) returns (b = [bi]): bi = !last (!ai init !l)
""",
    "Q12b": """
let rotate_right <<n>> (a of [_]int) returns (b):
  concat(_, [|l|]) = a;
  forward <<n>> ([ai] = a) returns (b = [bi]): bi = !last (!ai init !l)
""",
    "Q13": """
let insert_max <<n>> (v, a) returns (b):
  forward <<n>> ([ai] = a) returns (b = [bi]): ni = min(last ni, ai) init v; bi = max(last ni, ai)
""",
    "Q13x": """
let insert_max <<n>> (v, a at 'l) returns (b at 'l):
  forward <<n>> ([ai] = a) returns (b = [bi]): ni = min(last ni, ai) init v; bi = max(last ni, ai)
""",
    "Q14": """
let power <<k>> (x of int, e of int) returns (r):
  forward <<k>> returns (r = {q} init 1):
    p init !x = last p * last p;
    n init !e = last n / 2;
    q = if last n % 2 == 1 then last q * last p else last q
""",
    "Q15": "let mId <<n>> () returns (m of [n][n]_): forward [size k] returns (m = [mi]): mi = [k]0 ++ [|1|] ++ [_]0",
    "Q16": DOT + "let func mat_vec (a, u) returns (v): forward ([ai] = a) returns (v = [vi]): vi = dot(ai, u)",
    "Q16i": """
let func mat_vec (a, u) returns (v):
  forward ([ai] = a) returns (v = [vi]):
    forward ([aij] = ai) ([uj] = u) returns (vi = {s}): s init 0 = last s + aij*uj
""",
    "Q17a": _VEC_MAT + "forward ([aij] = ai) ([lvj] = last vl) returns (vl = [vj]): vj = lvj + ui*aij",
    "Q17b": _VEC_MAT + "forward ([aij] = ai) returns (vl = [vj]): vj = last vj + ui*aij resume",
    "Q17bx": _VEC_MAT + "forward ([aij] = ai) returns (vl = [vj]): vj = last vj + ui*aij restart",
    "Q17c": """
let func vec_mat (u, a) returns (v):
  forward ([ui] = u) ([ai] = a) returns (v = {vl}):
    forward ([aij] = ai) returns (vl = [vj]): vj init 0 = last vj + ui*aij resume
""",
    "Q17d": "let func vec_mat (u, a) returns (v): forward ([ui] = u), ([[aij]] = a) returns (v = {[vj]} init [_]0): vj = last vj + ui*aij",
    "Q18a": """
let mat_sum <<n, p>> (m) returns (s):
  forward <<n>> ([mi] = m) returns (s = {t} init 0):
    forward <<p>> ([mij] = mi) returns (t = {u} init last t): u = last u + mij
""",
    "Q18b": """
let mat_sum <<n, p>> (m) returns (s):
  forward <<n>> ([mi] = m) returns (s = {t}):
    forward <<p>> ([mij] = mi) returns (t = {u}): u init 0 = last u + mij resume
""",
    "Q18c": """
let mat_sum <<n, p>> (m) returns (s):
  forward <<n>> ([mi] = m) returns (s = {t}), <<p>> ([mij] = mi) returns (t = {u}): u init 0 = last u + mij
""",
    "Q18d": "let mat_sum <<n, p>> (m) returns (s): forward <<n>>, <<p>> ([[mij]] = m) returns (s = {{u}}): u init 0 = last u + mij",
    "Q18e": "let mat_sum <<n, p>> (m) returns (s): forward <<n>>, <<p>> ([[mij]] = m) returns (s = {{u}}): u init 0 += mij",
    "Q19": "let tensor (a, b) returns (c): forward ([ai] = a), ([bj] = b) returns (c = [[cij]]): cij = ai*bj",
    "Q20a": "let vec_vec (u, v) returns (s): forward ([ui] = u) ([vi] = v) returns (s = {s} init 0): s += ui*vi",
    "Q20b": "let vec_mat (u, b) returns (w): forward ([ui] = u), ([[bij]] = b) returns (w = {[wj]} init [_]0): wj += ui*bij",
    "Q20c": "let mat_mat (a, b) returns (c): forward, ([[aik]] = a), ([[bkj]] = b) returns (c = [{[cij]}] init [_][_]0): cij += aik*bkj",
    "Q20d": "let mat_vec (a, v) returns (w): forward, ([[aij]] = a) ([vj] = v) returns (w = [{wi}] init [_]0): wi += aij*vj",
    "Q21": """
let convol_1D <<i>> (k, a) returns (b):
  forward, ([[kj]] = repeat<<_>>(k)) ([[aij]] = window<<i>>(a)) returns (b = [{bi}] init [_]0): bi += kj*aij
""",
    "Q22": "let half_mat <<n, p>> () returns (m of [2*n][p]_): forward <<n>>, returns (ti = [tij]) (m = [ti] ++ [[bij]]): tij, bij = 1, 0",
    "Q23a": "let zero_vec <<n>> () returns (m): forward <<n>> returns (m = flatten<<_>>([mi]) as _): mi = [|0, 0, 0|]",
    "Q23b": "let zero_mat <<n>> () returns (m): forward <<n>> returns (m = transpose([mi])): mi = [|0, 0, 0|]",
    "Q23x": "let zero_mat <<n>> () returns (m): forward <<n>> returns (m = transpose([mi]) as _): mi = [|0, 0, 0|]",
    "Q24a": CONS + """
let pascal () returns (m of [_][_]int):
  forward returns (m0_ = [m0j]): m0j = 1 end;
  forward returns (m = cons(m0_, [mi_]) as snoc(_, r)):
    mi0 = 1;
    forward (cons(_, [rj]) = r) returns (mi_ = cons(mi0, [mij]) as snoc(_, ci)): mij = rj + ci
""",
    "Q24b": CONS + "let pascal () returns (m):" + _PASCAL % "",
    "Q24c": CONS + "let pascal () returns (m): transpose(m) at cons('c, _); m at cons('r, _);" + _PASCAL % "c at 'c; r at 'r;",
    "Q25a": _SPLITS + "(i of [a*b][c*d]_) returns (o of [a*d][c*b]_): o = split<<_>>(flatten<<_>>(i))",
    "Q25b": _SPLITS + "(i of [a*b][c*d]_) returns (o of [a*d][c*b]_): flatten<<_>>(o) = flatten<<_>>(i)",
    "Q25c": _SPLITS + "(split<<_>>(u) of [a*b][c*d]_) returns (split<<_>>(u) of [a*d][c*b]_)",
    "Q25d": """
let reshape_3D <<a, b, c, d, e, f, g, h, i>> (split<<_>>(split<<_>>(u)) of [a*b*c][d*e*f][g*h*i]_)
  returns (split<<_>>(split<<_>>(v)) of [a*e*i][d*h*c][g*b*f]_): v = u
""",
    "Q26a": "let rot (split<<_>>(u) of ['n]['p]_) returns (split<<_>>(v) of ['n]['p]_): v = reverse(u)",
    "Q26b": "let rotate_mat (a) returns (b): transpose(reverse(b)) = reverse(transpose(a))",
    "Q27x": "let parts (a, b, c) returns (a ++ b, b ++ c)",
    "Q27": "let parts (a, b, c) returns (a ++ b at 'u, b ++ c at 'v): a ++ b ++ c at 'u ++ _ at _ ++ 'v",
    "Q28a": "let dupl (x) returns (a): a = [|x, x|]",
    "Q28b": "let dupl (x) returns (a): a = [|x, !x|]",
    "Q28c": "let dupl (x) returns (a): a = [|x, x|] at repeat<<_>>(_)",
    "Q28d": "let dupl (x) returns (a): a = [|x, !x|] at repeat<<_>>(_)",
    "Q29a": ADD1 + "let sum (a) returns (b): b init [|0, 0|] = add1(last b, a)",
    "Q29b": ADD2 + "let sum (a) returns (b): b init [|0, 0|] = add2(last b, a)",
    "Q30a": "let compress (a) returns (b at repeat<<_>>(_)): b = !a",
    "Q30b": "let compress (a) returns (b at repeat<<_>>(_)): forward ([ai] = a) returns (b = [bi]): bi = !ai",
    "Q31": "let inc_rev (a at 'l) returns (b at reverse('l)): forward ([ai] = a) returns (b = [bi]): bi = ai + 1",
    "Q32a": _REVERSED % "reverse(a)",
    "Q32b": _REVERSED % "!reverse(a)",
    "Q32c": _REVERSED % "!reverse(!a)",
    "Q32d": _REVERSED % "!!reverse(a)",
    "Q33": DOT + "let rdot <<n>> (u, v of [n]_) returns (s): s = dot(u, reverse(v))",
    "Q34i_resume": _BLOCK % ("p", "q init 0", "resume"),
    "Q34o_resume": _BLOCK % ("p init 0", "q", "resume"),
    "Q34i_reset": _BLOCK % ("p", "q init 0", "reset c"),
    "Q34o_reset": _BLOCK % ("p init 0", "q", "reset c"),
    "Q34i_restart": _BLOCK % ("p", "q init 0", "restart"),
    "Q34o_restart": _BLOCK % ("p init 0", "q", "restart"),
    "Q35a": "let get_last (a) returns (e): forward ([ai] = a) returns (e = ai): b = ai",
    "Q35b": "let get_last (a) returns (e): forward ([ai] = a) returns (e = {ai}): b = ai",
    "Q35c": "let my_repeat <<n>> (x) returns (a): forward <<n>> returns (a = [x]): y = x",
    "Q35d": "let my_repeat <<n>> (x) returns (a at repeat<<_>>(_)): forward <<n>> returns (a = [x]): y = x",
    "Q35e": "let iota <<n>> () returns (a): forward <<n>> [i] returns (a = [i]): x = i",
    "Q36": "let triangular <<n>> () returns (t): forward <<n>> [i : size i] returns (t = [ti]): forward <<i>> [j] returns (ti = [tij]): tij = i + j",
    "Q37": "let c_reg (x of [4]int) returns (z): z = !last (!x init [4]0)",
}

REFUSED = {
    "Q5x": "E0940", "Q8x": "E0930", "Q9x": "E0925", "Q11'": "E0923", "Q12x": "E0940", "Q13x": "E0940", "Q17bx": "E0921", "Q17c": "E0923",
    "Q23x": "E0910", "Q24b": "E0930", "Q27x": "E0930", "Q28a": "E0930", "Q28d": "E0931", "Q29a": "E0934", "Q30a": "E0931", "Q30b": "E0931",
    "Q31": "E0935", "Q32a": "E0930", "Q32b": "E0933", "Q34o_reset": "E0921", "Q34i_restart": "E0921", "Q34o_restart": "E0921",
    "Q35a": "E0902", "Q35b": "E0921", "Q35c": "E0919", "Q35e": "E0938", "Q36": "E0919",
}  # fmt: skip

EXTRAS = {
    "stencil": """
let stencil <<n>> (a of [n+2]f64) returns (b):
  forward <<n>> [i] returns (b = [bi]): bi = a.[i] + 2.0*a.[i+1] + a.[i+2]
""",
    "set": "let setk (a of [5]int at 'l, x) returns (b at 'l): b = a with [3] = !x",
    "histogram": """
let histo <<n>> (v of [_]idx<<n>>) returns (h of [n]int):
  forward ([x] = v) returns (h = {g} init [n]0): g = last g with [x] = (last g).[x] + 1
""",
    "clamp": "let clampv (a) returns (b): forward ([x] = a) returns (b = [y]): y = if x > 5 then 5 else x",
    "swap": """
let swapij (a of [6]int at 'l, i of idx<<6>>, j of idx<<6>>) returns (c at 'l):
  t = !a.[i]; b = a with [i] = !a.[j]; c = b with [j] = !t
""",
    "branch": """
let damp (x of [_]f64, fast of bool) returns (y):
  if fast then forward ([a] = x) returns (y = [b]): b = 0.5*a end
  else y = !x end
""",
    "counter": """
let counter (up of bool) returns (n):
  n init 0;
  if up then n = last n + 1 else n = last n - 1 end
""",
    "records": """
type complex = { re of f64, im of f64 }
let cmul (a of complex, b of complex) returns (c):
  c = complex(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re)
let cmap (x of [_]complex, w of complex) returns (y):
  forward ([a] = x) returns (y = [b]): b = cmul(a, w)
""",
    "workspace": """
let rev <<n>> (a of [n]int at 'l) returns (b at 'l): t = !a; b = !reverse(t)
let twice (a of [_]int at 'l) returns (b at 'l): b = rev(rev(a))
""",
    "tuples": "let f (p of int*int) returns (q of int*int): (|x, y|) = p; q = (|!y, x + y|)",
    "match": """
type mode = idle | run | fault
let f (m of mode, k of u8) returns (y of int, z of mode):
  match m: case idle, fault: y = 1 case run: y = 2 end
  match k: case 1, 2: z = idle case 5: z = run else z = fault end
""",
    "automaton": """
type mode = idle | run | fault
let ctl (go of bool, x of int) returns (y, m of mode):
  total init 0;
  automaton m of mode:
    state idle: total = last total; y = 0; until go then run;
    state run:
      n init 0 = last n + 1;
      total = last total + x; y = n + total;
      until go && n >= 2 resume idle; until n >= 3 then fault
    state fault: unless go then idle; total = 0; y = -1
  end
""",
    "foreach": """
let acc (x of int, c of bool) returns (y): block returns (y = s): s init 0 = last s + x reset c
let bank (x of [3]int, c of [3]bool) returns (y): foreach ([a] = x) ([r] = c) returns (y = [b]): b = !acc(a, r) end
""",
    "foreach grid": """
let grid (x of [2][3]int, go of bool) returns (y):
  foreach, ([[a]] = x) returns (y = [[b]]):
    automaton: state off: b = 0; until go then on state on: n init 10 = last n + a; b = !n; until n > 14 resume off end
  end
""",
    "rounds": """
let clear <<n>> (x of [n]int at 'l, v of int) returns (y at 'l, s):
  k = clamp<<n+1>>(v);
  forward <<k>> [i] returns (s = {t}): t init 0 = last t + x.[i] end
  forward <<k>> [i] returns (y = {z} init x): z = last z with [i] = 0 end
""",
    "types": """
let mix (a of [_]f32, k of i8, b of bool) returns (s, n):
  forward ([x] = a) returns (s = {t}): t init 0.0 = last t + x*f32(k) end
  n = if b then i64(k) * 3 else 0
""",
    "generic": """
let axpy (type t) (a of t, x of [_]t, y of [_]t) returns (z):
  forward ([xi] = x) ([yi] = y) returns (z = [zi]): zi = a*xi + yi
let both (x of [_]f32, y of [_]f32, i of [_]i64, j of [_]i64) returns (u, v): u = axpy(2.0, x, y); v = axpy(3, i, j)
""",
}

ACCEPTED = {**P, **{k: v for k, v in Q.items() if k not in REFUSED}, **EXTRAS}
