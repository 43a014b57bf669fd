(** The rules of the schedule kernel (atoll/check/rules.py) over the terms of Terms.v, each with the side conditions that the checker asks for.

    [same facts m t u]: wherever the facts hold, every element of t and of u leaves the same value in its place, when it is folded by [m] (nothing: the place is set).
    [shaped facts t u]: they have the same shape. Nothing is assumed of operators: rules that need a law (a licence of the certificate) have it as a hypothesis.
    Freshness is not a condition here: a bound that does not depend on an index is written [lift p]. *)

Require Import ZArith List Lia Bool.
Require Import Terms.
Import ListNotations.
Open Scope Z_scope.


(** * Ranges *)

Lemma range_app : forall n m lo, range lo (n + m) = range lo n ++ range (lo + Z.of_nat n) m.
Proof. induction n; intros; simpl. now rewrite Z.add_0_r. rewrite IHn. do 3 f_equal. lia. Qed.
Lemma span_app lo mid hi : lo <= mid -> mid <= hi -> span lo hi = span lo mid ++ span mid hi.
Proof. intros. unfold span. replace (Z.to_nat (hi - lo)) with (Z.to_nat (mid - lo) + Z.to_nat (hi - mid))%nat by lia. rewrite range_app. do 2 f_equal. lia. Qed.
Lemma span_none lo hi : hi <= lo -> span lo hi = [].
Proof. intros. unfold span. now replace (Z.to_nat (hi - lo)) with O by lia. Qed.
Lemma span_first lo hi : lo < hi -> span lo hi = lo :: span (lo + 1) hi.
Proof. intros. unfold span. replace (Z.to_nat (hi - lo)) with (S (Z.to_nat (hi - (lo + 1)))) by lia. reflexivity. Qed.
Lemma range_shift : forall n lo d, range (lo + d) n = map (fun i => i + d) (range lo n).
Proof. induction n; intros; simpl; auto. f_equal. replace (lo + d + 1) with (lo + 1 + d) by lia. apply IHn. Qed.
Lemma span_shift lo hi d : span (lo + d) (hi + d) = map (fun i => i + d) (span lo hi).
Proof. unfold span. replace (hi + d - (lo + d)) with (hi - lo) by lia. apply range_shift. Qed.
Lemma in_range : forall n lo i, In i (range lo n) -> lo <= i < lo + Z.of_nat n.
Proof. induction n; simpl; intros. easy. destruct H. lia. apply IHn in H. lia. Qed.
Lemma in_span lo hi i : In i (span lo hi) -> lo <= i < hi.
Proof. intro H. apply in_range in H. lia. Qed.
Lemma fold_map {A B C} (f : A -> B -> A) (g : C -> B) l a : fold_left f (map g l) a = fold_left (fun a c => f a (g c)) l a.
Proof. revert a; induction l; simpl; auto. Qed.
Lemma fold_in {A B} (f g : A -> B -> A) l : (forall a b, In b l -> f a b = g a b) -> forall a, fold_left f l a = fold_left g l a.
Proof. induction l; simpl; intros; auto. rewrite H by auto. apply IHl. auto. Qed.
Lemma fold_same {A B} (f : A -> B -> A) l : (forall a b, In b l -> f a b = a) -> forall a, fold_left f l a = a.
Proof. induction l; simpl; intros; auto. rewrite H by auto. apply IHl. auto. Qed.

(** What a guard leaves of a range. *)
Lemma fold_filter {A} (f : A -> Z -> A) (p : Z -> bool) l a : fold_left (fun a i => if p i then f a i else a) l a = fold_left f (filter p l) a.
Proof. revert a; induction l; simpl; intros; auto. destruct (p a); simpl; auto. Qed.
Lemma filter_span low high : forall n lo, filter (fun i => (low <=? i) && (i <? high)) (range lo n) = span (Z.max lo low) (Z.min (lo + Z.of_nat n) high).
Proof.
  induction n; intros; cbn [range filter].
  - rewrite span_none; auto. lia.
  - rewrite IHn. destruct (Z.leb_spec low lo), (Z.ltb_spec lo high); cbn [andb].
    + rewrite (span_first (Z.max lo low)) by lia. f_equal; [lia |]. f_equal; lia.
    + rewrite !span_none by lia. reflexivity.
    + f_equal; lia.
    + rewrite !span_none by lia. reflexivity.
Qed.

Lemma flat_fold {A} (f : A -> Z -> A) k c lo a : 1 <= k ->
  fold_left f (range lo (c * Z.to_nat k)) a = fold_left (fun a o => fold_left (fun a j => f a (lo + (o * k + j))) (range 0 (Z.to_nat k)) a) (range 0 c) a.
Proof.
  intros Hk. revert lo a. induction c; intros; simpl; auto. rewrite range_app, fold_left_app, IHc.
  replace (fold_left (fun a j => f a (lo + j)) (range 0 (Z.to_nat k)) a) with (fold_left f (range lo (Z.to_nat k)) a).
  - change 1 with (0 + 1). rewrite range_shift, fold_map. apply fold_in. intros b o _. apply fold_in. intros d j _. f_equal. rewrite Z2Nat.id by lia. ring.
  - replace lo with (0 + lo) at 1 by lia. rewrite range_shift, fold_map. apply fold_in. intros. f_equal. lia.
Qed.

Definition inside (i s : list Z) := Forall2 (fun x n => 0 <= x < n) i s.

Section Kernel.
  Context {ops : operators}.

  Definition same (facts : list idx) m (t u : term) := forall e, holds facts e -> forall A i a, inside i (dims t e) -> sem m t e A i a = sem m u e A i a.
  Definition shaped (facts : list idx) (t u : term) := forall e, holds facts e -> dims t e = dims u e.
  (** The shape of a body does not depend on the innermost index: extents are closed (terms.py, well_formed). *)
  Definition steady (t : term) := forall v w e, dims t (cons v e) = dims t (cons w e).

  Lemma use facts p e : entails facts p -> holds facts e -> 0 <= ival e p. Proof. auto. Qed.
  Lemma use_sub facts p q e : entails facts (ISub p q) -> holds facts e -> ival e q <= ival e p.
  Proof. intros H F. specialize (H e F). rewrite ival_sub in H. lia. Qed.

  Ltac fact H F := let K := fresh in pose proof (H _ F) as K; rewrite ?ival_below, ?ival_sub in K; cbn [ival] in K.

  Lemma into_in m o a f g : (forall a, f a = g a) -> into m o a f = into m o a g. Proof. apply into_ext. Qed.

  (** A sum, then another into it, is one fold. *)
  Lemma plus_into m o u v e A i a f g :
    (forall a, sem (Some o) u e A i a = f a) -> (forall a, sem None u e A i a = f (neutral o)) -> (forall a, sem (Some o) v e A i a = g a) ->
    sem m (Plus o u v) e A i a = into m o a (fun a => g (f a)).
  Proof. intros U N W. cbn [Terms.sem]. unfold Terms.into. destruct m as [o' |]; [destruct (monoid_eq o' o); [subst |] |]; now rewrite ?U, ?N, ?W. Qed.

  Lemma into_same o a f : into (Some o) o a f = f a.
  Proof. unfold Terms.into. destruct (monoid_eq o o); [reflexivity | contradiction]. Qed.
  Lemma sum_fold o lo hi b e A i a : sem (Some o) (Sum o lo hi b) e A i a = fold_left (fun s x => sem (Some o) b (cons x e) A i s) (span (ival e lo) (ival e hi)) a.
  Proof. cbn [Terms.sem]. apply into_same. Qed.

  (** What is added to a place and what is added inside are numbers of one type. *)
  Definition of_type (m : option monoid) d := forall d', m = Some (Add d') -> d' = d.

  (** * gen_cut, sum_cut *)

  Theorem gen_cut facts m lo at_ hi b : same facts m (Gen lo hi b) (Cat 0 (Gen lo at_ b) (Gen at_ hi b)).
  Proof.
    intros e F A i a I. cbn [dims] in I. inversion I as [| x n r s X R]; subst. cbn [Terms.sem dims nth at_axis].
    destruct (Z.ltb_spec x (ival e at_ - ival e lo)); auto. now replace (ival e at_ + (x - (ival e at_ - ival e lo))) with (ival e lo + x) by lia.
  Qed.
  Theorem gen_cut_shape facts lo at_ hi b : shaped facts (Gen lo hi b) (Cat 0 (Gen lo at_ b) (Gen at_ hi b)).
  Proof. intros e F. cbn [dims at_axis nth]. f_equal. lia. Qed.

  Theorem sum_cut facts m o lo at_ hi b : entails facts (ISub at_ lo) -> entails facts (ISub hi at_) -> same facts m (Sum o lo hi b) (Plus o (Sum o lo at_ b) (Sum o at_ hi b)).
  Proof.
    intros H K e F A i a I. fact H F. fact K F.
    erewrite plus_into; [| intros; apply sum_fold | intros; reflexivity | intros; apply sum_fold].
    cbn [Terms.sem]. apply into_in. intro s. rewrite (span_app _ (ival e at_)) by lia. apply fold_left_app.
  Qed.

  (** * loop_flat, loop_join *)

  Definition split_index lo k b := tsub (cons (IAdd (lift (lift lo)) (IAdd (IMul (Var 1) (lift (lift k))) (Var 0))) (fun n => Var (S (S n)))) (fun x => x) b : term.
  Lemma sem_split m lo k b x y e A i a : sem m (split_index lo k b) (cons y (cons x e)) A i a = sem m b (cons (ival e lo + (x * ival e k + y)) e) A i a.
  Proof. unfold split_index. rewrite sem_tsub. apply sem_ext; auto. intros [| n]; cbn [ival cons]; auto. now rewrite !ival_lift. Qed.

  Theorem gen_flat facts m lo hi count k b : entails facts (ISub k (Num 1)) -> entails facts (ISub (ISub hi lo) (IMul count k)) -> entails facts (ISub (IMul count k) (ISub hi lo)) ->
    same facts m (Gen lo hi b) (View Flatten 0 (Gen (Num 0) count (Gen (Num 0) (lift k) (split_index lo k b)))).
  Proof.
    intros H _ _ e F A i a I. fact H F. cbn [dims] in I. inversion I as [| x n r s X R]; subst.
    cbn [Terms.sem dims pull_axis view_pull ival]. rewrite sem_split, ival_lift. rewrite !Z.add_0_l, Z.sub_0_r.
    rewrite Z.mul_comm, <- Z_div_mod_eq_full. reflexivity.
  Qed.
  Theorem gen_flat_shape facts lo hi count k b : steady b -> entails facts (ISub (ISub hi lo) (IMul count k)) -> entails facts (ISub (IMul count k) (ISub hi lo)) ->
    shaped facts (Gen lo hi b) (View Flatten 0 (Gen (Num 0) count (Gen (Num 0) (lift k) (split_index lo k b)))).
  Proof.
    intros S H K e F. fact H F. fact K F. cbn [dims at_axis view_shape ival]. rewrite ival_lift. f_equal; [lia |].
    unfold split_index. rewrite dims_tsub. rewrite (S (ival e lo) (ival e lo + (0 * ival e k + 0)) e). apply dims_ext. intros [| n]; cbn [ival cons]; auto. now rewrite !ival_lift.
  Qed.

  Theorem sum_flat facts m o lo hi count k b : entails facts (ISub k (Num 1)) -> entails facts count ->
    entails facts (ISub (ISub hi lo) (IMul count k)) -> entails facts (ISub (IMul count k) (ISub hi lo)) ->
    same facts m (Sum o lo hi b) (Sum o (Num 0) count (Sum o (Num 0) (lift k) (split_index lo k b))).
  Proof.
    intros H C P Q e F A i a I. fact H F. fact C F. fact P F. fact Q F. cbn [Terms.sem]. apply into_in. intro s. unfold span. cbn [ival].
    replace (Z.to_nat (ival e hi - ival e lo)) with (Z.to_nat (ival e count) * Z.to_nat (ival e k))%nat by (rewrite <- Z2Nat.inj_mul by lia; f_equal; lia).
    rewrite (flat_fold (fun s x => sem (Some o) b (cons x e) A i s)) by lia. rewrite Z.sub_0_r. apply fold_in. intros c x _. rewrite into_same. unfold span. cbn [ival].
    rewrite ival_lift, Z.sub_0_r. apply fold_in. intros d y _. now rewrite sem_split.
  Qed.

  Definition join_index k b := tsub (cons (IMod (Var 0) (lift k)) (cons (IDiv (Var 0) (lift k)) (fun n => Var (S n)))) (fun x => x) b : term.
  Lemma sem_join m k b q e A i a : sem m (join_index k b) (cons q e) A i a = sem m b (cons (q mod ival e k) (cons (q / ival e k) e)) A i a.
  Proof. unfold join_index. rewrite sem_tsub. apply sem_ext; auto. intros [| [| n]]; cbn [ival cons]; rewrite ?ival_mod; cbn [ival cons]; now rewrite ?ival_lift. Qed.

  Theorem gen_join facts m n k b : entails facts (ISub k (Num 1)) ->
    same facts m (Gen (Num 0) n (Gen (Num 0) (lift k) b)) (View (Split k) 0 (Gen (Num 0) (IMul n k) (join_index k b))).
  Proof.
    intros H e F A i a I. fact H F. cbn [dims] in I. inversion I as [| x ? r s X R]; subst. inversion R as [| y ? r' s' Y R']; subst. cbn [ival] in *. rewrite ival_lift in Y.
    cbn [Terms.sem dims pull_axis view_pull ival]. rewrite sem_join. cbn [ival]. rewrite !Z.add_0_l.
    rewrite Z.add_comm, Z.mod_add, Z.mod_small by lia. now rewrite Z.div_add, Z.div_small, Z.add_0_l by lia.
  Qed.

  Theorem sum_join facts m o n k b : entails facts (ISub k (Num 1)) -> entails facts n ->
    same facts m (Sum o (Num 0) n (Sum o (Num 0) (lift k) b)) (Sum o (Num 0) (IMul n k) (join_index k b)).
  Proof.
    intros H N e F A i a I. fact H F. fact N F. cbn [Terms.sem]. apply into_in. intro s. unfold span. cbn [ival]. rewrite !Z.sub_0_r.
    replace (Z.to_nat (ival e n * ival e k)) with (Z.to_nat (ival e n) * Z.to_nat (ival e k))%nat by (rewrite <- Z2Nat.inj_mul by lia; f_equal; lia).
    rewrite (flat_fold (fun s x => sem (Some o) (join_index k b) (cons x e) A i s)) by lia.
    apply fold_in. intros c x X. apply in_range in X. rewrite into_same. unfold span. cbn [ival]. rewrite ival_lift, Z.sub_0_r. apply fold_in. intros d y Y. apply in_range in Y.
    rewrite sem_join, Z.add_0_l. rewrite Z.add_comm, Z.mod_add, Z.mod_small by lia. now rewrite Z.div_add, Z.div_small, Z.add_0_l by lia.
  Qed.

  (** * loop_trunc, loop_shift, exchange_range *)

  Theorem gen_trunc facts m lo hi k b : same facts m (Gen lo hi b) (View (TruncR k) 0 (Gen lo (IAdd hi k) (Guard [below (Var 0) (lift hi)] b))).
  Proof.
    intros e F A i a I. cbn [dims] in I. inversion I as [| x n r s X R]; subst. cbn [Terms.sem dims pull_axis view_pull].
    unfold all_hold. cbn [forallb]. rewrite ival_below, ival_lift. cbn [ival cons]. replace (0 <=? _) with true; auto. symmetry. apply Z.leb_le. lia.
  Qed.

  Lemma guard_fold d lo hi cs (p : Z -> bool) b e A i a : (forall x, all_hold cs (cons x e) = p x) ->
    fold_left (fun s x => sem (Some (Add d)) (Guard cs b) (cons x e) A i s) (span lo hi) a = fold_left (fun s x => sem (Some (Add d)) b (cons x e) A i s) (filter p (span lo hi)) a.
  Proof. intros P. rewrite <- fold_filter. apply fold_in. intros s x _. cbn [Terms.sem]. rewrite P. reflexivity. Qed.

  Theorem sum_trunc facts m d lo hi k b : entails facts k -> same facts m (Sum (Add d) lo hi b) (Sum (Add d) lo (IAdd hi k) (Guard [below (Var 0) (lift hi)] b)).
  Proof.
    intros H e F A i a I. fact H F. cbn [Terms.sem]. apply into_in. intro s. symmetry. cbn [ival].
    change (fun s0 x => if all_hold [below (Var 0) (lift hi)] (cons x e) then sem (Some (Add d)) b (cons x e) A i s0 else pad (Some (Add d)) s0)
      with (fun s0 x => sem (Some (Add d)) (Guard [below (Var 0) (lift hi)] b) (cons x e) A i s0).
    rewrite (guard_fold _ _ _ _ (fun x => x <? ival e hi)).
    - f_equal. rewrite (filter_ext_in _ (fun x => (ival e lo <=? x) && (x <? ival e hi))).
      + unfold span at 1. rewrite filter_span. destruct (Z.leb_spec (ival e lo) (ival e hi)); [f_equal; lia | now rewrite !span_none by lia].
      + intros x X. apply in_span in X. replace (ival e lo <=? x) with true; auto. symmetry. apply Z.leb_le. lia.
    - intro x. unfold all_hold. cbn [forallb]. rewrite ival_below, ival_lift. cbn [ival cons]. rewrite andb_true_r. destruct (Z.leb_spec 0 (ival e hi - 1 - x)), (Z.ltb_spec x (ival e hi)); auto; lia.
  Qed.

  Definition shift_index d b := tsub (cons (IAdd (Var 0) (lift d)) (fun n => Var (S n))) (fun x => x) b : term.
  Lemma sem_shift m d b x e A i a : sem m (shift_index d b) (cons x e) A i a = sem m b (cons (x + ival e d) e) A i a.
  Proof. unfold shift_index. rewrite sem_tsub. apply sem_ext; auto. intros [| n]; cbn [ival cons]; auto. now rewrite ival_lift. Qed.

  Theorem gen_shift facts m lo hi d b : same facts m (Gen lo hi b) (Gen (ISub lo d) (ISub hi d) (shift_index d b)).
  Proof. intros e F A [| x r] a I; cbn [Terms.sem]; auto. rewrite sem_shift, ival_sub. now replace (ival e lo - ival e d + x + ival e d) with (ival e lo + x) by lia. Qed.
  Theorem sum_shift facts m o lo hi d b : same facts m (Sum o lo hi b) (Sum o (ISub lo d) (ISub hi d) (shift_index d b)).
  Proof.
    intros e F A i a I. cbn [Terms.sem]. apply into_in. intro s. rewrite !ival_sub.
    replace (ival e lo) with (ival e lo - ival e d + ival e d) at 1 by lia. replace (ival e hi) with (ival e hi - ival e d + ival e d) at 1 by lia.
    rewrite span_shift, fold_map. apply fold_in. intros. now rewrite sem_shift.
  Qed.

  Lemma hold_more x e low high rest : all_hold (ISub (Var 0) (lift low) :: below (Var 0) (lift high) :: rest) (cons x e) = ((ival e low <=? x) && (x <? ival e high)) && all_hold rest (cons x e).
  Proof.
    unfold all_hold at 1. cbn [forallb]. rewrite ival_below, ival_sub, !ival_lift. cbn [ival cons]. rewrite andb_assoc. f_equal. f_equal.
    - destruct (Z.leb_spec 0 (x - ival e low)), (Z.leb_spec (ival e low) x); auto; lia.
    - destruct (Z.leb_spec 0 (ival e high - 1 - x)), (Z.ltb_spec x (ival e high)); auto; lia.
  Qed.
  Lemma filter_and {A} (p q : A -> bool) l : filter (fun x => p x && q x) l = filter q (filter p l).
  Proof. induction l; simpl; auto. destruct (p a); simpl; auto. destruct (q a); now rewrite IHl. Qed.

  Theorem exchange_range facts m d lo hi low high rest b :
    same facts m (Sum (Add d) lo hi (Guard (ISub (Var 0) (lift low) :: below (Var 0) (lift high) :: rest) b)) (Sum (Add d) low high (Guard (ISub (Var 0) (lift lo) :: below (Var 0) (lift hi) :: rest) b)).
  Proof.
    intros e F A i a I. cbn [Terms.sem]. apply into_in. intro s.
    assert (G : forall lo hi low high, fold_left (fun s0 x => if all_hold (ISub (Var 0) (lift low) :: below (Var 0) (lift high) :: rest) (cons x e) then sem (Some (Add d)) b (cons x e) A i s0 else pad (Some (Add d)) s0) (span lo hi) s
      = fold_left (fun s x => sem (Some (Add d)) b (cons x e) A i s) (filter (fun x => all_hold rest (cons x e)) (span (Z.max lo (ival e low)) (Z.min hi (ival e high)))) s).
    { intros lo' hi' low' high'.
      change (fun s0 x => if all_hold (ISub (Var 0) (lift low') :: below (Var 0) (lift high') :: rest) (cons x e) then sem (Some (Add d)) b (cons x e) A i s0 else pad (Some (Add d)) s0)
        with (fun s0 x => sem (Some (Add d)) (Guard (ISub (Var 0) (lift low') :: below (Var 0) (lift high') :: rest) b) (cons x e) A i s0).
      rewrite (guard_fold _ _ _ _ _ _ _ _ _ _ (fun x => hold_more x e low' high' rest)), filter_and. do 2 f_equal. unfold span at 1. rewrite filter_span.
      destruct (Z.leb_spec lo' hi'); [f_equal; lia | now rewrite !span_none by lia]. }
    rewrite !G. do 3 f_equal; lia.
  Qed.
  (** * sum_one: a place that is set begins with the neutral element, which must then be one (licence signed-zero, for addition) *)

  Definition unit o := forall x, op o (neutral o) x = x.

  Lemma from_neutral o t : unit o -> (forall d, o = Add d -> forall x y, fma d x y zero = times x y) ->
    forall e A i a, sem (Some o) t e A i (neutral o) = sem None t e A i a.
  Proof.
    intros U M. assert (P : forall a, pad (Some o) (neutral o) = pad None a).
    { intro. unfold Terms.pad, Terms.put. destruct o; auto using U, nothing_added. }
    induction t using term_ind'; cbn [Terms.sem]; intros; auto using U.
    - destruct i; eauto.
    - unfold Terms.into. destruct (monoid_eq o m); [now subst | apply U].
    - destruct (all_hold cs e); eauto.
    - cbn zeta. destruct (_ <? _); eauto.
    - destruct (monoid_eq o m); [subst; now rewrite (IHt1 e A i a) | rewrite U; f_equal; apply set_forgets].
    - destruct (pull_axis _ _ _ _); eauto.
    - exact (U _).
    - exact (U _).
    - exact (U _).
    - exact (U _).
    - cbn zeta. destruct o; try exact (U _). rewrite nothing_added. now apply M.
    - destruct (passes _ _); auto.
    - destruct (eqb s _); auto.
  Qed.

  Theorem sum_one facts m o lo hi b : entails facts (ISub (ISub hi lo) (Num 1)) -> entails facts (ISub (Num 1) (ISub hi lo)) -> m = Some o -> same facts m (Sum o lo hi b) (put_index lo b).
  Proof.
    intros H K -> e F A i a I. fact H F. fact K F. rewrite sum_fold, sem_put_index. rewrite span_first, span_none by lia. reflexivity.
  Qed.
  Theorem sum_one_set facts o lo hi b : entails facts (ISub (ISub hi lo) (Num 1)) -> entails facts (ISub (Num 1) (ISub hi lo)) ->
    unit o -> (forall d, o = Add d -> forall x y, fma d x y zero = times x y) -> same facts None (Sum o lo hi b) (put_index lo b).
  Proof.
    intros H K U M e F A i a I. fact H F. fact K F. cbn [Terms.sem]. unfold Terms.into. rewrite sem_put_index, span_first, span_none by lia. cbn [fold_left]. now apply from_neutral.
  Qed.

  (** * Licence reassociate: what is folded is a list of values, in any order *)

  Definition adds o (f : V -> V) := exists l, forall a, f a = fold_left (op o) l a.
  Definition any_order o := forall a x y, op o (op o a x) y = op o (op o a y) x.
  Definition unfused d := forall x y a, fma d x y a = op (Add d) a (times x y).
  Definition plain o := forall d, o = Add d -> unfused d.

  Lemma adds_none o : adds o (fun a => a). Proof. now exists []. Qed.
  Lemma adds_one o v : adds o (fun a => op o a v). Proof. now exists [v]. Qed.
  Lemma adds_then o f g : adds o f -> adds o g -> adds o (fun a => g (f a)).
  Proof. intros [l H] [k K]. exists (l ++ k). intro a. now rewrite K, H, fold_left_app. Qed.
  Lemma adds_fold {B} o (f : V -> B -> V) l : (forall b, adds o (fun a => f a b)) -> adds o (fold_left f l).
  Proof. intros H. induction l as [| b l IH]; [apply adds_none | exact (adds_then _ _ _ (H b) IH)]. Qed.
  Lemma adds_ext o f g : (forall a, f a = g a) -> adds o f -> adds o g.
  Proof. intros E [l H]. exists l. intro. now rewrite <- E. Qed.

  Lemma sem_adds o t : plain o -> forall e A i, adds o (fun a => sem (Some o) t e A i a).
  Proof.
    intros U. assert (P : adds o (fun a => pad (Some o) a)).
    { unfold Terms.pad, Terms.put. destruct o; auto using adds_one, adds_none. }
    induction t using term_ind'; cbn [Terms.sem]; intros; auto; try (apply adds_one).
    - destruct i; auto.
    - unfold Terms.into. destruct (monoid_eq o m); [subst; apply adds_fold; intro; apply IHt | apply adds_one].
    - destruct (all_hold cs e); auto.
    - cbn zeta. destruct (_ <? _); auto.
    - destruct (monoid_eq o m); [subst; apply (adds_then m (fun a => sem (Some m) t1 e A i a) (fun a => sem (Some m) t2 e A i a)); auto |].
      apply (adds_ext o (fun a => op o a (sem (Some m) t2 e A i (sem None t1 e A i zero)))); [| apply adds_one]. intro. do 2 f_equal. apply set_forgets.
    - destruct (pull_axis _ _ _ _); auto.
    - cbn zeta. destruct o; try apply adds_one. eapply adds_ext; [intro; symmetry; apply (U _ eq_refl) | apply adds_one].
    - destruct (passes _ _); auto.
    - destruct (eqb s _); auto.
  Qed.

  Lemma add_last o l : any_order o -> forall x a, fold_left (op o) l (op o a x) = op o (fold_left (op o) l a) x.
  Proof. intros C. induction l; simpl; intros; auto. now rewrite (C a0 x a), IHl. Qed.
  Lemma adds_commute o f g a : any_order o -> adds o f -> adds o g -> f (g a) = g (f a).
  Proof.
    intros C [l H] [k K]. rewrite !H, !K. clear H K. revert a. induction k as [| x k IH]; simpl; intros; auto. rewrite <- (add_last o l C). apply IH.
  Qed.
  Lemma fold_out o {B} (f : V -> B -> V) (g : V -> V) l a : any_order o -> (forall b, adds o (fun a => f a b)) -> adds o g -> fold_left f l (g a) = g (fold_left f l a).
  Proof. intros C F G. apply (adds_commute o (fold_left f l) g); auto using adds_fold. Qed.

  (** * swap *)

  Definition exchange b := tsub (cons (Var 1) (cons (Var 0) (fun n => Var (S (S n))))) (fun x => x) b : term.
  Lemma sem_exchange m b x y e A i a : sem m (exchange b) (cons x (cons y e)) A i a = sem m b (cons y (cons x e)) A i a.
  Proof. unfold exchange. rewrite sem_tsub. apply sem_ext; auto. intros [| [| n]]; reflexivity. Qed.

  Theorem swap_gen_gen facts m lo hi lo' hi' b : same facts m (Gen lo hi (Gen (lift lo') (lift hi') b)) (View Transpose 0 (Gen lo' hi' (Gen (lift lo) (lift hi) (exchange b)))).
  Proof.
    intros e F A i a I. cbn [dims] in I. inversion I as [| x ? r s X R]; subst. inversion R as [| y ? r' s' Y R']; subst.
    cbn [Terms.sem pull_axis view_pull]. now rewrite sem_exchange, !ival_lift.
  Qed.
  Theorem swap_gen_sum facts m o lo hi lo' hi' b : same facts m (Gen lo hi (Sum o (lift lo') (lift hi') b)) (Sum o lo' hi' (Gen (lift lo) (lift hi) (exchange b))).
  Proof.
    intros e F A i a I. cbn [dims] in I. inversion I as [| x ? r s X R]; subst. cbn [Terms.sem]. rewrite !ival_lift. apply into_in. intro. apply fold_in. intros. now rewrite sem_exchange, ival_lift.
  Qed.
  Theorem swap_sum_gen facts m o lo hi lo' hi' b : same facts m (Sum o lo hi (Gen (lift lo') (lift hi') b)) (Gen lo' hi' (Sum o (lift lo) (lift hi) (exchange b))).
  Proof.
    intros e F A i a I. cbn [dims] in I. inversion I as [| x ? r s X R]; subst. cbn [Terms.sem]. rewrite !ival_lift. apply into_in. intro. apply fold_in. intros. now rewrite sem_exchange, ival_lift.
  Qed.
  Lemma fold_exchange o (f : V -> Z -> Z -> V) l k : any_order o -> (forall x y, adds o (fun a => f a x y)) ->
    forall a, fold_left (fun a x => fold_left (fun a y => f a x y) k a) l a = fold_left (fun a y => fold_left (fun a x => f a x y) l a) k a.
  Proof.
    intros C F. induction k as [| y k IH]; simpl; intros.
    - apply fold_same. auto.
    - rewrite <- IH. clear IH. revert a. induction l as [| x l IH]; simpl; intros; auto. rewrite IH. f_equal.
      apply (fold_out o (fun a x => f a x y) (fold_left (fun a y => f a x y) k)); auto using adds_fold.
  Qed.
  Theorem swap_sum_sum facts m o lo hi lo' hi' b : any_order o -> plain o -> same facts m (Sum o lo hi (Sum o (lift lo') (lift hi') b)) (Sum o lo' hi' (Sum o (lift lo) (lift hi) (exchange b))).
  Proof.
    intros C U e F A i a I. cbn [Terms.sem]. apply into_in. intro s.
    transitivity (fold_left (fun a x => fold_left (fun a y => sem (Some o) b (cons y (cons x e)) A i a) (span (ival e lo') (ival e hi')) a) (span (ival e lo) (ival e hi)) s).
    - apply fold_in. intros. now rewrite into_same, !ival_lift.
    - rewrite (fold_exchange o (fun a x y => sem (Some o) b (cons y (cons x e)) A i a)); auto.
      + apply fold_in. intros. rewrite into_same, !ival_lift. apply fold_in. intros. now rewrite sem_exchange.
      + intros. now apply sem_adds.
  Qed.

  (** * float_out, float_in, guard_in *)

  Theorem float_gen_cat facts m lo hi n u v : steady u -> same facts m (Gen lo hi (Cat n u v)) (Cat (S n) (Gen lo hi u) (Gen lo hi v)).
  Proof.
    intros S e F A i a I. cbn [dims] in I. inversion I as [| x ? r s X R]; subst. cbn [Terms.sem dims nth at_axis].
    rewrite (S (ival e lo) (ival e lo + x) e). destruct (_ <? _); reflexivity.
  Qed.
  Theorem float_sum_cat facts m o lo hi n u v : steady u -> same facts m (Sum o lo hi (Cat n u v)) (Cat n (Sum o lo hi u) (Sum o lo hi v)).
  Proof.
    intros S e F A i a I. cbn [Terms.sem dims].
    destruct (nth n i 0 <? nth n (dims u (cons (ival e lo) e)) 0) eqn:E; apply into_in; intro; apply fold_in; intros c x _; now rewrite (S x (ival e lo) e), E.
  Qed.
  Theorem float_guard_cat facts m cs n u v : same facts m (Guard cs (Cat n u v)) (Cat n (Guard cs u) (Guard cs v)).
  Proof. intros e F A i a I. cbn [Terms.sem dims]. destruct (all_hold cs e), (_ <? _); reflexivity. Qed.
  Theorem float_let_cat facts m x n u v : same facts m (Let x (Cat n u v)) (Cat n (Let x u) (Let x v)).
  Proof. intros e F A i a I. reflexivity. Qed.

  Theorem float_gen_plus facts m o lo hi u v : same facts m (Gen lo hi (Plus o u v)) (Plus o (Gen lo hi u) (Gen lo hi v)).
  Proof. intros e F A i a I. cbn [dims] in I. inversion I; subst. reflexivity. Qed.
  Theorem float_sum_plus facts m o lo hi u v : any_order o -> plain o -> same facts m (Sum o lo hi (Plus o u v)) (Plus o (Sum o lo hi u) (Sum o lo hi v)).
  Proof.
    intros C U e F A i a I. erewrite plus_into; [| intros; apply sum_fold | intros; reflexivity | intros; apply sum_fold]. cbn [Terms.sem]. apply into_in.
    generalize (span (ival e lo) (ival e hi)) as l. induction l as [| x l IH]; intro s; auto. cbn [fold_left]. rewrite IH. clear IH. destruct (monoid_eq o o); [| contradiction]. f_equal.
    apply (fold_out o (fun s x => sem (Some o) u (cons x e) A i s) (fun s => sem (Some o) v (cons x e) A i s)); auto; [intro |]; now apply sem_adds.
  Qed.
  Theorem float_guard_plus facts m d cs u v : of_type m d -> same facts m (Guard cs (Plus (Add d) u v)) (Plus (Add d) (Guard cs u) (Guard cs v)).
  Proof.
    intros T e F A i a I. cbn [Terms.sem]. destruct (all_hold cs e); auto. unfold Terms.pad, Terms.put.
    destruct m as [o |]; [destruct (monoid_eq o (Add d)); subst; auto; destruct o; auto; now rewrite (T _ eq_refl) in * |]; reflexivity.
   Qed.
  Theorem float_let_plus facts m o x u v : same facts m (Let x (Plus o u v)) (Plus o (Let x u) (Let x v)).
  Proof. intros e F A i a I. reflexivity. Qed.

  Lemma hold_lift cs v e : all_hold (map lift cs) (cons v e) = all_hold cs e.
  Proof. unfold all_hold. induction cs; simpl; auto. now rewrite ival_lift, IHcs. Qed.
  Theorem float_gen_guard facts m lo hi cs b : same facts m (Gen lo hi (Guard (map lift cs) b)) (Guard cs (Gen lo hi b)).
  Proof. intros e F A i a I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. now rewrite hold_lift. Qed.
  Theorem float_sum_guard facts m d lo hi cs b : of_type m d -> same facts m (Sum (Add d) lo hi (Guard (map lift cs) b)) (Guard cs (Sum (Add d) lo hi b)).
  Proof.
    intros T e F A i a I. cbn [Terms.sem]. destruct (all_hold cs e) eqn:E.
    - apply into_in. intro. apply fold_in. intros. now rewrite hold_lift, E.
    - transitivity (into m (Add d) a (fun a => a)); [apply into_in; intro; apply fold_same; intros; now rewrite hold_lift, E |].
      unfold Terms.into, Terms.pad, Terms.put. rewrite nothing_added. destruct m as [o |]; auto. destruct (monoid_eq o (Add d)); subst; auto. destruct o; auto. now rewrite (T _ eq_refl) in *.
  Qed.
  Theorem float_guard_guard facts m cs ds b : same facts m (Guard cs (Guard ds b)) (Guard (cs ++ ds) b).
  Proof. intros e F A i a I. cbn [Terms.sem]. unfold all_hold. rewrite forallb_app. destruct (forallb _ cs), (forallb _ ds); reflexivity. Qed.
  Theorem float_let_guard facts m x cs b : same facts m (Let x (Guard cs b)) (Guard cs (Let x b)).
  Proof. intros e F A i a I. reflexivity. Qed.

  Theorem float_gen_view facts m lo hi v n b : steady b -> same facts m (Gen lo hi (View (view_sub (fun k => Var (S k)) v) n b)) (View v (S n) (Gen lo hi b)).
  Proof.
    intros S e F A i a I. cbn [dims] in I. inversion I as [| x ? r s X R]; subst. cbn [Terms.sem dims pull_axis]. rewrite (S (ival e lo) (ival e lo + x) e).
    rewrite (pull_axis_ext n (view_pull (view_sub (fun k => Var (Datatypes.S k)) v) (cons (ival e lo + x) e)) (view_pull v e)).
    - destruct (pull_axis n _ _ _); reflexivity.
    - intros. rewrite view_pull_sub. apply view_pull_ext. reflexivity.
  Qed.
  Theorem float_sum_view facts m o lo hi v n b : steady b -> (exists d, o = Add d /\ of_type m d) \/ (forall e i, holds facts e -> inside i (at_axis n (view_shape v e) (dims b (cons (ival e lo) e))) -> pull_axis n (view_pull v e) (dims b (cons (ival e lo) e)) i <> None) ->
    same facts m (Sum o lo hi (View (view_sub (fun k => Var (S k)) v) n b)) (View v n (Sum o lo hi b)).
  Proof.
    intros S Q e F A i a I. cbn [Terms.sem dims] in *.
    assert (P : forall x, pull_axis n (view_pull (view_sub (fun k => Var (Datatypes.S k)) v) (cons x e)) (dims b (cons x e)) i = pull_axis n (view_pull v e) (dims b (cons (ival e lo) e)) i).
    { intro x. rewrite (S x (ival e lo) e). apply pull_axis_ext. intros. rewrite view_pull_sub. apply view_pull_ext. reflexivity. }
    destruct (pull_axis n (view_pull v e) (dims b (cons (ival e lo) e)) i) as [j |] eqn:E.
    - apply into_in. intro. apply fold_in. intros. now rewrite P.
    - destruct Q as [(d & -> & T) | Q].
      + transitivity (into m (Add d) a (fun a => a)); [apply into_in; intro; apply fold_same; intros; now rewrite P |].
        unfold Terms.into, Terms.pad, Terms.put. rewrite nothing_added. destruct m as [o |]; auto. destruct (monoid_eq o (Add d)); subst; auto. destruct o; auto. now rewrite (T _ eq_refl) in *.
      + exfalso. apply (Q e i F); [| exact E]. rewrite (at_axis_ext n (view_shape v e) (view_shape (view_sub (fun k => Var (Datatypes.S k)) v) (cons (ival e lo) e))); auto.
        intro l. symmetry. rewrite view_shape_sub. apply view_shape_ext. reflexivity.
  Qed.
  Theorem float_guard_view facts m cs v n b : same facts m (Guard cs (View v n b)) (View v n (Guard cs b)).
  Proof. intros e F A i a I. cbn [Terms.sem dims]. destruct (all_hold cs e), (pull_axis n _ _ i); reflexivity. Qed.
  Theorem float_let_view facts m x v n b : same facts m (Let x (View v n b)) (View v n (Let x b)).
  Proof. intros e F A i a I. reflexivity. Qed.

  Lemma equal_facts facts p q e : entails facts (ISub p q) -> entails facts (ISub q p) -> holds facts e -> ival e p = ival e q.
  Proof. intros H K F. fact H F. fact K F. lia. Qed.

  Theorem float_in_cat_gen facts m n lo hi lo' hi' u v : steady u -> entails facts (ISub lo lo') -> entails facts (ISub lo' lo) ->
    same facts m (Cat (S n) (Gen lo hi u) (Gen lo' hi' v)) (Gen lo hi (Cat n u v)).
  Proof.
    intros S H K e F A i a I. destruct i as [| x r]; [inversion I |]. cbn [Terms.sem dims nth at_axis].
    rewrite (S (ival e lo + x) (ival e lo) e), (equal_facts facts lo' lo e) by auto. destruct (_ <? _); reflexivity.
  Qed.
  Theorem float_in_cat_sum facts m o n lo hi lo' hi' u v : steady u -> entails facts (ISub lo lo') -> entails facts (ISub lo' lo) -> entails facts (ISub hi hi') -> entails facts (ISub hi' hi) ->
    same facts m (Cat n (Sum o lo hi u) (Sum o lo' hi' v)) (Sum o lo hi (Cat n u v)).
  Proof.
    intros S H K H' K' e F A i a I. cbn [Terms.sem dims]. rewrite (equal_facts facts lo' lo e), (equal_facts facts hi' hi e) by auto.
    destruct (nth n i 0 <? nth n (dims u (cons (ival e lo) e)) 0) eqn:E; apply into_in; intro; apply fold_in; intros c x _; now rewrite (S x (ival e lo) e), E.
  Qed.
  Theorem float_in_plus_gen facts m o lo hi lo' hi' u v : entails facts (ISub lo lo') -> entails facts (ISub lo' lo) ->
    same facts m (Plus o (Gen lo hi u) (Gen lo' hi' v)) (Gen lo hi (Plus o u v)).
  Proof. intros H K e F A i a I. destruct i as [| x r]; [inversion I |]. cbn [Terms.sem]. now rewrite (equal_facts facts lo' lo e) by auto. Qed.
  Theorem float_in_plus_sum facts m o lo hi lo' hi' u v : any_order o -> plain o -> entails facts (ISub lo lo') -> entails facts (ISub lo' lo) -> entails facts (ISub hi hi') -> entails facts (ISub hi' hi) ->
    same facts m (Plus o (Sum o lo hi u) (Sum o lo' hi' v)) (Sum o lo hi (Plus o u v)).
  Proof.
    intros C U H K H' K' e F A i a I. rewrite (float_sum_plus facts m o lo hi u v C U e F A i a I). cbn [Terms.sem]. now rewrite (equal_facts facts lo' lo e), (equal_facts facts hi' hi e) by auto.
  Qed.

  Theorem guard_in_let facts m cs x b : same facts m (Guard cs (Let x b)) (Let x (Guard cs b)).
  Proof. intros e F A i a I. reflexivity. Qed.
  Theorem guard_in_let_bound facts m cs x b : same facts m (Guard cs (Let x b)) (Let (Guard cs x) (Guard cs b)).
  Proof. intros e F A i a I. cbn [Terms.sem]. destruct (all_hold cs e); reflexivity. Qed.
  Theorem guard_in_choose facts m cs ts u v : same facts m (Guard cs (Choose ts u v)) (Choose ts (Guard cs u) (Guard cs v)).
  Proof. intros e F A i a I. cbn [Terms.sem]. destruct (all_hold cs e), (passes _ _); reflexivity. Qed.
  Theorem guard_in_choose_value facts m cs s c u v : same facts m (Guard cs (ChooseV s c u v)) (ChooseV s c (Guard cs u) (Guard cs v)).
  Proof. intros e F A i a I. cbn [Terms.sem]. destruct (all_hold cs e), (eqb s _); reflexivity. Qed.

  (** * guard_mul (licence finite), contract, distribute (licence reassociate) *)

  Theorem guard_mul facts m f cs x y : (forall v, func f [zero; v] = zero) -> (forall d a, op (Add d) a zero = a) ->
    same facts m (Op f [Guard cs x; y]) (Guard cs (Op f [x; y])).
  Proof. intros Z N e F A i a I. cbn [Terms.sem map]. destruct (all_hold cs e); auto. cbn [Terms.pad Terms.put]. rewrite Z. unfold Terms.pad, Terms.put. destruct m as [[] |]; auto. Qed.

  Theorem contract facts d f x y : unfused d -> (forall u v, func f [u; v] = times u v) -> same facts (Some (Add d)) (Op f [x; y]) (MulAcc x y).
  Proof. intros U T e F A i a I. cbn [Terms.sem map Terms.put]. now rewrite U, T. Qed.
  Theorem contract_fma facts m f g h x y z : (forall u v w, func h [u; v; w] = func g [func f [u; v]; w]) -> same facts m (Op g [Op f [x; y]; z]) (Op h [x; y; z]).
  Proof. intros T e F A i a I. cbn [Terms.sem map Terms.put]. now rewrite T. Qed.

  (** An operation with the operand that matters first or second. The sum has terms, or nothing times the other operand is nothing. *)
  Definition with_first (first : bool) {A : Type} (x y : A) := if first then [x; y] else [y; x].

  Theorem distribute first facts m d f lo hi b y : unfused d -> (forall a x y, op (Add d) (op (Add d) a x) y = op (Add d) a (op (Add d) x y)) -> (forall x, op (Add d) x (neutral (Add d)) = x) -> unit (Add d) ->
    (forall u v w, func f (with_first first (op (Add d) u v) w) = op (Add d) (func f (with_first first u w)) (func f (with_first first v w))) -> ((forall e A, func f (with_first first (neutral (Add d)) (sem None y e A [] zero)) = neutral (Add d)) \/ entails facts (ISub (ISub hi lo) (Num 1))) ->
    same facts m (Op f (with_first first (Sum (Add d) lo hi b) y)) (Sum (Add d) lo hi (Op f (with_first first b (under_index y)))).
  Proof.
    intros U As N L D Z e F A i a I. assert (M : forall x y, map (fun t => sem None t e A [] zero) (with_first first x y) = with_first first (sem None x e A [] zero) (sem None y e A [] zero)) by (destruct first; reflexivity).
    assert (M' : forall v x y, map (fun t => sem None t (cons v e) A [] zero) (with_first first x y) = with_first first (sem None x (cons v e) A [] zero) (sem None y (cons v e) A [] zero)) by (destruct first; reflexivity).
    cbn [Terms.sem]. rewrite M. cbn [Terms.sem]. destruct i; [| inversion I].
    set (w := sem None y e A [] zero).
    assert (W : forall x, sem None (under_index y) (cons x e) A [] zero = w) by (intro; apply sem_under_index).
    assert (B : forall x s, sem (Some (Add d)) b (cons x e) A [] s = op (Add d) s (sem None b (cons x e) A [] zero)).
    { intros x s. destruct (sem_adds (Add d) b (fun d' E => match E in _ = o return match o with Add d'' => unfused d'' | _ => True end with eq_refl => U end) (cons x e) A []) as [l H]. rewrite H.
      assert (Q : forall l s, fold_left (op (Add d)) l s = op (Add d) s (fold_left (op (Add d)) l (neutral (Add d)))).
      { induction l0 as [| v l0 IH]; simpl; intros; auto. rewrite IH. rewrite (IH (op (Add d) (neutral (Add d)) v)), L. apply As. }
      rewrite Q. f_equal. rewrite <- H. apply from_neutral; auto. intros ? [= <-] p q. now rewrite U, <- (nothing_added d), L. }
    unfold Terms.put. set (g := fun u v => func f (with_first first u v)).
    transitivity (into m (Add d) a (fold_left (fun s x => op (Add d) s (g (sem None b (cons x e) A [] zero) w)) (span (ival e lo) (ival e hi)))).
    - assert (G : forall l s0, g (fold_left (fun s x => sem (Some (Add d)) b (cons x e) A [] s) l s0) w = fold_left (fun s x => op (Add d) s (g (sem None b (cons x e) A [] zero) w)) l (g s0 w)).
      { induction l as [| x l IH]; simpl; intros; auto. rewrite IH, B. f_equal. apply D. }
      assert (Q : forall l s, fold_left (fun s x => op (Add d) s (g (sem None b (cons x e) A [] zero) w)) l s = op (Add d) s (fold_left (fun s x => op (Add d) s (g (sem None b (cons x e) A [] zero) w)) l (neutral (Add d)))).
      { induction l as [| v l IH]; simpl; intros; auto. rewrite IH. rewrite (IH (op (Add d) (neutral (Add d)) _)), L. apply As. }
      change (put m a (g (into None (Add d) zero (fold_left (fun s x => sem (Some (Add d)) b (cons x e) A [] s) (span (ival e lo) (ival e hi)))) w) = into m (Add d) a (fold_left (fun s x => op (Add d) s (g (sem None b (cons x e) A [] zero) w)) (span (ival e lo) (ival e hi)))).
      assert (E : g (fold_left (fun s x => sem (Some (Add d)) b (cons x e) A [] s) (span (ival e lo) (ival e hi)) (neutral (Add d))) w = fold_left (fun s x => op (Add d) s (g (sem None b (cons x e) A [] zero) w)) (span (ival e lo) (ival e hi)) (neutral (Add d))).
      { destruct Z as [Z | Z]; [rewrite G; f_equal; apply Z |]. fact Z F. rewrite span_first by lia. cbn [fold_left]. now rewrite G, B, !L. }
      unfold Terms.into, Terms.put. rewrite E. destruct m as [o |]; auto. destruct (monoid_eq o (Add d)); subst; auto.
    - apply into_in. intro. apply fold_in. intros. rewrite M', W. reflexivity.
  Qed.

  (** A factor out of a sum (f: a product), or a divisor (f: a quotient), the first or second operand: by the laws of distribute. [b] is what is left of the product [g l] without it:
      that is what is asked of values, in every round. *)
  Theorem factor first facts m d f g lo hi l b y : unfused d -> (forall a x y, op (Add d) (op (Add d) a x) y = op (Add d) a (op (Add d) x y)) -> (forall x, op (Add d) x (neutral (Add d)) = x) -> unit (Add d) ->
    (forall u v w, func f (with_first first (op (Add d) u v) w) = op (Add d) (func f (with_first first u w)) (func f (with_first first v w))) -> ((forall e A, func f (with_first first (neutral (Add d)) (sem None y e A [] zero)) = neutral (Add d)) \/ entails facts (ISub (ISub hi lo) (Num 1))) ->
    (forall e A, func g (map (fun t => sem None t e A [] zero) l) = func f (with_first first (sem None b e A [] zero) (sem None (under_index y) e A [] zero))) ->
    same facts m (Sum (Add d) lo hi (Op g l)) (Op f (with_first first (Sum (Add d) lo hi b) y)).
  Proof.
    intros U As N L D Z R e F A i a I. destruct i; [| inversion I]. symmetry.
    rewrite (distribute first facts m d f lo hi b y U As N L D Z e F A [] a I). cbn [Terms.sem].
    apply into_in. intro. apply fold_in. intros. unfold Terms.put. rewrite R. destruct first; reflexivity.
  Qed.
End Kernel.
Print Assumptions sum_flat.
Print Assumptions exchange_range.
Print Assumptions factor.
