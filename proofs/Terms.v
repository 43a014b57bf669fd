(** Terms of the schedule kernel (atoll/check/terms.py) as data: deep syntax with de Bruijn binders, so that no name can be mistaken for another, and their meaning.

    The meaning of a term is how one of its elements is folded into a place: [sem m t e arrays index a] is what stands in the place afterwards, where [a] stood there before. [m] is the
    operator by which it is folded, or nothing where the place is set. No law is assumed of any operator: not one bit of a floating-point sum changes where a rule says that two terms are the same.

    Loop indices are counted from the innermost binder, arrays (let) too, with numbers of their own. Sizes are the indices beyond all binders. A list of tests of `choose` is choices inside each other;
    opaque parts (nest) and several results (many) stand at the top only and are arrays and terms here. *)

Require Import ZArith List Lia Bool.
Require Arithmetic.
Import ListNotations.
Open Scope Z_scope.

(** * Index arithmetic *)

Inductive idx := Var (n : nat) | Num (z : Z) | IAdd (p q : idx) | IMul (p q : idx) | IDiv (p q : idx).
Definition ISub p q := IAdd p (IMul (Num (-1)) q).
Definition IMod p q := ISub p (IMul (IDiv p q) q).
Definition below i n := ISub (ISub n (Num 1)) i.   (* i < n, as a number that is not negative *)

Definition env := nat -> Z.
Definition cons {A : Type} (v : A) (e : nat -> A) : nat -> A := fun n => match n with O => v | S k => e k end.

Fixpoint ival (e : env) (p : idx) : Z :=
  match p with
  | Var n => e n | Num z => z
  | IAdd p q => ival e p + ival e q | IMul p q => ival e p * ival e q | IDiv p q => ival e p / ival e q
  end.

Fixpoint isub (s : nat -> idx) (p : idx) : idx :=
  match p with
  | Var n => s n | Num z => Num z
  | IAdd p q => IAdd (isub s p) (isub s q) | IMul p q => IMul (isub s p) (isub s q) | IDiv p q => IDiv (isub s p) (isub s q)
  end.
Definition lift := isub (fun n => Var (S n)).
Definition up (s : nat -> idx) : nat -> idx := cons (Var 0) (fun n => lift (s n)).
Definition up_name (r : nat -> nat) : nat -> nat := cons 0%nat (fun n => S (r n)).

Lemma ival_ext e e' p : (forall n, e n = e' n) -> ival e p = ival e' p.
Proof. intros H. induction p; simpl; auto; now rewrite IHp1, IHp2. Qed.
Lemma ival_isub e s p : ival e (isub s p) = ival (fun n => ival e (s n)) p.
Proof. induction p; simpl; auto; now rewrite IHp1, IHp2. Qed.
Lemma ival_lift e v p : ival (cons v e) (lift p) = ival e p.
Proof. unfold lift. rewrite ival_isub. now apply ival_ext. Qed.
Lemma ival_sub e p q : ival e (ISub p q) = ival e p - ival e q.
Proof. unfold ISub. cbn [ival]. lia. Qed.
Lemma ival_below e i n : ival e (below i n) = ival e n - 1 - ival e i.
Proof. unfold below. rewrite !ival_sub. cbn [ival]. lia. Qed.
Lemma ival_mod e p q : ival e (IMod p q) = ival e p mod ival e q.
Proof. unfold IMod. rewrite ival_sub. cbn [ival]. destruct (Z.eq_dec (ival e q) 0) as [E | E]; [rewrite E, Zmod_0_r; lia | rewrite Z.mod_eq by lia; lia]. Qed.
Lemma up_val e v s n : ival (cons v e) (up s n) = cons v (fun n => ival e (s n)) n.
Proof. destruct n; simpl; auto. apply ival_lift. Qed.

(** Facts are numbers that are not negative; what rows of a proof show (Arithmetic.v) is so wherever the facts hold. *)
Definition holds (facts : list idx) (e : env) := forall p, In p facts -> 0 <= ival e p.
Definition entails facts p := forall e, holds facts e -> 0 <= ival e p.

Fixpoint polynomial (p : idx) : Arithmetic.poly :=
  match p with
  | Var n => Arithmetic.alone (Arithmetic.Unknown (Pos.of_succ_nat n))
  | Num z => Arithmetic.number z
  | IAdd p q => Arithmetic.poly_add (polynomial p) (polynomial q)
  | IMul p q => Arithmetic.poly_mul (polynomial p) (polynomial q)
  | IDiv p q => Arithmetic.alone (Arithmetic.Quotient (polynomial p) (polynomial q))
  end.

Lemma polynomial_value e p : Arithmetic.poly_value (fun x => e (Nat.pred (Pos.to_nat x))) (polynomial p) = ival e p.
Proof.
  induction p; simpl polynomial; simpl ival.
  - rewrite Arithmetic.alone_value. simpl. now rewrite SuccNat2Pos.id_succ.
  - apply Arithmetic.number_value.
  - rewrite Arithmetic.poly_add_value. congruence.
  - rewrite Arithmetic.poly_mul_value. congruence.
  - rewrite Arithmetic.alone_value. simpl. congruence.
Qed.

(** The side condition as it is checked: rows over the facts, one of which has the goal. *)
Definition proved facts steps p :=
  Arithmetic.rows_ok (map polynomial facts) steps && existsb (fun s => Arithmetic.poly_eq (polynomial p) (Arithmetic.step_goal s)) steps.

Theorem proved_entails facts steps p : proved facts steps p = true -> entails facts p.
Proof.
  unfold proved. intros H e F. apply andb_prop in H as [R S]. apply existsb_exists in S as (s & I & E).
  rewrite <- polynomial_value. rewrite (Arithmetic.poly_eq_value _ _ _ E).
  apply (Arithmetic.rows_sound steps (map polynomial facts)); auto.
  - intros q Q. apply in_map_iff in Q as (f & <- & Q). rewrite polynomial_value. now apply F.
Qed.

(** * Syntax *)

(** By what is folded, of numbers of which type: laws that hold of integers are not those of floats. *)
Inductive monoid := Add (d : positive) | Mul (d : positive) | Min (d : positive) | Max (d : positive) | And (d : positive) | Or (d : positive) | Xor (d : positive).
Definition monoid_eq (a b : monoid) : {a = b} + {a <> b}. decide equality; apply Pos.eq_dec. Defined.
Inductive view := Transpose | Flatten | Split (k : idx) | Tile (k : idx) | TruncR (k : idx) | TruncL (k : idx) | PadR (k : idx) | PadL (k : idx) | Reverse | Sample (k : idx) | Window (k : idx).
Inductive test := Ge | Eq | Ne.

Definition view_sub (s : nat -> idx) (v : view) : view :=
  match v with
  | Transpose => Transpose | Flatten => Flatten | Reverse => Reverse
  | Split k => Split (isub s k) | Tile k => Tile (isub s k) | TruncR k => TruncR (isub s k) | TruncL k => TruncL (isub s k)
  | PadR k => PadR (isub s k) | PadL k => PadL (isub s k) | Sample k => Sample (isub s k) | Window k => Window (isub s k)
  end.

Definition true_of k z := match k with Ge => 0 <=? z | Eq => z =? 0 | Ne => negb (z =? 0) end.
Definition passes (ts : list (test * idx)) (e : env) := forallb (fun t => true_of (fst t) (ival e (snd t))) ts.
Definition all_hold (cs : list idx) (e : env) := forallb (fun c => 0 <=? ival e c) cs.

(** Shape of a view, and where its elements come from; None: nowhere, a zero. [s] is the shape of what it is a view of. *)
Definition ceil n k := - ((- n) / k).
Definition view_shape (v : view) (e : env) (s : list Z) : list Z :=
  match v, s with
  | Transpose, n :: m :: r => m :: n :: r
  | Flatten, n :: m :: r => n * m :: r
  | Split k, n :: r => n / ival e k :: ival e k :: r
  | Tile k, n :: r => ceil n (ival e k) :: ival e k :: r
  | TruncR k, n :: r | TruncL k, n :: r => n - ival e k :: r
  | PadR k, n :: r | PadL k, n :: r => n + ival e k :: r
  | Reverse, n :: r => n :: r
  | Sample k, n :: r => ceil n (ival e k) :: r
  | Window k, n :: r => n - ival e k + 1 :: ival e k :: r
  | _, _ => s
  end.
Definition between q n := (0 <=? q) && (q <? n).
Definition view_pull (v : view) (e : env) (s i : list Z) : option (list Z) :=
  match v, s, i with
  | Transpose, _, x :: y :: r => Some (y :: x :: r)
  | Flatten, _ :: m :: _, x :: r => Some (x / m :: x mod m :: r)
  | Split k, _, x :: y :: r => Some (x * ival e k + y :: r)
  | Tile k, n :: _, x :: y :: r => if x * ival e k + y <? n then Some (x * ival e k + y :: r) else None
  | TruncR k, _, x :: r => Some (x :: r)
  | TruncL k, _, x :: r => Some (x + ival e k :: r)
  | PadR k, n :: _, x :: r => if between x n then Some (x :: r) else None
  | PadL k, n :: _, x :: r => if between (x - ival e k) n then Some (x - ival e k :: r) else None
  | Reverse, n :: _, x :: r => Some (n - 1 - x :: r)
  | Sample k, _, x :: r => Some (x * ival e k :: r)
  | Window k, _, x :: y :: r => Some (x + y :: r)
  | _, _, _ => None
  end.

(** Below an axis: the first [n] are kept. *)
Fixpoint at_axis {A} (n : nat) (f : list A -> list A) (l : list A) : list A := match n, l with O, _ => f l | S k, x :: r => x :: at_axis k f r | S _, [] => [] end.
Fixpoint pull_axis (n : nat) (f : list Z -> list Z -> option (list Z)) (s i : list Z) : option (list Z) :=
  match n, s, i with
  | O, _, _ => f s i
  | S k, _ :: s, x :: r => option_map (List.cons x) (pull_axis k f s r)
  | S _, _, _ => None
  end.

(** What operators mean: nothing is assumed of them but that an empty sum is the zero. *)
Class operators := {
  V : Type;
  op : monoid -> V -> V -> V;
  neutral : monoid -> V;
  zero : V; junk : V;                  (* junk: what is read outside of an array, whatever it is *)
  lit : positive -> V;                 (* constants and operations are numbered by the reader of a certificate *)
  func : positive -> list V -> V;
  times : V -> V -> V;
  fma : positive -> V -> V -> V -> V;  (* x * y added to a, rounded once, of a type *)
  num : Z -> V;
  truth : V -> bool;
  nothing_added : forall d, neutral (Add d) = zero
}.

Inductive term :=
| Gen (lo hi : idx) (b : term)                     (* an array over an index *)
| Sum (m : monoid) (lo hi : idx) (b : term)
| Guard (cs : list idx) (b : term)                 (* b where all are not negative, else 0 *)
| Let (x b : term)
| Cat (axis : nat) (a b : term)
| Plus (m : monoid) (a b : term)                   (* a, then b folded into it *)
| View (v : view) (axis : nat) (b : term)
| Zeros (shape : list idx)
| Get (x : nat) (index : list idx)
| Lit (c : positive)
| Index (p : idx)
| Op (f : positive) (args : list term)
| MulAcc (a b : term)                              (* a product that is added without being rounded *)
| Choose (ts : list (test * idx)) (a b : term)    (* a where all of them hold *)
| ChooseV (sign : bool) (c a b : term).

(** Induction, with all arguments of an operation. *)
Definition term_ind' (P : term -> Prop)
  (gen : forall lo hi b, P b -> P (Gen lo hi b)) (sum : forall m lo hi b, P b -> P (Sum m lo hi b)) (guard : forall cs b, P b -> P (Guard cs b))
  (let_ : forall x b, P x -> P b -> P (Let x b)) (cat : forall n a b, P a -> P b -> P (Cat n a b)) (plus : forall m a b, P a -> P b -> P (Plus m a b))
  (vw : forall v n b, P b -> P (View v n b)) (zeros : forall s, P (Zeros s)) (get : forall x l, P (Get x l)) (lit : forall v, P (Lit v)) (index : forall p, P (Index p))
  (oper : forall f args, Forall P args -> P (Op f args)) (mulacc : forall a b, P a -> P b -> P (MulAcc a b))
  (choose : forall ts a b, P a -> P b -> P (Choose ts a b)) (choosev : forall s c a b, P c -> P a -> P b -> P (ChooseV s c a b)) : forall t, P t :=
  fix go t : P t :=
    match t with
    | Gen lo hi b => gen lo hi b (go b) | Sum m lo hi b => sum m lo hi b (go b) | Guard cs b => guard cs b (go b) | Let x b => let_ x b (go x) (go b)
    | Cat n a b => cat n a b (go a) (go b) | Plus m a b => plus m a b (go a) (go b) | View v n b => vw v n b (go b) | Zeros s => zeros s | Get x i => get x i
    | Lit v => lit v | Index p => index p
    | Op f args => oper f args ((fix all l : Forall P l := match l with [] => Forall_nil P | t :: r => Forall_cons t (go t) (all r) end) args)
    | MulAcc a b => mulacc a b (go a) (go b) | Choose ts a b => choose ts a b (go a) (go b) | ChooseV s c a b => choosev s c a b (go c) (go a) (go b)
    end.

(** Indices put for indices, and arrays renamed. *)
Fixpoint tsub (s : nat -> idx) (r : nat -> nat) (t : term) : term :=
  match t with
  | Gen lo hi b => Gen (isub s lo) (isub s hi) (tsub (up s) r b)
  | Sum m lo hi b => Sum m (isub s lo) (isub s hi) (tsub (up s) r b)
  | Guard cs b => Guard (map (isub s) cs) (tsub s r b)
  | Let x b => Let (tsub s r x) (tsub s (up_name r) b)
  | Cat n a b => Cat n (tsub s r a) (tsub s r b)
  | Plus m a b => Plus m (tsub s r a) (tsub s r b)
  | View v n b => View (view_sub s v) n (tsub s r b)
  | Zeros sh => Zeros (map (isub s) sh)
  | Get x i => Get (r x) (map (isub s) i)
  | Lit v => Lit v
  | Index p => Index (isub s p)
  | Op f args => Op f (map (tsub s r) args)
  | MulAcc a b => MulAcc (tsub s r a) (tsub s r b)
  | Choose ts a b => Choose (map (fun t => (fst t, isub s (snd t))) ts) (tsub s r a) (tsub s r b)
  | ChooseV g c a b => ChooseV g (tsub s r c) (tsub s r a) (tsub s r b)
  end.
Definition put_index (p : idx) := tsub (cons p Var) (fun x => x).   (* the innermost index becomes p *)
Definition under_index := tsub (fun n => Var (S n)) (fun x => x).    (* one more loop around *)
Definition under_let := tsub Var S.                                  (* one more array around *)

(** * Shapes and meaning *)

Fixpoint dims (t : term) (e : env) : list Z :=
  match t with
  | Gen lo hi b => ival e hi - ival e lo :: dims b (cons (ival e lo) e)
  | Sum _ lo hi b => dims b (cons (ival e lo) e)
  | Guard _ b => dims b e | Let _ b => dims b e
  | Cat n a b => at_axis n (fun l => match l with x :: r => x + nth n (dims b e) 0 :: r | [] => [] end) (dims a e)
  | Plus _ a _ => dims a e
  | View v n b => at_axis n (view_shape v e) (dims b e)
  | Zeros s => map (ival e) s
  | Choose _ _ _ | ChooseV _ _ _ _ | Get _ _ | Lit _ | Index _ | Op _ _ | MulAcc _ _ => []
  end.

Fixpoint within (i s : list Z) : bool := match i, s with [], [] => true | x :: i, n :: s => between x n && within i s | _, _ => false end.

Section Meaning.
  Context {ops : operators}.

  Definition arrays := nat -> list Z -> V.
  Definition put (m : option monoid) (a v : V) : V := match m with None => v | Some o => op o a v end.
  Definition pad (m : option monoid) (a : V) : V := match m with Some (Add _) => a | _ => put m a zero end.   (* a zero that is added is not added *)
  Fixpoint range (lo : Z) (n : nat) : list Z := match n with O => [] | S k => lo :: range (lo + 1) k end.
  Definition span lo hi := range lo (Z.to_nat (hi - lo)).
  Definition into (m : option monoid) (o : monoid) (a : V) (fold : V -> V) : V :=
    match m with
    | Some o' => if monoid_eq o' o then fold a else op o' a (fold (neutral o))
    | None => fold (neutral o)
    end.

  Fixpoint sem (m : option monoid) (t : term) (e : env) (A : arrays) (i : list Z) (a : V) {struct t} : V :=
    match t with
    | Gen lo hi b => match i with x :: r => sem m b (cons (ival e lo + x) e) A r a | [] => pad m a end
    | Sum o lo hi b => into m o a (fold_left (fun s x => sem (Some o) b (cons x e) A i s) (span (ival e lo) (ival e hi)))
    | Guard cs b => if all_hold cs e then sem m b e A i a else pad m a
    | Let x b => sem m b e (cons (fun j => if within j (dims x e) then sem None x e A j zero else junk) A) i a
    | Cat n u v =>
        let k := nth n (dims u e) 0 in
        if nth n i 0 <? k then sem m u e A i a else sem m v e A (at_axis n (fun l => match l with x :: r => x - k :: r | [] => [] end) i) a
    | Plus o u v =>
        match m with
        | None => sem (Some o) v e A i (sem None u e A i a)
        | Some o' => if monoid_eq o' o then sem m v e A i (sem m u e A i a) else op o' a (sem (Some o) v e A i (sem None u e A i a))
        end
    | View v n b => match pull_axis n (view_pull v e) (dims b e) i with Some j => sem m b e A j a | None => pad m a end
    | Zeros _ => pad m a
    | Get x is => put m a (A x (map (ival e) is))
    | Lit c => put m a (lit c)
    | Index p => put m a (num (ival e p))
    | Op f args => put m a (func f (map (fun t => sem None t e A [] zero) args))
    | MulAcc x y =>
        let u := sem None x e A [] zero in let v := sem None y e A [] zero in
        match m with Some (Add d) => fma d u v a | _ => put m a (times u v) end
    | Choose ts u v => if passes ts e then sem m u e A i a else sem m v e A i a
    | ChooseV g c u v => if eqb g (truth (sem None c e A [] zero)) then sem m u e A i a else sem m v e A i a
    end.

  (** * Only the values of indices and arrays matter *)

  Lemma view_shape_ext v e e' s : (forall n, e n = e' n) -> view_shape v e s = view_shape v e' s.
  Proof. intros H. destruct v; simpl; auto; now rewrite (ival_ext e e' k H). Qed.
  Lemma view_pull_ext v e e' s i : (forall n, e n = e' n) -> view_pull v e s i = view_pull v e' s i.
  Proof. intros H. destruct v; simpl; auto; now rewrite (ival_ext e e' k H). Qed.
  Lemma at_axis_ext {A} n (f g : list A -> list A) l : (forall x, f x = g x) -> at_axis n f l = at_axis n g l.
  Proof. intros H. revert l. induction n; intros [|x l]; simpl; auto. now rewrite IHn. Qed.
  Lemma pull_axis_ext n f g s i : (forall s i, f s i = g s i) -> pull_axis n f s i = pull_axis n g s i.
  Proof. intros H. revert s i. induction n; intros [|x s] [|y i]; simpl; auto. now rewrite IHn. Qed.
  Lemma all_hold_ext cs e e' : (forall n, e n = e' n) -> all_hold cs e = all_hold cs e'.
  Proof. intros H. unfold all_hold. induction cs; simpl; auto. now rewrite (ival_ext e e' a H), IHcs. Qed.
  Lemma passes_ext ts e e' : (forall n, e n = e' n) -> passes ts e = passes ts e'.
  Proof. intros H. unfold passes. induction ts; simpl; auto. now rewrite (ival_ext e e' _ H), IHts. Qed.
  Lemma map_ival_ext e e' l : (forall n, e n = e' n) -> map (ival e) l = map (ival e') l.
  Proof. intros H. apply map_ext. intro. now apply ival_ext. Qed.
  Lemma cons_ext {A} (v w : A) e e' : v = w -> (forall n, e n = e' n) -> forall n, cons v e n = cons w e' n.
  Proof. intros H K [|n]; simpl; auto. Qed.
  Lemma fold_ext {A B} (f g : A -> B -> A) l : (forall a b, f a b = g a b) -> forall a, fold_left f l a = fold_left g l a.
  Proof. intros E. induction l; simpl; intros; auto. rewrite E. apply IHl. Qed.
  Lemma into_ext m o a f g : (forall a, f a = g a) -> into m o a f = into m o a g.
  Proof. intros H. unfold into. destruct m; [destruct (monoid_eq m o)|]; now rewrite H. Qed.

  Lemma dims_ext t : forall e e', (forall n, e n = e' n) -> dims t e = dims t e'.
  Proof.
    induction t using term_ind'; simpl; intros e e' E; auto.
    - rewrite (ival_ext e e' hi E), (ival_ext e e' lo E). f_equal. apply IHt. now apply cons_ext.
    - apply IHt. apply cons_ext; auto. now apply ival_ext.
    - rewrite (IHt1 e e' E), (IHt2 e e' E). reflexivity.
    - rewrite (IHt e e' E). apply at_axis_ext. intro. now apply view_shape_ext.
    - now apply map_ival_ext.
  Qed.

  Lemma sem_ext t : forall m e e' A A' i a, (forall n, e n = e' n) -> (forall x j, A x j = A' x j) -> sem m t e A i a = sem m t e' A' i a.
  Proof.
    induction t using term_ind'; cbn [sem]; intros mode e e' A A' i a E K.
    - destruct i as [|x r]; auto. apply IHt; auto. apply cons_ext; auto. now rewrite (ival_ext e e' lo E).
    - rewrite (ival_ext e e' hi E), (ival_ext e e' lo E). apply into_ext. apply fold_ext. intros. apply IHt; auto. now apply cons_ext.
    - rewrite (all_hold_ext cs e e' E). destruct (all_hold cs e'); auto.
    - apply IHt2; auto. intros [|x] j; cbn [cons]; auto. now rewrite (dims_ext t1 e e' E), (IHt1 None e e' A A' j zero E K).
    - rewrite (dims_ext t1 e e' E). cbn zeta. destruct (nth n i 0 <? _); auto.
    - destruct mode; [destruct (monoid_eq _ _)|].
      + rewrite (IHt1 _ e e' A A' i a E K). now apply IHt2.
      + rewrite (IHt1 _ e e' A A' i a E K). f_equal. now apply IHt2.
      + rewrite (IHt1 _ e e' A A' i a E K). now apply IHt2.
    - rewrite (dims_ext t e e' E), (pull_axis_ext n (view_pull v e) (view_pull v e')); [| intros; now apply view_pull_ext].
      destruct (pull_axis _ _ _ _); auto.
    - reflexivity.
    - now rewrite K, (map_ival_ext e e' _ E).
    - reflexivity.
    - now rewrite (ival_ext e e' p E).
    - f_equal. f_equal. apply map_ext_in. intros t I. rewrite Forall_forall in H. now apply H.
    - rewrite (IHt1 None e e' A A' [] zero E K), (IHt2 None e e' A A' [] zero E K). reflexivity.
    - rewrite (passes_ext ts e e' E). destruct (passes ts e'); auto.
    - rewrite (IHt1 None e e' A A' [] zero E K). destruct (eqb s _); auto.
  Qed.

  (** * Putting indices for indices *)

  Lemma view_shape_sub v e s l : view_shape (view_sub s v) e l = view_shape v (fun n => ival e (s n)) l.
  Proof. destruct v; simpl; auto; now rewrite ival_isub. Qed.
  Lemma view_pull_sub v e s l i : view_pull (view_sub s v) e l i = view_pull v (fun n => ival e (s n)) l i.
  Proof. destruct v; simpl; auto; now rewrite ival_isub. Qed.
  Lemma all_hold_sub cs e s : all_hold (map (isub s) cs) e = all_hold cs (fun n => ival e (s n)).
  Proof. unfold all_hold. induction cs; simpl; auto. now rewrite ival_isub, IHcs. Qed.
  Lemma passes_sub ts e s : passes (map (fun t => (fst t, isub s (snd t))) ts) e = passes ts (fun n => ival e (s n)).
  Proof. unfold passes. induction ts; simpl; auto. now rewrite ival_isub, IHts. Qed.
  Lemma map_ival_sub l e s : map (ival e) (map (isub s) l) = map (ival (fun n => ival e (s n))) l.
  Proof. rewrite map_map. apply map_ext. intro. apply ival_isub. Qed.

  Lemma dims_tsub t : forall s r e, dims (tsub s r t) e = dims t (fun n => ival e (s n)).
  Proof.
    induction t using term_ind'; simpl; intros s0 r0 e; auto.
    - rewrite !ival_isub, IHt. f_equal. apply dims_ext. apply up_val.
    - rewrite !ival_isub, IHt. apply dims_ext. apply up_val.
    - now rewrite IHt1, IHt2.
    - rewrite IHt. apply at_axis_ext. intro. apply view_shape_sub.
    - apply map_ival_sub.
  Qed.

  Lemma sem_tsub t : forall s r m e A i a, sem m (tsub s r t) e A i a = sem m t (fun n => ival e (s n)) (fun x => A (r x)) i a.
  Proof.
    induction t using term_ind'; cbn [sem tsub]; intros s0 r0 mode e A i a.
    - destruct i as [|x l]; auto. rewrite ival_isub, IHt. apply sem_ext; auto. apply up_val.
    - rewrite !ival_isub. apply into_ext. apply fold_ext. intros. rewrite IHt. apply sem_ext; auto. apply up_val.
    - rewrite all_hold_sub, IHt. reflexivity.
    - rewrite IHt2. apply sem_ext; auto. intros [|x] j; cbn [cons up_name]; auto. now rewrite dims_tsub, IHt1.
    - rewrite dims_tsub, IHt1, IHt2. reflexivity.
    - destruct mode; [destruct (monoid_eq _ _)|]; now rewrite IHt1, IHt2.
    - rewrite dims_tsub, (pull_axis_ext n (view_pull (view_sub s0 v) e) (view_pull v (fun k => ival e (s0 k)))); [| intros; apply view_pull_sub].
      destruct (pull_axis _ _ _ _); auto.
    - reflexivity.
    - now rewrite map_ival_sub.
    - reflexivity.
    - now rewrite ival_isub.
    - f_equal. f_equal. rewrite map_map. apply map_ext_in. intros t I. rewrite Forall_forall in H. now apply H.
    - now rewrite IHt1, IHt2.
    - rewrite passes_sub. destruct (passes _ _); auto.
    - rewrite IHt1. destruct (eqb s _); auto.
  Qed.

  Lemma sem_put_index m p t e A i a : sem m (put_index p t) e A i a = sem m t (cons (ival e p) e) A i a.
  Proof. unfold put_index. rewrite sem_tsub. apply sem_ext; auto. intros [|n]; reflexivity. Qed.
  Lemma sem_under_index m t v e A i a : sem m (under_index t) (cons v e) A i a = sem m t e A i a.
  Proof. unfold under_index. rewrite sem_tsub. now apply sem_ext. Qed.
  Lemma sem_under_let m t e x A i a : sem m (under_let t) e (cons x A) i a = sem m t e A i a.
  Proof. unfold under_let. rewrite sem_tsub. now apply sem_ext. Qed.
  Lemma dims_put_index p t e : dims (put_index p t) e = dims t (cons (ival e p) e).
  Proof. unfold put_index. rewrite dims_tsub. apply dims_ext. intros [|n]; reflexivity. Qed.
  Lemma dims_under_index t v e : dims (under_index t) (cons v e) = dims t e.
  Proof. unfold under_index. rewrite dims_tsub. now apply dims_ext. Qed.
  Lemma dims_under_let t e : dims (under_let t) e = dims t e.
  Proof. unfold under_let. rewrite dims_tsub. now apply dims_ext. Qed.

  (** A place that is set does not care what stood there. *)
  Lemma set_forgets t : forall e A i a b, sem None t e A i a = sem None t e A i b.
  Proof.
    induction t using term_ind'; cbn [sem]; intros; auto.
    - destruct i; auto.
    - destruct (all_hold cs e); auto.
    - cbn zeta. destruct (_ <? _); auto.
    - now rewrite (IHt1 e A i a b).
    - destruct (pull_axis _ _ _ _); auto.
    - destruct (passes _ _); auto.
    - destruct (eqb s _); auto.
  Qed.
End Meaning.

Print Assumptions proved_entails.
Print Assumptions sem_tsub.
