(* What atoll/check/rewrites/turns_back.py and kept_back.py undo is what it says.

   until       blocks after the one that settles an `or` (an `and`) may be skipped
   turn        while a turn lasts, the quotient of every index is that of its first
   progress    and it lasts at least one round
   kept        an element that the round before stored may be kept in a variable: whatever a round computes, of whatever values *)

Require Import ZArith Lia List Bool.
Import ListNotations.
Open Scope bool_scope.
Open Scope Z_scope.

(* -- until it is known *)

Definition or_all {A : Type} (p : A -> bool) (rounds : list A) (s : bool) : bool := fold_left (fun (s : bool) r => s || p r) rounds s.
Definition skipping {A : Type} (p : A -> bool) (blocks : list (list A)) (s : bool) : bool :=
  fold_left (fun (s : bool) block => if s then s else or_all p block false) blocks s.

Lemma or_all_true : forall (A : Type) (p : A -> bool) rounds, or_all p rounds true = true.
Proof. intros A p rounds. induction rounds; simpl; auto. Qed.

Lemma or_all_app : forall (A : Type) (p : A -> bool) first rest s, or_all p (first ++ rest) s = or_all p rest (or_all p first s).
Proof. intros. unfold or_all. now rewrite fold_left_app. Qed.

Theorem until : forall (A : Type) (p : A -> bool) blocks s, skipping p blocks s = or_all p (concat blocks) s.
Proof.
  intros A p blocks. induction blocks as [| b rest IH]; intros s; [reflexivity |].
  change (skipping p (b :: rest) s) with (skipping p rest (if s then s else or_all p b false)).
  change (concat (b :: rest)) with (b ++ concat rest).
  rewrite IH, or_all_app. destruct s; cbv iota; [rewrite (or_all_true A p b) | ]; reflexivity.
Qed.

Definition and_all {A : Type} (p : A -> bool) (rounds : list A) (s : bool) : bool := fold_left (fun (s : bool) r => s && p r) rounds s.

Lemma and_is_no_or : forall (A : Type) (p : A -> bool) rounds s, and_all p rounds s = negb (or_all (fun r => negb (p r)) rounds (negb s)).
Proof.
  intros A p rounds. induction rounds as [| r rest IH]; intros s; simpl.
  - now rewrite negb_involutive.
  - change (and_all p rest (s && p r) = negb (or_all (fun x => negb (p x)) rest (negb s || negb (p r)))).
    rewrite IH. now rewrite negb_andb.
Qed.

(* -- in turns *)

Theorem turn : forall at_ i c m, 0 < m -> at_ <= i -> i < at_ + Z.max (m * ((at_ + c) / m) + m - at_ - c) 1 -> (i + c) / m = (at_ + c) / m.
Proof.
  intros at_ i c m Hm Hlow Hhigh.
  pose proof (Z.mod_pos_bound (at_ + c) m Hm). pose proof (Z.div_mod (at_ + c) m ltac:(lia)).
  symmetry. apply Z.div_unique_pos with (r := i + c - m * ((at_ + c) / m)); lia.
Qed.

Theorem progress : forall at_ c m, 0 < m -> 1 <= m * ((at_ + c) / m) + m - at_ - c.
Proof.
  intros at_ c m Hm.
  pose proof (Z.mod_pos_bound (at_ + c) m Hm). pose proof (Z.div_mod (at_ + c) m ltac:(lia)). lia.
Qed.

(* -- kept for the next round *)

Section Kept.
  Variable V : Type.                                (* values of any kind, floats too *)
  Definition memory := Z -> V.
  Definition put (m : memory) (k : Z) (v : V) : memory := fun j => if Z.eq_dec j k then v else m j.
  Variable place : nat -> Z.                        (* where round j finds its element, and round j - 1 stores it *)
  Variable made : nat -> V -> memory -> V.          (* what a round computes of its element and of all memory *)
  Variable rest : nat -> V -> memory -> memory.     (* and does besides *)
  Hypothesis elsewhere : forall j v m, rest j v m (place (S j)) = m (place (S j)).

  Fixpoint through_memory (n j : nat) (m : memory) : memory :=
    match n with
    | O => m
    | S n' => through_memory n' (S j) (rest j (m (place j)) (put m (place (S j)) (made j (m (place j)) m)))
    end.

  Fixpoint in_a_variable (n j : nat) (kept : V) (m : memory) : memory :=
    match n with
    | O => m
    | S n' => let next := made j kept m in in_a_variable n' (S j) next (rest j kept (put m (place (S j)) next))
    end.

  Theorem kept : forall n j m, in_a_variable n j (m (place j)) m = through_memory n j m.
  Proof.
    induction n as [| n IH]; intros j m; simpl; auto.
    rewrite <- IH. f_equal. rewrite elsewhere. unfold put. destruct (Z.eq_dec (place (S j)) (place (S j))); congruence.
  Qed.
End Kept.

Print Assumptions until.
Print Assumptions and_is_no_or.
Print Assumptions turn.
Print Assumptions progress.
Print Assumptions kept.
