(** A step at a position of a term: what is known there (Env.down of atoll/check/terms.py), and that replacing a part by an equal one leaves the whole equal ([inside_out]). *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Require Import Terms Kernel Named Elements Normal Compare.
Import ListNotations.
Open Scope Z_scope.

Record context := {
  depth : nat; facts : list idx; mode : option monoid;
  defs : list (nat * term);            (* what arrays hold *)
  bounds : list (nat * list idx);      (* and what shapes they have: outside is junk *)
  links : list (nat * (nat * (idx * option idx)))   (* arrays of rows that stand in the rows of another one: which, from where, how many (none: numbers) *)
}.

Definition in_loop lo hi m C := {| depth := S (depth C); facts := under lo hi (facts C); mode := m; defs := map (fun x => (fst x, under_index (snd x))) (defs C); bounds := map (fun x => (fst x, map lift (snd x))) (bounds C);
  links := map (fun x => (fst x, (fst (snd x), (lift (fst (snd (snd x))), option_map lift (snd (snd (snd x))))))) (links C) |}.
Definition told cs C := {| depth := depth C; facts := cs ++ facts C; mode := mode C; defs := defs C; bounds := bounds C; links := links C |}.
Definition folding m C := {| depth := depth C; facts := facts C; mode := m; defs := defs C; bounds := bounds C; links := links C |}.
Definition naming x C := {| depth := depth C; facts := facts C; mode := mode C; defs := (O, under_let x) :: map (fun x => (S (fst x), under_let (snd x))) (defs C);
  bounds := (O, shape x) :: map (fun x => (S (fst x), snd x)) (bounds C);
  links := map (fun x => (S (fst x), (S (fst (snd x)), snd (snd x)))) (links C) |}.

(** What a choice tells its two sides. *)
Definition test_facts (t : test * idx) : list idx := match fst t with Ge => [snd t] | Eq => [snd t; IMul (Num (-1)) (snd t)] | Ne => [] end.
Definition chosen (ts : list (test * idx)) : list idx := flat_map test_facts ts.
Definition refused (ts : list (test * idx)) : list idx := match ts with [(Ge, p)] => [ISub (Num (-1)) p] | _ => [] end.
Lemma chosen_hold ts e : passes ts e = true -> forall p, In p (chosen ts) -> 0 <= ival e p.
Proof.
  intros P p I. apply in_flat_map in I as ([k q] & T & I). unfold passes in P. rewrite forallb_forall in P. specialize (P _ T). cbn [fst snd] in *. destruct k; cbn in P, I.
  - destruct I as [<- | []]. now apply Z.leb_le.
  - apply Z.eqb_eq in P. destruct I as [<- | [<- | []]]; cbn [ival]; lia.
  - destruct I.
Qed.
Lemma refused_hold ts e : passes ts e = false -> forall p, In p (refused ts) -> 0 <= ival e p.
Proof.
  intros P p I. destruct ts as [| [[] q] [| ? ?]]; cbn in I; try easy. destruct I as [<- | []]. unfold passes in P. cbn in P. rewrite andb_true_r in P. apply Z.leb_gt in P. rewrite ival_sub. cbn [ival]. lia.
Qed.

(** Views whose elements come from inside of what they are views of. *)
Definition pulls_inside v e s := forall i j, inside i (view_shape v e s) -> view_pull v e s i = Some j -> inside j s.
Lemma pulls_axis v e : forall n s i j, pulls_inside v e (skipn n s) -> inside i (at_axis n (view_shape v e) s) -> pull_axis n (view_pull v e) s i = Some j -> inside j s.
Proof.
  induction n as [| n IH]; intros s i j P I H; [exact (P i j I H) |]. destruct s as [| m s]; [cbn in H; discriminate |]. cbn [skipn at_axis pull_axis] in *.
  inversion I as [| x ? r ? X R]; subst. destruct (pull_axis n (view_pull v e) s r) as [q |] eqn:E; [| discriminate]. injection H as <-. constructor; auto. eapply IH; eauto.
Qed.

Ltac opened := repeat match goal with H : Forall2 _ _ (_ :: _) |- _ => inversion H; clear H; subst | H : Forall2 _ _ [] |- _ => inversion H; clear H; subst end.

Fixpoint set_nth {A} (k : nat) (l : list A) (x : A) : list A := match k, l with O, _ :: r => x :: r | S k, y :: r => y :: set_nth k r x | _, [] => [] end.

Section Path.
  Variable table : list (list poly * list step).
  Hypothesis table_ok : forallb (fun g => rows_ok (fst g) (snd g)) table = true.
  Variable top : list idx.
  Definition sizes_known := top_known top.
  Definition sure := surely sizes_known.
  Notation nf := (nf sure).
  Notation closed := (closed top).
  Let sure_is : forall k, sure k = true -> surely (top_known top) k = true := fun k H => H.

  (** Not negative, by what is known here; equal here; equal also where no loop around runs. *)
  Definition here C p := shown table (map (nf (depth C)) (facts C)) (nf (depth C) p).
  Definition equal_here C p q := same_idx sure (depth C) p q || (here C (ISub p q) && here C (ISub q p)).
  Definition equal_closed d p q := same_idx sure d p q || (shown table sizes_known (nf d (ISub p q)) && shown table sizes_known (nf d (ISub q p))).
  Fixpoint equal_shape d (s s' : list idx) := match s, s' with [], [] => true | p :: s, q :: s' => equal_closed d p q && equal_shape d s s' | _, _ => false end.

  Lemma here_sound C p e : closed (depth C) e -> holds (facts C) e -> here C p = true -> 0 <= ival e p.
  Proof.
    intros K F H. rewrite <- (nf_value top sure sure_is (depth C)) by auto. apply (shown_sound table table_ok (seen (depth C) e)) in H; auto.
    intros q Q. apply in_map_iff in Q as (f & <- & Q). rewrite nf_value with (top := top) by auto. auto.
  Qed.
  Lemma equal_here_sound C p q e : closed (depth C) e -> holds (facts C) e -> equal_here C p q = true -> ival e p = ival e q.
  Proof.
    intros K F H. apply orb_prop in H as [H | H]; [now apply (same_idx_val top sure sure_is _ e) in H |]. apply andb_prop in H as [H1 H2].
    apply (here_sound C _ e K F) in H1. apply (here_sound C _ e K F) in H2. rewrite ival_sub in *. lia.
  Qed.
  Lemma equal_closed_sound d p q e : closed d e -> equal_closed d p q = true -> ival e p = ival e q.
  Proof.
    intros K H. apply orb_prop in H as [H | H]; [now apply (same_idx_val top sure sure_is _ e) in H |]. apply andb_prop in H as [H1 H2].
    apply (shown_sound table table_ok (seen d e)) in H1; [| intros; now apply (top_so top d)]. apply (shown_sound table table_ok (seen d e)) in H2; [| intros; now apply (top_so top d)].
    rewrite nf_value with (top := top), ival_sub in H1, H2 by auto. lia.
  Qed.
  Lemma equal_shape_sound d e : closed d e -> forall s s', equal_shape d s s' = true -> map (ival e) s = map (ival e) s'.
  Proof.
    intro K. induction s as [| p s IH]; intros [| q s'] H; try discriminate; auto. cbn [equal_shape] in H. apply andb_prop in H as [H1 H2]. cbn [map]. now rewrite (equal_closed_sound d p q e K H1), (IH s' H2).
  Qed.

  Definition view_fits C v (s : list idx) : bool :=
    match v, s with
    | Flatten, _ :: m :: _ => here C m
    | TruncR k, _ | TruncL k, _ => here C k
    | Sample k, _ => here C (ISub k (Num 1))
    | _, _ => true
    end.
  Lemma view_fits_sound C v s e : closed (depth C) e -> holds (facts C) e -> view_fits C v s = true -> pulls_inside v e (map (ival e) s).
  Proof.
    intros K F H i j I P. unfold inside in *.
    assert (T : forall p, here C p = true -> 0 <= ival e p) by (intros p Q; now apply (here_sound C)).
    destruct v; destruct s as [| n [| m s]]; cbn [view_fits] in H; cbn [map view_shape] in I; opened; cbn [map view_pull] in P; try discriminate;
      try (apply T in H; rewrite ?ival_sub in H; cbn [ival] in H); try (injection P as <-);
      try match type of P with (if ?b then _ else _) = _ => destruct b eqn:E; [| discriminate]; injection P as <-; unfold between in E; rewrite ?andb_true_iff, ?Z.leb_le, ?Z.ltb_lt in E end;
      cbn [map]; repeat (apply Forall2_cons || apply Forall2_nil); auto; try lia; try nia.
    - assert (1 <= ival e m) by (destruct (Z.eq_dec (ival e m) 0) as [Q | Q]; [rewrite Q, Z.mul_0_r in *; lia | lia]). split; [apply Z.div_pos; lia | apply Z.div_lt_upper_bound; nia].
    - assert (1 <= ival e m) by (destruct (Z.eq_dec (ival e m) 0) as [Q | Q]; [rewrite Q, Z.mul_0_r in *; lia | lia]). apply Z.mod_pos_bound. lia.
    - pose proof (Z.mul_div_le (ival e n) (ival e k) ltac:(lia)). nia.
    - pose proof (Z.mul_div_le (ival e n) (ival e k) ltac:(lia)). nia.
    - unfold ceil in *. pose proof (Z.mul_succ_div_gt (- ival e n) (ival e k) ltac:(lia)). nia.
    - unfold ceil in *. pose proof (Z.mul_succ_div_gt (- ival e n) (ival e k) ltac:(lia)). nia.
  Qed.

  Section Meaning.
    Context {ops : operators}.
    Definition bounded (A : arrays) x (s : list Z) := forall j, within j s = false -> A x j = junk.
    Definition linked (A : arrays) x z from (count : option Z) :=
      match count with Some n => forall i q, 0 <= q < n -> A x [i; q] = A z [i; from + q] | None => forall i, A x [i] = A z [i; from] end.
    Definition knowing C A e := (forall x, In x (defs C) -> knows A (fst x) (snd x) e) /\ (forall x, In x (bounds C) -> bounded A (fst x) (map (ival e) (snd x))) /\
      (forall x, In x (links C) -> linked A (fst x) (fst (snd x)) (ival e (fst (snd (snd x)))) (option_map (ival e) (snd (snd (snd x))))).
    Definition fits C t u := forall e A i a, closed (depth C) e -> holds (facts C) e -> knowing C A e -> inside i (dims t e) -> sem (mode C) t e A i a = sem (mode C) u e A i a.
    Definition shapes C t u := forall e, closed (depth C) e -> dims t e = dims u e.
    Definition good C t u := fits C t u /\ shapes C t u.

    Lemma knowing_loop lo hi m C A e v : knowing C A e -> knowing (in_loop lo hi m C) A (cons v e).
    Proof.
      intros (K & B & L). repeat split; intros x X; apply in_map_iff in X as (y & <- & Y); [apply knows_deeper; exact (K y Y) | cbn [fst snd]; rewrite map_lift_val; exact (B y Y) |].
      cbn [fst snd]. specialize (L y Y). destruct y as [y [z [from [n |]]]]; cbn [fst snd option_map] in *; now rewrite ?ival_lift.
    Qed.
    Lemma knowing_name x C A e : knowing C A e -> knowing (naming x C) (cons (fun j => if within j (dims x e) then sem None x e A j zero else junk) A) e.
    Proof.
      intros (K & B & L). split; [| split]; [intros y [<- | Y] | intros y [<- | Y] | intros y Y].
      - apply knows_let.
      - apply in_map_iff in Y as (z & <- & Y). apply knows_later. exact (K z Y).
      - intros j J. cbn [fst snd cons] in *. rewrite shape_dims in J. now rewrite J.
      - apply in_map_iff in Y as (z & <- & Y). exact (B z Y).
      - apply in_map_iff in Y as (z & <- & Y). exact (L z Y).
    Qed.

    Lemma scalar_dims t e : shape t = [] -> dims t e = [].
    Proof. intro H. now rewrite <- shape_dims, H. Qed.
    Lemma equal_dims d t u e : closed d e -> equal_shape d (shape t) (shape u) = true -> dims t e = dims u e.
    Proof. intros K H. rewrite <- !shape_dims. now apply (equal_shape_sound d e K). Qed.
  End Meaning.

  Variable law : Type.
  Variable step : context -> term -> option (term * list law).
  Definition scalar t := match shape t with [] => true | _ => false end.
  Definition alike_but n d (u v : term) := equal_shape d (firstn n (shape u)) (firstn n (shape v)) && equal_shape d (skipn (S n) (shape u)) (skipn (S n) (shape v)) && Nat.ltb n (length (shape u)) && Nat.ltb n (length (shape v)).
  Definition again {A B} (f : A -> B) (r : option (A * list law)) : option (B * list law) := match r with Some (x, l) => Some (f x, l) | None => None end.

  (** The term with the step done at the end of the path: a part at a time. *)
  Fixpoint inside_out (path : list nat) (C : context) (t : term) {struct path} : option (term * list law) :=
    match path with
    | [] => match step C t with Some (u, l) => if equal_shape (depth C) (shape t) (shape u) then Some (u, l) else None | None => None end
    | k :: path =>
        match t, k with
        | Gen lo hi b, O => if fixed 1 b then again (Gen lo hi) (inside_out path (in_loop lo hi (mode C) C) b) else None
        | Sum m lo hi b, O => if fixed 1 b then again (Sum m lo hi) (inside_out path (in_loop lo hi (Some m) C) b) else None
        | Guard cs b, O => again (Guard cs) (inside_out path (told cs C) b)
        | Let x b, O => again (fun x => Let x b) (inside_out path (folding None C) x)
        | Let x b, S O => again (Let x) (inside_out path (naming x C) b)
        | Cat n u v, O => again (fun u => Cat n u v) (inside_out path C u)
        | Cat n u v, S O => if alike_but n (depth C) u v then again (Cat n u) (inside_out path C v) else None
        | Plus m u v, O => again (fun u => Plus m u v) (inside_out path (folding (left_mode (mode C) m) C) u)
        | Plus m u v, S O => if equal_shape (depth C) (shape u) (shape v) then again (Plus m u) (inside_out path (folding (Some m) C) v) else None
        | View v n b, O => if view_fits C v (skipn n (shape b)) then again (View v n) (inside_out path C b) else None
        | Op f args, k => match nth_error args k with Some x => if scalar x then again (fun x => Op f (set_nth k args x)) (inside_out path (folding None C) x) else None | None => None end
        | MulAcc a b, O => if scalar a then again (fun a => MulAcc a b) (inside_out path (folding None C) a) else None
        | MulAcc a b, S O => if scalar b then again (MulAcc a) (inside_out path (folding None C) b) else None
        | Choose ts a b, O => if scalar a then again (fun a => Choose ts a b) (inside_out path (told (chosen ts) C) a) else None
        | Choose ts a b, S O => if scalar b then again (Choose ts a) (inside_out path (told (refused ts) C) b) else None
        | ChooseV g c a b, O => if scalar a then again (fun a => ChooseV g c a b) (inside_out path C a) else None
        | ChooseV g c a b, S O => if scalar b then again (ChooseV g c a) (inside_out path C b) else None
        | ChooseV g c a b, S (S O) => if scalar c then again (fun c => ChooseV g c a b) (inside_out path (folding None C) c) else None
        | _, _ => None
        end
    end.

  Section Sound.
    Context {ops : operators}.
    Variable lawful : list law -> Prop.
    Hypothesis step_fits : forall C t u l, step C t = Some (u, l) -> lawful l -> fits C t u.

    Lemma again_some {A B} (f : A -> B) r y l : again f r = Some (y, l) -> exists x, r = Some (x, l) /\ y = f x.
    Proof. destruct r as [[x l'] |]; [| discriminate]. cbn. intros [= <- <-]. eauto. Qed.
    Lemma told_holds cs C e : (forall p, In p cs -> 0 <= ival e p) -> holds (facts C) e -> holds (facts (told cs C)) e.
    Proof. intros H F p P. cbn in P. apply in_app_iff in P as [P | P]; auto. Qed.
    Lemma shifted_inside n : forall i s s' k, length s = length s' -> (n < length s)%nat -> firstn n s = firstn n s' -> skipn (S n) s = skipn (S n) s' -> k = nth n s 0 ->
      inside i (at_axis n (fun l => match l with x :: r => x + nth n s' 0 :: r | [] => [] end) s) -> k <= nth n i 0 -> inside (at_axis n (fun l => match l with x :: r => x - k :: r | [] => [] end) i) s'.
    Proof.
      induction n as [| n IH]; intros i s s' k L N P Q K I M; destruct s as [| x s], s' as [| y s']; cbn [length] in *; try lia.
      - cbn [at_axis nth skipn] in *. subst. inversion I; subst. cbn [nth] in M. constructor; [lia | auto].
      - change (skipn (S n) s = skipn (S n) s') in Q. cbn [at_axis nth firstn] in *. injection P as -> P. inversion I as [| z ? r ? Z R]; subst. cbn [at_axis nth] in *. constructor; auto. apply (IH _ s); auto; lia.
    Qed.
    Lemma left_inside c n : forall i s, inside i (at_axis n (fun l => match l with x :: r => x + c :: r | [] => [] end) s) -> nth n i 0 < nth n s 0 -> inside i s.
    Proof.
      induction n as [| n IH]; intros i [| x s] I L; cbn [at_axis nth] in *; auto; inversion I; subst; constructor; auto; [cbn [nth] in L; lia |]. apply IH; auto.
    Qed.
    Lemma set_nth_map {A B} (f : A -> B) : forall k l x y, nth_error l k = Some x -> f x = f y -> map f (set_nth k l y) = map f l.
    Proof. induction k as [| k IH]; intros [| z l] x y N E; try discriminate; cbn [set_nth map]; [injection N as ->; now rewrite E | f_equal; eauto]. Qed.

    Theorem inside_out_good path : forall C t u l, inside_out path C t = Some (u, l) -> lawful l -> good C t u.
    Proof.
      induction path as [| k path IH]; intros C t u l H W.
      - cbn [inside_out] in H. destruct (step C t) as [[v l'] |] eqn:S; [| discriminate]. destruct (equal_shape _ _ _) eqn:E; [| discriminate]. injection H as <- <-. split; [eapply step_fits; eauto |].
        intros e K. now apply (equal_dims (depth C)).
      - cbn [inside_out] in H. destruct t.
        + destruct k; [| discriminate]. destruct (fixed 1 t) eqn:X; [| discriminate]. apply fixed_steady in X. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split.
          * intros e A i a K F Q I. cbn [dims] in I. inversion I as [| x n r s Y R]; subst. cbn [Terms.sem]. apply S; auto.
            -- apply holds_under; auto. lia.
            -- now apply knowing_loop.
            -- now rewrite (X (ival e lo + x) (ival e lo) e).
          * intros e K. cbn [dims]. f_equal. now apply D.
        + destruct k; [| discriminate]. destruct (fixed 1 t) eqn:X; [| discriminate]. apply fixed_steady in X. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split.
          * intros e A i a K F Q I. cbn [Terms.sem]. apply into_ext. apply fold_in. intros c x Y. apply in_span in Y. apply S; auto.
            -- now apply holds_under.
            -- now apply knowing_loop.
            -- cbn [dims] in I. now rewrite (X x (ival e lo) e).
          * intros e K. cbn [dims]. now apply D.
        + destruct k; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split.
          * intros e A i a K F Q I. cbn [Terms.sem]. destruct (all_hold cs e) eqn:E; auto. apply S; auto. now apply holds_app.
          * intros e K. cbn [dims]. now apply D.
        + destruct k as [| [| k]]; [| | discriminate]; apply again_some in H as (b & H & ->); destruct (IH _ _ _ _ H W) as [S D]; split.
          * intros e A i a K F Q I. cbn [Terms.sem]. apply sem_ext; auto. intros [| n] j; cbn [cons]; auto. rewrite <- (D e K). destruct (within j (dims t1 e)) eqn:Y; auto. apply S; auto. now apply within_inside.
          * intros e K. reflexivity.
          * intros e A i a K F Q I. cbn [Terms.sem]. apply S; auto. now apply knowing_name.
          * intros e K. cbn [dims]. now apply D.
        + destruct k as [| [| k]]; [| | discriminate].
          * apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split.
            -- intros e A i a K F Q I. cbn [Terms.sem]. cbn zeta. rewrite <- (D e K). destruct (Z.ltb_spec (nth axis i 0) (nth axis (dims t1 e) 0)) as [J | J]; auto. apply S; auto.
               cbn [dims] in I. now apply (left_inside _ axis) in I.
            -- intros e K. cbn [dims]. now rewrite (D e K).
          * destruct (alike_but axis (depth C) t1 t2) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split.
            -- intros e A i a K F Q I. cbn [Terms.sem]. cbn zeta. destruct (Z.ltb_spec (nth axis i 0) (nth axis (dims t1 e) 0)) as [J | J]; auto. apply S; auto.
               unfold alike_but in X. rewrite !andb_true_iff, !Nat.ltb_lt in X. destruct X as [[[X1 X2] X3] X4].
               apply (equal_shape_sound _ e K) in X1. apply (equal_shape_sound _ e K) in X2. rewrite <- !firstn_map in X1. rewrite <- !skipn_map in X2. rewrite !shape_dims in X1, X2.
               assert (L1 : length (dims t1 e) = length (shape t1)) by (rewrite <- shape_dims; apply map_length).
               assert (L2 : length (dims t2 e) = length (shape t2)) by (rewrite <- shape_dims; apply map_length).
               cbn [dims] in I. apply (shifted_inside axis i (dims t1 e)); auto; try lia.
               pose proof (f_equal (@length Z) X2) as Y. rewrite !skipn_length in Y. lia.
            -- intros e K. cbn [dims]. now rewrite (D e K).
        + destruct k as [| [| k]]; [| | discriminate].
          * apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split; [| exact D].
            intros e A i a K F Q I. cbn [Terms.sem]. specialize (S e A i a K F Q I). cbn [folding mode] in S. unfold left_mode in S.
            destruct (mode C) as [o' |]; [destruct (monoid_eq o' m) |]; now rewrite S.
          * destruct (equal_shape _ _ _) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split; [| intros e K; reflexivity].
            intros e A i a K F Q I. cbn [dims] in I. rewrite (equal_dims (depth C) t1 t2 e K X) in I. pose proof (fun a => S e A i a K F Q I) as S'. cbn [folding mode] in S'. cbn [Terms.sem].
            destruct (mode C) as [o' |]; [destruct (monoid_eq o' m); [subst |] |]; now rewrite S'.
        + destruct k; [| discriminate]. destruct (view_fits _ _ _) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split.
          * intros e A i a K F Q I. cbn [Terms.sem]. rewrite <- (D e K). destruct (pull_axis axis (view_pull v e) (dims t e) i) as [j |] eqn:E; auto. apply S; auto.
            apply (view_fits_sound C v _ e K F) in X. rewrite <- skipn_map, shape_dims in X. eapply pulls_axis; eauto.
          * intros e K. cbn [dims]. now rewrite (D e K).
        + destruct k; discriminate.
        + destruct k; discriminate.
        + destruct k; discriminate.
        + destruct k; discriminate.
        + destruct (nth_error args k) as [x |] eqn:N; [| discriminate]. unfold scalar in H. destruct (shape x) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D].
          split; [| intros e K; reflexivity]. intros e A i a K F Q I. cbn [Terms.sem]. do 2 f_equal. symmetry. apply (set_nth_map _ _ _ x); auto. apply S; auto. rewrite (scalar_dims x) by auto. constructor.
        + destruct k as [| [| k]]; [| | discriminate]; unfold scalar in H.
          * destruct (shape t1) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split; [| intros e K; reflexivity].
            intros e A i a K F Q I. cbn [Terms.sem]. pose proof (S e A [] zero K F Q) as S'. cbn [folding mode] in S'. rewrite S'; auto. rewrite (scalar_dims t1) by auto. constructor.
          * destruct (shape t2) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split; [| intros e K; reflexivity].
            intros e A i a K F Q I. cbn [Terms.sem]. pose proof (S e A [] zero K F Q) as S'. cbn [folding mode] in S'. rewrite S'; auto. rewrite (scalar_dims t2) by auto. constructor.
        + destruct k as [| [| k]]; [| | discriminate]; unfold scalar in H.
          * destruct (shape t1) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split; [| intros e K; reflexivity].
            intros e A i a K F Q I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. destruct (passes ts e) eqn:P; auto. apply (S e A [] a K); auto; [| rewrite (scalar_dims t1) by auto; constructor].
            apply told_holds; auto. now apply chosen_hold.
          * destruct (shape t2) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split; [| intros e K; reflexivity].
            intros e A i a K F Q I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. destruct (passes ts e) eqn:P; auto. apply (S e A [] a K); auto; [| rewrite (scalar_dims t2) by auto; constructor].
            apply told_holds; auto. now apply refused_hold.
        + destruct k as [| [| [| k]]]; [| | | discriminate]; unfold scalar in H.
          * destruct (shape t2) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split; [| intros e K; reflexivity].
            intros e A i a K F Q I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. destruct (eqb sign _); auto. apply (S e A [] a K); auto. rewrite (scalar_dims t2) by auto. constructor.
          * destruct (shape t3) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split; [| intros e K; reflexivity].
            intros e A i a K F Q I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. destruct (eqb sign _); auto. apply (S e A [] a K); auto. rewrite (scalar_dims t3) by auto. constructor.
          * destruct (shape t1) eqn:X; [| discriminate]. apply again_some in H as (b & H & ->). destruct (IH _ _ _ _ H W) as [S D]. split; [| intros e K; reflexivity].
            intros e A i a K F Q I. cbn [dims] in I. cbn [Terms.sem]. pose proof (S e A [] zero K F Q) as S'. cbn [folding mode] in S'. rewrite S'; auto. rewrite (scalar_dims t1) by auto. constructor.
    Qed.
  End Sound.
End Path.

Print Assumptions inside_out_good.
