(** Lowering by destination passing (atoll/check/loops.py) for arrays of scalars, sums of scalars, guards and additions, against loops whose cells may be undefined.

    A cell is undefined until it is stored; adding to an undefined cell is an error, so a run that ends says that every sum was begun. [stored_right]: the loops end, every cell of the array holds
    the element that the term means, and no other cell is touched (bounds; no write is lost; every cell is written). Not here: views, concatenations, names, arrays inside of sums. *)

Require Import ZArith List Lia Bool.
Require Import Terms Kernel Named.
Import ListNotations.
Open Scope Z_scope.

Section Lowering.
  Context {ops : operators}.

  Inductive stmt := For (lo hi : idx) (s : stmt) | If (cs : list idx) (s s' : stmt) | Store (i : list idx) (v : term) | Begin (o : monoid) (i : list idx) | Update (o : monoid) (i : list idx) (v : term) | Seq (s s' : stmt) | Skip.

  Definition cell := list Z.
  Definition memory := cell -> option V.
  Definition set (M : memory) (c : cell) (v : V) : memory := fun d => if list_eq_dec Z.eq_dec c d then Some v else M d.
  Lemma set_here M c v : set M c v c = Some v. Proof. unfold set. destruct (list_eq_dec Z.eq_dec c c); congruence. Qed.
  Lemma set_there M c v d : d <> c -> set M c v d = M d. Proof. unfold set. destruct (list_eq_dec Z.eq_dec c d); congruence. Qed.

  Definition rounds (f : Z -> memory -> option memory) (l : list Z) (M : memory) : option memory :=
    fold_left (fun r x => match r with Some M => f x M | None => None end) l (Some M).
  Fixpoint exec (s : stmt) (e : env) (A : arrays) (M : memory) : option memory :=
    match s with
    | For lo hi b => rounds (fun x => exec b (cons x e) A) (span (ival e lo) (ival e hi)) M
    | If cs s s' => if all_hold cs e then exec s e A M else exec s' e A M
    | Store i v => Some (set M (map (ival e) i) (sem None v e A [] zero))
    | Begin o i => Some (set M (map (ival e) i) (neutral o))
    | Update o i v => match M (map (ival e) i) with Some a => Some (set M (map (ival e) i) (op o a (sem None v e A [] zero))) | None => None end
    | Seq s s' => match exec s e A M with Some M' => exec s' e A M' | None => None end
    | Skip => Some M
    end.

  (** A scalar folded into a place, and a term stored there; None: not of this part of the language. *)
  Fixpoint folded (o : monoid) (t : term) (p : list idx) : option stmt :=
    match t with
    | Sum o' lo hi b => if monoid_eq o o' then option_map (For lo hi) (folded o b (map lift p)) else None
    | Guard cs b => match o with Add d => option_map (fun s => If cs s Skip) (folded (Add d) b p) | _ => None end
    | Plus o' u v => if monoid_eq o o' then match folded o u p, folded o v p with Some s, Some s' => Some (Seq s s') | _, _ => None end else None
    | Get _ _ | Lit _ | Index _ | Op _ _ => Some (Update o p t)
    | _ => None
    end.
  Fixpoint stored (t : term) (p : list idx) : option stmt :=
    match t with
    | Gen lo hi b => option_map (For lo hi) (stored b (map lift p ++ [ISub (Var 0) (lift lo)]))
    | Sum o lo hi b => option_map (fun s => Seq (Begin o p) (For lo hi s)) (folded o b (map lift p))
    | Get _ _ | Lit _ | Index _ | Op _ _ => Some (Store p t)
    | _ => None
    end.

  Lemma val_lift p v e : map (ival (cons v e)) (map lift p) = map (ival e) p.
  Proof. rewrite map_map. apply map_ext. intro. apply ival_lift. Qed.

  Theorem folded_right t : forall o p s e A M a, folded o t p = Some s -> M (map (ival e) p) = Some a ->
    exists M', exec s e A M = Some M' /\ M' (map (ival e) p) = Some (sem (Some o) t e A [] a) /\ forall d, d <> map (ival e) p -> M' d = M d.
  Proof.
    assert (U : forall o p (u : term) e A M a, (forall a, sem (Some o) u e A [] a = op o a (sem None u e A [] zero)) -> M (map (ival e) p) = Some a ->
      exists M', exec (Update o p u) e A M = Some M' /\ M' (map (ival e) p) = Some (sem (Some o) u e A [] a) /\ forall d, d <> map (ival e) p -> M' d = M d).
    { intros o p u e A M a S C. cbn [exec]. rewrite C. eexists. split; [reflexivity |]. split; [rewrite S; apply set_here | intros; now apply set_there]. }
    induction t using term_ind'; intros o pl st e A M v0 E C; cbn [folded] in E; try discriminate; try (injection E as <-; apply U; auto; fail).
    - destruct (monoid_eq o m); [subst | discriminate]. destruct (folded m t (map lift pl)) as [b |] eqn:B; [| discriminate]. injection E as <-. cbn [exec]. rewrite sum_fold. unfold rounds.
      revert M v0 C. generalize (span (ival e lo) (ival e hi)) as l. induction l as [| x l IHl]; intros M v0 C; cbn [fold_left]; [eauto |].
      destruct (IHt m (map lift pl) b (cons x e) A M v0 B) as (M1 & X1 & Y1 & Z1); [now rewrite val_lift |]. rewrite val_lift in *. rewrite X1. destruct (IHl M1 _ Y1) as (M2 & X2 & Y2 & Z2).
      exists M2. split; auto. split; auto. intros d D. now rewrite Z2, Z1.
    - destruct o; try discriminate. destruct (folded (Add d) t pl) as [b |] eqn:B; [| discriminate]. injection E as <-. cbn [exec Terms.sem]. destruct (all_hold cs e); eauto.
    - destruct (monoid_eq o m); [subst | discriminate]. destruct (folded m t1 pl) as [s1 |] eqn:B1; [| discriminate]. destruct (folded m t2 pl) as [s2 |] eqn:B2; [| discriminate]. injection E as <-.
      destruct (IHt1 m pl s1 e A M v0 B1 C) as (M1 & X1 & Y1 & Z1). destruct (IHt2 m pl s2 e A M1 _ B2 Y1) as (M2 & X2 & Y2 & Z2).
      exists M2. cbn [exec Terms.sem]. rewrite X1. destruct (monoid_eq m m); [| contradiction]. split; auto. split; auto. intros d D. now rewrite Z2, Z1.
  Qed.

  Lemma folded_scalar t : forall o p s e, folded o t p = Some s -> dims t e = [].
  Proof.
    induction t using term_ind'; intros o pl st e E; cbn [folded] in E; try discriminate; cbn [dims]; auto.
    - destruct (monoid_eq o m); [| discriminate]. destruct (folded o t (map lift pl)) eqn:B; [| discriminate]. eauto.
    - destruct o; try discriminate. destruct (folded (Add d) t pl) eqn:B; [| discriminate]. eauto.
    - destruct (monoid_eq o m); [| discriminate]. destruct (folded o t1 pl) eqn:B; [| discriminate]. eauto.
  Qed.

  Fixpoint rect (t : term) : Prop := match t with Gen _ _ b => steady b /\ rect b | _ => True end.

  Theorem stored_right t : forall p s e A M, rect t -> stored t p = Some s ->
    exists M', exec s e A M = Some M' /\
      (forall i, inside i (dims t e) -> M' (map (ival e) p ++ i) = Some (sem None t e A i zero)) /\ (forall d, (forall i, inside i (dims t e) -> d <> map (ival e) p ++ i) -> M' d = M d).
  Proof.
    assert (P : forall p (u : term) e A M, dims u e = [] -> exists M', exec (Store p u) e A M = Some M' /\
      (forall i, inside i (dims u e) -> M' (map (ival e) p ++ i) = Some (sem None u e A i zero)) /\ (forall d, (forall i, inside i (dims u e) -> d <> map (ival e) p ++ i) -> M' d = M d)).
    { intros p u e A M D. cbn [exec]. eexists. split; [reflexivity |]. rewrite D. split.
      - intros i I. inversion I. subst. rewrite app_nil_r. apply set_here.
      - intros d N. apply set_there. specialize (N [] (Forall2_nil _)). now rewrite app_nil_r in N. }
    induction t using term_ind'; intros pl st e A M R E; cbn [stored] in E; try discriminate; try (injection E as <-; apply P; reflexivity).
    - destruct (stored t (map lift pl ++ [ISub (Var 0) (lift lo)])) as [b |] eqn:B; [| discriminate]. injection E as <-. cbn [exec]. destruct R as [S R].
      set (c := map (ival e) pl).
      assert (K : forall x, map (ival (cons x e)) (map lift pl ++ [ISub (Var 0) (lift lo)]) = c ++ [x - ival e lo]).
      { intro x. rewrite map_app, val_lift. cbn [map]. rewrite ival_sub, ival_lift. reflexivity. }
      assert (L : forall n x0 M, exists M', rounds (fun x => exec b (cons x e) A) (range x0 n) M = Some M' /\
        (forall x i, x0 <= x < x0 + Z.of_nat n -> inside i (dims t (cons (ival e lo) e)) -> M' (c ++ (x - ival e lo) :: i) = Some (sem None t (cons x e) A i zero)) /\
        (forall d, (forall x i, x0 <= x < x0 + Z.of_nat n -> inside i (dims t (cons (ival e lo) e)) -> d <> c ++ (x - ival e lo) :: i) -> M' d = M d)).
      { induction n as [| n IHn]; intros x0 M0.
        - exists M0. split; [reflexivity |]. split; [intros; lia | auto].
        - destruct (IHt (map lift pl ++ [ISub (Var 0) (lift lo)]) b (cons x0 e) A M0 R B) as (M1 & X1 & Y1 & Z1). rewrite (S x0 (ival e lo) e), K in *.
          destruct (IHn (x0 + 1) M1) as (M2 & X2 & Y2 & Z2). exists M2. split.
          + unfold rounds. cbn [range fold_left]. rewrite X1. exact X2.
          + split.
            * intros x i X I. destruct (Z.eq_dec x x0) as [-> | N]; [| apply Y2; auto; lia]. rewrite Z2.
              -- specialize (Y1 i I). rewrite <- app_assoc in Y1. exact Y1.
              -- intros y j Y J Q. apply app_inv_head in Q. injection Q. lia.
            * intros d N. rewrite Z2, Z1; auto.
              -- intros i I Q. apply (N x0 i); auto; [lia |]. rewrite Q, <- app_assoc. reflexivity.
              -- intros y j Y J. apply N; auto. lia. }
      destruct (L (Z.to_nat (ival e hi - ival e lo)) (ival e lo) M) as (M' & X & Y & W). exists M'. split; [exact X |]. cbn [dims]. split.
      + intros i I. inversion I as [| x n r q H1 H2]; subst. cbn [Terms.sem]. replace x with (ival e lo + x - ival e lo) at 1 by lia. apply Y; auto. lia.
      + intros d N. apply W. intros x i X' I Q. apply (N (x - ival e lo :: i)); auto. constructor; auto. lia.
    - destruct (folded m t (map lift pl)) as [b |] eqn:B; [| discriminate]. injection E as <-. cbn [exec map].
      assert (D : dims (Sum m lo hi t) e = []) by (cbn [dims]; eapply folded_scalar; eauto). rewrite D.
      assert (G : folded m (Sum m lo hi t) pl = Some (For lo hi b)) by (cbn [folded]; destruct (monoid_eq m m); [rewrite B; reflexivity | contradiction]).
      destruct (folded_right (Sum m lo hi t) m pl (For lo hi b) e A (set M (map (ival e) pl) (neutral m)) (neutral m) G (set_here _ _ _)) as (M' & X & Y & W).
      exists M'. split; [exact X |]. split.
      + intros i I. inversion I. subst. rewrite app_nil_r, Y, sum_fold. reflexivity.
      + intros d N. specialize (N [] (Forall2_nil _)). rewrite app_nil_r in N. rewrite W by auto. now apply set_there.
  Qed.
End Lowering.

Print Assumptions folded_right.
Print Assumptions stored_right.
