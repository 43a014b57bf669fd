(** Folding a term and folding its value: where they are the same, and what law is asked for where they are not. Answers of functions that list laws. *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Require Import Terms Kernel Named Elements Normal Compare Path Applied.
Import ListNotations.
Open Scope Z_scope.

Definition both (r r' : option (list law)) := match r, r' with Some l, Some l' => Some (l ++ l') | _, _ => None end.
Definition either (r r' : option (list law)) := match r with Some l => Some l | None => r' end.
Definition when (b : bool) (r : option (list law)) := if b then r else None.

(** Folding the value of t is folding t: nothing in it is folded part by part, or left out. *)
Fixpoint whole (o : monoid) (t : term) : bool :=
  match t with
  | Gen _ _ b => fixed 1 b && whole o b
  | Sum o' _ _ _ | Plus o' _ _ => negb (monoid_is o o')
  | Guard _ b => match o with Add _ => false | _ => whole o b end
  | Let _ b => whole o b
  | Get _ _ | Lit _ | Index _ | Op _ _ => true
  | MulAcc _ _ | Zeros _ => match o with Add _ => false | _ => true end
  | Choose _ a b | ChooseV _ _ a b => scalar a && scalar b && whole o a && whole o b
  | _ => false
  end.
(** The same of additions, but for zeros that are not added. *)
Fixpoint but_zeros (d : positive) (t : term) : bool :=
  match t with
  | Gen _ _ b => fixed 1 b && but_zeros d b
  | Sum o _ _ _ | Plus o _ _ => negb (monoid_is (Add d) o)
  | Guard _ b | Let _ b => but_zeros d b
  | Get _ _ | Lit _ | Index _ | Op _ _ | Zeros _ => true
  | Choose _ a b | ChooseV _ _ a b => scalar a && scalar b && but_zeros d a && but_zeros d b
  | _ => false
  end.
Definition value_law (m : option monoid) (t : term) : list law :=
  match m with
  | None => []
  | Some o => if whole o t then [] else match o with Add d => if but_zeros d t then [NoSign d] else [Regroup o] | _ => [Regroup o] end
  end.
Definition pad_law (m : option monoid) : list law := match m with Some (Add d) => [NoSign d] | _ => [] end.

Section Values.
  Context {ops : operators}.

  Lemma lawful_app l l' : lawful (l ++ l') -> lawful l /\ lawful l'.
  Proof. intro W. split; intros x X; apply W, in_app_iff; auto. Qed.
  Lemma both_some r r' l : both r r' = Some l -> exists k k', r = Some k /\ r' = Some k' /\ l = k ++ k'.
  Proof. destruct r as [k |], r' as [k' |]; try discriminate. intros [= <-]. eauto. Qed.
  Lemma either_some r r' (l : list law) : either r r' = Some l -> r = Some l \/ r' = Some l.
  Proof. destruct r; auto. Qed.
  Lemma when_some b r (l : list law) : when b r = Some l -> b = true /\ r = Some l.
  Proof. destruct b; [auto | discriminate]. Qed.
  Lemma inside_nth i s n : inside i s -> (n < length s)%nat -> 0 <= nth n i 0 < nth n s 0.
  Proof. intro I. revert n. induction I as [| x m i s X I IH]; intros n L; cbn [length] in L; [lia |]. destruct n; cbn [nth]; auto. apply IH. lia. Qed.
  Lemma is_scalar t e : scalar t = true -> inside [] (dims t e).
  Proof. unfold scalar. intro H. destruct (shape t) eqn:E; [| discriminate]. rewrite (scalar_dims t e E). constructor. Qed.

  (** * Values that are folded *)

  Lemma whole_value o t : forall e A i a, whole o t = true -> inside i (dims t e) -> sem (Some o) t e A i a = op o a (sem None t e A i zero).
  Proof.
    induction t using term_ind'; cbn [whole]; intros e A i a W I; try discriminate; auto.
    - apply andb_prop in W as [X W]. apply fixed_steady in X. cbn [dims] in I. inversion I as [| x ? r ? Y R]; subst. cbn [Terms.sem]. apply IHt; auto. now rewrite (X _ (ival e lo) e).
    - unfold monoid_is in W. cbn [Terms.sem]. unfold Terms.into. destruct (monoid_eq o m); [discriminate | reflexivity].
    - cbn [Terms.sem]. destruct o; try discriminate; (destruct (all_hold cs e); [apply IHt; auto | reflexivity]).
    - cbn [Terms.sem]. now apply IHt2.
    - unfold monoid_is in W. cbn [Terms.sem]. destruct (monoid_eq o m); [discriminate |]. f_equal. f_equal. apply set_forgets.
    - destruct o; try discriminate; reflexivity.
    - destruct o; try discriminate; reflexivity.
    - rewrite !andb_true_iff in W. destruct W as [[[X Y] W] W']. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. destruct (passes ts e); [apply IHt1 | apply IHt2]; auto; now apply is_scalar.
    - rewrite !andb_true_iff in W. destruct W as [[[X Y] W] W']. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. destruct (eqb s _); [apply IHt2 | apply IHt3]; auto; now apply is_scalar.
  Qed.
  Lemma but_zeros_value d t : is_so (NoSign d) -> forall e A i a, but_zeros d t = true -> inside i (dims t e) -> sem (Some (Add d)) t e A i a = op (Add d) a (sem None t e A i zero).
  Proof.
    intro N. induction t using term_ind'; cbn [but_zeros]; intros e A i a W I; try discriminate; auto.
    - apply andb_prop in W as [X W]. apply fixed_steady in X. cbn [dims] in I. inversion I as [| x ? r ? Y R]; subst. cbn [Terms.sem]. apply IHt; auto. now rewrite (X _ (ival e lo) e).
    - unfold monoid_is in W. cbn [Terms.sem]. unfold Terms.into. destruct (monoid_eq (Add d) m); [discriminate | reflexivity].
    - cbn [Terms.sem]. destruct (all_hold cs e); [apply IHt; auto |]. symmetry. apply N.
    - cbn [Terms.sem]. now apply IHt2.
    - unfold monoid_is in W. cbn [Terms.sem]. destruct (monoid_eq (Add d) m); [discriminate |]. f_equal. f_equal. apply set_forgets.
    - rewrite !andb_true_iff in W. destruct W as [[[X Y] W] W']. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. destruct (passes ts e); [apply IHt1 | apply IHt2]; auto; now apply is_scalar.
    - rewrite !andb_true_iff in W. destruct W as [[[X Y] W] W']. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. destruct (eqb s _); [apply IHt2 | apply IHt3]; auto; now apply is_scalar.
  Qed.
  Lemma value_so m t e A i a : lawful (value_law m t) -> inside i (dims t e) -> sem m t e A i a = put m a (sem None t e A i zero).
  Proof.
    intros W I. destruct m as [o |]; [| cbn [Terms.put]; apply set_forgets]. unfold value_law in W. destruct (whole o t) eqn:H; [now apply whole_value |].
    assert (G : lawful [Regroup o] -> sem (Some o) t e A i a = put (Some o) a (sem None t e A i zero)).
    { intro W'. destruct (W' _ (or_introl eq_refl)) as (U & As & L & R). now apply fold_value. }
    destruct o; auto. destruct (but_zeros d t) eqn:Z; auto. apply but_zeros_value; auto. apply (W _ (or_introl eq_refl)).
  Qed.
  Lemma pad_so m a : lawful (pad_law m) -> put m a zero = pad m a.
  Proof. intro W. destruct m as [[] |]; try reflexivity. apply (W _ (or_introl eq_refl)). Qed.

End Values.

Print Assumptions value_so.
