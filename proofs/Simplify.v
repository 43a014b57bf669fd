(** The rule simplify (atoll/check/rules.py, follow): the old term and the new one are walked side by side, and at every node the new one is the old one with something dropped or
    written differently, for a reason that is shown. [follow_fits]: then they are equal here. [vanishes_pads]: what is seen to be zeros adds nothing. *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Require Import Terms Kernel Named Elements Normal Compare Path Applied Values.
Import ListNotations.
Open Scope Z_scope.

Section Simplify.
  Variable table : list (list poly * list step).
  Hypothesis table_ok : forallb (fun g => rows_ok (fst g) (snd g)) table = true.
  Variable top : list idx.
  Notation here := (here table top).
  Notation equal_here := (equal_here table top).
  Notation sizes := (sizes_known top).
  Notation nf := (nf (sure top)).
  Notation closed := (closed top).
  Notation equal_shape := (equal_shape table top).

  Definition never C p := here C (ISub (Num (-1)) p).
  Definition at_least_closed d p := shown table sizes (nf d p).
  Fixpoint equal_list C (l k : list idx) := match l, k with [], [] => true | p :: l, q :: k => equal_here C p q && equal_list C l k | _, _ => false end.
  Definition equal_view C v w :=
    match v, w with
    | Transpose, Transpose | Flatten, Flatten | Reverse, Reverse => true
    | Split k, Split l | Tile k, Tile l | TruncR k, TruncR l | TruncL k, TruncL l | PadR k, PadR l | PadL k, PadL l | Sample k, Sample l | Window k, Window l => equal_here C k l
    | _, _ => false
    end.
  Definition extent (n : nat) t := nth n (shape t) (Num 0).
  Definition no_rows C n t := at_least_closed (depth C) (ISub (Num 0) (extent n t)).

  Fixpoint first_fails C (cs : list idx) : bool := match cs with [] => false | c :: cs => never C c || first_fails (told [c] C) cs end.

  Fixpoint vanishes (C : context) (t : term) : option (list law) :=
    match t with
    | Zeros _ => Some []
    | Guard cs b => if first_fails C cs then Some [] else vanishes (told cs C) b
    | Gen lo hi b => when (fixed 1 b) (vanishes (in_loop lo hi (mode C) C) b)
    | Sum (Add d) lo hi b => when (type_is (mode C) d && fixed 1 b) (if here C (ISub lo hi) then Some [] else vanishes (in_loop lo hi (Some (Add d)) C) b)
    | Cat n u v => when (alike_but table top n (depth C) u v) (both (if no_rows C n u then Some [] else vanishes C u) (if no_rows C n v then Some [] else vanishes C v))
    | Plus (Add d) u v => when (type_is (mode C) d && equal_shape (depth C) (shape u) (shape v)) (both (vanishes (folding (left_mode (mode C) (Add d)) C) u) (vanishes (folding (Some (Add d)) C) v))
    | Op f [u; v] => when (scalar u && scalar v) (both (both (vanishes (folding None C) u) (vanishes (folding None C) v)) (Some (ZeroZero f :: pad_law (mode C))))
    | _ => None
    end.

  (** Conditions that stay, go because they hold, or are written differently; what is known behind them. *)
  Fixpoint without_first (f : idx -> bool) (l : list idx) : option (idx * list idx) :=
    match l with [] => None | x :: r => if f x then Some (x, r) else match without_first f r with Some (y, r') => Some (y, x :: r') | None => None end end.
  Fixpoint guards C (cs ds : list idx) : option context :=
    match cs with
    | [] => match ds with [] => Some C | _ => None end
    | c :: cs =>
        match without_first (equal_here C c) ds with
        | Some (d, ds') => guards (told [d] C) cs ds'
        | None => if here C c then guards C cs ds else None
        end
    end.

  (** Tests of a choice: true, those that stay; or false. *)
  Definition decided C (t : test * idx) : option bool :=
    match fst t with
    | Ge => if here C (snd t) then Some true else if never C (snd t) then Some false else None
    | k => match constant (nf (depth C) (snd t)) with Some z => Some (true_of k z) | None => None end
    end.
  Fixpoint tests C (ts us : list (test * idx)) : option (option (list (test * idx))) :=
    match ts with
    | [] => match us with [] => Some (Some []) | _ => None end
    | t :: ts =>
        match us with
        | u :: us' =>
            if test_is (fst t) (fst u) && equal_here C (snd t) (snd u)
            then match tests (told (test_facts u) C) ts us' with Some (Some k) => Some (Some (u :: k)) | r => r end
            else match decided C t with Some true => tests C ts us | Some false => Some None | None => None end
        | [] => match decided C t with Some true => tests C ts [] | Some false => Some None | None => None end
        end
    end.

  (** A read of a name for what it is known to hold: one element, or all of it. *)
  Definition held C x : option term := option_map snd (find (fun y => Nat.eqb (fst y) x) (defs C)).
  Fixpoint in_range C (i s : list idx) : bool := match i, s with [], [] => true | p :: i, n :: s => here C p && here C (below p n) && in_range C i s | _, _ => false end.
  Fixpoint read_name (t : term) : option nat := match t with Gen _ _ b => read_name b | Get x _ => Some x | _ => None end.
  Definition bound_of C x : option (list idx) := option_map snd (find (fun y => Nat.eqb (fst y) x) (bounds C)).
  Fixpoint range_of (i s : list idx) : list idx := match i, s with p :: i, n :: s => p :: below p n :: range_of i s | _, _ => [] end.
  (** Reads of t as what they hold where they are inside, and zero elsewhere. *)
  Definition padded C t : list term :=
    match t with
    | Get x i =>
        match bound_of C x with
        | Some s => if Nat.eqb (length i) (length s) then Guard (range_of i s) t :: match held C x with Some d => if equal_shape (depth C) (shape d) s then [Guard (range_of i s) (elem Var d i)] else [] | None => [] end else []
        | None => []
        end
    | _ => []
    end.
  Definition recalled (next : context -> term -> term -> option (list law)) C t u : option (list law) :=
    match u with
    | Get x i =>
        match held C x with
        | Some d =>
            let w := elem Var d i in
            when (scalar t && scalar w && in_range C i (shape d))
              (both (either (next (folding None C) w t) (fold_right (fun v r => either (both (next (folding None C) w v) (Some [Outside])) r) None (padded C t))) (Some (value_law (mode C) t)))
        | None => None
        end
    | _ =>
        match read_name u with
        | Some x =>
            match held C x with
            | Some d => when (alike (sure top) (depth C) [] t d && alike (sure top) (depth C) [] (gens (shape t) (Get x (counted (length (shape t))))) u) (Some (value_law (mode C) t))
            | None => None
            end
        | None => None
        end
    end.

  (** A read of an array as one of the rows that it stands in. *)
  Definition read_linked C x i x' i' : bool :=
    match find (fun y => Nat.eqb (fst y) x) (links C) with
    | Some (_, (z, (from, count))) =>
        Nat.eqb z x' &&
        match count, i, i' with
        | Some n, [j; q], [j'; q'] => equal_here C j j' && equal_here C (IAdd from q) q' && here C q && here C (below q n)
        | None, [j], [j'; q'] => equal_here C j j' && equal_here C from q'
        | _, _, _ => false
        end
    | None => false
    end.

  Definition is_zeros t := match t with Zeros _ => true | _ => false end.

  Variable named : bool.

  Fixpoint follow (fuel : nat) (C : context) (t u : term) {struct fuel} : option (list law) :=
    match fuel with
    | O => None
    | S fuel =>
        let next := follow fuel in
        let same_node :=
          match t, u with
          | Gen lo hi b, Gen lo' hi' b' => when (equal_here C lo lo' && equal_here C hi hi' && fixed 1 b) (next (in_loop lo' hi' (mode C) C) b b')
          | Sum m lo hi b, Sum m' lo' hi' b' => when (monoid_is m m' && equal_here C lo lo' && equal_here C hi hi' && fixed 1 b) (next (in_loop lo' hi' (Some m) C) b b')
          | Guard _ _, _ => match guards C (conds t) (conds u) with Some C' => next C' (core t) (core u) | None => None end
          | Let x b, Let x' b' => when (equal_shape (depth C) (shape x) (shape x')) (both (next (folding None C) x x') (next (naming x' C) b b'))
          | Cat n a b, Cat n' a' b' => when (Nat.eqb n n' && alike_but table top n (depth C) a b && equal_shape (depth C) (shape a) (shape a')) (both (next C a a') (next C b b'))
          | Plus m a b, Plus m' a' b' => when (monoid_is m m' && equal_shape (depth C) (shape a) (shape b)) (both (next (folding (left_mode (mode C) m) C) a a') (next (folding (Some m) C) b b'))
          | View v n b, View v' n' b' => when (equal_view C v v' && Nat.eqb n n' && view_fits table top C v (skipn n (shape b)) && equal_shape (depth C) (shape b) (shape b')) (next C b b')
          | Zeros _, Zeros _ => Some []
          | Get x i, Get x' i' => when (Nat.eqb x x' && equal_list C i i' || read_linked C x i x' i') (Some [])
          | Lit c, Lit c' => when (Pos.eqb c c') (Some [])
          | Index p, Index p' => when (equal_here C p p') (Some [])
          | Op f args, Op f' args' => when (Pos.eqb f f')
              ((fix all (l l' : list term) {struct l} := match l, l' with [], [] => Some [] | x :: l, x' :: l' => when (scalar x) (both (next (folding None C) x x') (all l l')) | _, _ => None end) args args')
          | MulAcc a b, MulAcc a' b' => when (scalar a && scalar b) (both (next (folding None C) a a') (next (folding None C) b b'))
          | ChooseV g c a b, ChooseV g' c' a' b' => when (eqb g g' && scalar c && scalar a && scalar b) (both (next (folding None C) c c') (both (next C a a') (next C b b')))
          | _, _ => None
          end in
        let choice :=
          match t with
          | Choose ts a b =>
              when (scalar a && scalar b)
                match tests C ts (match u with Choose us _ _ => us | _ => [] end) with
                | Some None => next C b u
                | Some (Some []) => next C a u
                | Some (Some kept) => match u with Choose _ a' b' => both (next (told (chosen kept) C) a a') (next (told (refused kept) C) b b') | _ => None end
                | None => match tests C ts [] with Some None => next C b u | Some (Some []) => next C a u | _ => None end
                end
          | _ => None
          end in
        let dropped :=
          match t with
          | Op f [a; b] =>
              when (scalar a && scalar b && scalar u)
                (either (both (both (vanishes (folding None C) a) (next (folding None C) b u)) (Some (AddZero f true :: value_law (mode C) u)))
                (either (both (both (vanishes (folding None C) b) (next (folding None C) a u)) (Some (AddZero f false :: value_law (mode C) u)))
                (either (match a with Lit c => both (next (folding None C) b u) (Some (One f c true :: value_law (mode C) u)) | _ => None end)
                        (match b with Lit c => both (next (folding None C) a u) (Some (One f c false :: value_law (mode C) u)) | _ => None end))))
          | Plus (Add d) a b =>
              let mixed := match mode C with Some o => if monoid_eq o (Add d) then [] else value_law (mode C) u | None => [] end in
              when (type_is (mode C) d && equal_shape (depth C) (shape a) (shape b) && equal_shape (depth C) (shape a) (shape u))
                (either (both (both (vanishes (folding (Some (Add d)) C) b) (next (folding (left_mode (mode C) (Add d)) C) a u)) (Some mixed))
                        (both (both (vanishes (folding (left_mode (mode C) (Add d)) C) a) (next (folding (Some (Add d)) C) b u))
                              (Some (match mode C with Some o => if monoid_eq o (Add d) then [] else Unit (Add d) :: mixed | None => [Unit (Add d)] end))))
          | Cat n a b =>
              when (alike_but table top n (depth C) a b)
                (either (when (no_rows C n a && at_least_closed (depth C) (extent n a)) (next C b u)) (when (no_rows C n b) (next C a u)))
          | _ => None
          end in
        either (if named then recalled next C t u else None) (either (when (is_zeros u) (vanishes C t)) (either choice (either same_node dropped)))
    end.

  Section Sound.
    Context {ops : operators}.

    (** * Zeros *)

    Lemma never_so C p e : closed (depth C) e -> holds (facts C) e -> never C p = true -> (0 <=? ival e p) = false.
    Proof. intros K F H. apply (here_sound table table_ok top C _ e K F) in H. rewrite ival_sub in H. cbn [ival] in H. apply Z.leb_gt. lia. Qed.
    Lemma one_more C c e : holds (facts C) e -> (0 <=? ival e c) = true -> holds (facts (told [c] C)) e.
    Proof. intros F H p [<- | P]; auto. now apply Z.leb_le. Qed.
    Lemma first_fails_so cs : forall C e, closed (depth C) e -> holds (facts C) e -> first_fails C cs = true -> all_hold cs e = false.
    Proof.
      induction cs as [| c cs IH]; intros C e K F H; [discriminate |]. cbn [first_fails] in H. unfold all_hold. cbn [forallb]. apply orb_prop in H as [H | H].
      - now rewrite (never_so C c e K F H).
      - destruct (0 <=? ival e c) eqn:P; auto. apply (IH (told [c] C) e); auto. now apply one_more.
    Qed.
    Lemma into_nothing m d a : type_is m d = true -> into m (Add d) a (fun a => a) = pad m a.
    Proof.
      intro T. unfold Terms.into, Terms.pad, Terms.put. destruct m as [o |]; [| apply nothing_added]. destruct (monoid_eq o (Add d)); [subst; reflexivity |].
      destruct o; rewrite ?nothing_added; auto. exfalso. apply n. f_equal. now apply Pos.eqb_eq.
    Qed.
    Lemma no_rows_so C n t e : closed (depth C) e -> no_rows C n t = true -> nth n (dims t e) 0 <= 0.
    Proof.
      intros K H. unfold no_rows, at_least_closed in H. apply (shown_sound table table_ok (seen (depth C) e)) in H; [| intros; now apply (top_so top (depth C))].
      rewrite nf_value with (top := top), ival_sub in H by auto. unfold extent in H. rewrite <- nth_val, shape_dims in H. cbn [ival] in H. lia.
    Qed.
    Lemma alike_but_so n C u v e : closed (depth C) e -> alike_but table top n (depth C) u v = true ->
      length (dims u e) = length (dims v e) /\ (n < length (dims u e))%nat /\ firstn n (dims u e) = firstn n (dims v e) /\ skipn (S n) (dims u e) = skipn (S n) (dims v e).
    Proof.
      intros K X. unfold alike_but in X. rewrite !andb_true_iff, !Nat.ltb_lt in X. destruct X as [[[X1 X2] X3] X4].
      apply (equal_shape_sound table table_ok top _ e K) in X1. apply (equal_shape_sound table table_ok top _ e K) in X2. rewrite <- !firstn_map in X1. rewrite <- !skipn_map in X2. rewrite !shape_dims in X1, X2.
      assert (L1 : length (dims u e) = length (shape u)) by (rewrite <- shape_dims; apply map_length).
      assert (L2 : length (dims v e) = length (shape v)) by (rewrite <- shape_dims; apply map_length).
      pose proof (f_equal (@length Z) X2) as Y. rewrite !skipn_length in Y. repeat split; auto; lia.
    Qed.
    Lemma cat_right n C u v e i : closed (depth C) e -> alike_but table top n (depth C) u v = true -> inside i (dims (Cat n u v) e) -> nth n (dims u e) 0 <= nth n i 0 ->
      inside (at_axis n (fun l => match l with x :: r => x - nth n (dims u e) 0 :: r | [] => [] end) i) (dims v e).
    Proof. intros K X I M. destruct (alike_but_so n C u v e K X) as (L & N & P & Q). cbn [dims] in I. now apply (shifted_inside n i (dims u e)). Qed.
    Lemma cat_nth n C u v e i : closed (depth C) e -> alike_but table top n (depth C) u v = true -> inside i (dims (Cat n u v) e) -> 0 <= nth n i 0 < nth n (dims u e) 0 + nth n (dims v e) 0.
    Proof.
      intros K X I. destruct (alike_but_so n C u v e K X) as (L & N & P & Q). cbn [dims] in I. revert I N. generalize (nth n (dims v e) 0) as c. generalize (dims u e) as s. clear. revert i.
      induction n as [| n IH]; intros i s c I N; destruct s as [| x s]; cbn [length] in N; try lia; cbn [at_axis] in I; inversion I; subst; cbn [nth]; auto. apply IH; auto. lia.
    Qed.

    Theorem vanishes_pads t : forall C l, vanishes C t = Some l -> lawful l -> forall e A i a, closed (depth C) e -> holds (facts C) e -> inside i (dims t e) -> sem (mode C) t e A i a = pad (mode C) a.
    Proof.
      induction t using term_ind'; intros C ls V W e A i a K F I; cbn [vanishes] in V; try discriminate.
      - apply when_some in V as [X V]. apply fixed_steady in X. cbn [dims] in I. inversion I as [| x ? r ? Y R]; subst. cbn [Terms.sem]. apply (IHt (in_loop lo hi (mode C) C) ls V W); auto.
        + apply holds_under; auto. lia.
        + now rewrite (X _ (ival e lo) e).
      - destruct m; try discriminate. apply when_some in V as [X V]. apply andb_prop in X as [T X]. apply fixed_steady in X. cbn [Terms.sem]. rewrite <- (into_nothing (mode C) d a T). apply into_ext. intro s.
        destruct (here C (ISub lo hi)) eqn:H.
        + apply (here_sound table table_ok top C _ e K F) in H. rewrite ival_sub in H. now rewrite span_none by lia.
        + apply fold_same. intros c x Y. apply in_span in Y. apply (IHt (in_loop lo hi (Some (Add d)) C) ls V W); auto.
          * now apply holds_under.
          * cbn [dims] in I. now rewrite (X x (ival e lo) e).
      - cbn [Terms.sem]. destruct (first_fails C cs) eqn:E; [now rewrite (first_fails_so cs C e K F E) |]. destruct (all_hold cs e) eqn:P; auto. apply (IHt (told cs C) ls V W); auto. now apply holds_app.
      - apply when_some in V as [X V]. apply both_some in V as (k & k' & U & U' & ->). apply lawful_app in W as [W W']. cbn [Terms.sem]. cbn zeta. pose proof (cat_nth n C t1 t2 e i K X I) as Y.
        destruct (Z.ltb_spec (nth n i 0) (nth n (dims t1 e) 0)) as [J | J].
        + destruct (no_rows C n t1) eqn:Q; [apply (no_rows_so C n t1 e K) in Q; lia |]. apply (IHt1 C k U W); auto. cbn [dims] in I. now apply (left_inside _ n) in I.
        + destruct (no_rows C n t2) eqn:Q; [apply (no_rows_so C n t2 e K) in Q; lia |]. apply (IHt2 C k' U' W'); auto. now apply (cat_right n C).
      - destruct m; try discriminate. apply when_some in V as [X V]. apply andb_prop in X as [T X]. apply both_some in V as (k & k' & U & U' & ->). apply lawful_app in W as [W W'].
        pose proof (fun a => IHt1 _ k U W e A i a K F I) as H1. assert (J : inside i (dims t2 e)) by (rewrite <- (equal_dims table table_ok top (depth C) t1 t2 e K X); exact I).
        pose proof (fun a => IHt2 _ k' U' W' e A i a K F J) as H2. cbn [folding mode] in H1, H2. cbn [Terms.sem]. unfold left_mode in H1.
        destruct (mode C) as [o |] eqn:M; [destruct (monoid_eq o (Add d)) as [E | E]; [subst |] |]; rewrite H1, H2; try reflexivity.
        unfold Terms.pad, Terms.put. destruct o; auto. exfalso. apply E. f_equal. cbn in T. now apply Pos.eqb_eq.
      - reflexivity.
      - destruct args as [| u [| v [| w r]]]; try discriminate. apply when_some in V as [X V]. apply andb_prop in X as [X Y]. apply both_some in V as (k & k' & U & [= <-] & ->). apply lawful_app in W as [W W'].
        apply both_some in U as (k1 & k2 & U1 & U2 & ->). apply lawful_app in W as [W1 W2]. inversion H as [| ? ? P Q]; subst. inversion Q as [| ? ? P' Q']; subst. cbn [Terms.sem map].
        pose proof (P _ k1 U1 W1 e A [] zero K F (is_scalar u e X)) as H1. pose proof (P' _ k2 U2 W2 e A [] zero K F (is_scalar v e Y)) as H2. cbn [folding mode] in H1, H2. rewrite H1, H2. cbn [Terms.pad Terms.put].
        change (ZeroZero f :: pad_law (mode C)) with ([ZeroZero f] ++ pad_law (mode C)) in W'. apply lawful_app in W' as [Z N]. rewrite (Z _ (or_introl eq_refl)). now apply pad_so.
    Qed.

    (** * Conditions and tests *)

    Lemma equal_so C p q e : closed (depth C) e -> holds (facts C) e -> equal_here C p q = true -> ival e p = ival e q.
    Proof. apply (equal_here_sound table table_ok top). Qed.
    Lemma equal_list_so C e : closed (depth C) e -> holds (facts C) e -> forall l k, equal_list C l k = true -> map (ival e) l = map (ival e) k.
    Proof. intros K F. induction l as [| p l IH]; intros [| q k] H; try discriminate; auto. apply andb_prop in H as [H1 H2]. cbn [map]. now rewrite (equal_so C p q e K F H1), (IH k H2). Qed.
    Lemma equal_view_so C v w e : closed (depth C) e -> holds (facts C) e -> equal_view C v w = true -> forall s i, view_pull v e s i = view_pull w e s i.
    Proof. intros K F H s i. destruct v, w; try discriminate; cbn [equal_view] in H; auto; apply (equal_so C _ _ e K F) in H; cbn [view_pull]; now rewrite H. Qed.
    Lemma without_first_so f l : forall x r e, without_first f l = Some (x, r) -> f x = true /\ all_hold l e = (0 <=? ival e x) && all_hold r e.
    Proof.
      induction l as [| y l IH]; intros x r e H; [discriminate |]. cbn [without_first] in H. destruct (f y) eqn:Y; [injection H as <- <-; auto |].
      destruct (without_first f l) as [[z q] |]; [| discriminate]. injection H as <- <-. destruct (IH z q e eq_refl) as [G E]. split; auto. unfold all_hold in *. cbn [forallb]. rewrite E.
      destruct (0 <=? ival e y), (0 <=? ival e z); reflexivity.
    Qed.
    Lemma guards_so cs : forall C ds C', guards C cs ds = Some C' -> (depth C' = depth C /\ mode C' = mode C /\ defs C' = defs C /\ bounds C' = bounds C /\ links C' = links C) /\
      forall e, closed (depth C) e -> holds (facts C) e -> all_hold cs e = all_hold ds e /\ (all_hold cs e = true -> holds (facts C') e).
    Proof.
      induction cs as [| c cs IH]; intros C ds C' H; cbn [guards] in H.
      - destruct ds; [injection H as <- | discriminate]. split; [repeat split | auto].
      - destruct (without_first (equal_here C c) ds) as [[d ds'] |] eqn:E.
        + destruct (IH _ _ _ H) as [D S]. split; [exact D |]. intros e K F. destruct (without_first_so _ ds d ds' e E) as [Q P]. rewrite P. unfold all_hold at 1 3. cbn [forallb].
          rewrite (equal_so C c d e K F Q). destruct (0 <=? ival e d) eqn:G; cbn [andb]; [| split; [reflexivity | discriminate]]. apply S; auto. now apply one_more.
        + destruct (here C c) eqn:G; [| discriminate]. destruct (IH _ _ _ H) as [D S]. split; [exact D |]. intros e K F. unfold all_hold at 1 3. cbn [forallb].
          apply (here_sound table table_ok top C _ e K F) in G. apply Z.leb_le in G. rewrite G. cbn [andb]. now apply S.
    Qed.
    Lemma decided_so C t b e : closed (depth C) e -> holds (facts C) e -> decided C t = Some b -> true_of (fst t) (ival e (snd t)) = b.
    Proof.
      intros K F H. unfold decided in H. destruct t as [k p]. cbn [fst snd] in *.
      assert (Q : match constant (nf (depth C) p) with Some z => Some (true_of k z) | None => None end = Some b -> true_of k (ival e p) = b).
      { destruct (constant (nf (depth C) p)) as [z |] eqn:Z; [| discriminate]. intros [= <-]. apply (constant_value (seen (depth C) e)) in Z. rewrite nf_value with (top := top) in Z by auto. now rewrite Z. }
      destruct k; auto. destruct (here C p) eqn:P.
      - injection H as <-. cbn. apply Z.leb_le. now apply (here_sound table table_ok top C).
      - destruct (never C p) eqn:N; [| discriminate]. injection H as <-. now apply (never_so C).
    Qed.
    Lemma tests_so ts : forall C us r, tests C ts us = Some r -> match r with Some k => k = us | None => True end /\
      forall e, closed (depth C) e -> holds (facts C) e -> passes ts e = match r with Some k => passes k e | None => false end.
    Proof.
      induction ts as [| t ts IH]; intros C us r H; cbn [tests] in H.
      - destruct us; [injection H as <- | discriminate]. auto.
      - assert (D : forall us, match decided C t with Some true => tests C ts us | Some false => Some None | None => None end = Some r -> match r with Some k => k = us | None => True end /\
          forall e, closed (depth C) e -> holds (facts C) e -> passes (t :: ts) e = match r with Some k => passes k e | None => false end).
        { intros vs G. destruct (decided C t) as [[] |] eqn:E; [| | discriminate].
          - destruct (IH C vs r G) as [P S]. split; auto. intros e K F. unfold passes. cbn [forallb]. rewrite (decided_so C t true e K F E). now apply S.
          - injection G as <-. split; auto. intros e K F. unfold passes. cbn [forallb]. now rewrite (decided_so C t false e K F E). }
        destruct us as [| u us]; [now apply D |]. destruct (test_is (fst t) (fst u) && equal_here C (snd t) (snd u)) eqn:Q; [| now apply D]. clear D. apply andb_prop in Q as [T Q].
        assert (TT : forall e, closed (depth C) e -> holds (facts C) e -> true_of (fst t) (ival e (snd t)) = true_of (fst u) (ival e (snd u))).
        { intros e K F. rewrite (equal_so C _ _ e K F Q). destruct (fst t), (fst u); try discriminate; reflexivity. }
        assert (TF : forall e, holds (facts C) e -> true_of (fst u) (ival e (snd u)) = true -> holds (facts (told (test_facts u) C)) e).
        { intros e F B. apply told_holds; auto. intros p P. apply (chosen_hold [u]); [unfold passes; cbn [forallb]; now rewrite B | cbn; now rewrite app_nil_r]. }
        destruct (tests (told (test_facts u) C) ts us) as [[k |] |] eqn:R; [| | discriminate]; injection H as <-; destruct (IH _ _ _ R) as [P S].
        + subst. split; auto. intros e K F. unfold passes in *. cbn [forallb]. rewrite (TT e K F). destruct (true_of (fst u) (ival e (snd u))) eqn:B; auto. cbn [andb]. apply S; auto.
        + split; auto. intros e K F. unfold passes in *. cbn [forallb]. rewrite (TT e K F). destruct (true_of (fst u) (ival e (snd u))) eqn:B; auto. cbn [andb]. apply S; auto.
    Qed.

    (** * Names *)

    Lemma held_so C x d : held C x = Some d -> In (x, d) (defs C).
    Proof.
      unfold held. intro H. destruct (find _ _) as [[y d'] |] eqn:E; [| discriminate]. injection H as <-. apply find_some in E as [I E]. cbn [fst] in E. apply Nat.eqb_eq in E as <-. exact I.
    Qed.
    Lemma in_range_so C e : closed (depth C) e -> holds (facts C) e -> forall i s, in_range C i s = true -> inside (map (ival e) i) (map (ival e) s).
    Proof.
      intros K F. induction i as [| p i IH]; intros [| n s] H; try discriminate; [constructor |]. cbn [in_range] in H. apply andb_prop in H as [H R]. apply andb_prop in H as [H1 H2].
      apply (here_sound table table_ok top C _ e K F) in H1. apply (here_sound table table_ok top C _ e K F) in H2. rewrite ival_below in H2. cbn [map]. constructor; [lia | now apply IH].
    Qed.
    Lemma alike_means d t u e : alike (sure top) d [] t u = true -> closed d e -> means t u e.
    Proof. intros H K. destruct (alike_sound top (sure top) (fun k H => H) t d [] u e H K) as [D S]. split; auto. Qed.
    Lemma element_known C A e x d i : closed (depth C) e -> holds (facts C) e -> knowing C A e -> held C x = Some d -> in_range C i (shape d) = true -> A x (map (ival e) i) = sem None (elem Var d i) e A [] zero.
    Proof.
      intros K F [Q _] H R. apply held_so in H. specialize (Q _ H). cbn [fst snd] in Q. rewrite (Q (map (ival e) i)); [rewrite sem_elem; apply sem_ext; auto |].
      rewrite <- shape_dims. now apply (in_range_so C).
    Qed.

    Lemma read_linked_so C A e x i x' i' : closed (depth C) e -> holds (facts C) e -> knowing C A e -> read_linked C x i x' i' = true -> A x (map (ival e) i) = A x' (map (ival e) i').
    Proof.
      intros K F (_ & _ & L) H. unfold read_linked in H. destruct (find _ (links C)) as [[y [z [from count]]] |] eqn:E; [| discriminate]. apply find_some in E as [I E]. cbn [fst] in E. apply Nat.eqb_eq in E as ->.
      specialize (L _ I). cbn [fst snd] in L. apply andb_prop in H as [Z H]. apply Nat.eqb_eq in Z as ->. unfold linked in L.
      destruct count as [n |]; cbn [option_map] in L; destruct i as [| j [| q [| ? ?]]]; try discriminate; destruct i' as [| j' [| q' [| ? ?]]]; try discriminate; rewrite !andb_true_iff in H; cbn [map].
      - destruct H as [[[H1 H2] H3] H4]. apply (equal_so C _ _ e K F) in H1. apply (equal_so C _ _ e K F) in H2. apply (here_sound table table_ok top C _ e K F) in H3, H4. rewrite ival_below in H4. cbn [ival] in H2.
        rewrite <- H1, <- H2. apply L. lia.
      - destruct H as [H1 H2]. apply (equal_so C _ _ e K F) in H1. apply (equal_so C _ _ e K F) in H2. rewrite <- H1, <- H2. apply L.
    Qed.

    Lemma bound_so C x s : bound_of C x = Some s -> In (x, s) (bounds C).
    Proof.
      unfold bound_of. intro H. destruct (find _ _) as [[y d'] |] eqn:E; [| discriminate]. injection H as <-. apply find_some in E as [I E]. cbn [fst] in E. apply Nat.eqb_eq in E as <-. exact I.
    Qed.
    Lemma range_of_so e : forall i s, length i = length s -> all_hold (range_of i s) e = within (map (ival e) i) (map (ival e) s).
    Proof.
      induction i as [| p i IH]; intros [| n s] L; try discriminate; auto. unfold all_hold in *. cbn [range_of forallb map within]. rewrite le_below, IH by (now injection L). unfold between.
      now rewrite andb_assoc.
    Qed.
    Lemma padded_so C t v A e : closed (depth C) e -> knowing C A e -> In v (padded C t) -> is_so Outside -> sem None v e A [] zero = sem None t e A [] zero.
    Proof.
      intros K (Q & B & _) I J. destruct t; try (destruct I; fail). cbn [padded] in I. destruct (bound_of C x) as [s |] eqn:S; [| destruct I]. destruct (Nat.eqb_spec (length index) (length s)) as [L | L]; [| destruct I].
      apply bound_so in S. specialize (B _ S). cbn [fst snd] in B.
      assert (O : all_hold (range_of index s) e = false -> A x (map (ival e) index) = zero) by (intro N; rewrite range_of_so in N by auto; rewrite (B _ N); exact J).
      destruct I as [<- | I]; [cbn [Terms.sem]; destruct (all_hold (range_of index s) e) eqn:E; auto; cbn [Terms.pad Terms.put]; now rewrite O |].
      destruct (held C x) as [d |] eqn:H; [| destruct I]. destruct (equal_shape (depth C) (shape d) s) eqn:X; [| destruct I]. destruct I as [<- | []]. cbn [Terms.sem].
      destruct (all_hold (range_of index s) e) eqn:E; [| cbn [Terms.pad Terms.put]; now rewrite O]. cbn [Terms.put]. apply held_so in H. specialize (Q _ H). cbn [fst snd] in Q.
      rewrite (Q (map (ival e) index)); [rewrite sem_elem; apply sem_ext; auto |]. rewrite range_of_so in E by auto. apply within_inside in E.
      rewrite <- shape_dims, (equal_shape_sound table table_ok top (depth C) e K _ _ X). exact E.
    Qed.

    Theorem recalled_fits next C t u l : (forall C t u l, next C t u = Some l -> lawful l -> fits top C t u) -> recalled next C t u = Some l -> lawful l -> fits top C t u.
    Proof.
      intros NF H W. assert (All : forall x, read_name u = Some x -> forall d, held C x = Some d ->
          when (alike (sure top) (depth C) [] t d && alike (sure top) (depth C) [] (gens (shape t) (Get x (counted (length (shape t))))) u) (Some (value_law (mode C) t)) = Some l -> fits top C t u).
      { intros x _ d D G. apply when_some in G as [X [= <-]]. apply andb_prop in X as [X Y]. intros e A i a K F Q I. rewrite (value_so (mode C) t e A i a W I).
        rewrite <- (proj2 (alike_means _ _ _ e Y K)). assert (L : length i = length (shape t)) by (rewrite <- (map_length (ival e)), shape_dims; now apply inside_length).
        unfold gens. rewrite sem_gens by auto. cbn [Terms.sem]. f_equal. rewrite <- L, pushed_last. destruct (alike_means _ _ _ e X K) as [D' S]. rewrite S.
        symmetry. apply held_so in D. apply (proj1 Q _ D). cbn [snd]. now rewrite <- D'. }
      unfold recalled in H.
      destruct u; try (destruct (read_name _) as [x0 |] eqn:R; [| discriminate]; destruct (held C x0) as [d |] eqn:D; [| discriminate]; eapply All; eauto; fail).
      clear All. destruct (held C x) as [d |] eqn:D; [| discriminate]. apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [[S S'] R]. apply both_some in H as (k & k' & H & [= <-] & ->).
      apply lawful_app in W as [W W']. intros e A i a K F Q I.
      rewrite (value_so (mode C) t e A i a W' I). cbn [Terms.sem]. f_equal. rewrite (element_known C A e x d index K F Q D R). pose proof (is_scalar t e S) as J.
      assert (i = []) as -> by (apply inside_length in I; apply inside_length in J; destruct i; auto; cbn in *; lia).
      set (w := elem Var d index) in *. pose proof (is_scalar w e S') as J'. apply either_some in H as [H | H].
      - symmetry. apply (NF _ _ _ _ H W e A [] zero K F Q J').
      - assert (P : forall vs, (forall v, In v vs -> In v (padded C t)) -> fold_right (fun v r => either (both (next (folding None C) w v) (Some [Outside])) r) None vs = Some k -> sem None t e A [] zero = sem None w e A [] zero).
        { induction vs as [| v vs IH]; intros V G; [discriminate |]. cbn [fold_right] in G. apply either_some in G as [G | G]; [| apply IH; auto; intros; apply V; now right].
          apply both_some in G as (k1 & k2 & G & [= <-] & ->). apply lawful_app in W as [W1 W2]. pose proof (NF _ _ _ _ G W1 e A [] zero K F Q J') as E. cbn [folding mode] in E. rewrite E.
          symmetry. apply (padded_so C); auto. apply V. now left. exact (W2 _ (or_introl eq_refl)). }
        now apply (P (padded C t)).
    Qed.

    (** * Side by side *)

    Lemma extent_zero C n t e : closed (depth C) e -> no_rows C n t = true -> at_least_closed (depth C) (extent n t) = true -> nth n (dims t e) 0 = 0.
    Proof.
      intros K H G. apply (no_rows_so C n t e K) in H. unfold at_least_closed in G. apply (shown_sound table table_ok (seen (depth C) e)) in G; [| intros; now apply (top_so top (depth C))].
      rewrite nf_value with (top := top) in G by auto. unfold extent in G. rewrite <- nth_val, shape_dims in G. lia.
    Qed.
    Lemma at_axis_same {X} n (f : list X -> list X) : (forall l, f l = l) -> forall l, at_axis n f l = l.
    Proof. intro H. induction n as [| n IH]; intros l; cbn [at_axis]; auto. destruct l; auto. now rewrite IH. Qed.
    Lemma monoid_is_so a b : monoid_is a b = true -> a = b.
    Proof. unfold monoid_is. destruct (monoid_eq a b); congruence. Qed.

    Theorem follow_fits : forall fuel C t u l, follow fuel C t u = Some l -> lawful l -> fits top C t u.
    Proof.
      induction fuel as [| fuel IH]; intros C t u l H W; [discriminate |]. cbn [follow] in H. apply either_some in H as [H | H].
      { destruct named; [eapply recalled_fits; [exact IH | eauto | eauto] | discriminate]. }
      apply either_some in H as [H | H].
      { apply when_some in H as [Z H]. destruct u; try discriminate. intros e A i a K F Q I. now rewrite (vanishes_pads t C l H W e A i a K F I). }
      apply either_some in H as [H | H].
      { destruct t; try discriminate. apply when_some in H as [X H]. apply andb_prop in X as [X Y].
        assert (A1 : (forall e, closed (depth C) e -> holds (facts C) e -> passes ts e = true) -> follow fuel C t1 u = Some l -> fits top C (Choose ts t1 t2) u).
        { intros P G e A i a K F Q I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. rewrite (P e K F). apply (IH _ _ _ _ G W); auto. now apply is_scalar. }
        assert (A2 : (forall e, closed (depth C) e -> holds (facts C) e -> passes ts e = false) -> follow fuel C t2 u = Some l -> fits top C (Choose ts t1 t2) u).
        { intros P G e A i a K F Q I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. rewrite (P e K F). apply (IH _ _ _ _ G W); auto. now apply is_scalar. }
        destruct (tests C ts match u with Choose us _ _ => us | _ => [] end) as [[kept |] |] eqn:R.
        - destruct (tests_so _ _ _ _ R) as [E S]. destruct kept as [| x kept]; [now apply A1 |]. destruct u; try discriminate. cbn in E. rewrite <- E in *. clear A1 A2 E ts0.
          apply both_some in H as (k & k' & U & V & ->). apply lawful_app in W as [W W']. intros e A i a K F Q I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem]. rewrite (S e K F).
          destruct (passes (x :: kept) e) eqn:P.
          + apply (IH _ _ _ _ U W); auto; [| now apply is_scalar]. apply told_holds; auto. now apply chosen_hold.
          + apply (IH _ _ _ _ V W'); auto; [| now apply is_scalar]. apply told_holds; auto. now apply refused_hold.
        - destruct (tests_so _ _ _ _ R) as [_ S]. now apply A2.
        - destruct (tests C ts []) as [[[| ? ?] |] |] eqn:R'; try discriminate; destruct (tests_so _ _ _ _ R') as [_ S]; [now apply A1 | now apply A2]. }
      apply either_some in H as [H | H].
      { destruct t.
        - destruct u; try discriminate. apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [[L R] X]. apply fixed_steady in X. intros e A i a K F Q I.
          cbn [dims] in I. inversion I as [| x ? r ? Y S]; subst. apply (equal_so C _ _ e K F) in L. apply (equal_so C _ _ e K F) in R. cbn [Terms.sem]. rewrite <- L. apply (IH _ _ _ _ H W); auto.
          + apply holds_under; auto. lia.
          + now apply knowing_loop.
          + now rewrite (X _ (ival e lo) e).
        - destruct u; try discriminate. apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [[[M L] R] X]. apply monoid_is_so in M as <-. apply fixed_steady in X. intros e A i a K F Q I.
          apply (equal_so C _ _ e K F) in L. apply (equal_so C _ _ e K F) in R. cbn [Terms.sem]. rewrite <- L, <- R. apply into_ext. apply fold_in. intros c x Y. apply in_span in Y. apply (IH _ _ _ _ H W); auto.
          + apply holds_under; auto. lia.
          + now apply knowing_loop.
          + cbn [dims] in I. now rewrite (X x (ival e lo) e).
        - assert (G : exists C', guards C (conds (Guard cs t)) (conds u) = Some C' /\ follow fuel C' (core (Guard cs t)) (core u) = Some l) by (destruct (guards C (conds (Guard cs t)) (conds u)) as [C' |]; [eauto | destruct u; discriminate]).
          clear H. destruct G as (C' & G & H). destruct (guards_so _ _ _ _ G) as [(D & M & N & B & L) S]. intros e A i a K F Q I. rewrite (proj2 (core_means u e)), (proj2 (core_means (Guard cs t) e)). rewrite (proj1 (core_means (Guard cs t) e)) in I. destruct (S e K F) as [E T].
          set (cs' := conds (Guard cs t)) in *. set (t' := core (Guard cs t)) in *. cbn [Terms.sem]. rewrite <- E. destruct (all_hold cs' e) eqn:P; auto. rewrite <- M. apply (IH _ _ _ _ H W); auto; [now rewrite D |]. unfold knowing. now rewrite N, B, L.
        - destruct u; try discriminate. apply when_some in H as [X H]. apply both_some in H as (k & k' & U & V & ->). apply lawful_app in W as [W W']. intros e A i a K F Q I. cbn [Terms.sem].
          pose proof (equal_dims table table_ok top (depth C) _ _ e K X) as D.
          transitivity (sem (mode C) t2 e (cons (fun j => if within j (dims u1 e) then sem None u1 e A j zero else junk) A) i a).
          + apply sem_ext; auto. intros [| n] j; cbn [cons]; auto. rewrite <- D. destruct (within j (dims t1 e)) eqn:Y; auto. apply (IH _ _ _ _ U W); auto. now apply within_inside.
          + apply (IH _ _ _ _ V W'); auto. now apply knowing_name.
        - destruct u; try discriminate. apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [[N X] Y]. apply Nat.eqb_eq in N as <-. apply both_some in H as (k & k' & U & V & ->). apply lawful_app in W as [W W'].
          intros e A i a K F Q I. cbn [Terms.sem]. cbn zeta. rewrite <- (equal_dims table table_ok top (depth C) _ _ e K Y). destruct (Z.ltb_spec (nth axis i 0) (nth axis (dims t1 e) 0)) as [J | J].
          + apply (IH _ _ _ _ U W); auto. cbn [dims] in I. now apply (left_inside _ axis) in I.
          + apply (IH _ _ _ _ V W'); auto. now apply (cat_right axis C).
        - destruct u; try discriminate. apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [N X]. apply monoid_is_so in N as <-. apply both_some in H as (k & k' & U & V & ->). apply lawful_app in W as [W W'].
          intros e A i a K F Q I. cbn [dims] in I. assert (J : inside i (dims t2 e)) by (rewrite <- (equal_dims table table_ok top (depth C) t1 t2 e K X); exact I).
          pose proof (IH _ _ _ _ U W e A i a K F Q I) as H1. pose proof (fun a => IH _ _ _ _ V W' e A i a K F Q J) as H2. cbn [folding mode] in H1, H2. unfold left_mode in H1. cbn [Terms.sem].
          destruct (mode C) as [o |]; [destruct (monoid_eq o m); [subst |] |]; rewrite H1, H2; reflexivity.
        - destruct u; try discriminate. apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [[[N X] Y] Z]. apply Nat.eqb_eq in X as <-. intros e A i a K F Q I. cbn [Terms.sem].
          rewrite <- (equal_dims table table_ok top (depth C) _ _ e K Z), (pull_axis_ext axis (view_pull v e) (view_pull v0 e)) by now apply (equal_view_so C).
          destruct (pull_axis axis (view_pull v0 e) (dims t e) i) as [j |] eqn:E; auto. apply (IH _ _ _ _ H W); auto.
          rewrite <- (pull_axis_ext axis (view_pull v e) (view_pull v0 e)) in E by now apply (equal_view_so C).
          apply (view_fits_sound table table_ok top C v _ e K F) in Y. rewrite <- skipn_map, shape_dims in Y. eapply pulls_axis; eauto.
        - destruct u; try discriminate. intros e A i a K F Q I. reflexivity.
        - destruct u; try discriminate. apply when_some in H as [X H]. intros e A i a K F Q I. cbn [Terms.sem]. apply orb_prop in X as [X | X]; [| now rewrite (read_linked_so C A e _ _ _ _ K F Q X)].
          apply andb_prop in X as [N X]. apply Nat.eqb_eq in N as <-. now rewrite (equal_list_so C e K F _ _ X).
        - destruct u; try discriminate. apply when_some in H as [X H]. apply Pos.eqb_eq in X as <-. intros e A i a K F Q I. reflexivity.
        - destruct u; try discriminate. apply when_some in H as [X H]. intros e A i a K F Q I. cbn [Terms.sem]. now rewrite (equal_so C _ _ e K F X).
        - destruct u; try discriminate. apply when_some in H as [X H]. apply Pos.eqb_eq in X as <-. intros e A i a K F Q I. cbn [Terms.sem]. do 2 f_equal. clear I.
          revert args0 l H W. induction args as [| x args IHa]; intros [| y args'] l H W; try discriminate; auto. apply when_some in H as [X H]. apply both_some in H as (k & k' & U & V & ->). apply lawful_app in W as [W W'].
          cbn [map]. f_equal; [| eapply IHa; eauto]. apply (IH _ _ _ _ U W e A [] zero K F Q). now apply is_scalar.
        - destruct u; try discriminate. apply when_some in H as [X H]. apply andb_prop in X as [X Y]. apply both_some in H as (k & k' & U & V & ->). apply lawful_app in W as [W W']. intros e A i a K F Q I. cbn [Terms.sem].
          pose proof (IH _ _ _ _ U W e A [] zero K F Q (is_scalar _ e X)) as H1. pose proof (IH _ _ _ _ V W' e A [] zero K F Q (is_scalar _ e Y)) as H2. cbn [folding mode] in H1, H2. now rewrite H1, H2.
        - destruct u; discriminate.
        - destruct u; try discriminate. apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [[[G X] Y] Z]. apply eqb_prop in G as <-. apply both_some in H as (k & k' & U & V & ->). apply lawful_app in W as [W W'].
          apply both_some in V as (k1 & k2 & V & V' & ->). apply lawful_app in W' as [W1 W2]. intros e A i a K F Q I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem].
          pose proof (IH _ _ _ _ U W e A [] zero K F Q (is_scalar _ e X)) as H1. cbn [folding mode] in H1. rewrite H1. destruct (eqb sign _).
          + apply (IH _ _ _ _ V W1); auto. now apply is_scalar.
          + apply (IH _ _ _ _ V' W2); auto. now apply is_scalar. }
      destruct t; try discriminate.
      - apply when_some in H as [X H]. intros e A i a K F Q I. pose proof (cat_nth axis C t1 t2 e i K X I) as N. cbn [Terms.sem]. cbn zeta. apply either_some in H as [H | H]; apply when_some in H as [E H].
        + apply andb_prop in E as [E E']. pose proof (extent_zero C axis t1 e K E E') as Z. rewrite Z. destruct (Z.ltb_spec (nth axis i 0) 0) as [J | J]; [lia |]. rewrite at_axis_same.
          * apply (IH _ _ _ _ H W); auto. pose proof (cat_right axis C t1 t2 e i K X I ltac:(lia)) as P. rewrite Z, at_axis_same in P; auto. intros [| x r]; auto. f_equal. lia.
          * intros [| x r]; auto. f_equal. lia.
        + apply (no_rows_so C axis t2 e K) in E. destruct (Z.ltb_spec (nth axis i 0) (nth axis (dims t1 e) 0)) as [J | J]; [| lia]. apply (IH _ _ _ _ H W); auto. cbn [dims] in I. now apply (left_inside _ axis) in I.
      - destruct m; try discriminate. apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [[T X] X']. intros e A i a K F Q I. cbn [dims] in I.
        assert (J : inside i (dims t2 e)) by (rewrite <- (equal_dims table table_ok top (depth C) t1 t2 e K X); exact I).
        assert (J' : inside i (dims u e)) by (rewrite <- (equal_dims table table_ok top (depth C) t1 u e K X'); exact I).
        apply either_some in H as [H | H]; apply both_some in H as (k & k' & H & [= <-] & ->); apply both_some in H as (k1 & k2 & U & V & ->); apply lawful_app in W as [W W']; apply lawful_app in W as [W1 W2].
        + pose proof (fun a => vanishes_pads _ _ _ U W1 e A i a K F J) as H1. pose proof (fun a => IH _ _ _ _ V W2 e A i a K F Q I) as H2. cbn [folding mode] in H1, H2. unfold left_mode in H2. cbn [Terms.sem].
          destruct (mode C) as [o |]; [destruct (monoid_eq o (Add d)); [subst |] |]; rewrite H2, H1; auto. cbn [Terms.pad]. rewrite (value_so (Some o) u e A i a) by auto. cbn [Terms.put]. f_equal. apply set_forgets.
        + pose proof (fun a => vanishes_pads _ _ _ U W1 e A i a K F I) as H1. pose proof (fun a => IH _ _ _ _ V W2 e A i a K F Q J) as H2. cbn [folding mode] in H1, H2. unfold left_mode in H1. cbn [Terms.sem].
          assert (Z : is_so (Unit (Add d)) -> sem (Some (Add d)) u e A i zero = sem None u e A i zero).
          { intros [Un Fm]. rewrite <- (nothing_added d) at 1. apply from_neutral; auto. }
          destruct (mode C) as [o |]; [destruct (monoid_eq o (Add d)); [subst |] |]; rewrite H1, H2; auto; cbn [Terms.pad Terms.put].
          * change (Unit (Add d) :: value_law (Some o) u) with ([Unit (Add d)] ++ value_law (Some o) u) in W'. apply lawful_app in W' as [W3 W4].
            rewrite (Z (W3 _ (or_introl eq_refl))). now rewrite (value_so (Some o) u e A i a) by auto.
          * rewrite (Z (W' _ (or_introl eq_refl))). apply set_forgets.
      - destruct args as [| x [| y [| z args]]]; try discriminate. apply when_some in H as [X H]. rewrite !andb_true_iff in X. destruct X as [[X Y] Z]. intros e A i a K F Q I. cbn [dims] in I. inversion I; subst. cbn [Terms.sem map].
        pose proof (is_scalar _ e X) as SX. pose proof (is_scalar _ e Y) as SY. pose proof (is_scalar _ e Z) as SZ. clear I X Y Z.
        assert (P : forall law ls v, lawful (law :: value_law (mode C) u) -> (is_so law -> v = sem None u e A [] zero) -> ls = law :: value_law (mode C) u -> put (mode C) a v = sem (mode C) u e A [] a).
        { intros law ls v L E _. change (law :: value_law (mode C) u) with ([law] ++ value_law (mode C) u) in L. apply lawful_app in L as [L1 L2]. rewrite (E (L1 _ (or_introl eq_refl))). symmetry. now apply value_so. }
        apply either_some in H as [H | H]; [| apply either_some in H as [H | H]; [| apply either_some in H as [H | H]]].
        + apply both_some in H as (k & k' & H & [= <-] & ->). apply both_some in H as (k1 & k2 & U & V & ->). apply lawful_app in W as [W W']. apply lawful_app in W as [W1 W2].
          pose proof (vanishes_pads _ _ _ U W1 e A [] zero K F SX) as H1. pose proof (IH _ _ _ _ V W2 e A [] zero K F Q SY) as H2. cbn [folding mode] in H1, H2. rewrite H1, H2.
          eapply P; [exact W' | | reflexivity]. intro L. apply L.
        + apply both_some in H as (k & k' & H & [= <-] & ->). apply both_some in H as (k1 & k2 & U & V & ->). apply lawful_app in W as [W W']. apply lawful_app in W as [W1 W2].
          pose proof (vanishes_pads _ _ _ U W1 e A [] zero K F SY) as H1. pose proof (IH _ _ _ _ V W2 e A [] zero K F Q SX) as H2. cbn [folding mode] in H1, H2. rewrite H1, H2.
          eapply P; [exact W' | | reflexivity]. intro L. apply L.
        + destruct x; try discriminate. apply both_some in H as (k & k' & V & [= <-] & ->). apply lawful_app in W as [W W'].
          pose proof (IH _ _ _ _ V W e A [] zero K F Q SY) as H2. cbn [folding mode] in H2. rewrite H2. eapply P; [exact W' | | reflexivity]. intro L. apply L.
        + destruct y; try discriminate. apply both_some in H as (k & k' & V & [= <-] & ->). apply lawful_app in W as [W W'].
          pose proof (IH _ _ _ _ V W e A [] zero K F Q SX) as H2. cbn [folding mode] in H2. rewrite H2. eapply P; [exact W' | | reflexivity]. intro L. apply L.
    Qed.
  End Sound.
End Simplify.

Print Assumptions follow_fits.
