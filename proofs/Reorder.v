(** The validator of rewrites (atoll/check/rewrites/region.py) as a theorem: the same instances, each once, in an order that keeps every conflicting pair, leave the same memory.

    Nothing is assumed of what an instance computes: it changes only the cells it is said to write, from the cells it is said to read, and may fail (a check). Cells are whatever
    the footprints speak of: elements, variables in their round, the mark that statements behind a check read. "The same memory" is cell by cell, so bit by bit.

    Proved: [reorder] for two lists of instances; [validated], which is what Region.check establishes (text, inside, once, all, order); [in_any_order] for loops whose rounds are
    independent: every way to run them gives the result. Rewrites one after the other compose by [result_trans]. *)

Require Import List Permutation.
Import ListNotations.

Section Reorder.
  Variables Cell V Inst : Type.
  Definition memory := Cell -> V.

  Variable act : Inst -> memory -> option memory.
  Variables reads writes : Inst -> Cell -> Prop.

  Definition same (m m' : memory) := forall c, m c = m' c.
  Definition same_result (r r' : option memory) :=
    match r, r' with Some m, Some m' => same m m' | None, None => True | _, _ => False end.

  (** An instance is deaf to what it does not read, and keeps what it does not write. *)
  Hypothesis keeps : forall i m m' c, act i m = Some m' -> ~ writes i c -> m' c = m c.
  Hypothesis depends : forall i m n, (forall c, reads i c -> m c = n c) ->
    match act i m, act i n with
    | Some m', Some n' => forall c, writes i c -> m' c = n' c
    | None, None => True
    | _, _ => False
    end.
  Hypothesis known : forall i c, writes i c \/ ~ writes i c.

  Definition conflict (i j : Inst) :=
    exists c, (writes i c /\ (reads j c \/ writes j c)) \/ (writes j c /\ reads i c).

  Fixpoint run (l : list Inst) (m : memory) : option memory :=
    match l with [] => Some m | i :: t => match act i m with Some m' => run t m' | None => None end end.

  Fixpoint before (l : list Inst) (a b : Inst) : Prop :=
    match l with [] => False | x :: t => (x = a /\ In b t) \/ before t a b end.

  (** * Results up to equal cells *)

  Lemma same_refl m : same m m. Proof. intro; reflexivity. Qed.
  Lemma same_trans a b c : same a b -> same b c -> same a c. Proof. intros H K x. now rewrite H, K. Qed.
  Lemma result_refl r : same_result r r. Proof. destruct r; simpl; auto using same_refl. Qed.
  Lemma result_trans a b c : same_result a b -> same_result b c -> same_result a c.
  Proof. destruct a, b, c; simpl; intros; try easy. eauto using same_trans. Qed.

  Lemma act_same i m n : same m n -> same_result (act i m) (act i n).
  Proof.
    intros S. pose proof (depends i m n (fun c _ => S c)) as D.
    destruct (act i m) as [m'|] eqn:A, (act i n) as [n'|] eqn:B; simpl; auto.
    intro c. destruct (known i c) as [w | w]; auto. rewrite (keeps _ _ _ _ A w), (keeps _ _ _ _ B w). apply S.
  Qed.

  Lemma run_same l : forall m n, same m n -> same_result (run l m) (run l n).
  Proof.
    induction l as [| i t IH]; simpl; intros m n S; auto. pose proof (act_same i m n S) as A.
    destruct (act i m), (act i n); simpl in A; try easy. now apply IH.
  Qed.

  Lemma run_app l l' m : run (l ++ l') m = match run l m with Some m' => run l' m' | None => None end.
  Proof. revert m; induction l as [| i t IH]; simpl; intros; auto. destruct (act i m); auto. Qed.

  (** * Two neighbours that do not conflict change places *)

  Lemma exchange i j m : ~ conflict i j -> same_result (run [i; j] m) (run [j; i] m).
  Proof.
    intros F. simpl.
    assert (NW : forall c, writes i c -> ~ reads j c /\ ~ writes j c) by (intros c W; split; intro; apply F; exists c; auto).
    assert (NR : forall c, reads i c -> ~ writes j c) by (intros c R W; apply F; exists c; auto).
    assert (J : forall m', act i m = Some m' -> forall c, reads j c -> m c = m' c).
    { intros m' A c R. symmetry. apply (keeps _ _ _ _ A). intro W. destruct (NW c W). auto. }
    assert (I : forall n', act j m = Some n' -> forall c, reads i c -> m c = n' c).
    { intros n' A c R. symmetry. apply (keeps _ _ _ _ A). now apply NR. }
    destruct (act i m) as [m1|] eqn:Ai; destruct (act j m) as [m2|] eqn:Aj.
    - pose proof (depends j m m1 (J _ eq_refl)) as Dj. rewrite Aj in Dj. pose proof (depends i m m2 (I _ eq_refl)) as Di. rewrite Ai in Di.
      destruct (act j m1) as [m12|] eqn:B1; [| easy]. destruct (act i m2) as [m21|] eqn:B2; [| easy]. simpl. intro c.
      destruct (known i c) as [wi | wi].
      + destruct (NW c wi) as [_ wj]. rewrite (keeps _ _ _ _ B1 wj). auto.
      + rewrite (keeps _ _ _ _ B2 wi). destruct (known j c) as [wj | wj].
        * symmetry. auto.
        * rewrite (keeps _ _ _ _ B1 wj), (keeps _ _ _ _ Ai wi), (keeps _ _ _ _ Aj wj). reflexivity.
    - pose proof (depends j m m1 (J _ eq_refl)) as Dj. rewrite Aj in Dj. destruct (act j m1); easy.
    - pose proof (depends i m m2 (I _ eq_refl)) as Di. rewrite Ai in Di. destruct (act i m2); easy.
    - easy.
  Qed.

  Lemma to_the_front i p s : forall m, (forall q, In q p -> ~ conflict i q) -> same_result (run (i :: p ++ s) m) (run (p ++ i :: s) m).
  Proof.
    induction p as [| q p IH]; intros m H; [apply result_refl|].
    apply result_trans with (run (q :: i :: p ++ s) m).
    - pose proof (exchange i q m (H q (or_introl eq_refl))) as X. change (i :: (q :: p) ++ s) with ([i; q] ++ p ++ s). change (q :: i :: p ++ s) with ([q; i] ++ p ++ s).
      rewrite !run_app. destruct (run [i; q] m), (run [q; i] m); simpl in X; try easy. now apply run_same.
    - simpl. destruct (act q m); [| easy]. apply IH. intros x X. apply H. now right.
  Qed.

  (** * Orders *)

  Lemma before_app l l' a b : before (l ++ l') a b <-> before l a b \/ (In a l /\ In b l') \/ before l' a b.
  Proof.
    induction l as [| x t IH]; simpl; [tauto|]. rewrite IH, in_app_iff. split.
    - intros [[E [H | H]] | [H | [H | H]]]; subst; auto; tauto.
    - intros [[[E H] | H] | [[[E | E] H] | H]]; subst; auto; tauto.
  Qed.

  Lemma before_in l a b : before l a b -> In a l /\ In b l.
  Proof. induction l as [| x t IH]; simpl; [easy|]. intros [[E H] | H]; [subst; auto|]. apply IH in H. tauto. Qed.

  Lemma without p i s a b : a <> i -> b <> i -> before (p ++ i :: s) a b -> before (p ++ s) a b.
  Proof.
    intros Na Nb. rewrite !before_app. simpl. intros [H | [[H [E | K]] | [[E _] | H]]]; subst; try easy; auto.
  Qed.

  Lemma not_both p i s q : NoDup (p ++ i :: s) -> In q p -> before (p ++ i :: s) i q -> False.
  Proof.
    intros D Q. apply NoDup_remove in D as [D N]. rewrite in_app_iff in N. rewrite before_app. simpl.
    intros [H | [[H _] | [[_ H] | H]]].
    - apply before_in in H. tauto.
    - tauto.
    - revert Q H D. clear. induction p as [| x t IH]; simpl; [easy|]. intros [E | Q] H D; inversion D as [| ? ? N D']; subst; [apply N, in_or_app; auto|]. auto.
    - apply before_in in H. tauto.
  Qed.

  Theorem reorder : forall l l' m, NoDup l -> Permutation l l' ->
    (forall a b, before l a b -> conflict a b -> before l' a b) -> same_result (run l m) (run l' m).
  Proof.
    induction l as [| i t IH]; intros l' m D P O.
    - apply Permutation_nil in P. subst. apply result_refl.
    - assert (D' : NoDup l') by (eapply Permutation_NoDup; eauto).
      assert (Hi : In i l') by (eapply Permutation_in; [exact P | now left]).
      destruct (in_split i l' Hi) as (p & s & ->). apply Permutation_cons_app_inv in P as Q.
      inversion D as [| ? ? Ni Dt]; subst.
      apply result_trans with (run (i :: p ++ s) m).
      + simpl. destruct (act i m) as [m'|]; [| easy]. apply IH; auto. intros a b B C.
        destruct (before_in _ _ _ B) as [Ia Ib]. apply (without p i s); [intro; subst; auto .. |]. apply O; auto. now right.
      + apply to_the_front. intros q Iq C. apply (not_both p i s q D' Iq). apply O; auto. left. split; auto.
        eapply Permutation_in; [apply Permutation_sym; exact Q | apply in_or_app; auto].
  Qed.

  (** * What Region.check asks *)

  Section Validated.
    Variable New : Type.
    Variable act' : New -> memory -> option memory.
    Variable origin : New -> Inst.

    Fixpoint run' (l : list New) (m : memory) : option memory :=
      match l with [] => Some m | y :: t => match act' y m with Some m' => run' t m' | None => None end end.

    Lemma run_origins l : (forall y m, In y l -> act' y m = act (origin y) m) -> forall m, run' l m = run (map origin l) m.
    Proof.
      induction l as [| y t IH]; simpl; intros T m; auto. rewrite T by auto. destruct (act (origin y) m); auto.
    Qed.

    Theorem validated old new m : NoDup old ->
      (forall y n, In y new -> act' y n = act (origin y) n) ->              (* text *)
      (forall y, In y new -> In (origin y) old) ->                           (* inside *)
      NoDup (map origin new) ->                                              (* once *)
      (forall x, In x old -> exists y, In y new /\ origin y = x) ->          (* all *)
      (forall a b, before old a b -> conflict a b -> before (map origin new) a b) ->   (* order *)
      same_result (run old m) (run' new m).
    Proof.
      intros D T I O A B. rewrite (run_origins new T). apply reorder; auto. apply NoDup_Permutation; auto. intro x. rewrite in_map_iff. split.
      - intros H. destruct (A x H) as (y & Y & E). eauto.
      - intros (y & E & Y). subst. auto.
    Qed.
  End Validated.

  (** Rounds in any order: [must] is what is certain of the order of two instances, whatever the machine does; every run that respects it gives the result. *)
  Theorem in_any_order (must : Inst -> Inst -> Prop) old new m : NoDup old -> Permutation old new ->
    (forall a b, before old a b -> conflict a b -> must a b) -> (forall a b, In a new -> In b new -> must a b -> before new a b) ->
    same_result (run old m) (run new m).
  Proof.
    intros D P C R. apply reorder; auto. intros a b B F. destruct (before_in _ _ _ B). apply R; auto; eapply Permutation_in; eauto.
  Qed.
End Reorder.

Print Assumptions reorder.
Print Assumptions validated.
Print Assumptions in_any_order.
