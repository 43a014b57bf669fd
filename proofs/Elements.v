(** One element of a term as a term (terms.py, element), and the rules that rest on it: expand, unfold, fold, guard_get, let_bind. *)

Require Import ZArith List Lia Bool.
Require Import Terms Kernel Named.
Import ListNotations.
Open Scope Z_scope.

(** Views on indices that are written down: under which conditions an element comes from where. *)
Definition pull_idx (v : view) (s i : list idx) : option (list idx * list idx) :=
  match v, s, i with
  | Transpose, _, x :: y :: r => Some ([], y :: x :: r)
  | Flatten, _ :: m :: _, x :: r => Some ([], IDiv x m :: IMod x m :: r)
  | Split k, _, x :: y :: r => Some ([], IAdd (IMul x k) y :: r)
  | Tile k, n :: _, x :: y :: r => Some ([below (IAdd (IMul x k) y) n], IAdd (IMul x k) y :: r)
  | TruncR k, _, x :: r => Some ([], x :: r)
  | TruncL k, _, x :: r => Some ([], IAdd x k :: r)
  | PadR k, n :: _, x :: r => Some ([x; below x n], x :: r)
  | PadL k, n :: _, x :: r => Some ([ISub x k; below (ISub x k) n], ISub x k :: r)
  | Reverse, n :: _, x :: r => Some ([], below x n :: r)
  | Sample k, _, x :: r => Some ([], IMul x k :: r)
  | Window k, _, x :: y :: r => Some ([], IAdd x y :: r)
  | _, _, _ => None
  end.
Fixpoint pull_idx_axis (n : nat) (v : view) (s i : list idx) : option (list idx * list idx) :=
  match n, s, i with
  | O, _, _ => pull_idx v s i
  | S k, _ :: s, x :: r => match pull_idx_axis k v s r with Some (cs, j) => Some (cs, x :: j) | None => None end
  | S _, _, _ => None
  end.
Definition given e (r : option (list idx * list idx)) : option (list Z) :=
  match r with Some (cs, j) => if all_hold cs e then Some (map (ival e) j) else None | None => None end.

Lemma le_below e i n : (0 <=? ival e (below i n)) = (ival e i <? ival e n).
Proof. rewrite ival_below. destruct (Z.leb_spec 0 (ival e n - 1 - ival e i)), (Z.ltb_spec (ival e i) (ival e n)); auto; lia. Qed.

Lemma pull_idx_val v s e l i : view_pull v (fun n => ival e (s n)) (map (ival e) l) (map (ival e) i) = given e (pull_idx (view_sub s v) l i).
Proof.
  destruct v; destruct l as [| n [| m l]]; destruct i as [| x [| y i]]; cbn [view_pull pull_idx view_sub map given all_hold forallb]; auto;
    unfold all_hold; cbn [forallb]; rewrite ?le_below, ?ival_below, ?ival_sub, ?ival_mod; cbn [ival]; rewrite <- ?ival_isub, ?andb_true_r; unfold between; auto;
    try (destruct (_ <? _); reflexivity).
Qed.
Lemma pull_idx_axis_val v s e : forall n l i, pull_axis n (view_pull v (fun k => ival e (s k))) (map (ival e) l) (map (ival e) i) = given e (pull_idx_axis n (view_sub s v) l i).
Proof.
  induction n as [| n IH]; intros l i; [apply pull_idx_val |]. destruct l as [| m l], i as [| x i]; auto. cbn [pull_axis pull_idx_axis map]. rewrite IH.
  destruct (pull_idx_axis n (view_sub s v) l i) as [[cs j] |]; cbn [given option_map]; auto. destruct (all_hold cs e); reflexivity.
Qed.

Definition shape_view (v : view) (s : list idx) : list idx :=
  match v, s with
  | Transpose, n :: m :: r => m :: n :: r
  | Flatten, n :: m :: r => IMul n m :: r
  | Split k, n :: r => IDiv n k :: k :: r
  | Tile k, n :: r => IMul (Num (-1)) (IDiv (IMul (Num (-1)) n) k) :: k :: r
  | TruncR k, n :: r | TruncL k, n :: r => ISub n k :: r
  | PadR k, n :: r | PadL k, n :: r => IAdd n k :: r
  | Reverse, n :: r => n :: r
  | Sample k, n :: r => IMul (Num (-1)) (IDiv (IMul (Num (-1)) n) k) :: r
  | Window k, n :: r => IAdd (ISub n k) (Num 1) :: k :: r
  | _, _ => s
  end.
Lemma shape_view_val v e s : map (ival e) (shape_view v s) = view_shape v e (map (ival e) s).
Proof.
  destruct v; destruct s as [| n [| m s]]; cbn [map shape_view view_shape]; auto; rewrite ?ival_sub; cbn [ival]; unfold ceil; auto;
    repeat (f_equal; auto); try lia; replace (-1 * ival e n) with (- ival e n) by lia; lia.
Qed.
Lemma map_at_axis {A B} (g : A -> B) n f f' : (forall l, map g (f l) = f' (map g l)) -> forall l, map g (at_axis n f l) = at_axis n f' (map g l).
Proof. intro H. induction n as [| n IH]; intro l; [apply H |]. destruct l as [| x l]; cbn [at_axis map]; auto. now rewrite IH. Qed.

Lemma nth_val e n l : nth n (map (ival e) l) 0 = ival e (nth n l (Num 0)).
Proof. exact (map_nth (ival e) l (Num 0) n). Qed.

Lemma inside_length i s : inside i s -> length i = length s.
Proof. intro H. induction H; simpl; auto. Qed.

Section Elements.
  Context {ops : operators}.

  Fixpoint shape (t : term) : list idx :=
    match t with
    | Gen lo hi b => ISub hi lo :: map (isub (cons lo Var)) (shape b)
    | Sum _ lo hi b => map (isub (cons lo Var)) (shape b)
    | Guard _ b | Let _ b => shape b
    | Cat n a b => at_axis n (fun l => match l with x :: r => IAdd x (nth n (shape b) (Num 0)) :: r | [] => [] end) (shape a)
    | Plus _ a _ => shape a
    | View v n b => at_axis n (shape_view v) (shape b)
    | Zeros s => s
    | _ => []
    end.
  Lemma shape_dims t : forall e, map (ival e) (shape t) = dims t e.
  Proof.
    assert (P : forall lo e l, map (ival e) (map (isub (cons lo Var)) l) = map (ival (cons (ival e lo) e)) l).
    { intros. rewrite map_map. apply map_ext. intro p. rewrite ival_isub. apply ival_ext. intros [| n]; reflexivity. }
    induction t using term_ind'; cbn [shape dims map]; intros; auto.
    - now rewrite ival_sub, P, IHt.
    - now rewrite P, IHt.
    - rewrite (map_at_axis (ival e) n _ (fun l => match l with x :: r => x + nth n (dims t2 e) 0 :: r | [] => [] end)); [now rewrite IHt1 |].
      intros [| x l]; cbn [map ival]; auto. now rewrite <- IHt2, nth_val.
    - rewrite (map_at_axis (ival e) n _ (view_shape v e)); [now rewrite IHt | apply shape_view_val].
  Qed.

  (** The element at an index, where [s] says what the indices of the term are here. *)
  Fixpoint elem (s : nat -> idx) (t : term) (i : list idx) : term :=
    match t with
    | Gen lo hi b => match i with x :: r => elem (cons (IAdd (isub s lo) x) s) b r | [] => Zeros [] end
    | Sum m lo hi b => Sum m (isub s lo) (isub s hi) (elem (up s) b (map lift i))
    | Guard cs b => Guard (map (isub s) cs) (elem s b i)
    | Let x b => Let (tsub s (fun k => k) x) (elem s b i)
    | Cat n u v =>
        let k := isub s (nth n (shape u) (Num 0)) in
        Choose [(Ge, below (nth n i (Num 0)) k)] (elem s u i) (elem s v (at_axis n (fun l => match l with x :: r => ISub x k :: r | [] => [] end) i))
    | Plus m u v => Plus m (elem s u i) (elem s v i)
    | View v n b => match pull_idx_axis n (view_sub s v) (map (isub s) (shape b)) i with Some (cs, j) => Guard cs (elem s b j) | None => Zeros [] end
    | Zeros _ => Zeros []
    | Choose ts u v => Choose (map (fun t => (fst t, isub s (snd t))) ts) (elem s u i) (elem s v i)
    | ChooseV g c u v => ChooseV g (tsub s (fun k => k) c) (elem s u i) (elem s v i)
    | _ => tsub s (fun k => k) t
    end.

  Lemma map_lift_val l v e : map (ival (cons v e)) (map lift l) = map (ival e) l.
  Proof. rewrite map_map. apply map_ext. intro. apply ival_lift. Qed.

  Theorem sem_elem t : forall s i m e A a, sem m (elem s t i) e A [] a = sem m t (fun n => ival e (s n)) A (map (ival e) i) a.
  Proof.
    induction t using term_ind'; intros s0 i0 mode e A a0; cbn [elem]; try (rewrite sem_tsub; cbn [Terms.sem]; reflexivity).
    - destruct i0 as [| x r]; cbn [Terms.sem map]; auto. rewrite IHt. apply sem_ext; auto. intros [| n]; cbn [cons ival]; auto. now rewrite ival_isub.
    - cbn [Terms.sem]. rewrite !ival_isub. apply into_ext. apply fold_in. intros c x _. rewrite IHt, map_lift_val. apply sem_ext; auto. apply up_val.
    - cbn [Terms.sem]. rewrite all_hold_sub, IHt. reflexivity.
    - cbn [Terms.sem]. rewrite IHt2. apply sem_ext; auto. intros [| x] j; cbn [cons]; auto. now rewrite dims_tsub, sem_tsub.
    - cbn zeta. cbn [Terms.sem]. unfold passes. cbn [forallb fst snd true_of]. rewrite le_below, ival_isub, andb_true_r. rewrite <- shape_dims.
      rewrite !nth_val, IHt1, IHt2. destruct (_ <? _); auto. f_equal. rewrite (map_at_axis (ival e) n _ (fun l => match l with x :: r => x - ival (fun k => ival e (s0 k)) (nth n (shape t1) (Num 0)) :: r | [] => [] end)); auto.
      intros [| x l]; cbn [map]; auto. now rewrite ival_sub, ival_isub.
    - cbn [Terms.sem]. destruct mode as [o |]; [destruct (monoid_eq o m) |]; now rewrite IHt1, IHt2.
    - cbn [Terms.sem]. rewrite <- shape_dims, <- (map_ival_sub (shape t) e s0), pull_idx_axis_val.
      destruct (pull_idx_axis n (view_sub s0 v) (map (isub s0) (shape t)) i0) as [[cs j] |]; cbn [given Terms.sem]; auto. destruct (all_hold cs e); auto.
    - reflexivity.
    - cbn [Terms.sem]. rewrite passes_sub, IHt1, IHt2. reflexivity.
    - cbn [Terms.sem]. rewrite sem_tsub, IHt2, IHt3. reflexivity.
  Qed.

  (** * expand: a term is the array of its elements *)

  Fixpoint gens_under (d : nat) (s : list idx) (b : term) : term := match s with [] => b | n :: r => Gen (Num 0) (isub (fun k => Var (d + k)) n) (gens_under (S d) r b) end.
  Definition gens := gens_under 0.
  Fixpoint pushed (i : list Z) (e : env) : env := match i with [] => e | x :: r => pushed r (cons x e) end.
  Fixpoint counted (n : nat) : list idx := match n with O => [] | S k => Var k :: counted k end.

  Lemma sem_gens s : forall d b m e A i a, length i = length s -> sem m (gens_under d s b) e A i a = sem m b (pushed i e) A [] a.
  Proof.
    induction s as [| x s IH]; intros d b m e A [| y i] a L; try discriminate; auto. cbn [gens_under Terms.sem pushed ival]. rewrite Z.add_0_l. apply IH. now injection L.
  Qed.
  Lemma pushed_skip i : forall e n, pushed i e (length i + n)%nat = e n.
  Proof. induction i as [| x i IH]; intros; auto. cbn [pushed length]. replace (S (length i) + n)%nat with (length i + S n)%nat by lia. rewrite IH. reflexivity. Qed.
  Lemma pushed_last i : forall e, map (ival (pushed i e)) (counted (length i)) = i.
  Proof.
    induction i as [| x i IH]; intros; auto. cbn [pushed length counted map ival]. rewrite IH. f_equal. rewrite <- (Nat.add_0_r (length i)). now rewrite pushed_skip.
  Qed.

  Definition expanded (t : term) := let n := length (shape t) in gens (shape t) (elem (fun k => Var (n + k)) t (counted n)).
  Theorem expand facts m t : same facts m t (expanded t).
  Proof.
    intros e F A i a I. unfold expanded. assert (L : length i = length (shape t)).
    { rewrite <- (map_length (ival e)), shape_dims. now apply inside_length. }
    unfold gens. rewrite sem_gens, sem_elem by auto. rewrite <- L. rewrite pushed_last. apply sem_ext; auto. intro n. cbn [ival]. now rewrite pushed_skip.
  Qed.

  (** * unfold, fold: what an array is known to hold *)

  Definition knows (A : arrays) x d e := forall j, inside j (dims d e) -> A x j = sem None d e A j zero.
  Lemma knows_let x e A : knows (cons (fun j => if within j (dims x e) then sem None x e A j zero else junk) A) 0 (under_let x) e.
  Proof. intros j J. rewrite dims_under_let in J. cbn [cons]. rewrite (proj2 (within_inside j (dims x e)) J). now rewrite sem_under_let. Qed.
  Lemma knows_deeper A x d e v : knows A x d e -> knows A x (under_index d) (cons v e).
  Proof. intros K j J. rewrite dims_under_index in J. rewrite sem_under_index. auto. Qed.
  Lemma knows_later A x d e y : knows A x d e -> knows (cons y A) (S x) (under_let d) e.
  Proof. intros K j J. rewrite dims_under_let in J. rewrite sem_under_let. cbn [cons]. auto. Qed.

  Theorem unfold_get A x d e i a : knows A x d e -> inside (map (ival e) i) (dims d e) -> sem None (Get x i) e A [] a = sem None (elem Var d i) e A [] a.
  Proof. intros K I. rewrite sem_elem. cbn [Terms.sem put]. rewrite (K _ I). rewrite (set_forgets _ e A _ zero a). apply sem_ext; auto. Qed.

  (** Where it is folded instead of set: licences reassociate and signed-zero. *)
  Lemma fold_value o t : plain o -> (forall a x y, op o (op o a x) y = op o a (op o x y)) -> unit o -> (forall a, op o a (neutral o) = a) ->
    forall e A i a, sem (Some o) t e A i a = op o a (sem None t e A i zero).
  Proof.
    intros U As L R e A i a. destruct (sem_adds o t U e A i) as [l H]. rewrite H.
    assert (Q : forall l s, fold_left (op o) l s = op o s (fold_left (op o) l (neutral o))).
    { induction l0 as [| v l0 IH]; cbn [fold_left]; intros; [now rewrite R |]. rewrite IH, (IH (op o (neutral o) v)), L. apply As. }
    rewrite Q. f_equal. rewrite <- H. apply from_neutral; auto. intros d -> x y. now rewrite (U d eq_refl), <- (nothing_added d), L.
  Qed.
  Theorem unfold_folded A x d e i o a : plain o -> (forall a x y, op o (op o a x) y = op o a (op o x y)) -> unit o -> (forall a, op o a (neutral o) = a) ->
    knows A x d e -> inside (map (ival e) i) (dims d e) -> sem (Some o) (Get x i) e A [] a = sem (Some o) (elem Var d i) e A [] a.
  Proof. intros U As L R K I. rewrite !(fold_value o) by auto. f_equal. now apply unfold_get. Qed.

  (** An element that is 0 where a condition fails is read under it. *)
  Theorem guard_get A x d e i cs b a : knows A x d e -> inside (map (ival e) i) (dims d e) -> elem Var d i = Guard cs b -> sem None (Get x i) e A [] a = sem None (Guard cs (Get x i)) e A [] a.
  Proof.
    intros K I E. cbn [Terms.sem]. destruct (all_hold cs e) eqn:C; auto. pose proof (unfold_get A x d e i a K I) as U. rewrite E in U. cbn [Terms.sem] in U. rewrite C in U. exact U.
  Qed.

  (** * let_bind: a value gets a name; with let_out and let_lift it goes to where the rule puts it *)
  Definition read_all (n : nat) (s : list idx) : term := gens s (Get 0 (counted n)).
  Theorem let_bind facts t : same facts None t (Let t (read_all (length (shape t)) (shape t))).
  Proof.
    intros e F A i a I. cbn [Terms.sem]. unfold read_all. assert (L : length i = length (shape t)).
    { rewrite <- (map_length (ival e)), shape_dims. now apply inside_length. }
    unfold gens. rewrite sem_gens by auto. cbn [Terms.sem put cons]. rewrite <- L, pushed_last, (proj2 (within_inside i (dims t e)) I). apply set_forgets.
  Qed.
End Elements.

Print Assumptions expand.
Print Assumptions unfold_folded.
Print Assumptions guard_get.
Print Assumptions let_bind.
