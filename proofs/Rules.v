(** Rules of the schedule kernel (atoll/schedule/kernel.py) as theorems, for an arbitrary operator.

    The meaning of a term is how it is folded into a place, element by element. Nothing is assumed of the operator: it need not be associative or
    commutative and has no neutral element, so "not one bit changes" is a theorem about floating-point sums as they are computed.

    Proved: [sum_cut], [gen_cut]; [gen_flat], [sum_flat] (loop_flat, and loop_join read from right to left); [sum_trunc] (loop_trunc); [gen_shift], [sum_shift] (loop_shift);
    [sum_one]; the guards of guard_in; [swap_gen_sum] (swap); and that equals may be replaced inside a term. *)

Require Import ZArith List Lia.
Import ListNotations.
Open Scope Z_scope.

Section Rules.
  Variable V : Type.
  Variable op : V -> V -> V.

  Definition env := nat -> Z.
  Definition set (e : env) x v : env := fun y => if Nat.eqb x y then v else e y.
  Definition size := env -> Z.

  (** Terms as one cell sees them; the list is what is left of the cell's index. *)
  Inductive term :=
  | Gen (x : nat) (lo hi : size) (b : term)       (* an array over x *)
  | Sum (x : nat) (lo hi : size) (b : term)
  | Guard (p : env -> bool) (b : term)
  | Add (a b : term)
  | Flatten (m : size) (b : term)                 (* two axes as one *)
  | Concat (n : size) (a b : term)
  | Element (f : env -> V).

  Fixpoint range (lo : Z) (n : nat) : list Z := match n with O => [] | S k => lo :: range (lo + 1) k end.
  Definition span lo hi := range lo (Z.to_nat (hi - lo)).

  Fixpoint into (t : term) (e : env) (index : list Z) (a : V) : V :=
    match t with
    | Gen x lo hi b => match index with i :: r => into b (set e x (lo e + i)) r a | [] => a end
    | Sum x lo hi b => fold_left (fun a i => into b (set e x i) index a) (span (lo e) (hi e)) a
    | Guard p b => if p e then into b e index a else a
    | Add u v => into v e index (into u e index a)
    | Flatten m b => match index with q :: r => into b e (q / m e :: q mod m e :: r) a | [] => a end
    | Concat n u v => match index with i :: r => if i <? n e then into u e (i :: r) a else into v e (i - n e :: r) a | [] => a end
    | Element f => op a (f e)
    end.

  (** Equal in every place; equal as arrays of so many elements along the first axis. *)
  Definition same (t u : term) := forall e index a, into t e index a = into u e index a.
  Definition same_array (n : size) (t u : term) := forall e i r a, 0 <= i < n e -> into t e (i :: r) a = into u e (i :: r) a.
  Definition fresh x (f : size) := forall e v, f (set e x v) = f e.

  (** * Ranges *)

  Lemma range_app : forall n m lo, range lo (n + m) = range lo n ++ range (lo + Z.of_nat n) m.
  Proof. induction n; intros; simpl. now rewrite Z.add_0_r. rewrite IHn. do 3 f_equal. lia. Qed.

  Lemma span_app lo mid hi : lo <= mid -> mid <= hi -> span lo hi = span lo mid ++ span mid hi.
  Proof.
    intros. unfold span. replace (Z.to_nat (hi - lo)) with (Z.to_nat (mid - lo) + Z.to_nat (hi - mid))%nat by lia.
    rewrite range_app. do 2 f_equal. lia.
  Qed.

  Lemma range_shift : forall n lo d, range (lo + d) n = map (fun i => i + d) (range lo n).
  Proof. induction n; intros; simpl; auto. f_equal. replace (lo + d + 1) with (lo + 1 + d) by lia. apply IHn. Qed.

  Lemma in_range : forall n lo i, In i (range lo n) -> lo <= i < lo + Z.of_nat n.
  Proof. induction n; simpl; intros. easy. destruct H. lia. apply IHn in H. lia. Qed.

  Lemma fold_map {A B C} (f : A -> B -> A) (g : C -> B) l a : fold_left f (map g l) a = fold_left (fun a c => f a (g c)) l a.
  Proof. revert a; induction l; simpl; auto. Qed.

  Lemma fold_same {A B} (f g : A -> B -> A) l a : (forall a b, f a b = g a b) -> fold_left f l a = fold_left g l a.
  Proof. intros E. revert a; induction l; simpl; intros; auto. rewrite E. apply IHl. Qed.

  (** * Cuts *)

  Theorem sum_cut x lo mid hi b : (forall e, lo e <= mid e <= hi e) -> same (Sum x lo hi b) (Add (Sum x lo mid b) (Sum x mid hi b)).
  Proof. intros H e index a. simpl. destruct (H e). rewrite (span_app _ (mid e)) by lia. now rewrite fold_left_app. Qed.

  Theorem gen_cut x lo mid hi b : (forall e, lo e <= mid e <= hi e) ->
    same_array (fun e => hi e - lo e) (Gen x lo hi b) (Concat (fun e => mid e - lo e) (Gen x lo mid b) (Gen x mid hi b)).
  Proof. intros H e i r a Hi. simpl. destruct (Z.ltb_spec i (mid e - lo e)); auto. do 2 f_equal. lia. Qed.

  (** * Splits: x = lo + (o * k + r) *)

  Definition splits x o r lo k b b' :=
    forall e i j index a, into b' (set (set e o i) r j) index a = into b (set e x (lo e + (i * k e + j))) index a.

  Theorem gen_flat x o r lo count k b b' : (forall e, 1 <= k e) -> fresh o k -> splits x o r lo k b b' ->
    same_array (fun e => count e * k e) (Gen x lo (fun e => lo e + count e * k e) b) (Flatten k (Gen o (fun _ => 0) count (Gen r (fun _ => 0) k b'))).
  Proof.
    intros Hk Fo Hb e q index a Hq. simpl. rewrite Hb. do 2 f_equal. specialize (Hk e).
    rewrite (Z_div_mod_eq_full q (k e)) at 1. lia.
  Qed.

  Lemma flat_fold (f : V -> Z -> V) k c lo a : 1 <= k ->
    fold_left f (range lo (c * Z.to_nat k)) a
    = fold_left (fun a o => fold_left (fun a j => f a (lo + (o * k + j))) (range 0 (Z.to_nat k)) a) (range 0 c) a.
  Proof.
    intros Hk. revert lo a. induction c; intros; simpl; auto. rewrite range_app, fold_left_app, IHc.
    replace (fold_left (fun a j => f a (lo + j)) (range 0 (Z.to_nat k)) a) with (fold_left f (range lo (Z.to_nat k)) a).
    - change 1 with (0 + 1). rewrite range_shift, fold_map. apply fold_same. intros b o. apply fold_same. intros d j. f_equal.
      rewrite Z2Nat.id by lia. ring.
    - replace lo with (0 + lo) at 1 by lia. rewrite range_shift, fold_map. apply fold_same. intros. f_equal. lia.
  Qed.

  Theorem sum_flat x o r lo count k b b' : (forall e, 1 <= k e) -> (forall e, 0 <= count e) -> fresh o k -> splits x o r lo k b b' ->
    same (Sum x lo (fun e => lo e + count e * k e) b) (Sum o (fun _ => 0) count (Sum r (fun _ => 0) k b')).
  Proof.
    intros Hk Hc Fo Hb e index a. simpl. unfold span. specialize (Hk e). specialize (Hc e).
    replace (Z.to_nat (lo e + count e * k e - lo e)) with (Z.to_nat (count e) * Z.to_nat (k e))%nat by (rewrite <- Z2Nat.inj_mul by lia; f_equal; lia).
    rewrite (flat_fold (fun a i => into b (set e x i) index a)) by lia.
    replace (count e - 0) with (count e) by lia. apply fold_same. intros c i. rewrite Fo. replace (k e - 0) with (k e) by lia.
    apply fold_same. intros d j. now rewrite Hb.
  Qed.

  (** Rounds beyond the end are skipped by a guard. *)
  Lemma fold_skip (f : V -> Z -> V) (p : Z -> bool) l a : (forall i, In i l -> p i = false) -> fold_left (fun a i => if p i then f a i else a) l a = a.
  Proof. revert a; induction l; simpl; intros; auto. rewrite H by auto. apply IHl. auto. Qed.

  Lemma fold_keep (f : V -> Z -> V) (p : Z -> bool) l a : (forall i, In i l -> p i = true) -> fold_left (fun a i => if p i then f a i else a) l a = fold_left f l a.
  Proof. revert a; induction l; simpl; intros; auto. rewrite H by auto. apply IHl. auto. Qed.

  Theorem sum_trunc x lo hi more b : (forall e, 0 <= more e) -> (forall e, lo e <= hi e) -> fresh x hi ->
    same (Sum x lo hi b) (Sum x lo (fun e => hi e + more e) (Guard (fun e => e x <=? hi e - 1) b)).
  Proof.
    intros Ha Hl Fx e index a. simpl. rewrite (span_app (lo e) (hi e) (hi e + more e)) by (specialize (Ha e); specialize (Hl e); lia).
    rewrite fold_left_app.
    rewrite (fold_skip (fun a i => into b (set e x i) index a) (fun i => set e x i x <=? hi (set e x i) - 1)).
    - rewrite (fold_keep (fun a i => into b (set e x i) index a) (fun i => set e x i x <=? hi (set e x i) - 1)); auto.
      intros i Hi. unfold span in Hi. apply in_range in Hi. rewrite Fx. unfold set. rewrite Nat.eqb_refl. apply Z.leb_le. specialize (Hl e). lia.
    - intros i Hi. unfold span in Hi. apply in_range in Hi. rewrite Fx. unfold set. rewrite Nat.eqb_refl. apply Z.leb_gt. lia.
  Qed.

  (** * Shifts: x = x' + d *)

  Definition shifts x d b b' := forall e i index a, into b' (set e x i) index a = into b (set e x (i + d e)) index a.

  Theorem gen_shift x lo hi d b b' : shifts x d b b' ->
    same (Gen x lo hi b) (Gen x (fun e => lo e - d e) (fun e => hi e - d e) b').
  Proof. intros Hb e [|i r] a; simpl; auto. rewrite Hb. do 2 f_equal. lia. Qed.

  Theorem sum_shift x lo hi d b b' : shifts x d b b' ->
    same (Sum x lo hi b) (Sum x (fun e => lo e - d e) (fun e => hi e - d e) b').
  Proof.
    intros Hb e index a. simpl. unfold span. replace (hi e - d e - (lo e - d e)) with (hi e - lo e) by lia.
    replace (lo e) with (lo e - d e + d e) at 1 by lia. rewrite range_shift, fold_map. apply fold_same. intros c i. now rewrite Hb.
  Qed.

  (** * Sums of one and of no element *)

  Theorem sum_one x lo hi b b' : (forall e, hi e = lo e + 1) -> (forall e index a, into b' e index a = into b (set e x (lo e)) index a) -> same (Sum x lo hi b) b'.
  Proof. intros H Hb e index a. simpl. unfold span. rewrite H. replace (lo e + 1 - lo e) with 1 by lia. simpl. now rewrite Hb. Qed.

  Theorem sum_none x lo hi b : (forall e, hi e <= lo e) -> same (Sum x lo hi b) (Guard (fun _ => false) b).
  Proof. intros H e index a. simpl. unfold span. specialize (H e). replace (Z.to_nat (hi e - lo e)) with O by lia. reflexivity. Qed.

  (** * Guards *)

  Definition free_of x (p : env -> bool) := forall e v, p (set e x v) = p e.

  Theorem guard_in_sum p x lo hi b : free_of x p -> same (Guard p (Sum x lo hi b)) (Sum x lo hi (Guard p b)).
  Proof.
    intros F e index a. simpl. destruct (p e) eqn:E.
    - apply fold_same. intros c i. now rewrite F, E.
    - revert a. generalize (span (lo e) (hi e)) as l. induction l as [|i l IH]; simpl; intros; auto. rewrite F, E. apply IH.
  Qed.

  Theorem guard_in_gen p x lo hi b : free_of x p -> same (Guard p (Gen x lo hi b)) (Gen x lo hi (Guard p b)).
  Proof. intros F e [|i r] a; simpl; [destruct (p e); auto | rewrite F; reflexivity]. Qed.

  Theorem guard_guard p q b : same (Guard p (Guard q b)) (Guard (fun e => (p e && q e)%bool) b).
  Proof. intros e index a. simpl. destruct (p e), (q e); reflexivity. Qed.

  Theorem guard_add p a b : same (Guard p (Add a b)) (Add (Guard p a) (Guard p b)).
  Proof. intros e index v. simpl. destruct (p e); reflexivity. Qed.

  Theorem guard_true p b : (forall e, p e = true) -> same (Guard p b) b.
  Proof. intros H e index a. simpl. now rewrite H. Qed.

  (** Where a guard cuts a range: rounds for which it fails at the end are not made. *)
  Theorem sum_guard_cut x lo mid hi p b : (forall e, lo e <= mid e <= hi e) ->
    (forall e i, mid e <= i < hi e -> p (set e x i) = false) -> (forall e i, lo e <= i < mid e -> p (set e x i) = true) ->
    same (Sum x lo hi (Guard p b)) (Sum x lo mid b).
  Proof.
    intros H Hf Ht e index a. simpl. destruct (H e). rewrite (span_app _ (mid e)) by lia. rewrite fold_left_app.
    rewrite (fold_skip (fun a i => into b (set e x i) index a) (fun i => p (set e x i))).
    - apply (fold_keep (fun a i => into b (set e x i) index a) (fun i => p (set e x i))).
      intros i Hi. unfold span in Hi. apply in_range in Hi. apply Ht. lia.
    - intros i Hi. unfold span in Hi. apply in_range in Hi. apply Hf. lia.
  Qed.

  (** * A sum inside an array is an array of sums *)

  Theorem swap_gen_sum x y lo hi lo' hi' b : fresh x lo' -> fresh x hi' -> fresh y lo ->
    (forall e i j index a, into b (set (set e x i) y j) index a = into b (set (set e y j) x i) index a) ->
    same_array (fun e => hi e - lo e) (Gen x lo hi (Sum y lo' hi' b)) (Sum y lo' hi' (Gen x lo hi b)).
  Proof. intros F1 F2 F3 Hb e i r a Hi. simpl. rewrite F1, F2. apply fold_same. intros c j. rewrite Hb, F3. reflexivity. Qed.

  (** * Rules compose: equals may be replaced inside *)

  Theorem same_sum x lo hi b b' : same b b' -> same (Sum x lo hi b) (Sum x lo hi b').
  Proof. intros H e index a. simpl. apply fold_same. intros. apply H. Qed.
  Theorem same_gen x lo hi b b' : same b b' -> same (Gen x lo hi b) (Gen x lo hi b').
  Proof. intros H e [|i r] a; simpl; auto. Qed.
  Theorem same_guard p b b' : same b b' -> same (Guard p b) (Guard p b').
  Proof. intros H e index a. simpl. now rewrite H. Qed.
  Theorem same_add a a' b b' : same a a' -> same b b' -> same (Add a b) (Add a' b').
  Proof. intros Ha Hb e index v. simpl. now rewrite Ha, Hb. Qed.
  Theorem same_trans t u v : same t u -> same u v -> same t v.
  Proof. intros H K e index a. now rewrite H. Qed.
End Rules.

Print Assumptions sum_flat.
Print Assumptions sum_trunc.
Print Assumptions sum_guard_cut.
Print Assumptions sum_shift.
