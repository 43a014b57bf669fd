(** Rules about named values (let_dead, let_out, let_lift, let_bind, unfold, fold, guard_get), elements (expand), views that cancel (wrap), and that equals may be replaced inside of a term,
    under what is known there (Env.down of atoll/check/terms.py). let_roll changes no value of a term: it says how many rows the loops keep. *)

Require Import ZArith List Lia Bool.
Require Import Terms Kernel.
Import ListNotations.
Open Scope Z_scope.

Lemma within_inside i : forall s, within i s = true <-> inside i s.
Proof.
  unfold inside. induction i as [| x i IH]; intros [| n s]; cbn [within].
  - split; auto using Forall2_nil.
  - split; intro H; [discriminate | inversion H].
  - split; intro H; [discriminate | inversion H].
  - unfold between. split; intro H.
    + apply andb_prop in H as [B W]. apply andb_prop in B as [P Q]. apply Z.leb_le in P. apply Z.ltb_lt in Q. constructor; [lia | now apply IH].
    + inversion H; subst. apply andb_true_intro. split; [| now apply IH]. apply andb_true_intro. split; [apply Z.leb_le | apply Z.ltb_lt]; lia.
Qed.

(** What is known inside of a loop. *)
Definition under lo hi facts := ISub (Var 0) (lift lo) :: below (Var 0) (lift hi) :: map lift facts.
Lemma holds_under lo hi facts e x : holds facts e -> ival e lo <= x < ival e hi -> holds (under lo hi facts) (cons x e).
Proof.
  intros F X p [<- | [<- | P]].
  - rewrite ival_sub, ival_lift. cbn [ival cons]. lia.
  - rewrite ival_below, ival_lift. cbn [ival cons]. lia.
  - apply in_map_iff in P as (q & <- & P). rewrite ival_lift. auto.
Qed.
Lemma holds_app cs facts e : all_hold cs e = true -> holds facts e -> holds (cs ++ facts) e.
Proof. intros H F p P. apply in_app_iff in P as [P | P]; auto. unfold all_hold in H. rewrite forallb_forall in H. apply Z.leb_le. auto. Qed.

Section Named.
  Context {ops : operators}.

  (** * Equals inside of a term *)

  Theorem same_refl facts m (t : term) : same facts m t t. Proof. intros e F A i a I. reflexivity. Qed.
  Theorem same_trans facts m t u v : shaped facts t u -> same facts m t u -> same facts m u v -> same facts m t v.
  Proof. intros S H K e F A i a I. rewrite (H e F A i a I). apply K; auto. now rewrite <- (S e F). Qed.
  Theorem same_gen facts m lo hi b b' : steady b -> same (under lo hi facts) m b b' -> same facts m (Gen lo hi b) (Gen lo hi b').
  Proof.
    intros S H e F A i a I. cbn [dims] in I. inversion I as [| x n r s X R]; subst. cbn [Terms.sem]. apply H.
    - apply holds_under; auto. lia.
    - now rewrite (S (ival e lo + x) (ival e lo) e).
  Qed.
  Theorem same_sum facts m o lo hi b b' : steady b -> same (under lo hi facts) (Some o) b b' -> same facts m (Sum o lo hi b) (Sum o lo hi b').
  Proof.
    intros S H e F A i a I. cbn [Terms.sem]. apply into_ext. apply fold_in. intros c x X. apply in_span in X. apply H; [now apply holds_under |].
    cbn [dims] in I. now rewrite (S x (ival e lo) e).
  Qed.
  Theorem same_guard facts m cs b b' : same (cs ++ facts) m b b' -> same facts m (Guard cs b) (Guard cs b').
  Proof. intros H e F A i a I. cbn [Terms.sem]. destruct (all_hold cs e) eqn:E; auto. apply H; auto using holds_app. Qed.
  Theorem same_let facts m x x' b b' : shaped facts x x' -> same facts None x x' -> same facts m b b' -> same facts m (Let x b) (Let x' b').
  Proof.
    intros S X B e F A i a I. cbn [Terms.sem]. rewrite (B e F _ i a I). apply sem_ext; auto. intros [| k] j; cbn [cons]; auto.
    rewrite <- (S e F). destruct (within j (dims x e)) eqn:W; auto. apply X; auto. now apply within_inside.
  Qed.
  Definition left_mode (m : option monoid) o := match m with Some o' => if monoid_eq o' o then m else None | None => None end.
  Theorem same_plus facts m o u u' v v' : shaped facts u v -> same facts (left_mode m o) u u' -> same facts (Some o) v v' -> same facts m (Plus o u v) (Plus o u' v').
  Proof.
    intros S U W e F A i a I. cbn [dims] in I. cbn [Terms.sem]. unfold left_mode in U. assert (J : inside i (dims v e)) by now rewrite <- (S e F).
    destruct m as [o' |]; [destruct (monoid_eq o' o); [subst |] |]; rewrite (U e F A i a I); now rewrite (W e F A i _ J).
  Qed.
  Theorem same_op facts m f args args' : Forall2 (fun t u => dims t = (fun _ => []) /\ same facts None t u) args args' -> same facts m (Op f args) (Op f args').
  Proof.
    intros H e F A i a I. cbn [Terms.sem]. do 2 f_equal. clear I. induction H as [| t u l l' [D S] H IH]; simpl; auto. f_equal; auto. apply S; auto. rewrite D. constructor.
  Qed.
  Theorem same_choose facts m ts u u' v v' : dims u = (fun _ => []) -> dims v = (fun _ => []) -> same facts m u u' -> same facts m v v' -> same facts m (Choose ts u v) (Choose ts u' v').
  Proof. intros D D' U W e F A i a I. cbn [Terms.sem]. destruct (passes _ _); [apply U | apply W]; auto; rewrite ?D, ?D'; auto. Qed.
  Theorem same_view facts m v n b b' : shaped facts b b' ->
    (forall e i j, holds facts e -> inside i (dims (View v n b) e) -> pull_axis n (view_pull v e) (dims b e) i = Some j -> inside j (dims b e)) ->
    same facts m b b' -> same facts m (View v n b) (View v n b').
  Proof. intros S Q B e F A i a I. cbn [Terms.sem]. rewrite <- (S e F). destruct (pull_axis n _ _ i) as [j |] eqn:E; auto. apply B; eauto. Qed.

  (** * Names *)

  Theorem let_dead facts m x b : same facts m (Let x (under_let b)) b.
  Proof. intros e F A i a I. cbn [Terms.sem]. apply sem_under_let. Qed.

  Lemma args_under_let l e x A : map (fun t => sem None t e (cons x A) [] zero) (map under_let l) = map (fun t => sem None t e A [] zero) l.
  Proof. rewrite map_map. apply map_ext. intro. apply sem_under_let. Qed.
  Theorem let_out_op facts m f before x b after : same facts m (Op f (before ++ Let x b :: after)) (Let x (Op f (map under_let before ++ b :: map under_let after))).
  Proof. intros e F A i a I. cbn [Terms.sem]. rewrite !map_app. cbn [map Terms.sem]. now rewrite !args_under_let. Qed.
  Theorem let_out_plus_left facts m o x b v : same facts m (Plus o (Let x b) v) (Let x (Plus o b (under_let v))).
  Proof. intros e F A i a I. cbn [Terms.sem]. destruct m as [o' |]; [destruct (monoid_eq o' o) |]; now rewrite sem_under_let. Qed.
  Theorem let_out_plus_right facts m o x u b : same facts m (Plus o u (Let x b)) (Let x (Plus o (under_let u) b)).
  Proof. intros e F A i a I. cbn [Terms.sem]. destruct m as [o' |]; [destruct (monoid_eq o' o) |]; now rewrite sem_under_let. Qed.
  Theorem let_out_cat_left facts m n x b v : same facts m (Cat n (Let x b) v) (Let x (Cat n b (under_let v))).
  Proof. intros e F A i a I. cbn [Terms.sem dims]. destruct (_ <? _); auto. now rewrite sem_under_let. Qed.
  Theorem let_out_cat_right facts m n x u b : same facts m (Cat n u (Let x b)) (Let x (Cat n (under_let u) b)).
  Proof. intros e F A i a I. cbn [Terms.sem dims]. rewrite dims_under_let. destruct (_ <? _); auto. now rewrite sem_under_let. Qed.
  Theorem let_out_view facts m v n x b : same facts m (View v n (Let x b)) (Let x (View v n b)). Proof. intros e F A i a I. reflexivity. Qed.
  Theorem let_out_guard facts m cs x b : same facts m (Guard cs (Let x b)) (Let x (Guard cs b)). Proof. intros e F A i a I. reflexivity. Qed.
  Theorem let_out_choose_left facts m ts x b v : same facts m (Choose ts (Let x b) v) (Let x (Choose ts b (under_let v))).
  Proof. intros e F A i a I. cbn [Terms.sem]. now rewrite sem_under_let. Qed.
  Theorem let_out_choose_right facts m ts u x b : same facts m (Choose ts u (Let x b)) (Let x (Choose ts (under_let u) b)).
  Proof. intros e F A i a I. cbn [Terms.sem]. now rewrite sem_under_let. Qed.

  (** A name that does not depend on the index goes before the loop; one that does becomes an array of its values. *)
  Theorem let_lift_gen facts m lo hi x b : same facts m (Gen lo hi (Let (under_index x) b)) (Let x (Gen lo hi b)).
  Proof.
    intros e F A i a I. cbn [Terms.sem]. destruct i as [| y r]; auto. apply sem_ext; auto. intros [| k] j; cbn [cons]; auto. now rewrite dims_under_index, sem_under_index.
  Qed.
  Theorem let_lift_sum facts m o lo hi x b : same facts m (Sum o lo hi (Let (under_index x) b)) (Let x (Sum o lo hi b)).
  Proof.
    intros e F A i a I. cbn [Terms.sem]. apply into_ext. apply fold_in. intros c y _. apply sem_ext; auto. intros [| k] j; cbn [cons]; auto. now rewrite dims_under_index, sem_under_index.
  Qed.

  (** Reads of array [k] get one more index in front. *)
  Fixpoint prefix (k : nat) (p : idx) (t : term) : term :=
    match t with
    | Gen lo hi b => Gen lo hi (prefix k (lift p) b) | Sum m lo hi b => Sum m lo hi (prefix k (lift p) b) | Guard cs b => Guard cs (prefix k p b)
    | Let x b => Let (prefix k p x) (prefix (S k) p b) | Cat n a b => Cat n (prefix k p a) (prefix k p b) | Plus m a b => Plus m (prefix k p a) (prefix k p b)
    | View v n b => View v n (prefix k p b) | Zeros s => Zeros s | Get x i => if Nat.eqb x k then Get x (p :: i) else Get x i | Lit v => Lit v | Index q => Index q
    | Op f args => Op f (map (prefix k p) args) | MulAcc a b => MulAcc (prefix k p a) (prefix k p b)
    | Choose c a b => Choose c (prefix k p a) (prefix k p b) | ChooseV g c a b => ChooseV g (prefix k p c) (prefix k p a) (prefix k p b)
    end.
  Lemma dims_prefix t : forall k p e, dims (prefix k p t) e = dims t e.
  Proof.
    induction t using term_ind'; simpl; intros; auto; rewrite ?IHt, ?IHt1, ?IHt2; auto. destruct (Nat.eqb x k); reflexivity.
  Qed.
  Lemma sem_prefix t : forall k p m e A B i a, (forall x j, B x j = if Nat.eqb x k then A x (ival e p :: j) else A x j) -> sem m (prefix k p t) e A i a = sem m t e B i a.
  Proof.
    induction t using term_ind'; cbn [Terms.sem prefix]; intros k0 p0 mode e A B i a H'.
    - destruct i; auto. apply IHt. intros. rewrite ival_lift. apply H'.
    - apply into_ext. apply fold_in. intros c x _. apply IHt. intros. rewrite ival_lift. apply H'.
    - destruct (all_hold cs e); auto.
    - apply IHt2. intros [| x] j; cbn [cons]; auto; [| apply H']. simpl. now rewrite dims_prefix, (IHt1 k0 p0 None e A B j zero H').
    - rewrite dims_prefix. cbn zeta. destruct (_ <? _); auto.
    - destruct mode as [o' |]; [destruct (monoid_eq o' m) |]; rewrite (IHt1 k0 p0 _ e A B i a H'); now rewrite (IHt2 k0 p0 _ e A B i _ H').
    - rewrite dims_prefix. destruct (pull_axis n _ _ i); auto.
    - reflexivity.
    - rewrite H'. destruct (Nat.eqb x k0); reflexivity.
    - reflexivity.
    - reflexivity.
    - do 2 f_equal. rewrite map_map. apply map_ext_in. intros t T. rewrite Forall_forall in H. now apply H.
    - now rewrite (IHt1 k0 p0 None e A B [] zero H'), (IHt2 k0 p0 None e A B [] zero H').
    - destruct (passes _ _); auto.
    - rewrite (IHt1 k0 p0 None e A B [] zero H'). destruct (eqb s _); auto.
  Qed.

  Theorem let_lift_gen_array facts m lo hi x b : steady x -> same facts m (Gen lo hi (Let x b)) (Let (Gen lo hi x) (Gen lo hi (prefix 0 (ISub (Var 0) (lift lo)) b))).
  Proof.
    intros S e F A i a I. cbn [dims] in I. inversion I as [| y n r s Y R]; subst. cbn [Terms.sem]. symmetry. apply sem_prefix. intros [| k] j; cbn [cons Nat.eqb]; auto.
    rewrite ival_sub, ival_lift. cbn [ival cons dims within Terms.sem]. replace (ival e lo + y - ival e lo) with y by lia.
    rewrite (S (ival e lo) (ival e lo + y) e). replace (between y (ival e hi - ival e lo)) with true; auto. symmetry. unfold between. apply andb_true_intro. split; [apply Z.leb_le | apply Z.ltb_lt]; lia.
  Qed.
  Theorem let_lift_sum_array facts m o lo hi x b : steady x -> same facts m (Sum o lo hi (Let x b)) (Let (Gen lo hi x) (Sum o lo hi (prefix 0 (ISub (Var 0) (lift lo)) b))).
  Proof.
    intros S e F A i a I. cbn [Terms.sem]. apply into_ext. apply fold_in. intros c y Y. apply in_span in Y. symmetry. apply sem_prefix. intros [| k] j; cbn [cons Nat.eqb]; auto.
    rewrite ival_sub, ival_lift. cbn [ival cons dims within Terms.sem].
    rewrite (S (ival e lo) y e). replace (ival e lo + (y - ival e lo)) with y by lia.
    replace (between (y - ival e lo) (ival e hi - ival e lo)) with true; auto. symmetry. unfold between. apply andb_true_intro. split; [apply Z.leb_le | apply Z.ltb_lt]; lia.
  Qed.
End Named.

Print Assumptions let_lift_gen_array.
Print Assumptions same_let.
