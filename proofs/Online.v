(** The rules behind sums of exponentials by blocks (atoll/check/blocks.py): a factor out of a sum, an exponential by way of the maximum of a block. *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Require Import Terms Kernel Named Elements Normal Compare Path Applied Values Simplify.
Import ListNotations.
Open Scope Z_scope.

(** A product around a factor: the operations on the way, whether the factor is in the first operand, and the other operand. *)
Definition frame : Type := positive * bool * term.
Fixpoint peel (part : list bool) (t : term) : option (list frame * term) :=
  match part with
  | [] => Some ([], t)
  | k :: part => match t with Op g [x; y] => match peel part (if k then x else y) with Some (fs, c) => Some ((g, k, if k then y else x) :: fs, c) | None => None end | _ => None end
  end.
Fixpoint plug (fs : list frame) (c : term) : term := match fs with [] => c | (g, k, z) :: fs => Op g (with_first k (plug fs c) z) end.
(** The product without the factor, and by which operation the factor stands in it. *)
Fixpoint left_over (fs : list frame) (f : frame) : term * positive * list law :=
  let '(g, k, z) := f in
  match fs with
  | [] => (z, g, if k then [Commutes g] else [])
  | f' :: fs => let '(u, h, l) := left_over fs f' in (Op g (with_first k u z), h, Through h g k :: l)
  end.
Definition fading f d c :=
  match c with
  | Op e [Op s [Op m [Lit l; _]; Op k [Lit j; _]]] => Faded f d e s m l k j
  | _ => Fades f d
  end.

(** The maximum over a range that a number is, or is the larger of and another: of which type, from where to where, of what. *)
Fixpoint highest (t : term) : option (positive * idx * idx * term * list law) :=
  match t with
  | Sum (Max d) lo hi b => Some (d, lo, hi, b, [])
  | Op f [x; y] =>
      match highest x with
      | Some (d, lo, hi, b, l) => Some (d, lo, hi, b, MostOf f d :: l)
      | None => match highest y with Some (d, lo, hi, b, l) => Some (d, lo, hi, b, MostOf f d :: l) | None => None end
      end
  | _ => None
  end.

Section Online.
  Variable table : list (list poly * list step).
  Hypothesis table_ok : forallb (fun g => rows_ok (fst g) (snd g)) table = true.
  Variable top : list idx.
  Notation here := (here table top).
  Notation closed := (closed top).

  Definition factored C (part : list bool) (t new : term) : option (list law) :=
    match t with
    | Sum (Add d) lo hi b =>
        match peel part b with
        | Some (f :: fs, c) =>
            let c := lower_term c in
            let '(u, h, l) := left_over fs f in
            when (alike (sure top) (depth C) [] t (Sum (Add d) lo hi (plug (f :: fs) (under_index c))) && alike (sure top) (depth C) [] (Op h [Sum (Add d) lo hi u; c]) new)
              (Some (Spreads h d :: (if here C (ISub (ISub hi lo) (Num 1)) then [] else [fading h d c]) ++ l))
        | _ => None
        end
    | _ => None
    end.

  Definition difference (t : term) := match t with Op e [Op s [a; Get x i]] => Some (e, s, a, x, i) | _ => None end.
  Definition written (new : term) := match new with Op h [Op _ [Op _ [_; Op m [Lit k; _]]]; _] => Some (h, m, k) | _ => None end.
  Definition rescaled C (at_ low high : idx) (t new : term) : option (list law) :=
    match difference t, written new with
    | Some (e, s, a, x, i), Some (h, m, k) =>
        match held C x with
        | Some w =>
            match highest (elem Var w i) with
            | Some (d, lo, hi, b, l) =>
                let c := Op m [Lit k; Sum (Max d) low high b] in
                when (in_range table top C i (shape w) && here C (ISub low lo) && here C (ISub hi high) && here C (ISub at_ low) && here C (below at_ high) && alike (sure top) (depth C) [] (put_index at_ b) a &&
                      alike (sure top) (depth C) [] (Op h [Op e [Op s [a; c]]; Op e [Op s [c; Op m [Lit k; Get x i]]]]) new)
                  (Some (Rescales e s h m k d :: Most d :: l))
            | None => None
            end
        | None => None
        end
    | _, _ => None
    end.

  Section Sound.
    Context {ops : operators}.

    Lemma left_over_so c e A : forall fs g k z u h l, left_over fs (g, k, z) = (u, h, l) -> lawful l ->
      sem None (plug ((g, k, z) :: fs) c) e A [] zero = func h [sem None u e A [] zero; sem None c e A [] zero].
    Proof.
      assert (M : forall k x y, map (fun t => sem None t e A [] zero) (with_first k x y) = with_first k (sem None x e A [] zero) (sem None y e A [] zero)) by (intros []; reflexivity).
      induction fs as [| [[g' k'] z'] fs IH]; intros g k z u h l H W; cbn [left_over] in H.
      - injection H as <- <- <-. cbn [plug Terms.sem put]. rewrite M. destruct k; [apply (W _ (or_introl eq_refl)) | reflexivity].
      - destruct (left_over fs (g', k', z')) as [[u' h'] l'] eqn:E. injection H as <- <- <-. change (plug ((g, k, z) :: (g', k', z') :: fs) c) with (Op g (with_first k (plug ((g', k', z') :: fs) c) z)).
        cbn [Terms.sem put]. rewrite M. rewrite (IH _ _ _ _ _ _ E) by (intros x X; apply W; now right). rewrite (W _ (or_introl eq_refl)). now rewrite M.
    Qed.
    Lemma fading_so f d c : is_so (fading f d c) -> forall e A, func f [neutral (Add d); sem None c e A [] zero] = neutral (Add d).
    Proof.
      intros H e A. unfold fading in H.
      repeat match type of H with is_so (match ?x with _ => _ end) => destruct x; try (apply H) end.
    Qed.

    Theorem factored_fits C part t u l : factored C part t u = Some l -> lawful l -> fits top C t u.
    Proof.
      intros H W. destruct t; try discriminate. destruct m; try discriminate. cbn [factored] in H. destruct (peel part t) as [[[| [[g k] z] fs] c] |]; try discriminate.
      set (c' := lower_term c) in *. destruct (left_over fs (g, k, z)) as [[r h] l'] eqn:E. apply when_some in H as [X [= <-]]. apply andb_prop in X as [L R].
      intros e A i a K F Q I. destruct (alike_means top (depth C) _ _ e L K) as [D S]. rewrite S, <- (proj2 (alike_means top (depth C) _ _ e R K)).
      rewrite D in I. destruct (W _ (or_introl eq_refl)) as (U & As & N & Un & Ds).
      assert (W' : lawful l') by (intros x X; apply W; right; apply in_or_app; now right).
      set (full := if here C (ISub (ISub hi lo) (Num 1)) then [ISub (ISub hi lo) (Num 1)] else []).
      assert (G : holds full e).
      { unfold full. destruct (here C (ISub (ISub hi lo) (Num 1))) eqn:P; intros p J; [| destruct J]. destruct J as [<- | []]. now apply (here_sound table table_ok top C). }
      apply (factor true full (mode C) d h g lo hi (with_first k (plug fs (under_index c')) z) r c'); auto.
      - unfold full. destruct (here C (ISub (ISub hi lo) (Num 1))); [right; intros e' F'; apply F'; now left | left]. intros e' A'. apply fading_so. apply W. right. now left.
      - intros e' A'. exact (left_over_so (under_index c') e' A' fs g k z r h l' E W').
    Qed.

    (** The largest of numbers: what is below what. *)
    Definition under_most d x y := op (Max d) y x = y.
    Lemma under_same d x : is_so (Most d) -> under_most d x x. Proof. intros (_ & _ & S & _). apply S. Qed.
    Lemma under_left d x y z : is_so (Most d) -> under_most d x y -> under_most d x (op (Max d) y z).
    Proof. unfold under_most. intros (As & Co & S & U) H. rewrite (Co y z), As. now rewrite H. Qed.
    Lemma under_right d x y z : is_so (Most d) -> under_most d x z -> under_most d x (op (Max d) y z).
    Proof. unfold under_most. intros (As & Co & S & U) H. rewrite As. now rewrite H. Qed.
    Lemma under_both d x y z : is_so (Most d) -> under_most d x z -> under_most d y z -> under_most d (op (Max d) x y) z.
    Proof. unfold under_most. intros (As & Co & S & U) H K. now rewrite <- As, H. Qed.
    Lemma under_fold d (v : Z -> V) : is_so (Most d) -> forall l a x, (under_most d x a \/ exists y, In y l /\ x = v y) -> under_most d x (fold_left (fun a y => op (Max d) a (v y)) l a).
    Proof.
      intros M. induction l as [| y l IH]; intros a x H; cbn [fold_left].
      - destruct H as [H | (y & [] & _)]; exact H.
      - apply IH. destruct H as [H | (z & [<- | Z] & ->)]; [left; now apply under_left | left; apply under_right, under_same; auto | right; eauto].
    Qed.
    Lemma fold_under d (v : Z -> V) b : is_so (Most d) -> forall l a, under_most d a b -> (forall y, In y l -> under_most d (v y) b) -> under_most d (fold_left (fun a y => op (Max d) a (v y)) l a) b.
    Proof. intros M. induction l as [| y l IH]; intros a H K; cbn [fold_left]; auto. apply IH; [apply under_both; auto; apply K; now left | intros; apply K; now right]. Qed.
    Lemma most_is d lo hi b e A : is_so (Most d) ->
      sem None (Sum (Max d) lo hi b) e A [] zero = fold_left (fun a y => op (Max d) a (sem None b (cons y e) A [] zero)) (span (ival e lo) (ival e hi)) (neutral (Max d)).
    Proof.
      intros (As & Co & S & U). cbn [Terms.sem]. unfold Terms.into. apply fold_in. intros a y _. apply fold_value; auto; [discriminate |]. intro x. rewrite Co. apply U.
    Qed.
    Lemma highest_under e A t : forall d lo hi b l, highest t = Some (d, lo, hi, b, l) -> is_so (Most d) -> lawful l -> under_most d (sem None (Sum (Max d) lo hi b) e A [] zero) (sem None t e A [] zero).
    Proof.
      induction t using term_ind'; intros d' lo' hi' b' l' E M W; cbn [highest] in E; try discriminate.
      - destruct m; try discriminate. injection E as <- <- <- <- <-. now apply under_same.
      - destruct args as [| x [| y [| z r]]]; try discriminate. inversion H as [| ? ? P Q]; subst. inversion Q as [| ? ? P' _]; subst.
        destruct (highest x) as [[[[[d lo] hi] b] l] |] eqn:X; [| destruct (highest y) as [[[[[d lo] hi] b] l] |] eqn:Y; [| discriminate]]; injection E as <- <- <- <- <-;
          assert (W' : lawful l) by (intros k K; apply W; now right); cbn [Terms.sem map put]; rewrite (W _ (or_introl eq_refl)); [apply under_left | apply under_right]; eauto.
    Qed.
    Lemma span_in lo hi x : lo <= x < hi -> In x (span lo hi).
    Proof. intro H. rewrite (span_app lo x hi), (span_first x hi) by lia. apply in_or_app. right. now left. Qed.

    Theorem rescaled_fits C at_ low high t u l : rescaled C at_ low high t u = Some l -> lawful l -> fits top C t u.
    Proof.
      intros H W. unfold rescaled in H. destruct (difference t) as [[[[[e0 s0] p] x] i0] |] eqn:T; [| discriminate]. destruct (written u) as [[[h m] k] |]; [| discriminate].
      assert (t = Op e0 [Op s0 [p; Get x i0]]) as ->.
      { unfold difference in T. repeat match type of T with match ?x with _ => _ end = Some _ => destruct x; try discriminate end. now injection T as -> -> -> -> ->. }
      clear T. destruct (held C x) as [w |] eqn:D; [| discriminate]. destruct (highest (elem Var w i0)) as [[[[[d lo] hi] b] l'] |] eqn:E; [| discriminate].
      apply when_some in H as [X [= <-]]. rewrite !andb_true_iff in X. destruct X as [[[[[[R L] N] P] Q] B] Y]. intros e A i a K F G I.
      assert (M : is_so (Most d)) by (apply W; right; now left). assert (W' : lawful l') by (intros z Z; apply W; right; now right).
      pose proof (W _ (or_introl eq_refl)) as S. cbn [is_so] in S.
      apply (here_sound table table_ok top C _ e K F) in L, N, P, Q. rewrite ?ival_sub, ?ival_below in *.
      rewrite <- (proj2 (alike_means top (depth C) _ _ e Y K)). cbn [Terms.sem map put]. f_equal. rewrite (element_known table table_ok top C A e x w i0 K F G D R).
      pose proof (highest_under e A _ _ _ _ _ _ E M W') as H. set (whole := sem None (elem Var w i0) e A [] zero) in *.
      pose proof (proj2 (alike_means top (depth C) _ _ e B K) None A [] zero) as V. rewrite sem_put_index in V.
      pose proof (most_is d low high b e A M) as C'. cbn [Terms.sem] in C'. rewrite C'. apply S.
      - rewrite <- V. apply (under_fold d (fun y => sem None b (cons y e) A [] zero)); auto. right. exists (ival e at_). split; auto. apply span_in. lia.
      - apply (fold_under d (fun y => sem None b (cons y e) A [] zero)); auto.
        + unfold under_most. destruct M as (_ & Co & _ & U). rewrite Co. apply U.
        + intros y J. apply in_span in J. unfold under_most in *. destruct M as (As & Co & Sa & U). rewrite most_is in H by (repeat split; auto).
          assert (Z : under_most d (sem None b (cons y e) A [] zero) (fold_left (fun a y => op (Max d) a (sem None b (cons y e) A [] zero)) (span (ival e lo) (ival e hi)) (neutral (Max d)))).
          { apply (under_fold d (fun y => sem None b (cons y e) A [] zero)); [repeat split; auto |]. right. exists y. split; auto. apply span_in. lia. }
          unfold under_most in Z. rewrite <- H, As. now rewrite Z.
    Qed.
  End Sound.
End Online.

Print Assumptions factored_fits.
Print Assumptions rescaled_fits.
