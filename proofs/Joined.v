(** let_join (atoll/check/blocks.py): several arrays that loops over one range build, one after the other, as one loop that builds rows of all of them.

    A round of the one loop computes what the rounds of the others did, each from those before it in the same round ([round_same]); the row has each at its place ([row_has]); and what reads the arrays
    reads the row there, where the read is shown to be in range, because beside it stands another value ([joined_fits]). *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Require Import Terms Kernel Named Elements Normal Compare Path Applied Values Simplify.
Import ListNotations.
Open Scope Z_scope.

(** Names bound one after the other, from the outside, and what they are bound for. *)
Fixpoint lets (n : nat) (t : term) : option (list term * term) :=
  match n with
  | O => Some ([], t)
  | S n => match t with Let x b => match lets n b with Some (xs, r) => Some (x :: xs, r) | None => None end | _ => None end
  end.

(** Reads of arrays j, ..., j + k - 1 get one more index in front. *)
Fixpoint prefixes (j k : nat) (p : idx) (t : term) : term :=
  match t with
  | Gen lo hi b => Gen lo hi (prefixes j k (lift p) b) | Sum m lo hi b => Sum m lo hi (prefixes j k (lift p) b) | Guard cs b => Guard cs (prefixes j k p b)
  | Let x b => Let (prefixes j k p x) (prefixes (S j) k p b) | Cat n a b => Cat n (prefixes j k p a) (prefixes j k p b) | Plus m a b => Plus m (prefixes j k p a) (prefixes j k p b)
  | View v n b => View v n (prefixes j k p b) | Zeros s => Zeros s | Get x i => if Nat.leb j x && Nat.ltb x (j + k) then Get x (p :: i) else Get x i | Lit v => Lit v | Index q => Index q
  | Op f args => Op f (map (prefixes j k p) args) | MulAcc a b => MulAcc (prefixes j k p a) (prefixes j k p b)
  | Choose c a b => Choose c (prefixes j k p a) (prefixes j k p b) | ChooseV g c a b => ChooseV g (prefixes j k p c) (prefixes j k p a) (prefixes j k p b)
  end.

(** A row: of each array, the last of which is number 0, its elements, or a number. *)
Definition size (x : option idx) := match x with Some n => n | None => Num 1 end.
Definition piece (k : nat) (x : option idx) := match x with Some n => Gen (Num 0) (lift n) (Get k [Var 0%nat]) | None => Gen (Num 0) (Num 1) (Get k []) end.
Fixpoint row (x : option idx) (r : list (option idx)) : term := match r with [] => piece 0 x | y :: r' => Cat 0 (piece (length r) x) (row y r') end.
Definition read_piece (t : term) := match t with Gen _ hi (Get _ [_]) => Some (lower hi) | _ => None end.
Fixpoint read_row (t : term) : list (option idx) := match t with Cat _ u v => read_piece u :: read_row v | u => [read_piece u] end.
(** Where each stands, in array number z. *)
Fixpoint places (z : nat) (from : idx) (r : list (option idx)) : list (nat * (nat * (idx * option idx))) :=
  match r with [] => [] | x :: r => (length r, (z, (from, x))) :: places z (IAdd from (size x)) r end.

Section Joined.
  Variable table : list (list poly * list step).
  Hypothesis table_ok : forallb (fun g => rows_ok (fst g) (snd g)) table = true.
  Variable top : list idx.
  Variable fuel : nat.
  Notation here := (here table top).
  Notation closed := (closed top).
  Notation equal_closed := (equal_closed table top).

  Fixpoint rounds C lo hi (k : nat) (xs ys : list term) : bool :=
    match xs, ys with
    | [], [] => true
    | Gen lo' hi' b :: xs, y :: ys =>
        equal_closed (depth C) lo lo' && equal_closed (depth C) hi hi' && fixed 1 y && alike (sure top) (S (depth C)) [] b (prefixes 0 k (ISub (Var 0) (lift lo)) y) && rounds C lo hi (S k) xs ys
    | _, _ => false
    end.
  Definition joining (ls : list (nat * (nat * (idx * option idx)))) C := {| depth := depth C; facts := facts C; mode := mode C; defs := []; bounds := []; links := ls |}.

  Definition joined C (n : nat) (t new : term) : option (list law) :=
    match new with
    | Let (Gen lo hi made) b =>
        match lets n t, lets n made with
        | Some (xs, rest), Some (ys, r) =>
            match read_row r with
            | x :: more =>
                when (Nat.eqb (S (length more)) n && rounds C lo hi 0 xs ys && alike (sure top) (S (depth C)) [] r (row x more) && forallb (fun y => here C (size y)) (x :: more))
                  (follow table top false fuel (joining (places n (Num 0) (x :: more)) C) (tsub Var (fun k => if Nat.ltb k n then k else S k) rest) (tsub Var (fun k => n + k)%nat b))
            | [] => None
            end
        | _, _ => None
        end
    | _ => None
    end.

  Section Sound.
    Context {ops : operators}.

    Definition array x e A : list Z -> V := fun j => if within j (dims x e) then sem None x e A j zero else junk.
    Fixpoint stack (xs : list term) e A : arrays := match xs with [] => A | x :: r => stack r e (cons (array x e A) A) end.
    Lemma stack_skips xs e : forall A x, stack xs e A (length xs + x)%nat = A x.
    Proof. induction xs as [| y xs IH]; intros A x; cbn [stack length Nat.add]; auto. replace (S (length xs + x)) with (length xs + S x)%nat by lia. rewrite IH. reflexivity. Qed.
    Lemma lets_mean n : forall t xs r, lets n t = Some (xs, r) -> length xs = n /\ forall m e A i a, dims t e = dims r e /\ sem m t e A i a = sem m r e (stack xs e A) i a.
    Proof.
      induction n as [| n IH]; intros t xs r H; cbn [lets] in H; [injection H as <- <-; split; auto |]. destruct t; try discriminate. destruct (lets n t2) as [[ys s] |] eqn:E; [| discriminate].
      injection H as <- <-. destruct (IH _ _ _ E) as [L S]. cbn [length]. split; [now f_equal |]. intros m e A i a. cbn [dims stack Terms.sem]. apply (S m e (cons (array t1 e A) A) i a).
    Qed.

    Lemma dims_prefixes t : forall j k p e, dims (prefixes j k p t) e = dims t e.
    Proof. induction t using term_ind'; simpl; intros; auto; rewrite ?IHt, ?IHt1, ?IHt2; auto. destruct (_ && _); reflexivity. Qed.
    Lemma sem_prefixes t : forall j k p m e A B i a, (forall x l, B x l = if Nat.leb j x && Nat.ltb x (j + k) then A x (ival e p :: l) else A x l) -> sem m (prefixes j k p t) e A i a = sem m t e B i a.
    Proof.
      induction t using term_ind'; cbn [Terms.sem prefixes]; intros j0 k0 p0 mode e A B i a H'.
      - destruct i; auto. apply IHt. intros. rewrite ival_lift. apply H'.
      - apply into_ext. apply fold_in. intros c x _. apply IHt. intros. rewrite ival_lift. apply H'.
      - destruct (all_hold cs e); auto.
      - apply IHt2. intros [| x] l; cbn [cons]; [| apply H']. simpl. now rewrite dims_prefixes, (IHt1 j0 k0 p0 None e A B l zero H').
      - rewrite dims_prefixes. cbn zeta. destruct (_ <? _); auto.
      - destruct mode as [o' |]; [destruct (monoid_eq o' m) |]; rewrite (IHt1 j0 k0 p0 _ e A B i a H'); now rewrite (IHt2 j0 k0 p0 _ e A B i _ H').
      - rewrite dims_prefixes. destruct (pull_axis n _ _ i); auto.
      - reflexivity.
      - rewrite H'. destruct (_ && _); reflexivity.
      - reflexivity.
      - reflexivity.
      - do 2 f_equal. rewrite map_map. apply map_ext_in. intros t T. rewrite Forall_forall in H. now apply H.
      - now rewrite (IHt1 j0 k0 p0 None e A B [] zero H'), (IHt2 j0 k0 p0 None e A B [] zero H').
      - destruct (passes _ _); auto.
      - rewrite (IHt1 j0 k0 p0 None e A B [] zero H'). destruct (eqb s _); auto.
    Qed.

    (** In a round i the array is the element i of what the loop built; in no round it is nothing. *)
    Theorem round_same C lo hi e i : closed (depth C) e -> forall xs ys k A B, rounds C lo hi k xs ys = true ->
      (if between i (ival e hi - ival e lo) then forall x l, B x l = if Nat.ltb x k then A x (i :: l) else A x l else forall x l, (x < k)%nat -> A x (i :: l) = junk) ->
      if between i (ival e hi - ival e lo) then forall x l, stack ys (cons (ival e lo + i) e) B x l = if Nat.ltb x (k + length xs) then stack xs e A x (i :: l) else stack xs e A x l
      else forall x l, (x < k + length xs)%nat -> stack xs e A x (i :: l) = junk.
    Proof.
      intro K. induction xs as [| x xs IH]; intros [| y ys] k A B R H; try discriminate; try (destruct x; discriminate).
      - cbn [stack length]. now rewrite Nat.add_0_r.
      - destruct x; try discriminate. cbn [rounds] in R. rewrite !andb_true_iff in R. destruct R as [[[[L T] X] M] R]. apply (equal_closed_sound table table_ok top _ _ _ e K) in L. apply (equal_closed_sound table table_ok top _ _ _ e K) in T.
        apply fixed_steady in X. cbn [stack length]. replace (k + S (length xs))%nat with (S k + length xs)%nat by lia. apply (IH ys (S k)); auto.
        assert (D : forall l, within (i :: l) (dims (Gen lo0 hi0 x) e) = between i (ival e hi - ival e lo) && within l (dims y (cons (ival e lo + i) e))).
        { intro l. cbn [dims within]. rewrite <- L, <- T. destruct (alike_means top (S (depth C)) _ _ (cons (ival e lo) e) M K) as [-> _]. rewrite dims_prefixes. now rewrite (X (ival e lo) (ival e lo + i) e). }
        destruct (between i (ival e hi - ival e lo)) eqn:W.
        + intros [| n] l; cbn [cons]; [| change (Nat.ltb (S n) (S k)) with (Nat.ltb n k); apply H]. change (Nat.ltb 0 (S k)) with true. cbn iota. unfold array. rewrite D. cbn [andb]. destruct (within l _); auto.
          cbn [Terms.sem]. rewrite <- L. destruct (alike_means top (S (depth C)) _ _ (cons (ival e lo + i) e) M K) as [_ ->]. symmetry. apply sem_prefixes.
          intros n m. cbn [Nat.leb andb Nat.add]. rewrite H. rewrite ival_sub, ival_lift. cbn [ival cons]. now replace (ival e lo + i - ival e lo) with i by lia.
        + intros [| n] l N; cbn [cons]; [| apply H; lia]. unfold array. now rewrite D.
    Qed.

    Definition total e (r : list (option idx)) := fold_right (fun x n => ival e (size x) + n) 0 r.
    Lemma piece_dims k x v e : dims (piece k x) (cons v e) = [ival e (size x)].
    Proof. destruct x; cbn [piece dims size ival]; rewrite ?ival_lift; f_equal; lia. Qed.
    Lemma row_dims r : forall x v e, dims (row x r) (cons v e) = [total e (x :: r)].
    Proof. induction r as [| y r IH]; intros x v e; cbn [row dims]; rewrite piece_dims; cbn [at_axis]; [| rewrite IH]; cbn [total fold_right nth]; f_equal; lia. Qed.
    Lemma piece_has k x v e A q : 0 <= q < ival e (size x) -> sem None (piece k x) (cons v e) A [q] zero = A k (match x with Some _ => [q] | None => [] end).
    Proof. destruct x; intro Q; reflexivity. Qed.
    Lemma total_least e r : (forall x, In x r -> 0 <= ival e (size x)) -> 0 <= total e r.
    Proof. induction r as [| x r IH]; intro P; cbn [total fold_right]; [lia |]. specialize (IH (fun y Y => P y (or_intror Y))). pose proof (P x (or_introl eq_refl)). unfold total in IH. lia. Qed.

    (** An array's elements stand in the row from its place on. *)
    Theorem row_has z e v A : forall r x from, (forall y, In y (x :: r) -> 0 <= ival e (size y)) -> forall k z' p y, In (k, (z', (p, y))) (places z from (x :: r)) -> z' = z /\ (k <= length r)%nat /\
      forall q, 0 <= q < ival e (size y) -> 0 <= ival e p - ival e from + q < total e (x :: r) /\
        sem None (row x r) (cons v e) A [ival e p - ival e from + q] zero = A k (match y with Some _ => [q] | None => [] end).
    Proof.
      induction r as [| w r IH]; intros x from P k z' p y I; cbn [places] in I; destruct I as [[= <- <- <- <-] | I].
      - repeat split; auto; try (cbn [total fold_right]; lia). rewrite Z.sub_diag. cbn [Z.add row length]. now apply piece_has.
      - destruct I.
      - pose proof (total_least e (w :: r) (fun y Y => P y (or_intror Y))) as T. split; [reflexivity |]. split; [reflexivity |]. intros q Q. rewrite Z.sub_diag, Z.add_0_l. split; [change (total e (x :: w :: r)) with (ival e (size x) + total e (w :: r)); lia |].
        change (row x (w :: r)) with (Cat 0 (piece (length (w :: r)) x) (row w r)). cbn [Terms.sem]. rewrite piece_dims. cbn [nth]. replace (q <? ival e (size x)) with true by (symmetry; apply Z.ltb_lt; lia). now apply piece_has.
      - destruct (IH w (IAdd from (size x)) (fun y Y => P y (or_intror Y)) k z' p y I) as (-> & L & S). split; [reflexivity |]. split; [cbn [length]; lia |]. intros q Q. destruct (S q Q) as [B E]. cbn [ival] in B, E.
        pose proof (P x (or_introl eq_refl)). split; [change (total e (x :: w :: r)) with (ival e (size x) + total e (w :: r)); lia |].
        change (row x (w :: r)) with (Cat 0 (piece (length (w :: r)) x) (row w r)). cbn [Terms.sem]. rewrite piece_dims. cbn [nth]. destruct (Z.ltb_spec (ival e p - ival e from + q) (ival e (size x))); [lia |]. cbn [at_axis].
        rewrite <- E. do 2 f_equal. lia.
    Qed.

    Theorem joined_fits C n t u l : joined C n t u = Some l -> lawful l -> fits top C t u.
    Proof.
      intros H W. unfold joined in H. destruct u as [| | | made0 b | | | | | | | | | | |]; try discriminate. destruct made0 as [lo hi made | | | | | | | | | | | | | |]; try discriminate.
      destruct (lets n t) as [[xs rest] |] eqn:T; [| discriminate]. destruct (lets n made) as [[ys r] |] eqn:U; [| discriminate]. destruct (read_row r) as [| x more]; [discriminate |].
      apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [[[N R] Y] P]. apply Nat.eqb_eq in N. intros e A i a K F Q I.
      destruct (lets_mean n _ _ _ T) as [LX SL]. destruct (lets_mean n _ _ _ U) as [LY S']. destruct (SL (mode C) e A i a) as [D ->]. rewrite D in I.
      set (old := stack xs e A). set (Z := array (Gen lo hi made) e A).
      set (M := fun y : nat => if Nat.ltb y n then old y else if Nat.eqb y n then Z else old (Nat.pred y)).
      pose proof (follow_fits table table_ok top false fuel _ _ _ l H W e M i a K F) as G.
      assert (KM : knowing (joining (places n (Num 0) (x :: more)) C) M e).
      { split; [intros y [] |]. split; [intros y [] |]. intros [y [z [from count]]] J. cbn [joining links fst snd] in *.
        assert (E : forall i q, 0 <= q < ival e (size count) -> M y (i :: match count with Some _ => [q] | None => [] end) = M z [i; ival e from + q]).
        { intros i' q B. rewrite forallb_forall in P.
          assert (P' : forall w, In w (x :: more) -> 0 <= ival e (size w)) by (intros w J'; apply (here_sound table table_ok top C); auto).
          destruct (row_has n e (ival e lo + i') (stack ys (cons (ival e lo + i') e) A) more x (Num 0) P' y z from count J) as (-> & L & V). destruct (V q B) as [B' V']. cbn [ival] in B', V'. rewrite Z.sub_0_r in B', V'.
          unfold M. replace (Nat.ltb y n) with true by (symmetry; apply Nat.ltb_lt; lia). rewrite Nat.ltb_irrefl, Nat.eqb_refl.
          pose proof (round_same C lo hi e i' K xs ys 0 A A R) as O. unfold Z, array. cbn [dims within]. destruct (S' None (cons (ival e lo) e) A [] zero) as [-> _].
          destruct (alike_means top (S (depth C)) _ _ (cons (ival e lo) e) Y K) as [-> _]. rewrite row_dims. cbn [within]. rewrite andb_true_r.
          destruct (between i' (ival e hi - ival e lo)).
          - replace (between (ival e from + q) (total e (x :: more))) with true by (symmetry; unfold between; apply andb_true_intro; split; [apply Z.leb_le | apply Z.ltb_lt]; lia). cbn [andb Terms.sem].
            destruct (S' None (cons (ival e lo + i') e) A [ival e from + q] zero) as [_ ->]. destruct (alike_means top (S (depth C)) _ _ (cons (ival e lo + i') e) Y K) as [_ ->]. rewrite V'.
            rewrite O by reflexivity. replace (Nat.ltb y (0 + length xs)) with true by (symmetry; apply Nat.ltb_lt; lia). reflexivity.
          - cbn [andb]. apply O; [intros ? ? ?; lia | lia]. }
        unfold linked. destruct count as [c |]; cbn [option_map].
        - intros i' q B. apply (E i' q B).
        - intros i'. specialize (E i' 0). rewrite Z.add_0_r in E. apply E. cbn [size ival]. lia. }
      specialize (G KM). rewrite dims_tsub in G. cbn [ival] in G. specialize (G I). cbn [joining mode] in G. rewrite !sem_tsub in G. cbn [ival] in G.
      transitivity (sem (mode C) rest e (fun y => M (if Nat.ltb y n then y else S y)) i a).
      { apply sem_ext; auto. intros y j. unfold M. destruct (Nat.ltb y n) eqn:O; [now rewrite O |]. apply Nat.ltb_ge in O. replace (Nat.ltb (S y) n) with false by (symmetry; apply Nat.ltb_ge; lia).
        replace (Nat.eqb (S y) n) with false by (symmetry; apply Nat.eqb_neq; lia). reflexivity. }
      cbn [Terms.sem]. etransitivity; [exact G |]. apply sem_ext; auto. intros y j. unfold M. replace (Nat.ltb (n + y) n) with false by (symmetry; apply Nat.ltb_ge; lia). destruct y as [| y]; cbn [cons].
      - now rewrite Nat.add_0_r, Nat.eqb_refl.
      - replace (Nat.eqb (n + S y) n) with false by (symmetry; apply Nat.eqb_neq; lia). replace (Nat.pred (n + S y)) with (length xs + y)%nat by lia. unfold old. now rewrite stack_skips.
    Qed.
  End Sound.
End Joined.

Print Assumptions round_same.
Print Assumptions row_has.
Print Assumptions joined_fits.
