(** The rules as functions: what a rule makes of a term ([instance]), under which conditions and laws, and that this is what the theorems say ([instance_same]).

    A law is a licence of the certificate, or something that is true of integers: the list of laws that a replay needs is printed, and held against the licences by what reads it.
    [shown] conditions, [alike] terms: the engine (Replay.v) checks the conditions, that the term is the left side, and that the new term is the right one. *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Require Import Terms Kernel Named Elements Views Normal Compare Path.
Import ListNotations.
Open Scope Z_scope.

Inductive law :=
| AnyOrder (o : monoid)              (* additions in another order *)
| Regroup (o : monoid)               (* the value is added instead of its parts *)
| Unit (o : monoid)                  (* the neutral element changes nothing *)
| NoSign (d : positive)              (* adding a zero changes nothing *)
| Distributes (f d : positive) (first : bool)
| Finite (f : positive)              (* a zero times anything is zero *)
| Fused (f d : positive)             (* a product that is added need not be rounded *)
| FusedOp (f g h : positive) (first : bool)
| One (f c : positive) (first : bool)           (* one times anything *)
| AddZero (f : positive) (first : bool)         (* a zero added to anything *)
| ZeroZero (f : positive)                       (* zeros added *)
| Spreads (f d : positive)                      (* a product, or a quotient, of a sum: the first operand *)
| Fades (f d : positive)                        (* nothing times anything is nothing *)
| Faded (f d : positive) (e s m l k j : positive)   (* nothing times e (s (m l x) (k j y)) is nothing: what rescale makes of a block *)
| Commutes (f : positive)
| Through (f g : positive) (first : bool)       (* a factor comes out of an operand *)
| Most (d : positive)                           (* the largest of numbers, in any order *)
| MostOf (f d : positive)                       (* the larger of two *)
| Rescales (e s t m l d : positive)             (* exp (a - b) by way of c, where a <= c <= b *)
| FiniteFused                                   (* a zero times anything is zero, and is not added *)
| Outside.                                      (* what is read outside of an array counts as zero *)

Section Laws.
  Context {ops : operators}.
  Definition is_so (l : law) : Prop :=
    match l with
    | AnyOrder o => any_order o /\ plain o
    | Regroup o => plain o /\ (forall a x y, op o (op o a x) y = op o a (op o x y)) /\ unit o /\ (forall a, op o a (neutral o) = a)
    | Unit o => unit o /\ (forall d, o = Add d -> forall x y, fma d x y zero = times x y)
    | NoSign d => forall a, op (Add d) a zero = a
    | Distributes f d first =>
        unfused d /\ (forall a x y, op (Add d) (op (Add d) a x) y = op (Add d) a (op (Add d) x y)) /\ (forall x, op (Add d) x (neutral (Add d)) = x) /\ unit (Add d) /\
        (forall u v w, func f (with_first first (op (Add d) u v) w) = op (Add d) (func f (with_first first u w)) (func f (with_first first v w))) /\ (forall w, func f (with_first first (neutral (Add d)) w) = neutral (Add d))
    | Spreads f d =>
        unfused d /\ (forall a x y, op (Add d) (op (Add d) a x) y = op (Add d) a (op (Add d) x y)) /\ (forall x, op (Add d) x (neutral (Add d)) = x) /\ unit (Add d) /\
        (forall u v w, func f [op (Add d) u v; w] = op (Add d) (func f [u; w]) (func f [v; w]))
    | Fades f d => forall w, func f [neutral (Add d); w] = neutral (Add d)
    | Faded f d e s m l k j => forall x y, func f [neutral (Add d); func e [func s [func m [lit l; x]; func k [lit j; y]]]] = neutral (Add d)
    | Commutes f => forall x y, func f [x; y] = func f [y; x]
    | Through f g first => forall x y z, func g (with_first first (func f [x; y]) z) = func f [func g (with_first first x z); y]
    | Most d => (forall a x y, op (Max d) (op (Max d) a x) y = op (Max d) a (op (Max d) x y)) /\ (forall x y, op (Max d) x y = op (Max d) y x) /\ (forall x, op (Max d) x x = x) /\ unit (Max d)
    | MostOf f d => forall x y, func f [x; y] = op (Max d) x y
    | Rescales e s t m l d => forall a b c, op (Max d) c a = c -> op (Max d) b c = b ->
        func e [func s [a; b]] = func t [func e [func s [a; func m [lit l; c]]]; func e [func s [func m [lit l; c]; func m [lit l; b]]]]
    | Finite f => forall l, In zero l -> func f l = zero
    | Fused f d => unfused d /\ forall u v, func f [u; v] = times u v
    | FusedOp f g h first => forall u v w, func h [u; v; w] = func g (with_first first (func f [u; v]) w)
    | One f c first => forall x, func f (with_first first (lit c) x) = x
    | AddZero f first => forall x, func f (with_first first zero x) = x
    | ZeroZero f => func f [zero; zero] = zero
    | FiniteFused => forall v, times zero v = zero /\ times v zero = zero /\ forall d a, fma d zero v a = a /\ fma d v zero a = a
    | Outside => junk = zero
    end.
  Definition lawful (l : list law) := forall x, In x l -> is_so x.
End Laws.

Inductive rule :=
| GenCut (at_ : idx) | SumCut (at_ : idx) | LoopFlat (count size : idx) | LoopJoin | LoopTrunc (amount : idx) | LoopShift (by_ : idx) | ExchangeRange (low high : idx) | SumOne | Swap
| FloatOut | FloatIn | Distribute | GuardIn (bound : bool) | GuardMul | Contract | Expand | Wrap (v : view) (axis : nat) | LetDead | LetOut (kid : nat) | LetLift | LetRoll.

(** Without the innermost index, without the innermost name; that it is not mentioned is seen by comparing with what is put back. *)
Definition lower := isub (cons (Num 0) Var).
Definition lower_view := view_sub (cons (Num 0) Var).
Definition lower_term := tsub (cons (Num 0) Var) (fun x => x).
Definition lower_name := tsub Var Nat.pred.
Definition type_is (m : option monoid) d := match m with Some (Add d') => Pos.eqb d' d | _ => true end.
Lemma type_is_so m d : type_is m d = true -> of_type m d.
Proof. intros H d' ->. now apply Pos.eqb_eq. Qed.
Definition is_pad v := match v with Tile _ | PadR _ | PadL _ => true | _ => false end.
Definition takes v := match v with Transpose | Flatten => 2%nat | _ => 1%nat end.
Lemma pulls_something v e s i : is_pad v = false -> (takes v <= length s)%nat -> inside i (view_shape v e s) -> view_pull v e s i <> None.
Proof. unfold inside. intros P L I. destruct v; try discriminate; destruct s as [| n [| m s]]; cbn [takes length] in L; try lia; cbn [view_shape] in I; opened; cbn [view_pull]; discriminate. Qed.
Lemma pulls_something_axis v e : is_pad v = false -> forall n s i, (n + takes v <= length s)%nat -> inside i (at_axis n (view_shape v e) s) -> pull_axis n (view_pull v e) s i <> None.
Proof.
  intro P. induction n as [| n IH]; intros s i L I; [now apply pulls_something |]. destruct s as [| m s]; [cbn in L; lia |]. cbn [at_axis] in I. inversion I as [| x ? r ? X R]; subst. cbn [pull_axis length] in *.
  destruct (pull_axis n (view_pull v e) s r) eqn:E; [discriminate |]. exfalso. apply (IH s r); auto. lia.
Qed.
Definition no_pull v n b := negb (is_pad v) && Nat.leb (n + takes v) (length (shape b)).

Definition equally p q := [ISub p q; ISub q p].
(** The body of a name, where one more name stands between. *)
Definition second_name := tsub Var (fun n => match n with O => O | S k => S (S k) end).
Definition swap_names := tsub Var (fun n => match n with O => 1%nat | S O => O | S (S k) => S (S k) end).

Section Rules.
  Variable sure : poly -> bool.

  Definition float_out C t : option (list idx * term * term * list law) :=
    match t with
    | Gen lo hi (View v n b) => if fixed 1 b then Some ([], Gen lo hi (View (view_sub (fun k => Var (S k)) (lower_view v)) n b), View (lower_view v) (S n) (Gen lo hi b), []) else None
    | Gen lo hi (Cat n u v) => if fixed 1 u then Some ([], t, Cat (S n) (Gen lo hi u) (Gen lo hi v), []) else None
    | Gen lo hi (Plus o u v) => Some ([], t, Plus o (Gen lo hi u) (Gen lo hi v), [])
    | Gen lo hi (Guard cs b) => Some ([], Gen lo hi (Guard (map lift (map lower cs)) b), Guard (map lower cs) (Gen lo hi b), [])
    | Sum o lo hi (View v n b) =>
        if fixed 1 b && (no_pull (lower_view v) n b || match o with Add d => type_is (mode C) d | _ => false end)
        then Some ([], Sum o lo hi (View (view_sub (fun k => Var (S k)) (lower_view v)) n b), View (lower_view v) n (Sum o lo hi b), []) else None
    | Sum o lo hi (Cat n u v) => if fixed 1 u then Some ([], t, Cat n (Sum o lo hi u) (Sum o lo hi v), []) else None
    | Sum o lo hi (Plus o' u v) => if monoid_eq o o' then Some ([], t, Plus o (Sum o lo hi u) (Sum o lo hi v), [AnyOrder o]) else None
    | Sum (Add d) lo hi (Guard cs b) => if type_is (mode C) d then Some ([], Sum (Add d) lo hi (Guard (map lift (map lower cs)) b), Guard (map lower cs) (Sum (Add d) lo hi b), []) else None
    | Guard cs (View v n b) => Some ([], t, View v n (Guard cs b), [])
    | Guard cs (Cat n u v) => Some ([], t, Cat n (Guard cs u) (Guard cs v), [])
    | Guard cs (Plus (Add d) u v) => if type_is (mode C) d then Some ([], t, Plus (Add d) (Guard cs u) (Guard cs v), []) else None
    | Guard cs (Guard ds b) => Some ([], t, Guard (cs ++ ds) b, [])
    | Let x (View v n b) => Some ([], t, View v n (Let x b), [])
    | Let x (Cat n u v) => Some ([], t, Cat n (Let x u) (Let x v), [])
    | Let x (Plus o u v) => Some ([], t, Plus o (Let x u) (Let x v), [])
    | Let x (Guard cs b) => Some ([], t, Guard cs (Let x b), [])
    | _ => None
    end.

  Definition float_in t : option (list idx * term * term * list law) :=
    match t with
    | Cat (S n) (Gen lo hi u) (Gen lo' hi' v) => if fixed 1 u then Some (equally lo lo', t, Gen lo hi (Cat n u v), []) else None
    | Cat n (Sum o lo hi u) (Sum o' lo' hi' v) => if monoid_eq o o' then if fixed 1 u then Some (equally lo lo' ++ equally hi hi', t, Sum o lo hi (Cat n u v), []) else None else None
    | Plus o (Gen lo hi u) (Gen lo' hi' v) => Some (equally lo lo', t, Gen lo hi (Plus o u v), [])
    | Plus o (Sum o' lo hi u) (Sum o'' lo' hi' v) => if monoid_eq o o' then if monoid_eq o o'' then Some (equally lo lo' ++ equally hi hi', t, Sum o lo hi (Plus o u v), [AnyOrder o]) else None else None
    | _ => None
    end.

  Definition guard_in C (bound : bool) t : option (list idx * term * term * list law) :=
    match t with
    | Guard cs (Gen lo hi b) => Some ([], t, Gen lo hi (Guard (map lift cs) b), [])
    | Guard cs (Sum (Add d) lo hi b) => if type_is (mode C) d then Some ([], t, Sum (Add d) lo hi (Guard (map lift cs) b), []) else None
    | Guard cs (View v n b) => Some ([], t, View v n (Guard cs b), [])
    | Guard cs (Cat n u v) => Some ([], t, Cat n (Guard cs u) (Guard cs v), [])
    | Guard cs (Plus (Add d) u v) => if type_is (mode C) d then Some ([], t, Plus (Add d) (Guard cs u) (Guard cs v), []) else None
    | Guard cs (Let x b) => Some ([], t, if bound then Let (Guard cs x) (Guard cs b) else Let x (Guard cs b), [])
    | Guard cs (Choose ts u v) => Some ([], t, Choose ts (Guard cs u) (Guard cs v), [])
    | Guard cs (ChooseV g c u v) => Some ([], t, ChooseV g c (Guard cs u) (Guard cs v), [])
    | _ => None
    end.

  Definition wrap_view v n t : option (list idx * view) :=
    match v, skipn n (shape t) with
    | Transpose, _ :: _ :: _ => Some ([], Transpose)
    | Reverse, _ :: _ => Some ([], Reverse)
    | PadR k, _ :: _ => Some ([], TruncR k)
    | PadL k, _ :: _ => Some ([], TruncL k)
    | Split k, _ :: _ => Some ([ISub k (Num 1)], Flatten)
    | Flatten, _ :: m :: _ => Some ([], Split m)
    | _, _ => None
    end.

  Definition let_out kid t : option (list idx * term * term * list law) :=
    match t with
    | Op f args => match nth_error args kid with Some (Let x b) => Some ([], Op f (firstn kid args ++ Let x b :: skipn (S kid) args), Let x (Op f (map under_let (firstn kid args) ++ b :: map under_let (skipn (S kid) args))), []) | _ => None end
    | _ =>
        match kid with
        | O =>
            match t with
            | MulAcc (Let x b) v => Some ([], t, Let x (MulAcc b (under_let v)), [])
            | Plus o (Let x b) v => Some ([], t, Let x (Plus o b (under_let v)), [])
            | Cat n (Let x b) v => Some ([], t, Let x (Cat n b (under_let v)), [])
            | View v n (Let x b) => Some ([], t, Let x (View v n b), [])
            | Guard cs (Let x b) => Some ([], t, Let x (Guard cs b), [])
            | Choose ts (Let x b) v => Some ([], t, Let x (Choose ts b (under_let v)), [])
            | ChooseV g c (Let x b) v => Some ([], t, Let x (ChooseV g (under_let c) b (under_let v)), [])
            | Let (Let x c) b => Some ([], t, Let x (Let c (second_name b)), [])
            | _ => None
            end
        | S O =>
            match t with
            | MulAcc u (Let x b) => Some ([], t, Let x (MulAcc (under_let u) b), [])
            | Plus o u (Let x b) => Some ([], t, Let x (Plus o (under_let u) b), [])
            | Cat n u (Let x b) => Some ([], t, Let x (Cat n (under_let u) b), [])
            | Choose ts u (Let x b) => Some ([], t, Let x (Choose ts (under_let u) b), [])
            | ChooseV g c u (Let x b) => Some ([], t, Let x (ChooseV g (under_let c) (under_let u) b), [])
            | Let x (Let c b) => Some ([], Let x (Let (under_let (lower_name c)) b), Let (lower_name c) (Let (under_let x) (swap_names b)), [])
            | _ => None
            end
        | S (S O) => match t with ChooseV g (Let x b) u v => Some ([], t, Let x (ChooseV g b (under_let u) (under_let v)), []) | _ => None end
        | _ => None
        end
    end.

  Definition let_lift C t : option (list idx * term * term * list law) :=
    match t with
    | Gen lo hi (Let x b) =>
        let free := Gen lo hi (Let (under_index (lower_term x)) b) in
        if alike sure (depth C) [] t free then Some ([], free, Let (lower_term x) (Gen lo hi b), [])
        else if fixed 1 x then Some ([], t, Let (Gen lo hi x) (Gen lo hi (prefix 0 (ISub (Var 0) (lift lo)) b)), []) else None
    | Sum o lo hi (Let x b) =>
        let free := Sum o lo hi (Let (under_index (lower_term x)) b) in
        if alike sure (depth C) [] t free then Some ([], free, Let (lower_term x) (Sum o lo hi b), [])
        else if fixed 1 x then Some ([], t, Let (Gen lo hi x) (Sum o lo hi (prefix 0 (ISub (Var 0) (lift lo)) b)), []) else None
    | _ => None
    end.

  Definition instance C (r : rule) (t new : term) : option (list idx * term * term * list law) :=
    match r, t with
    | GenCut at_, Gen lo hi b => Some ([], t, Cat 0 (Gen lo at_ b) (Gen at_ hi b), [])
    | SumCut at_, Sum o lo hi b => Some ([ISub at_ lo; ISub hi at_], t, Plus o (Sum o lo at_ b) (Sum o at_ hi b), [])
    | LoopFlat count k, Gen lo hi b => Some (ISub k (Num 1) :: equally (ISub hi lo) (IMul count k), t, View Flatten 0 (Gen (Num 0) count (Gen (Num 0) (lift k) (split_index lo k b))), [])
    | LoopFlat count k, Sum o lo hi b => Some (ISub k (Num 1) :: count :: equally (ISub hi lo) (IMul count k), t, Sum o (Num 0) count (Sum o (Num 0) (lift k) (split_index lo k b)), [])
    | LoopJoin, Gen _ n (Gen _ k b) => let k := lower k in Some ([ISub k (Num 1)], Gen (Num 0) n (Gen (Num 0) (lift k) b), View (Split k) 0 (Gen (Num 0) (IMul n k) (join_index k b)), [])
    | LoopJoin, Sum o _ n (Sum o' _ k b) => let k := lower k in Some ([ISub k (Num 1); n], Sum o (Num 0) n (Sum o (Num 0) (lift k) b), Sum o (Num 0) (IMul n k) (join_index k b), [])
    | LoopTrunc k, Gen lo hi b => Some ([], t, View (TruncR k) 0 (Gen lo (IAdd hi k) (Guard [below (Var 0) (lift hi)] b)), [])
    | LoopTrunc k, Sum (Add d) lo hi b => Some ([k], t, Sum (Add d) lo (IAdd hi k) (Guard [below (Var 0) (lift hi)] b), [])
    | LoopShift k, Gen lo hi b => Some ([], t, Gen (ISub lo k) (ISub hi k) (shift_index k b), [])
    | LoopShift k, Sum o lo hi b => Some ([], t, Sum o (ISub lo k) (ISub hi k) (shift_index k b), [])
    | ExchangeRange low high, Sum (Add d) lo hi (Guard cs b) =>
        let wanted := [ISub (Var 0) (lift low); below (Var 0) (lift high)] in
        let rest := filter (fun c => negb (existsb (same_idx sure (S (depth C)) c) wanted)) cs in
        Some ([], Sum (Add d) lo hi (Guard (ISub (Var 0) (lift low) :: below (Var 0) (lift high) :: rest) b), Sum (Add d) low high (Guard (ISub (Var 0) (lift lo) :: below (Var 0) (lift hi) :: rest) b), [])
    | SumOne, Sum o lo hi b =>
        let fs := [ISub (ISub hi lo) (Num 1); ISub (Num 1) (ISub hi lo)] in
        match mode C with Some o' => if monoid_eq o' o then Some (fs, t, put_index lo b, []) else None | None => Some (fs, t, put_index lo b, [Unit o]) end
    | Swap, Gen lo hi (Gen lo' hi' b) => Some ([], Gen lo hi (Gen (lift (lower lo')) (lift (lower hi')) b), View Transpose 0 (Gen (lower lo') (lower hi') (Gen (lift lo) (lift hi) (exchange b))), [])
    | Swap, Gen lo hi (Sum o lo' hi' b) => Some ([], Gen lo hi (Sum o (lift (lower lo')) (lift (lower hi')) b), Sum o (lower lo') (lower hi') (Gen (lift lo) (lift hi) (exchange b)), [])
    | Swap, Sum o lo hi (Gen lo' hi' b) => Some ([], Sum o lo hi (Gen (lift (lower lo')) (lift (lower hi')) b), Gen (lower lo') (lower hi') (Sum o (lift lo) (lift hi) (exchange b)), [])
    | Swap, Sum o lo hi (Sum o' lo' hi' b) => Some ([], Sum o lo hi (Sum o (lift (lower lo')) (lift (lower hi')) b), Sum o (lower lo') (lower hi') (Sum o (lift lo) (lift hi) (exchange b)), [AnyOrder o])
    | FloatOut, _ => float_out C t
    | FloatIn, _ => float_in t
    | Distribute, Op f [x; y] =>
        match x with
        | Sum (Add d) lo hi b => Some ([], t, Sum (Add d) lo hi (Op f [b; under_index y]), [Distributes f d true])
        | _ => match y with Sum (Add d) lo hi b => Some ([], t, Sum (Add d) lo hi (Op f [under_index x; b]), [Distributes f d false]) | _ => None end
        end
    | GuardIn bound, _ => guard_in C bound t
    | GuardMul, Op f args => Some ([], t, Guard (flat_map conds args) (Op f (map core args)), Finite f :: match mode C with Some (Add d) => [NoSign d] | _ => [] end)
    | GuardMul, MulAcc x y => Some ([], t, Guard (conds x ++ conds y) (MulAcc (core x) (core y)), [FiniteFused])
    | Contract, Op f [x; y] =>
        match new with
        | MulAcc _ _ => match mode C with Some (Add d) => Some ([], t, MulAcc x y, [Fused f d]) | _ => None end
        | Op h [_; _; _] =>
            match x with
            | Op g [u; v] => Some ([], t, Op h [u; v; y], [FusedOp g f h true])
            | _ => match y with Op g [u; v] => Some ([], t, Op h [u; v; x], [FusedOp g f h false]) | _ => None end
            end
        | _ => None
        end
    | Expand, _ => Some ([], t, expanded t, [])
    | Wrap (Tile k) n, _ => match skipn n (shape t) with x :: _ => Some ([ISub k (Num 1)], t, View (TruncR (ISub (IMul (IMul (Num (-1)) (IDiv (IMul (Num (-1)) x) k)) k) x)) n (View Flatten n (View (Tile k) n t)), []) | [] => None end
    | Wrap v n, _ => match wrap_view v n t with Some (fs, w) => Some (fs, t, View w n (View v n t), []) | None => None end
    | LetDead, Let x b => Some ([], Let x (under_let (lower_name b)), lower_name b, [])
    | LetOut kid, _ => let_out kid t
    | LetLift, _ => let_lift C t
    | LetRoll, _ => Some ([], t, t, [])
    | _, _ => None
    end.
End Rules.

Section Sound.
  Context {ops : operators}.
  Variable sure : poly -> bool.

  Lemma among fs p : In p fs -> entails fs p. Proof. intros I e F. auto. Qed.
  Lemma law_of l x : lawful l -> In x l -> is_so x. Proof. auto. Qed.

  Theorem let_out_let_bound facts m x c b : same facts m (Let (Let x c) b) (Let x (Let c (second_name b))).
  Proof. intros e F A i a I. cbn [Terms.sem]. unfold second_name. rewrite sem_tsub. apply sem_ext; auto. intros [| n] j; reflexivity. Qed.
  Theorem let_out_let_body facts m x c b : same facts m (Let x (Let (under_let c) b)) (Let c (Let (under_let x) (swap_names b))).
  Proof.
    intros e F A i a I. cbn [Terms.sem]. unfold swap_names. rewrite sem_tsub. apply sem_ext; auto. intros [| [| n]] j; cbn [cons]; auto.
    - now rewrite dims_under_let, sem_under_let.
    - now rewrite dims_under_let, sem_under_let.
  Qed.
  Theorem let_out_value_left facts m g c x b v : same facts m (ChooseV g c (Let x b) v) (Let x (ChooseV g (under_let c) b (under_let v))).
  Proof. intros e F A i a I. cbn [Terms.sem]. now rewrite !sem_under_let. Qed.
  Theorem let_out_value_right facts m g c x u b : same facts m (ChooseV g c u (Let x b)) (Let x (ChooseV g (under_let c) (under_let u) b)).
  Proof. intros e F A i a I. cbn [Terms.sem]. now rewrite !sem_under_let. Qed.
  Theorem let_out_value_test facts m g x b u v : same facts m (ChooseV g (Let x b) u v) (Let x (ChooseV g b (under_let u) (under_let v))).
  Proof. intros e F A i a I. cbn [Terms.sem]. now rewrite !sem_under_let. Qed.
  Theorem let_out_mulacc_left facts m x b v : same facts m (MulAcc (Let x b) v) (Let x (MulAcc b (under_let v))).
  Proof. intros e F A i a I. cbn [Terms.sem]. now rewrite !sem_under_let. Qed.
  Theorem let_out_mulacc_right facts m u x b : same facts m (MulAcc u (Let x b)) (Let x (MulAcc (under_let u) b)).
  Proof. intros e F A i a I. cbn [Terms.sem]. now rewrite !sem_under_let. Qed.

  (** guard_mul for any number of operands. *)
  Theorem guard_mul_all facts m f args : is_so (Finite f) -> (forall d, m = Some (Add d) -> is_so (NoSign d)) -> same facts m (Op f args) (Guard (flat_map conds args) (Op f (map core args))).
  Proof.
    intros Z N e F A i a I. cbn [Terms.sem].
    assert (P : forall l, all_hold (flat_map conds l) e = true -> map (fun t => sem None t e A [] zero) l = map (fun t => sem None t e A [] zero) (map core l)).
    { induction l as [| t l IH]; intro H; auto. unfold all_hold in H. cbn [flat_map] in H. rewrite forallb_app in H. apply andb_prop in H as [H1 H2]. cbn [map]. f_equal; [| now apply IH].
      rewrite (proj2 (core_means t e)). cbn [Terms.sem]. unfold all_hold. now rewrite H1. }
    assert (Q : forall l, all_hold (flat_map conds l) e = false -> In zero (map (fun t => sem None t e A [] zero) l)).
    { induction l as [| t l IH]; intro H; [discriminate |]. unfold all_hold in H. cbn [flat_map] in H. rewrite forallb_app in H. destruct (forallb (fun c => 0 <=? ival e c) (conds t)) eqn:T.
      - right. apply IH. exact H.
      - left. rewrite (proj2 (core_means t e)). cbn [Terms.sem]. unfold all_hold. now rewrite T. }
    destruct (all_hold (flat_map conds args) e) eqn:E; [now rewrite (P _ E) |]. rewrite (Z _ (Q _ E)). unfold Terms.put, Terms.pad. destruct m as [[] |]; auto. apply (N d eq_refl).
  Qed.

  Theorem guard_mul_fused facts m x y : is_so FiniteFused -> same facts m (MulAcc x y) (Guard (conds x ++ conds y) (MulAcc (core x) (core y))).
  Proof.
    intros Z e F A i a I. cbn [Terms.sem]. rewrite !(proj2 (core_means x e)), !(proj2 (core_means y e)). cbn [Terms.sem]. unfold all_hold. rewrite forallb_app.
    set (u := sem None (core x) e A [] zero). set (v := sem None (core y) e A [] zero). destruct (forallb _ (conds x)); cbn [andb].
    - destruct (forallb _ (conds y)); auto. destruct (Z u) as (_ & T & P). cbn [Terms.pad Terms.put]. rewrite T. destruct m as [[] |]; auto. apply P.
    - cbn [Terms.pad Terms.put]. set (w := if forallb _ (conds y) then v else zero). destruct (Z w) as (T & _ & P). rewrite T. destruct m as [[] |]; auto. apply P.
  Qed.

  Lemma wrap_view_so v n t fs w : wrap_view v n t = Some (fs, w) -> forall e, holds fs e -> (n <= length (dims t e))%nat /\ cancels v w e (skipn n (dims t e)).
  Proof.
    intros H e F. assert (S : skipn n (dims t e) = map (ival e) (skipn n (shape t))) by (rewrite <- shape_dims, skipn_map; reflexivity).
    assert (L : forall x r, skipn n (shape t) = x :: r -> (n <= length (dims t e))%nat).
    { intros x r E. rewrite <- shape_dims, map_length. destruct (Nat.le_gt_cases n (length (shape t))); auto. rewrite skipn_all2 in E by lia. discriminate. }
    rewrite S. unfold wrap_view in H. destruct v; try discriminate; destruct (skipn n (shape t)) as [| x [| y r]] eqn:E; try discriminate; injection H as <- <-; split; try (eapply L; reflexivity); cbn [map].
    - apply cancel_transpose.
    - now apply cancel_flatten.
    - apply cancel_split. specialize (F _ (or_introl eq_refl)). rewrite ival_sub in F. cbn [ival] in F. lia.
    - apply cancel_split. specialize (F _ (or_introl eq_refl)). rewrite ival_sub in F. cbn [ival] in F. lia.
    - apply cancel_pad_right.
    - apply cancel_pad_right.
    - apply cancel_pad_left.
    - apply cancel_pad_left.
    - apply cancel_reverse.
    - apply cancel_reverse.
  Qed.
  Lemma same_back facts m t u : (forall e, dims u e = dims t e) -> same facts m t u -> same facts m u t.
  Proof. intros D S e F A i a I. symmetry. apply S; auto. now rewrite <- D. Qed.

  Ltac taken H := injection H as <- <- <- <-.
  Ltac laws W := pose proof (law_of _ _ W (or_introl eq_refl)).

  Lemma float_out_same C t fs lhs rhs l : float_out C t = Some (fs, lhs, rhs, l) -> lawful l -> same fs (mode C) lhs rhs.
  Proof.
    intros H W. destruct t; cbn [float_out] in H; try discriminate.
    - destruct t; try discriminate.
      + taken H. apply float_gen_guard.
      + destruct (fixed 1 t1) eqn:X; [| discriminate]. taken H. apply float_gen_cat. now apply fixed_steady.
      + taken H. apply float_gen_plus.
      + destruct (fixed 1 t) eqn:X; [| discriminate]. taken H. apply float_gen_view. now apply fixed_steady.
    - destruct t; try (destruct m; discriminate).
      + destruct m; try discriminate. destruct (type_is (mode C) d) eqn:T; [| discriminate]. taken H. apply float_sum_guard. now apply type_is_so.
      + assert (X : fixed 1 t1 = true /\ Some ([], Sum m lo hi (Cat axis t1 t2), Cat axis (Sum m lo hi t1) (Sum m lo hi t2), []) = Some (fs, lhs, rhs, l)) by (destruct m, (fixed 1 t1); try discriminate; auto).
        clear H. destruct X as [X H]. taken H. apply float_sum_cat. now apply fixed_steady.
      + assert (X : m = m0 /\ Some ([], Sum m lo hi (Plus m0 t1 t2), Plus m (Sum m lo hi t1) (Sum m lo hi t2), [AnyOrder m]) = Some (fs, lhs, rhs, l)).
        { destruct m; destruct (monoid_eq _ m0); try discriminate; auto. }
        clear H. destruct X as [<- H]. taken H. laws W. apply float_sum_plus; apply H.
      + set (v' := lower_view v) in *.
        assert (X : fixed 1 t && (no_pull v' axis t || match m with Add d => type_is (mode C) d | _ => false end) = true /\
          Some ([], Sum m lo hi (View (view_sub (fun k => Var (S k)) v') axis t), View v' axis (Sum m lo hi t), []) = Some (fs, lhs, rhs, l)).
        { revert H. clearbody v'. destruct (fixed 1 t && (no_pull v' axis t || match m with Add d => type_is (mode C) d | _ => false end)) eqn:G; destruct m; rewrite ?G; intro H; try discriminate; auto. }
        clear H. destruct X as [X H]. taken H. apply andb_prop in X as [X Y]. apply fixed_steady in X. apply float_sum_view; auto. apply orb_prop in Y as [Y | Y].
        * right. intros e i F I. unfold no_pull in Y. apply andb_prop in Y as [Y Z]. apply negb_true_iff in Y. apply Nat.leb_le in Z. apply pulls_something_axis; auto.
          now rewrite <- shape_dims, map_length.
        * left. destruct m; try discriminate. exists d. split; auto. now apply type_is_so.
    - destruct t; try discriminate.
      + taken H. apply float_guard_guard.
      + taken H. apply float_guard_cat.
      + destruct m; try discriminate. destruct (type_is (mode C) d) eqn:T; [| discriminate]. taken H. apply float_guard_plus. now apply type_is_so.
      + taken H. apply float_guard_view.
    - destruct t2; try discriminate; taken H.
      + apply float_let_guard.
      + apply float_let_cat.
      + apply float_let_plus.
      + apply float_let_view.
  Qed.

  Lemma float_in_same m t fs lhs rhs l : float_in t = Some (fs, lhs, rhs, l) -> lawful l -> same fs m lhs rhs.
  Proof.
    intros H W. destruct t as [| | | | n t1 t2 | o t1 t2 | | | | | | | | |]; cbn [float_in] in H; try discriminate.
    - destruct n as [| n].
      + destruct t1; try discriminate; destruct t2; try discriminate. destruct (monoid_eq m0 m1); [subst | discriminate]. destruct (fixed 1 t1) eqn:X; [| discriminate]. taken H.
        apply float_in_cat_sum; try (now apply fixed_steady); apply among; cbn; auto.
      + destruct t1; try discriminate; destruct t2; try discriminate.
        * destruct (fixed 1 t1) eqn:X; [| discriminate]. taken H. apply float_in_cat_gen; try (now apply fixed_steady); apply among; cbn; auto.
        * destruct (monoid_eq m0 m1); [subst | discriminate]. destruct (fixed 1 t1) eqn:X; [| discriminate]. taken H. apply float_in_cat_sum; try (now apply fixed_steady); apply among; cbn; auto.
    - destruct t1; try discriminate; destruct t2; try discriminate.
      + taken H. apply float_in_plus_gen; apply among; cbn; auto.
      + destruct (monoid_eq o m0); [subst | discriminate]. destruct (monoid_eq m0 m1); [subst | discriminate]. taken H. laws W. apply float_in_plus_sum; try apply H; apply among; cbn; auto.
  Qed.

  Lemma guard_in_same C bound t fs lhs rhs l : guard_in C bound t = Some (fs, lhs, rhs, l) -> same fs (mode C) lhs rhs.
  Proof.
    intro H. destruct t; cbn [guard_in] in H; try discriminate. destruct t; try discriminate.
    - taken H. apply same_back; [reflexivity | apply float_gen_guard].
    - destruct m; try discriminate. destruct (type_is (mode C) d) eqn:T; [| discriminate]. taken H. apply same_back; [reflexivity | apply float_sum_guard; now apply type_is_so].
    - destruct bound; taken H; [apply guard_in_let_bound | apply guard_in_let].
    - taken H. apply float_guard_cat.
    - destruct m; try discriminate. destruct (type_is (mode C) d) eqn:T; [| discriminate]. taken H. apply float_guard_plus. now apply type_is_so.
    - taken H. apply float_guard_view.
    - taken H. apply guard_in_choose.
    - taken H. apply guard_in_choose_value.
  Qed.

  Lemma let_out_same m kid t fs lhs rhs l : let_out kid t = Some (fs, lhs, rhs, l) -> same fs m lhs rhs.
  Proof.
    intro H. destruct t; try (destruct kid as [| [| [| kid]]]); cbn [let_out] in H; try discriminate.
    - destruct t; try discriminate. taken H. apply let_out_guard.
    - destruct t1; try discriminate. taken H. apply let_out_let_bound.
    - destruct t2; try discriminate. taken H. apply let_out_let_body.
    - destruct t1; try discriminate. taken H. apply let_out_cat_left.
    - destruct t2; try discriminate. taken H. apply let_out_cat_right.
    - destruct t1; try discriminate. taken H. apply let_out_plus_left.
    - destruct t2; try discriminate. taken H. apply let_out_plus_right.
    - destruct t; try discriminate. taken H. apply let_out_view.
    - destruct args as [| [] args]; try discriminate. taken H. apply (let_out_op [] m f []).
    - destruct (nth_error args 1) as [[] |]; try discriminate. taken H. apply let_out_op.
    - destruct (nth_error args 2) as [[] |]; try discriminate. taken H. apply let_out_op.
    - destruct (nth_error args (S (S (S kid)))) as [[] |]; try discriminate. taken H. apply let_out_op.
    - destruct t1; try discriminate. taken H. apply let_out_mulacc_left.
    - destruct t2; try discriminate. taken H. apply let_out_mulacc_right.
    - destruct t1; try discriminate. taken H. apply let_out_choose_left.
    - destruct t2; try discriminate. taken H. apply let_out_choose_right.
    - destruct t2; try discriminate. taken H. apply let_out_value_left.
    - destruct t3; try discriminate. taken H. apply let_out_value_right.
    - destruct t1; try discriminate. taken H. apply let_out_value_test.
  Qed.

  Lemma let_lift_same C m t fs lhs rhs l : let_lift sure C t = Some (fs, lhs, rhs, l) -> same fs m lhs rhs.
  Proof.
    intro H. destruct t; cbn [let_lift] in H; try discriminate; destruct t; try discriminate; destruct (alike _ _ _ _ _).
    - taken H. apply let_lift_gen.
    - destruct (fixed 1 t1) eqn:X; [| discriminate]. taken H. apply let_lift_gen_array. now apply fixed_steady.
    - taken H. apply let_lift_sum.
    - destruct (fixed 1 t1) eqn:X; [| discriminate]. taken H. apply let_lift_sum_array. now apply fixed_steady.
  Qed.

  Theorem instance_same C r t new fs lhs rhs l : instance sure C r t new = Some (fs, lhs, rhs, l) -> lawful l -> same fs (mode C) lhs rhs.
  Proof.
    intros H W. destruct r; cbn [instance] in H; try (destruct t; discriminate).
    - destruct t; try discriminate. taken H. apply gen_cut.
    - destruct t; try discriminate. taken H. apply sum_cut; apply among; cbn; auto.
    - destruct t; try discriminate; taken H; [apply gen_flat | apply sum_flat]; apply among; cbn; auto.
    - destruct t; try discriminate; destruct t; try discriminate; taken H; [apply gen_join | apply sum_join]; apply among; cbn; auto.
    - destruct t; try discriminate; [taken H; apply gen_trunc |]. destruct m; try discriminate. taken H. apply sum_trunc. apply among; cbn; auto.
    - destruct t; try discriminate; taken H; [apply gen_shift | apply sum_shift].
    - destruct t; try discriminate. destruct m; try discriminate. destruct t; try discriminate. taken H. apply exchange_range.
    - destruct t; try discriminate. destruct (mode C) as [o' |] eqn:M; [destruct (monoid_eq o' m); [subst | discriminate] |]; taken H.
      + apply sum_one; auto; apply among; cbn; auto.
      + laws W. apply sum_one_set; try apply H; apply among; cbn; auto.
    - destruct t; try discriminate; destruct t; try discriminate; taken H.
      + apply swap_gen_gen.
      + apply swap_gen_sum.
      + apply swap_sum_gen.
      + laws W. apply swap_sum_sum; apply H.
    - eapply float_out_same; eauto.
    - eapply float_in_same; eauto.
    - destruct t; try discriminate. destruct args as [| x [| y [| z args]]]; try discriminate.
      { assert (X : (exists d lo hi b, x = Sum (Add d) lo hi b /\ Some ([], Op f [x; y], Sum (Add d) lo hi (Op f [b; under_index y]), [Distributes f d true]) = Some (fs, lhs, rhs, l)) \/
                    (exists d lo hi b, y = Sum (Add d) lo hi b /\ Some ([], Op f [x; y], Sum (Add d) lo hi (Op f [under_index x; b]), [Distributes f d false]) = Some (fs, lhs, rhs, l))).
        { destruct x as [| [] | | | | | | | | | | | | |]; try (left; do 4 eexists; split; [reflexivity | exact H]); destruct y as [| [] | | | | | | | | | | | | |]; try discriminate; right; do 4 eexists; (split; [reflexivity | exact H]). }
        clear H. destruct X as [(d & lo & hi & b & -> & H) | (d & lo & hi & b & -> & H)]; taken H; laws W; destruct H as (U & As & N & L & D & Z).
        * apply (distribute true); auto.
        * apply (distribute false); auto. }
    - eapply guard_in_same; eauto.
    - destruct t; try discriminate; [| taken H; apply guard_mul_fused; apply (law_of _ _ W (or_introl eq_refl))]. taken H. apply guard_mul_all; [apply (law_of _ _ W (or_introl eq_refl)) |]. intros d M. rewrite M in W. apply (law_of _ _ W). cbn. auto.
    - destruct t; try discriminate. destruct args as [| x [| y [| z args]]]; try discriminate. destruct new; try discriminate.
      + destruct args as [| ? [| ? [| ? [| ? ?]]]]; try discriminate.
        assert (X : (exists g u v, x = Op g [u; v] /\ Some ([], Op f [x; y], Op f0 [u; v; y], [FusedOp g f f0 true]) = Some (fs, lhs, rhs, l)) \/
                    (exists g u v, y = Op g [u; v] /\ Some ([], Op f [x; y], Op f0 [u; v; x], [FusedOp g f f0 false]) = Some (fs, lhs, rhs, l))).
        { destruct x as [| | | | | | | | | | | g [| u [| v [| w r]]] | | |]; try (left; do 3 eexists; split; [reflexivity | exact H]);
            destruct y as [| | | | | | | | | | | g' [| u' [| v' [| w' r']]] | | |]; try discriminate; right; do 3 eexists; (split; [reflexivity | exact H]). }
        clear H. destruct X as [(g & u & v & -> & H) | (g & u & v & -> & H)]; taken H; laws W; intros e F A i a I; cbn [Terms.sem map Terms.put]; f_equal; symmetry; apply H.
      + destruct (mode C) as [[] |] eqn:M; try discriminate. taken H. laws W. apply contract; apply H.
    - taken H. apply expand.
    - assert (X : (exists k x r, v = Tile k /\ skipn axis (shape t) = x :: r /\ exists c, Some ([ISub k (Num 1)], t, View (TruncR c) axis (View Flatten axis (View (Tile k) axis t)), []) = Some (fs, lhs, rhs, l)) \/
                  (exists w, wrap_view v axis t = Some (fs, w) /\ Some (fs, t, View w axis (View v axis t), []) = Some (fs, lhs, rhs, l))).
      { destruct v; try (right; destruct (wrap_view _ axis t) as [[gs w] |]; [| discriminate]; exists w; injection H as -> -> -> ->; auto; fail). left.
        destruct (skipn axis (shape t)) as [| x r] eqn:E; [discriminate |]. do 3 eexists. split; [reflexivity |]. split; [reflexivity |]. eexists. exact H. }
      clear H. destruct X as [(k & x & r & -> & E & c & H) | (w & E & H)]; [taken H | injection H as <- <- <-].
      + apply wrap_tile; [| apply among; cbn; auto]. intros e F. exists (ival e x), (map (ival e) r). now rewrite <- shape_dims, skipn_map, E.
      + apply wrap. now apply wrap_view_so.
    - destruct t; try discriminate. taken H. apply let_dead.
    - eapply let_out_same; eauto.
    - eapply let_lift_same; eauto.
    - taken H. apply same_refl.
  Qed.
End Sound.

Print Assumptions instance_same.
