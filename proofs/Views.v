(** Views that cancel (the rule wrap): a view of a view is the term itself, along any axis. *)

Require Import ZArith List Lia Bool.
Require Import Terms Kernel Named.
Import ListNotations.
Open Scope Z_scope.

Definition cancels (v w : view) (e : env) (s : list Z) := forall i, inside i s -> exists j, view_pull w e (view_shape v e s) i = Some j /\ view_pull v e s j = Some i.

Lemma pull_twice v w e : forall n s i, inside i s -> (n <= length s)%nat -> cancels v w e (skipn n s) ->
  exists j, pull_axis n (view_pull w e) (at_axis n (view_shape v e) s) i = Some j /\ pull_axis n (view_pull v e) s j = Some i.
Proof.
  induction n as [| n IH]; intros s i I L C; [exact (C i I) |]. destruct s as [| m s]; [simpl in L; lia |]. inversion I as [| x ? r ? X R]; subst. cbn [skipn length] in *.
  destruct (IH s r R) as (j & P & Q); [lia | exact C |]. exists (x :: j). cbn [at_axis pull_axis]. now rewrite P, Q.
Qed.

Lemma cancel_transpose e n m r : cancels Transpose Transpose e (n :: m :: r).
Proof. intros i I. inversion I as [| x ? q ? X R]; subst. inversion R as [| y ? q' ? Y R']; subst. cbn [view_shape view_pull]. eauto. Qed.
Lemma cancel_reverse e n r : cancels Reverse Reverse e (n :: r).
Proof. intros i I. inversion I as [| x ? q ? X R]; subst. cbn [view_shape view_pull]. eexists. split; [reflexivity |]. cbn [view_pull]. do 2 f_equal. lia. Qed.
Lemma between_true x n : 0 <= x < n -> between x n = true.
Proof. intro. unfold between. apply andb_true_intro. split; [apply Z.leb_le | apply Z.ltb_lt]; lia. Qed.
Lemma cancel_pad_right k e n r : cancels (PadR k) (TruncR k) e (n :: r).
Proof. intros i I. inversion I as [| x ? q ? X R]; subst. cbn [view_shape view_pull]. eexists. split; [reflexivity |]. cbn [view_pull]. now rewrite between_true. Qed.
Lemma cancel_pad_left k e n r : cancels (PadL k) (TruncL k) e (n :: r).
Proof.
  intros i I. inversion I as [| x ? q ? X R]; subst. cbn [view_shape view_pull]. eexists. split; [reflexivity |]. cbn [view_pull]. rewrite between_true by lia. do 2 f_equal. lia.
Qed.
Lemma cancel_split k e n r : 1 <= ival e k -> cancels (Split k) Flatten e (n :: r).
Proof.
  intros K i I. inversion I as [| x ? q ? X R]; subst. cbn [view_shape view_pull]. eexists. split; [reflexivity |]. cbn [view_pull]. do 2 f_equal. rewrite Z.mul_comm, <- Z_div_mod_eq_full. reflexivity.
Qed.
Lemma cancel_flatten k e n m r : ival e k = m -> cancels Flatten (Split k) e (n :: m :: r).
Proof.
  intros K i I. inversion I as [| x ? q ? X R]; subst. inversion R as [| y ? q' ? Y R']; subst. cbn [view_shape view_pull]. eexists. split; [reflexivity |]. cbn [view_pull].
  rewrite Z.div_add_l, Z.div_small by lia. rewrite (Z.add_comm (x * _)), Z.mod_add, Z.mod_small by lia. now rewrite Z.add_0_r.
Qed.

(** Tiles, flat again and cut off. *)
Lemma pull_thrice v w u e : forall n s i, inside i s -> (n <= length s)%nat ->
  (forall i, inside i (skipn n s) -> exists j l, view_pull u e (view_shape w e (view_shape v e (skipn n s))) i = Some j /\ view_pull w e (view_shape v e (skipn n s)) j = Some l /\ view_pull v e (skipn n s) l = Some i) ->
  exists j l, pull_axis n (view_pull u e) (at_axis n (view_shape w e) (at_axis n (view_shape v e) s)) i = Some j /\ pull_axis n (view_pull w e) (at_axis n (view_shape v e) s) j = Some l /\
    pull_axis n (view_pull v e) s l = Some i.
Proof.
  induction n as [| n IH]; intros s i I L C; [exact (C i I) |]. destruct s as [| m s]; [simpl in L; lia |]. inversion I as [| x ? r ? X R]; subst. cbn [skipn length] in *.
  destruct (IH s r R) as (j & l & P & Q & T); [lia | exact C |]. exists (x :: j), (x :: l). cbn [at_axis pull_axis]. now rewrite P, Q, T.
Qed.
Lemma cancel_tile k c e n r i : 1 <= ival e k -> inside i (n :: r) ->
  exists j l, view_pull (TruncR c) e (view_shape Flatten e (view_shape (Tile k) e (n :: r))) i = Some j /\ view_pull Flatten e (view_shape (Tile k) e (n :: r)) j = Some l /\ view_pull (Tile k) e (n :: r) l = Some i.
Proof.
  intros K I. inversion I as [| x ? q ? X R]; subst. cbn [view_shape view_pull]. do 2 eexists. split; [reflexivity |]. cbn [view_pull]. split; [reflexivity |]. cbn [view_pull].
  rewrite (Z.mul_comm (x / ival e k)), <- Z_div_mod_eq_full. now rewrite (proj2 (Z.ltb_lt x n)) by lia.
Qed.

Section Views.
  Context {ops : operators}.

  Theorem wrap facts m v w n t : (forall e, holds facts e -> (n <= length (dims t e))%nat /\ cancels v w e (skipn n (dims t e))) -> same facts m t (View w n (View v n t)).
  Proof.
    intros H e F A i a I. destruct (H e F) as [L C]. destruct (pull_twice v w e n (dims t e) i I L C) as (j & P & Q). cbn [Terms.sem dims]. now rewrite P, Q.
  Qed.
  Theorem wrap_tile facts m k c n t : (forall e, holds facts e -> exists x r, skipn n (dims t e) = x :: r) -> entails facts (ISub k (Num 1)) ->
    same facts m t (View (TruncR c) n (View Flatten n (View (Tile k) n t))).
  Proof.
    intros H K e F A i a I. destruct (H e F) as (x & r & D). specialize (K e F). rewrite ival_sub in K. cbn [ival] in K.
    assert (L : (n <= length (dims t e))%nat) by (destruct (Nat.le_gt_cases n (length (dims t e))); auto; rewrite skipn_all2 in D by lia; discriminate).
    destruct (pull_thrice (Tile k) Flatten (TruncR c) e n (dims t e) i I L) as (j & l & P & Q & T).
    - intros j J. rewrite D in *. apply cancel_tile; auto. lia.
    - cbn [Terms.sem dims]. now rewrite P, Q, T.
  Qed.
End Views.

Print Assumptions wrap.
Print Assumptions cancel_flatten.
Print Assumptions wrap_tile.
