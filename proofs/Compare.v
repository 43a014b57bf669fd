(** Comparing terms, and looking up what is known: functions that are extracted, with what they mean.

    [shown]     a polynomial is not negative, by facts and by rows of proofs that were checked (Arithmetic.v)
    [alike]     two terms mean the same, whatever is folded into whatever: the same but for how indices are written and in which order conditions stand
    [fixed]     a shape does not depend on the innermost loop *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Require Import Terms Kernel Named Elements Normal.
Import ListNotations.
Open Scope Z_scope.

Section Facts.
  Variable table : list (list poly * list step).   (* hypotheses, and rows from them *)
  Hypothesis table_ok : forallb (fun g => rows_ok (fst g) (snd g)) table = true.

  Definition nearly (known : list poly) (g : poly) := existsb (fun f => match constant (tidy (poly_sub g f)) with Some c => 0 <=? c | None => false end) known.
  Definition shown (known : list poly) (g : poly) : bool :=
    match constant g with
    | Some c => 0 <=? c
    | None => nearly known g || existsb (fun r => existsb (fun s => poly_eq g (step_goal s)) (snd r) && forallb (fun h => member h known) (fst r)) table
    end.
  Lemma shown_sound env known g : (forall p, In p known -> 0 <= poly_value env p) -> shown known g = true -> 0 <= poly_value env g.
  Proof.
    intros K H. unfold shown in H. destruct (constant g) as [c |] eqn:C.
    - apply (constant_value env) in C. apply Z.leb_le in H. lia.
    - apply orb_prop in H as [H | H]; apply existsb_exists in H as (f & F & H).
      + destruct (constant (tidy (poly_sub g f))) as [c |] eqn:D; [| discriminate]. apply (constant_value env) in D. rewrite tidy_value, poly_sub_value in D. apply Z.leb_le in H. specialize (K f F). lia.
      + apply andb_prop in H as [G H]. apply existsb_exists in G as (s & S & E). rewrite (poly_eq_value env _ _ E). rewrite forallb_forall in table_ok, H.
        apply (rows_sound (snd f) (fst f)); auto. intros p P. apply (member_sound env known K). auto.
  Qed.
End Facts.

(** * Shapes that do not depend on loops *)

Fixpoint above (k : nat) (p : idx) : bool := match p with Var n => (k <=? n)%nat | Num _ => true | IAdd p q | IMul p q | IDiv p q => above k p && above k q end.
Lemma above_val k p e e' : above k p = true -> (forall n, (k <= n)%nat -> e n = e' n) -> ival e p = ival e' p.
Proof. intros H E. induction p; cbn [above ival] in *; auto; try (apply andb_prop in H as [H1 H2]; now rewrite IHp1, IHp2). apply E. now apply Nat.leb_le. Qed.
Definition view_amount (v : view) : list idx := match v with Transpose | Flatten | Reverse => [] | Split k | Tile k | TruncR k | TruncL k | PadR k | PadL k | Sample k | Window k => [k] end.
Lemma view_shape_amount v e e' s : map (ival e) (view_amount v) = map (ival e') (view_amount v) -> view_shape v e s = view_shape v e' s.
Proof. destruct v; cbn [view_amount map]; intro H; try reflexivity; injection H as H; cbn [view_shape]; now rewrite H. Qed.

Fixpoint fixed (k : nat) (t : term) : bool :=
  match t with
  | Gen lo hi b => above k lo && above k hi && fixed (S k) b
  | Sum _ lo hi b => fixed (S k) b
  | Guard _ b | Let _ b => fixed k b
  | Cat _ a b => fixed k a && fixed k b
  | Plus _ a _ => fixed k a
  | View v _ b => forallb (above k) (view_amount v) && fixed k b
  | Zeros s => forallb (above k) s
  | _ => true
  end.
Lemma above_map k l e e' : forallb (above k) l = true -> (forall n, (k <= n)%nat -> e n = e' n) -> map (ival e) l = map (ival e') l.
Proof. intros H E. apply map_ext_in. intros p P. rewrite forallb_forall in H. apply (above_val k); auto. Qed.
Lemma fixed_dims t : forall k e e', fixed k t = true -> (forall n, (k <= n)%nat -> e n = e' n) -> dims t e = dims t e'.
Proof.
  assert (C : forall k (v w : Z) (e e' : env), (forall n, (k <= n)%nat -> e n = e' n) -> forall n : nat, (S k <= n)%nat -> cons v e n = cons w e' n) by (intros k v w e e' E [| n] N; [lia |]; apply E; lia).
  induction t using term_ind'; cbn [fixed dims]; intros k0 e e' H' E; auto.
  - apply andb_prop in H' as [H' B]. apply andb_prop in H' as [L H']. rewrite (above_val k0 lo e e'), (above_val k0 hi e e') by auto. f_equal. eauto.
  - eauto.
  - eauto.
  - eauto.
  - apply andb_prop in H' as [L R]. now rewrite (IHt1 k0 e e'), (IHt2 k0 e e').
  - eauto.
  - apply andb_prop in H' as [V B]. rewrite (IHt k0 e e') by auto. apply at_axis_ext. intro. apply view_shape_amount. now apply (above_map k0).
  - now apply (above_map k0).
Qed.
Lemma fixed_steady b : fixed 1 b = true -> steady b.
Proof. intros H v w e. apply (fixed_dims b 1); auto. intros [| n] N; [lia | reflexivity]. Qed.

(** * Terms that mean the same *)

Definition skip {A} (d : nat) (e : nat -> A) : nat -> A := fun n => e (d + n)%nat.

Section Alike.
  Variable top : list idx.    (* what is known of sizes, as seen from outside of all loops *)
  Definition top_known := map (normal (fun _ => false) 0) top.
  Variable sure : poly -> bool.
  Definition nf := normal sure.
  Definition closed d (e : env) := holds top (skip d e).

  Lemma seen_top d e p : poly_value (seen d e) (normal (fun _ => false) 0 p) = ival (skip d e) p.
  Proof.
    induction p; cbn [normal ival].
    - rewrite alone_value. cbn [atom_value]. unfold key. cbn [Nat.ltb Nat.leb seen]. rewrite SuccNat2Pos.id_succ. unfold skip. cbn [Nat.pred]. f_equal. lia.
    - now rewrite tidy_value, number_value.
    - rewrite tidy_value, poly_add_value. congruence.
    - rewrite tidy_value, poly_mul_value. congruence.
    - rewrite divide_value by discriminate. congruence.
  Qed.
  Lemma top_so d e p : closed d e -> In p top_known -> 0 <= poly_value (seen d e) p.
  Proof. intros C P. apply in_map_iff in P as (q & <- & Q). rewrite seen_top. now apply C. Qed.
  Hypothesis sure_is : forall k, sure k = true -> surely top_known k = true.
  Lemma nf_value d e p : closed d e -> poly_value (seen d e) (nf d p) = ival e p.
  Proof. intro C. apply normal_value. intros k K. apply (surely_sound (seen d e) top_known); auto. intros. now apply (top_so d). Qed.

  Definition same_idx d p q := poly_eq (nf d p) (nf d q).
  Lemma same_idx_val d e p q : closed d e -> same_idx d p q = true -> ival e p = ival e q.
  Proof. intros C H. apply (poly_eq_value (seen d e)) in H. now rewrite !nf_value in H. Qed.
  Fixpoint same_list d (l k : list idx) := match l, k with [], [] => true | p :: l, q :: k => same_idx d p q && same_list d l k | _, _ => false end.
  Lemma same_list_val d e l : forall k, closed d e -> same_list d l k = true -> map (ival e) l = map (ival e) k.
  Proof. induction l as [| p l IH]; intros [| q k] C H; try discriminate; auto. apply andb_prop in H as [H K]. cbn [map]. now rewrite (same_idx_val d e p q), (IH k). Qed.

  Definition literal d c := match constant (nf d c) with Some z => 0 <=? z | None => false end.
  Definition contained d cs ds := forallb (fun c => literal d c || existsb (same_idx d c) ds) cs.
  Lemma contained_sound d cs ds e : closed d e -> contained d cs ds = true -> all_hold ds e = true -> all_hold cs e = true.
  Proof.
    intros C H D. unfold all_hold in *. apply forallb_forall. intros c I. unfold contained in H. rewrite forallb_forall in H, D. specialize (H c I). apply orb_prop in H as [H | H].
    - unfold literal in H. destruct (constant (nf d c)) as [z |] eqn:E; [| discriminate]. apply (constant_value (seen d e)) in E. rewrite nf_value in E by auto. now rewrite E.
    - apply existsb_exists in H as (q & Q & H). rewrite (same_idx_val d e c q C H). auto.
  Qed.
  Definition same_conds d cs ds := contained d cs ds && contained d ds cs.
  Lemma same_conds_val d cs ds e : closed d e -> same_conds d cs ds = true -> all_hold cs e = all_hold ds e.
  Proof.
    intros C H. apply andb_prop in H as [H K]. destruct (all_hold ds e) eqn:D; [now apply (contained_sound d cs ds) |].
    destruct (all_hold cs e) eqn:E; auto. now rewrite (contained_sound d ds cs e C K E) in D.
  Qed.

  Definition same_view d v w :=
    match v, w with
    | Transpose, Transpose | Flatten, Flatten | Reverse, Reverse => true
    | Split k, Split l | Tile k, Tile l | TruncR k, TruncR l | TruncL k, TruncL l | PadR k, PadR l | PadL k, PadL l | Sample k, Sample l | Window k, Window l => same_idx d k l
    | _, _ => false
    end.
  Lemma same_view_val d v w e : closed d e -> same_view d v w = true -> (forall s, view_shape v e s = view_shape w e s) /\ (forall s i, view_pull v e s i = view_pull w e s i).
  Proof. intros C H. destruct v, w; try discriminate; cbn [same_view] in H; try (apply (same_idx_val d e) in H; auto); split; intros; cbn [view_shape view_pull]; now rewrite ?H. Qed.

  Definition test_is (a b : test) := match a, b with Ge, Ge | Eq, Eq | Ne, Ne => true | _, _ => false end.
  Fixpoint same_tests d (l k : list (test * idx)) := match l, k with [], [] => true | p :: l, q :: k => test_is (fst p) (fst q) && same_idx d (snd p) (snd q) && same_tests d l k | _, _ => false end.
  Lemma same_tests_val d e l : forall k, closed d e -> same_tests d l k = true -> passes l e = passes k e.
  Proof.
    induction l as [| p l IH]; intros [| q k] C H; try discriminate; auto. cbn [same_tests] in H. apply andb_prop in H as [H K]. apply andb_prop in H as [T H]. unfold passes in *. cbn [forallb].
    rewrite (same_idx_val d e _ _ C H), (IH k C K). destruct (fst p), (fst q); try discriminate; reflexivity.
  Qed.

  Fixpoint conds (t : term) : list idx := match t with Guard cs b => cs ++ conds b | _ => [] end.
  Fixpoint core (t : term) : term := match t with Guard _ b => core b | _ => t end.
  Definition monoid_is (a b : monoid) := if monoid_eq a b then true else false.

  (** [cs] are conditions of guards that were around t. *)
  Fixpoint alike (d : nat) (cs : list idx) (t u : term) {struct t} : bool :=
    match t with
    | Guard c b => alike d (cs ++ c) b u
    | _ =>
        same_conds d cs (conds u) &&
        match t, core u with
        | Gen lo hi b, Gen lo' hi' b' => same_idx d lo lo' && same_idx d hi hi' && alike (S d) [] b b'
        | Sum m lo hi b, Sum m' lo' hi' b' => monoid_is m m' && same_idx d lo lo' && same_idx d hi hi' && alike (S d) [] b b'
        | Let x b, Let x' b' => alike d [] x x' && alike d [] b b'
        | Cat n a b, Cat n' a' b' => Nat.eqb n n' && alike d [] a a' && alike d [] b b'
        | Plus m a b, Plus m' a' b' => monoid_is m m' && alike d [] a a' && alike d [] b b'
        | View v n b, View v' n' b' => same_view d v v' && Nat.eqb n n' && alike d [] b b'
        | Zeros s, Zeros s' => same_list d s s'
        | Get x i, Get x' i' => Nat.eqb x x' && same_list d i i'
        | Lit c, Lit c' => Pos.eqb c c'
        | Index p, Index p' => same_idx d p p'
        | Op f args, Op f' args' => Pos.eqb f f' &&
            (fix all (l l' : list term) {struct l} := match l, l' with [], [] => true | x :: l, x' :: l' => alike d [] x x' && all l l' | _, _ => false end) args args'
        | MulAcc a b, MulAcc a' b' => alike d [] a a' && alike d [] b b'
        | Choose ts a b, Choose ts' a' b' => same_tests d ts ts' && alike d [] a a' && alike d [] b b'
        | ChooseV g c a b, ChooseV g' c' a' b' => eqb g g' && alike d [] c c' && alike d [] a a' && alike d [] b b'
        | _, _ => false
        end
    end.

  Section Meaning.
    Context {ops : operators}.
    Definition means (t u : term) e := dims t e = dims u e /\ forall m A i a, sem m t e A i a = sem m u e A i a.
    Lemma core_means u e : means u (Guard (conds u) (core u)) e.
    Proof.
      induction u using term_ind'; try (split; reflexivity). destruct IHu as [D S]. split; [exact D |]. intros m A i a. cbn [conds core Terms.sem]. rewrite S. cbn [Terms.sem].
      unfold all_hold. rewrite forallb_app. destruct (forallb _ cs), (forallb _ (conds u)); reflexivity.
    Qed.

    Theorem alike_sound t : forall d cs u e, alike d cs t u = true -> closed d e -> means (Guard cs t) u e.
    Proof.
      assert (W : forall d cs t u e, same_conds d cs (conds u) = true -> closed d e -> means t (core u) e -> means (Guard cs t) u e).
      { intros d cs t0 u e Q C [D S]. destruct (core_means u e) as [D' S']. split; [rewrite D'; cbn [dims]; exact D |]. intros m A i a. rewrite S'. cbn [Terms.sem]. now rewrite (same_conds_val d cs (conds u) e C Q), S. }
      assert (M : forall a b, monoid_is a b = true -> a = b) by (intros a b; unfold monoid_is; destruct (monoid_eq a b); congruence).
      assert (U : forall d e v, closed d e -> closed (S d) (cons v e)) by (intros d e v C; exact C).
      assert (G : forall t u e, means (Guard [] t) u e -> means t u e) by (intros ? ? ? [? ?]; split; auto).
      induction t using term_ind'; intros d0 cs0 u e L C; try (cbn [alike] in L; apply andb_prop in L as [Q L]; apply (W d0); auto; destruct (core u); try discriminate; clear Q W u cs0).
      - apply andb_prop in L as [L B]. apply andb_prop in L as [L H]. apply (same_idx_val d0 e) in L; auto. apply (same_idx_val d0 e) in H; auto. rewrite <- ?L, <- ?H.
        split; cbn [dims Terms.sem]; intros; rewrite ?L, ?H; [f_equal; eapply G, IHt; eauto |]. destruct i; auto. eapply G, IHt; eauto.
      - apply andb_prop in L as [L B]. apply andb_prop in L as [L H]. apply andb_prop in L as [N L]. apply M in N as <-. apply (same_idx_val d0 e) in L; auto. apply (same_idx_val d0 e) in H; auto.
        split; cbn [dims Terms.sem]; intros; rewrite ?L, ?H; [eapply G, IHt; eauto |]. apply into_ext. apply fold_in. intros. eapply G, IHt; eauto.
      - cbn [alike] in L. destruct (IHt d0 (cs0 ++ cs) u e L C) as [D S]. split; [exact D |]. intros m A i a. rewrite <- S. cbn [Terms.sem]. unfold all_hold. rewrite forallb_app. destruct (forallb _ cs0), (forallb _ cs); reflexivity.
      - apply andb_prop in L as [L B]. destruct (G _ _ _ (IHt1 _ _ _ _ L C)) as [D S]. destruct (G _ _ _ (IHt2 _ _ _ _ B C)) as [D' S']. split; [exact D' |]. intros. cbn [Terms.sem]. rewrite S'. apply sem_ext; auto.
        intros [| k] j; cbn [cons]; auto. now rewrite D, S.
      - apply andb_prop in L as [L B]. apply andb_prop in L as [N L]. apply Nat.eqb_eq in N as <-. destruct (G _ _ _ (IHt1 _ _ _ _ L C)) as [D S]. destruct (G _ _ _ (IHt2 _ _ _ _ B C)) as [D' S'].
        split; intros; cbn [dims Terms.sem]; rewrite D, ?D'; auto. cbn zeta. now rewrite S, S'.
      - apply andb_prop in L as [L B]. apply andb_prop in L as [N L]. apply M in N as <-. destruct (G _ _ _ (IHt1 _ _ _ _ L C)) as [D S]. destruct (G _ _ _ (IHt2 _ _ _ _ B C)) as [D' S'].
        split; [exact D |]. intros. cbn [Terms.sem]. destruct m0 as [o |]; [destruct (monoid_eq o m) |]; now rewrite S, S'.
      - apply andb_prop in L as [L B]. apply andb_prop in L as [V N]. apply Nat.eqb_eq in N as <-. destruct (same_view_val d0 _ _ e C V) as [P P']. destruct (G _ _ _ (IHt _ _ _ _ B C)) as [D S].
        split; intros; cbn [dims Terms.sem]; rewrite D; [now apply at_axis_ext |]. rewrite (pull_axis_ext n (view_pull v e) (view_pull v0 e)) by auto. destruct (pull_axis n _ _ i); auto.
      - apply (same_list_val d0 e) in L; auto. split; auto.
      - apply andb_prop in L as [N L]. apply Nat.eqb_eq in N as <-. apply (same_list_val d0 e) in L; auto. split; auto. intros. cbn [Terms.sem]. now rewrite L.
      - apply Pos.eqb_eq in L as <-. split; auto.
      - apply (same_idx_val d0 e) in L; auto. split; auto. intros. cbn [Terms.sem]. now rewrite L.
      - apply andb_prop in L as [N L]. apply Pos.eqb_eq in N as <-. split; auto. intros. cbn [Terms.sem]. do 2 f_equal. clear a.
        revert args0 L. induction H as [| x l P Q IH]; intros [| x' l'] L; try discriminate; auto. apply andb_prop in L as [L R]. cbn [map]. f_equal; [apply (G _ _ _ (P _ _ _ _ L C)) | auto].
      - apply andb_prop in L as [L B]. destruct (G _ _ _ (IHt1 _ _ _ _ L C)) as [D S]. destruct (G _ _ _ (IHt2 _ _ _ _ B C)) as [D' S']. split; auto. intros. cbn [Terms.sem]. now rewrite S, S'.
      - apply andb_prop in L as [L B]. apply andb_prop in L as [T L]. apply (same_tests_val d0 e) in T; auto. destruct (G _ _ _ (IHt1 _ _ _ _ L C)) as [D S]. destruct (G _ _ _ (IHt2 _ _ _ _ B C)) as [D' S'].
        split; auto. intros. cbn [Terms.sem]. now rewrite T, S, S'.
      - apply andb_prop in L as [L B]. apply andb_prop in L as [L L']. apply andb_prop in L as [N L]. apply eqb_prop in N as <-.
        destruct (G _ _ _ (IHt1 _ _ _ _ L C)) as [D S]. destruct (G _ _ _ (IHt2 _ _ _ _ L' C)) as [D' S']. destruct (G _ _ _ (IHt3 _ _ _ _ B C)) as [D3 S3]. split; auto. intros. cbn [Terms.sem]. now rewrite S, S', S3.
    Qed.
  End Meaning.
End Alike.

Print Assumptions alike_sound.
Print Assumptions shown_sound.
