(** Questions of the validator of rewrites (atoll/check/rewrites/refute.py, [cannot]): conditions on indices and on data that cannot hold together with one case of every group.

    A question is answered by a tree: a group is taken case by case, a number that is not 0 is above or below it, and at each leaf rows refute the conditions (Arithmetic.v) or data
    would have to be true and false. [impossible] checks a tree; it is extracted, and `atoll prove --verified` runs it over every question that the Python checker said yes to. *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Import ListNotations.
Open Scope Z_scope.

Inductive cond := Least (p : poly) | Equal (p : poly) | Differs (p : poly) | Data (key : positive) (truth : bool).
Inductive tree := Rows (steps : list step) | Contrary (key : positive) | Cases (group : nat) (trees : list tree) | Apart (p : poly) (above below : tree).

Section Meaning.
  Variable env : positive -> Z.
  Variable data : positive -> bool.
  Definition so (c : cond) : Prop :=
    match c with Least p => 0 <= poly_value env p | Equal p => poly_value env p = 0 | Differs p => poly_value env p <> 0 | Data k t => data k = t end.
  Definition all_so (cs : list cond) := forall c, In c cs -> so c.
  Definition possible (cs : list cond) (groups : list (list (list cond))) := all_so cs /\ forall g, In g groups -> exists case, In case g /\ all_so case.
End Meaning.

Definition known (cs : list cond) : list poly :=
  flat_map (fun c => match c with Least p => [p] | Equal p => [p; poly_scale One (-1) p] | _ => [] end) cs.
Definition is_data k t (c : cond) := match c with Data k' t' => Pos.eqb k k' && eqb t t' | _ => false end.
Definition differs p (c : cond) := match c with Differs q => poly_eq p q | _ => false end.
Definition more p := poly_add p (number (-1)).                       (* p - 1: p is above 0 *)
Definition less p := poly_add (poly_scale One (-1) p) (number (-1)). (* -p - 1: p is below 0 *)

Fixpoint impossible (t : tree) (cs : list cond) (groups : list (list (list cond))) {struct t} : bool :=
  match t with
  | Rows steps => refutes (known cs) steps
  | Contrary k => existsb (is_data k true) cs && existsb (is_data k false) cs
  | Cases n trees =>
      match nth_error groups n with
      | Some g => (fix each (trees : list tree) (g : list (list cond)) {struct trees} : bool :=
                     match trees, g with [], [] => true | t :: trees, case :: g => impossible t (case ++ cs) groups && each trees g | _, _ => false end) trees g
      | None => false
      end
  | Apart p above below => existsb (differs p) cs && impossible above (Least (more p) :: cs) groups && impossible below (Least (less p) :: cs) groups
  end.

Lemma known_so env data cs p : all_so env data cs -> In p (known cs) -> 0 <= poly_value env p.
Proof.
  intros A P. apply in_flat_map in P as (c & C & P). specialize (A c C). destruct c; cbn in A, P; try easy.
  - destruct P as [<- | []]. exact A.
  - destruct P as [<- | [<- | []]]; [lia |]. rewrite poly_scale_value. cbn [mono_value]. lia.
Qed.
Lemma some_data env data k t cs : all_so env data cs -> existsb (is_data k t) cs = true -> data k = t.
Proof.
  intros A H. apply existsb_exists in H as (c & C & D). specialize (A c C). destruct c; cbn in *; try discriminate. apply andb_prop in D as [K T].
  apply Pos.eqb_eq in K. apply eqb_prop in T. now subst.
Qed.
Lemma all_more env data c cs : so env data c -> all_so env data cs -> all_so env data (c :: cs).
Proof. intros H A d [<- | D]; auto. Qed.
Lemma all_app env data cs ds : all_so env data cs -> all_so env data ds -> all_so env data (cs ++ ds).
Proof. intros A B c C. apply in_app_iff in C as [C | C]; auto. Qed.

Theorem impossible_sound : forall t cs groups env data, impossible t cs groups = true -> ~ possible env data cs groups.
Proof.
  fix IH 1. intros t cs groups env data H [A G]. destruct t as [steps | k | n trees | p above below]; cbn [impossible] in H.
  - apply (refutes_sound _ _ env H). intros q Q. eapply known_so; eauto.
  - apply andb_prop in H as [T F]. pose proof (some_data _ _ _ _ _ A T). pose proof (some_data _ _ _ _ _ A F). congruence.
  - destruct (nth_error groups n) as [g |] eqn:E; [| discriminate]. apply nth_error_In in E. destruct (G g E) as (case & C & S). clear E.
    revert g H C. induction trees as [| t trees IHt]; intros [| c g] H C; try discriminate; try easy. apply andb_prop in H as [H1 H2]. destruct C as [<- | C].
    + apply (IH t (c ++ cs) groups env data H1). split; auto using all_app.
    + exact (IHt g H2 C).
  - apply andb_prop in H as [H B]. apply andb_prop in H as [D U]. apply existsb_exists in D as (c & C & D). pose proof (A c C) as N. destruct c; try discriminate. cbn in D, N.
    rewrite <- (poly_eq_value env _ _ D) in N. destruct (Z.lt_trichotomy (poly_value env p) 0) as [L | [L | L]]; [| contradiction |].
    + apply (IH below (Least (less p) :: cs) groups env data B). split; auto. apply all_more; auto. cbn. unfold less. rewrite poly_add_value, poly_scale_value, number_value. cbn [mono_value]. lia.
    + apply (IH above (Least (more p) :: cs) groups env data U). split; auto. apply all_more; auto. cbn. unfold more. rewrite poly_add_value, number_value. lia.
Qed.

Print Assumptions impossible_sound.
