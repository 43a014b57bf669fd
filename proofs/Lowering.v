(** Lowering by destination passing (atoll/check/loops.py), against loops whose cells may be undefined.

    A cell is undefined until it is stored; adding to an undefined cell is an error, so a run that ends says that every sum was begun. A [place] is where an element of a term goes: the indices
    that loops around have given, then what views and concatenations do to them on the way out (view_push of terms.py). A place that a view cuts off takes no element.

    [lowered_right]: the loops end, every cell of the array holds the element that the term means, and no other cell is touched (bounds; no write is lost; every cell is written). Named values are
    arrays of their own, undefined at first. Not here: rolled rows, windows and samples on the way out (they have no place to write to), sums by another operator than the one they are folded by. *)

Require Import ZArith List Lia Bool.
Require Import Terms Kernel Named Elements Compare Path Applied.
Import ListNotations.
Open Scope Z_scope.

(** * Where elements of the argument of a view go *)

Definition view_push (v : view) (e : env) (s j : list Z) : option (list Z) :=
  match v, s, j with
  | Transpose, _, x :: y :: r => Some (y :: x :: r)
  | Flatten, _ :: m :: _, x :: y :: r => Some (x * m + y :: r)
  | Split k, _, x :: r | Tile k, _, x :: r => Some (x / ival e k :: x mod ival e k :: r)
  | TruncR k, n :: _, x :: r => if x <? n - ival e k then Some (x :: r) else None
  | TruncL k, _, x :: r => if ival e k <=? x then Some (x - ival e k :: r) else None
  | PadR k, _, x :: r => Some (x :: r)
  | PadL k, _, x :: r => Some (x + ival e k :: r)
  | Reverse, n :: _, x :: r => Some (n - 1 - x :: r)
  | _, _, _ => None
  end.
Definition pushes (v : view) (e : env) (s : list Z) : Prop :=
  match v, s with
  | Transpose, _ :: _ :: _ | Reverse, _ :: _ => True
  | Flatten, _ :: m :: _ => 0 <= m
  | Split k, n :: _ => 1 <= ival e k /\ n mod ival e k = 0
  | Tile k, _ :: _ => 1 <= ival e k
  | TruncR k, _ :: _ | TruncL k, _ :: _ | PadR k, _ :: _ | PadL k, _ :: _ => 0 <= ival e k
  | _, _ => False
  end.
Lemma view_push_lift v x e s j : view_push (view_sub (fun k => Var (S k)) v) (cons x e) s j = view_push v e s j.
Proof. destruct v; cbn [view_sub view_push]; auto; fold (lift k); now rewrite ival_lift. Qed.

Lemma push_pull v e s i j : pushes v e s -> inside j s -> view_push v e s j = Some i -> inside i (view_shape v e s) /\ view_pull v e s i = Some j.
Proof.
  unfold inside. intros P J H. destruct v; destruct s as [| n [| m s]]; cbn [pushes] in P; try easy; opened; cbn [view_push] in H; try discriminate;
    try match type of H with (if ?b then _ else _) = _ => destruct b eqn:E; [| discriminate]; rewrite ?Z.ltb_lt, ?Z.leb_le in E end;
    injection H as <-; cbn [view_shape view_pull]; (split; [repeat (apply Forall2_cons || apply Forall2_nil); auto; try lia | try reflexivity]); try (f_equal; f_equal; lia).
  - nia.
  - rewrite Z.div_add_l, Z.div_small by lia. rewrite (Z.add_comm (x * m)), Z.mod_add, Z.mod_small by lia. now rewrite Z.add_0_r.
  - destruct P as [K D]. split; [apply Z.div_pos; lia |]. apply Z.div_lt_upper_bound; [lia |]. pose proof (Z.div_mod n (ival e k) ltac:(lia)). lia.
  - destruct P as [K D]. apply Z.mod_pos_bound. lia.
  - destruct P as [K D]. f_equal. f_equal. pose proof (Z.div_mod x (ival e k) ltac:(lia)). lia.
  - destruct P as [K D]. split; [apply Z.div_pos; lia |]. apply Z.div_lt_upper_bound; [lia |]. pose proof (Z.div_mod n (ival e k) ltac:(lia)). lia.
  - destruct P as [K D]. apply Z.mod_pos_bound. lia.
  - destruct P as [K D]. f_equal. f_equal. pose proof (Z.div_mod x (ival e k) ltac:(lia)). lia.
  - unfold ceil. split; [apply Z.div_pos; lia |]. apply Z.div_lt_upper_bound; [lia |]. pose proof (Z.mul_div_le (- n) (ival e k) ltac:(lia)). nia.
  - apply Z.mod_pos_bound. lia.
  - replace (x / ival e k * ival e k + x mod ival e k) with x by (pose proof (Z.div_mod x (ival e k) ltac:(lia)); lia). destruct (Z.ltb_spec x n); [reflexivity | lia].
  - unfold ceil. split; [apply Z.div_pos; lia |]. apply Z.div_lt_upper_bound; [lia |]. pose proof (Z.mul_div_le (- n) (ival e k) ltac:(lia)). nia.
  - apply Z.mod_pos_bound. lia.
  - replace (x / ival e k * ival e k + x mod ival e k) with x by (pose proof (Z.div_mod x (ival e k) ltac:(lia)); lia). destruct (Z.ltb_spec x n); [reflexivity | lia].
  - unfold between. destruct (Z.leb_spec 0 x), (Z.ltb_spec x n); try lia. reflexivity.
  - unfold between. destruct (Z.leb_spec 0 x), (Z.ltb_spec x n); try lia. reflexivity.
  - unfold between. replace (x + ival e k - ival e k) with x by lia. destruct (Z.leb_spec 0 x), (Z.ltb_spec x n); try lia. reflexivity.
  - unfold between. replace (x + ival e k - ival e k) with x by lia. destruct (Z.leb_spec 0 x), (Z.ltb_spec x n); try lia. reflexivity.
Qed.
Lemma pull_push v e s i j : pushes v e s -> inside i (view_shape v e s) -> view_pull v e s i = Some j -> inside j s /\ view_push v e s j = Some i.
Proof.
  unfold inside. intros P I H. destruct v; destruct s as [| n [| m s]]; cbn [pushes] in P; try easy; cbn [view_shape] in I; opened; cbn [view_pull] in H; try discriminate;
    try match type of H with (if ?b then _ else _) = _ => destruct b eqn:E; [| discriminate]; unfold between in E; rewrite ?andb_true_iff, ?Z.ltb_lt, ?Z.leb_le in E end;
    injection H as <-; cbn [view_push]; (split; [repeat (apply Forall2_cons || apply Forall2_nil); auto; try lia | try reflexivity]); try (f_equal; f_equal; lia).
  all: try (assert (1 <= m) by (destruct (Z.eq_dec m 0) as [Q | Q]; [rewrite Q, Z.mul_0_r in *; lia | lia])).
  all: try match goal with |- 0 <= ?x / ?m < ?n => split; [apply Z.div_pos; lia | apply Z.div_lt_upper_bound; nia] end.
  all: try match goal with |- 0 <= ?x mod ?m < ?m => apply Z.mod_pos_bound; lia end.
  all: try (pose proof (Z.div_mod x m ltac:(lia)); f_equal; f_equal; lia).
  all: try (destruct P as [K D]; pose proof (Z.mul_div_le n (ival e k) ltac:(lia)); nia).
  all: try (rewrite Z.div_add_l, Z.div_small by lia; rewrite (Z.add_comm (x * _)), Z.mod_add, Z.mod_small by lia; now rewrite Z.add_0_r).
  all: try match goal with |- (if ?b then _ else _) = _ => destruct b eqn:Q; rewrite ?Z.ltb_lt, ?Z.ltb_ge, ?Z.leb_le, ?Z.leb_gt in Q; try lia; f_equal; f_equal; lia end.
Qed.

Definition push_at (n : nat) (f : list Z -> option (list Z)) (l : list Z) : option (list Z) := option_map (app (firstn n l)) (f (skipn n l)).
Lemma push_at_cons n f x l : push_at (S n) f (x :: l) = option_map (List.cons x) (push_at n f l).
Proof. unfold push_at. cbn [firstn skipn]. destruct (f (skipn n l)); reflexivity. Qed.
Lemma push_at_app g n f l : push_at (length g + n) f (g ++ l) = option_map (app g) (push_at n f l).
Proof. induction g as [| x g IH]; cbn [length app plus]; [destruct (push_at n f l); reflexivity |]. rewrite push_at_cons, IH. destruct (push_at n f l); reflexivity. Qed.
Lemma at_axis_app {A} (g : list A) n f l : at_axis (length g + n) f (g ++ l) = g ++ at_axis n f l.
Proof. induction g as [| x g IH]; cbn [length app plus at_axis]; auto. now rewrite IH. Qed.

Lemma push_pull_axis v e : forall n s i j, pushes v e (skipn n s) -> inside j s -> push_at n (view_push v e (skipn n s)) j = Some i ->
  inside i (at_axis n (view_shape v e) s) /\ pull_axis n (view_pull v e) s i = Some j.
Proof.
  induction n as [| n IH]; intros s i j P J H.
  - unfold push_at in H. cbn [firstn skipn] in *. destruct (view_push v e s j) eqn:E; [| discriminate]. injection H as <-. cbn [app at_axis pull_axis]. now apply push_pull.
  - destruct s as [| m s]; [destruct v; cbn in P; easy |]. inversion J as [| x ? r ? X R]; subst. rewrite push_at_cons in H. cbn [skipn] in *. destruct (push_at n _ r) as [q |] eqn:E; [| discriminate]. injection H as <-.
    destruct (IH s q r P R E) as [I Q]. cbn [at_axis pull_axis]. rewrite Q. split; [constructor; auto | reflexivity].
Qed.
Lemma pull_push_axis v e : forall n s i j, pushes v e (skipn n s) -> inside i (at_axis n (view_shape v e) s) -> pull_axis n (view_pull v e) s i = Some j ->
  inside j s /\ push_at n (view_push v e (skipn n s)) j = Some i.
Proof.
  induction n as [| n IH]; intros s i j P I H.
  - cbn [skipn at_axis pull_axis] in *. destruct (pull_push v e s i j P I H) as [J Q]. split; auto. unfold push_at. cbn [firstn skipn]. now rewrite Q.
  - destruct s as [| m s]; [destruct v; cbn in P; easy |]. cbn [at_axis] in I. inversion I as [| x ? r ? X R]; subst. cbn [pull_axis skipn] in *. destruct (pull_axis n _ s r) as [q |] eqn:E; [| discriminate]. injection H as <-.
    destruct (IH s r q P R E) as [J Q]. split; [constructor; auto |]. now rewrite push_at_cons, Q.
Qed.

(** * Places *)

Inductive hop := Shift (n : nat) (k : idx) | Push (n : nat) (v : view) (s : list idx).
Record place := { got : list idx; hops : list hop }.
Definition hop_run (e : env) (h : hop) (l : list Z) : option (list Z) :=
  match h with
  | Shift n k => Some (at_axis n (fun l => match l with x :: r => x + ival e k :: r | [] => [] end) l)
  | Push n v s => push_at n (view_push v e (map (ival e) s)) l
  end.
Fixpoint run_hops (e : env) (hs : list hop) (l : list Z) : option (list Z) := match hs with [] => Some l | h :: hs => match hop_run e h l with Some l => run_hops e hs l | None => None end end.
Definition addr (P : place) (e : env) (i : list Z) := run_hops e (hops P) (map (ival e) (got P) ++ i).

Definition lift_hop h := match h with Shift n k => Shift n (lift k) | Push n v s => Push n (view_sub (fun k => Var (S k)) v) (map lift s) end.
Definition deeper P := {| got := map lift (got P); hops := map lift_hop (hops P) |}.
Definition next P lo := {| got := map lift (got P) ++ [ISub (Var 0) (lift lo)]; hops := map lift_hop (hops P) |}.
Definition shifted P n k := {| got := got P; hops := Shift (length (got P) + n) k :: hops P |}.
Definition pushed P v n s := {| got := got P; hops := Push (length (got P) + n) v s :: hops P |}.
Definition anywhere := {| got := []; hops := [] |}.

Lemma run_lift x e hs : forall l, run_hops (cons x e) (map lift_hop hs) l = run_hops e hs l.
Proof.
  induction hs as [| h hs IH]; intro l; auto. cbn [map run_hops]. replace (hop_run (cons x e) (lift_hop h) l) with (hop_run e h l); [destruct (hop_run e h l); auto |].
  destruct h; cbn [lift_hop hop_run]; [now rewrite ival_lift |]. rewrite map_lift_val. unfold push_at. now rewrite view_push_lift.
Qed.
Lemma addr_deeper P x e i : addr (deeper P) (cons x e) i = addr P e i.
Proof. unfold addr, deeper. cbn [got hops]. now rewrite run_lift, map_lift_val. Qed.
Lemma addr_next P lo x e i : addr (next P lo) (cons x e) i = addr P e (x - ival e lo :: i).
Proof. unfold addr, next. cbn [got hops]. rewrite run_lift, map_app, map_lift_val, <- app_assoc. cbn [map app]. now rewrite ival_sub, ival_lift. Qed.
Lemma addr_shifted P n k e i : addr (shifted P n k) e i = addr P e (at_axis n (fun l => match l with x :: r => x + ival e k :: r | [] => [] end) i).
Proof. unfold addr, shifted. cbn [got hops run_hops hop_run]. rewrite <- (map_length (ival e) (got P)), at_axis_app. reflexivity. Qed.
Lemma addr_pushed P v n s e i : addr (pushed P v n s) e i = match push_at n (view_push v e (map (ival e) s)) i with Some j => addr P e j | None => None end.
Proof. unfold addr, pushed. cbn [got hops run_hops hop_run]. rewrite <- (map_length (ival e) (got P)), push_at_app. destruct (push_at n _ i); reflexivity. Qed.

Definition target P e s c := exists i, inside i s /\ addr P e i = Some c.
Definition separate P e s := forall i j c, inside i s -> inside j s -> addr P e i = Some c -> addr P e j = Some c -> i = j.

(** * Loops *)

Inductive stmt :=
| For (lo hi : idx) (s : stmt) | If (cs : list idx) (s s' : stmt) | Branch (ts : list (test * idx)) (s s' : stmt) | BranchV (g : bool) (c : term) (s s' : stmt) | Seq (s s' : stmt) | Skip
| Store (P : place) (v : term) | Nought (P : place) | Begin (o : monoid) (P : place) | Update (o : monoid) (P : place) (v : term) | Fuse (d : positive) (P : place) (x y : term)
| Bind (s s' : stmt).    (* an array of its own, filled by s and read by s' *)

Definition pads (v : view) := match v with Tile _ | PadR _ | PadL _ => true | _ => false end.
Definition has_place (v : view) := match v with Sample _ | Window _ => false | _ => true end.
Fixpoint box (d : nat) (s : list idx) (leaf : place -> stmt) (P : place) : stmt :=
  match s with [] => leaf P | n :: r => For (Num 0) (isub (fun k => Var (d + k)) n) (box (S d) r leaf (next P (Num 0))) end.
Definition both2 (f : stmt -> stmt -> stmt) (r r' : option stmt) := match r, r' with Some s, Some s' => Some (f s s') | _, _ => None end.

Fixpoint lower (m : option monoid) (t : term) (P : place) : option stmt :=
  match t with
  | Gen lo hi b => option_map (For lo hi) (lower m b (next P lo))
  | Sum o lo hi b =>
      let loop := option_map (For lo hi) (lower (Some o) b (deeper P)) in
      match m with None => option_map (Seq (box 0 (shape t) (Begin o) P)) loop | Some o' => if monoid_eq o' o then loop else None end
  | Guard cs b =>
      match m with
      | None => option_map (fun s => If cs s (box 0 (shape b) Nought P)) (lower m b P)
      | Some (Add _) => option_map (fun s => If cs s Skip) (lower m b P)
      | _ => None
      end
  | Let x b => both2 Bind (lower None x anywhere) (lower m b P)
  | Cat n u v => both2 Seq (lower m u P) (lower m v (shifted P n (nth n (shape u) (Num 0))))
  | Plus o u v => match m with None => both2 Seq (lower None u P) (lower (Some o) v P) | Some o' => if monoid_eq o' o then both2 Seq (lower m u P) (lower m v P) else None end
  | View v n b =>
      if has_place v then
        let inner := lower m b (pushed P v n (skipn n (shape b))) in
        if pads v then match m with None => option_map (Seq (box 0 (shape t) Nought P)) inner | Some (Add _) => inner | _ => None end else inner
      else None
  | Zeros s => match m with None => Some (box 0 s Nought P) | Some (Add _) => Some Skip | _ => None end
  | Get _ _ | Lit _ | Index _ | Op _ _ => match m with None => Some (Store P t) | Some o => Some (Update o P t) end
  | MulAcc x y => match m with None => Some (Store P t) | Some (Add d) => Some (Fuse d P x y) | Some o => Some (Update o P t) end
  | Choose ts a b => both2 (Branch ts) (lower m a P) (lower m b P)
  | ChooseV g c a b => both2 (BranchV g c) (lower m a P) (lower m b P)
  end.

Section Lowering.
  Context {ops : operators}.

  Definition cell := list Z.
  Definition memory := cell -> option V.
  Definition set (M : memory) (c : cell) (v : V) : memory := fun d => if list_eq_dec Z.eq_dec c d then Some v else M d.
  Lemma set_here M c v : set M c v c = Some v. Proof. unfold set. destruct (list_eq_dec Z.eq_dec c c); congruence. Qed.
  Lemma set_there M c v d : d <> c -> set M c v d = M d. Proof. unfold set. destruct (list_eq_dec Z.eq_dec c d); congruence. Qed.

  Definition rounds (f : Z -> memory -> option memory) (l : list Z) (M : memory) : option memory :=
    fold_left (fun r x => match r with Some M => f x M | None => None end) l (Some M).
  Definition put_at P e (M : memory) (v : V) : option memory := Some (match addr P e [] with Some c => set M c v | None => M end).
  Definition change_at P e (M : memory) (f : V -> V) : option memory :=
    match addr P e [] with Some c => match M c with Some a => Some (set M c (f a)) | None => None end | None => Some M end.
  Fixpoint exec (s : stmt) (e : env) (A : arrays) (M : memory) : option memory :=
    match s with
    | For lo hi b => rounds (fun x => exec b (cons x e) A) (span (ival e lo) (ival e hi)) M
    | If cs s s' => if all_hold cs e then exec s e A M else exec s' e A M
    | Branch ts s s' => if passes ts e then exec s e A M else exec s' e A M
    | BranchV g c s s' => if eqb g (truth (sem None c e A [] zero)) then exec s e A M else exec s' e A M
    | Seq s s' => match exec s e A M with Some M' => exec s' e A M' | None => None end
    | Skip => Some M
    | Store P v => put_at P e M (sem None v e A [] zero)
    | Nought P => put_at P e M zero
    | Begin o P => put_at P e M (neutral o)
    | Update o P v => change_at P e M (fun a => op o a (sem None v e A [] zero))
    | Fuse d P x y => change_at P e M (fma d (sem None x e A [] zero) (sem None y e A [] zero))
    | Bind s s' => match exec s e A (fun _ => None) with Some X => exec s' e (cons (fun j => match X j with Some v => v | None => junk end) A) M | None => None end
    end.

  (** What stands in a place afterwards. *)
  Definition value_is (m : option monoid) t e A i (before : option V) (v : V) : Prop :=
    match m with None => v = sem None t e A i zero | Some o => exists a, before = Some a /\ v = sem (Some o) t e A i a end.
  Definition ready (m : option monoid) (T : cell -> Prop) (M : memory) := m <> None -> forall c, T c -> M c <> None.
  Definition right m t P s e A := forall M, ready m (target P e (dims t e)) M -> exists M', exec s e A M = Some M' /\
    (forall i c, inside i (dims t e) -> addr P e i = Some c -> exists v, M' c = Some v /\ value_is m t e A i (M c) v) /\ (forall c, ~ target P e (dims t e) c -> M' c = M c).

  (** Extents that fit, views that have a place for every element: what the checker asks of a term and of its loops. *)
  Fixpoint fine (t : term) (e : env) : Prop :=
    match t with
    | Gen lo hi b | Sum _ lo hi b => steady b /\ forall x, ival e lo <= x < ival e hi -> fine b (cons x e)
    | Guard cs b => all_hold cs e = true -> fine b e
    | Let x b => fine x e /\ fine b e
    | Cat n u v => fine u e /\ fine v e /\ (n < length (dims u e))%nat /\ length (dims u e) = length (dims v e) /\ firstn n (dims u e) = firstn n (dims v e) /\ skipn (S n) (dims u e) = skipn (S n) (dims v e)
                   /\ 0 <= nth n (dims u e) 0 /\ 0 <= nth n (dims v e) 0
    | Plus _ u v => fine u e /\ fine v e /\ dims u e = dims v e
    | View v n b => fine b e /\ pushes v e (skipn n (dims b e))
    | Choose _ a b | ChooseV _ _ a b => fine a e /\ fine b e /\ dims a e = [] /\ dims b e = []
    | _ => True
    end.

  (** Rounds that touch cells of their own. *)
  Lemma rounds_apart (f : Z -> memory -> option memory) (I : Type) (T : Z -> I -> cell -> Prop) (R : Z -> I -> option V -> V -> Prop) (D : Prop) : forall n lo M,
    (forall x M, lo <= x < lo + Z.of_nat n -> (D -> forall i c, T x i c -> M c <> None) -> exists M', f x M = Some M' /\ (forall i c, T x i c -> exists v, M' c = Some v /\ R x i (M c) v) /\ (forall c, (forall i, ~ T x i c) -> M' c = M c)) ->
    (forall x y i j c, T x i c -> T y j c -> x = y) -> (D -> forall x i c, lo <= x < lo + Z.of_nat n -> T x i c -> M c <> None) ->
    exists M', rounds f (range lo n) M = Some M' /\ (forall x i c, lo <= x < lo + Z.of_nat n -> T x i c -> exists v, M' c = Some v /\ R x i (M c) v) /\
      (forall c, (forall x i, lo <= x < lo + Z.of_nat n -> ~ T x i c) -> M' c = M c).
  Proof.
    induction n as [| n IH]; intros lo M F U Q.
    - exists M. split; [reflexivity |]. split; [intros; lia | auto].
    - destruct (F lo M) as (M1 & X1 & Y1 & Z1); [lia | intros d i c Ti; apply (Q d lo i c); auto; lia |].
      assert (K : forall x i c, x <> lo -> T x i c -> M1 c = M c) by (intros x i c N Ti; apply Z1; intros j Tj; apply N; exact (U x lo i j c Ti Tj)).
      destruct (IH (lo + 1) M1) as (M2 & X2 & Y2 & Z2).
      + intros x M0 X D0. apply F; auto. lia.
      + exact U.
      + intros d x i c X Ti. rewrite (K x i c) by (auto; lia). apply (Q d x i c); auto. lia.
      + exists M2. split; [unfold rounds; cbn [range fold_left]; rewrite X1; exact X2 |]. split.
        * intros x i c X Ti. destruct (Z.eq_dec x lo) as [-> | N].
          -- rewrite (Z2 c); [exact (Y1 i c Ti) |]. intros y j Y Tj. pose proof (U lo y i j c Ti Tj). lia.
          -- destruct (Y2 x i c) as (v & H & G); [lia | auto |]. exists v. split; auto. now rewrite (K x i c) in G.
        * intros c N. rewrite (Z2 c) by (intros x i X; apply N; lia). apply Z1. intros i. apply N. lia.
  Qed.

  Lemma box_right leaf w : (forall P e A M, exec (leaf P) e A M = put_at P e M w) -> forall s d P e A M, separate P e (map (ival (skip d e)) s) -> exists M', exec (box d s leaf P) e A M = Some M' /\
    (forall i c, inside i (map (ival (skip d e)) s) -> addr P e i = Some c -> M' c = Some w) /\ (forall c, ~ target P e (map (ival (skip d e)) s) c -> M' c = M c).
  Proof.
    intro L. induction s as [| n s IH]; intros d P e A M U; cbn [box].
    - rewrite L. eexists. split; [reflexivity |]. split.
      + intros i c I H. inversion I; subst. rewrite H. apply set_here.
      + intros c N. destruct (addr P e []) as [c' |] eqn:E; auto. apply set_there. intros ->. apply N. exists []. split; auto. constructor.
    - cbn [exec map ival] in *. rewrite ival_isub. change (ival (fun n0 => ival e (Var (d + n0))) n) with (ival (skip d e) n). set (N := ival (skip d e) n) in *. set (S' := map (ival (skip d e)) s) in *. unfold span. rewrite Z.sub_0_r.
      assert (E : forall x, skip (S d) (cons x e) = skip d e) by reflexivity.
      destruct (rounds_apart (fun x => exec (box (S d) s leaf (next P (Num 0))) (cons x e) A) (list Z) (fun x i c => 0 <= x < N /\ inside i S' /\ addr P e (x :: i) = Some c) (fun _ _ _ v => v = w) False (Z.to_nat N) 0 M) as (M' & X & Y & W).
      + intros x M0 Xr _. destruct (IH (S d) (next P (Num 0)) (cons x e) A M0) as (M1 & X1 & Y1 & Z1).
        * rewrite E. intros i j c I J Hi Hj. rewrite addr_next in Hi, Hj. cbn [ival] in Hi, Hj. rewrite Z.sub_0_r in *. assert (Q : x :: i = x :: j) by (apply (U _ _ c); auto; constructor; auto; lia). now injection Q.
        * exists M1. split; [exact X1 |]. rewrite E in Y1, Z1. split.
          -- intros i c (_ & I & H). exists w. split; auto. apply (Y1 i); auto. rewrite addr_next. cbn [ival]. now rewrite Z.sub_0_r.
          -- intros c Nt. apply Z1. intros (i & I & H). rewrite addr_next in H. cbn [ival] in H. rewrite Z.sub_0_r in H. apply (Nt i). split; [lia | auto].
      + intros x y i j c (X1 & I & H) (Y1 & J & K). assert (Q : x :: i = y :: j) by (apply (U _ _ c); auto; constructor; auto). now injection Q.
      + intros [].
      + exists M'. split; [exact X |]. split.
        * intros i c I H. inversion I as [| x ? r ? Xr R]; subst. destruct (Y x r c) as (v & G & Q); [lia | split; [lia | auto] | now rewrite G, Q].
        * intros c Nt. apply W. intros x i Xr (X2 & I & H). apply Nt. exists (x :: i). split; auto. constructor; auto.
  Qed.

  Lemma sum_rounds o b P s e A lo hi : steady b -> (forall x, ival e lo <= x < ival e hi -> right (Some o) b (deeper P) s (cons x e) A) -> forall l, (forall x, In x l -> ival e lo <= x < ival e hi) -> forall M,
    (forall c, target P e (dims b (cons (ival e lo) e)) c -> M c <> None) -> exists M', rounds (fun x => exec s (cons x e) A) l M = Some M' /\
      (forall i c a, inside i (dims b (cons (ival e lo) e)) -> addr P e i = Some c -> M c = Some a -> M' c = Some (fold_left (fun s x => sem (Some o) b (cons x e) A i s) l a)) /\
      (forall c, ~ target P e (dims b (cons (ival e lo) e)) c -> M' c = M c).
  Proof.
    intros S B. induction l as [| x l IH]; intros L M D.
    - exists M. split; [reflexivity |]. split; auto.
    - assert (T : forall c, target (deeper P) (cons x e) (dims b (cons x e)) c <-> target P e (dims b (cons (ival e lo) e)) c).
      { intro c. unfold target. rewrite (S x (ival e lo) e). split; intros (i & I & H); exists i; rewrite addr_deeper in *; auto. }
      destruct (B x (L x (or_introl eq_refl)) M) as (M1 & X1 & Y1 & Z1); [intros _ c Tc; apply D; now apply T |].
      destruct (IH (fun y I => L y (or_intror I)) M1) as (M2 & X2 & Y2 & Z2).
      + intros c (i & I & H). destruct (Y1 i c) as (v & G & _); [now rewrite (S x (ival e lo) e) | now rewrite addr_deeper | congruence].
      + exists M2. split; [unfold rounds; cbn [fold_left]; rewrite X1; exact X2 |]. split.
        * intros i c a I H Ma. destruct (Y1 i c) as (v & G & (a' & Ea & Ev)); [now rewrite (S x (ival e lo) e) | now rewrite addr_deeper |]. rewrite Ma in Ea. injection Ea as <-. subst v. now apply (Y2 i c).
        * intros c N. rewrite Z2 by auto. apply Z1. now rewrite T.
  Qed.

  Lemma widened c n : 0 <= c -> forall i s, inside i s -> inside i (at_axis n (fun l => match l with x :: r => x + c :: r | [] => [] end) s).
  Proof. intro C. induction n as [| n IH]; intros i [| x s] I; cbn [at_axis]; auto; inversion I; subst; constructor; auto; try lia; try (apply IH; assumption). Qed.
  Lemma raised n : forall i s s', length s = length s' -> (n < length s)%nat -> firstn n s = firstn n s' -> skipn (S n) s = skipn (S n) s' -> 0 <= nth n s 0 -> inside i s' ->
    inside (at_axis n (fun l => match l with x :: r => x + nth n s 0 :: r | [] => [] end) i) (at_axis n (fun l => match l with x :: r => x + nth n s' 0 :: r | [] => [] end) s) /\
    nth n s 0 <= nth n (at_axis n (fun l => match l with x :: r => x + nth n s 0 :: r | [] => [] end) i) 0.
  Proof.
    induction n as [| n IH]; intros i s s' L N P Q K I; destruct s as [| x s], s' as [| y s']; cbn [length] in *; try lia; inversion I as [| z ? r ? Z R]; subst.
    - cbn [at_axis nth skipn] in *. subst. split; [constructor; auto; lia | lia].
    - change (skipn (S n) s = skipn (S n) s') in Q. cbn [firstn] in P. injection P as -> P. cbn [at_axis nth] in *. destruct (IH r s s') as [A B]; auto; try lia. split; [constructor; [exact Z | exact A] | exact B].
  Qed.
  Lemma there_and_back n k : forall i : list Z, at_axis n (fun l => match l with x :: r => x + k :: r | [] => [] end) (at_axis n (fun l => match l with x :: r => x - k :: r | [] => [] end) i) = i.
  Proof. induction n as [| n IH]; intros [| x i]; cbn [at_axis]; auto; [f_equal; lia | now rewrite IH]. Qed.
  Lemma back_and_there n k : forall i : list Z, at_axis n (fun l => match l with x :: r => x - k :: r | [] => [] end) (at_axis n (fun l => match l with x :: r => x + k :: r | [] => [] end) i) = i.
  Proof. induction n as [| n IH]; intros [| x i]; cbn [at_axis]; auto; [f_equal; lia | now rewrite IH]. Qed.

  Lemma stored_scalar t P e A : dims t e = [] -> right None t P (Store P t) e A.
  Proof.
    intros D M _. cbn [exec]. eexists. split; [reflexivity |]. rewrite D. split.
    - intros i c I H. inversion I; subst. rewrite H. eexists. split; [apply set_here | reflexivity].
    - intros c N. destruct (addr P e []) as [c' |] eqn:E; auto. apply set_there. intros ->. apply N. exists []. split; auto. constructor.
  Qed.
  Lemma changed_scalar o t P s e A f : dims t e = [] -> (forall M, exec s e A M = change_at P e M f) -> (forall a, f a = sem (Some o) t e A [] a) -> right (Some o) t P s e A.
  Proof.
    intros D X F M R. rewrite X. unfold change_at. rewrite D in *. destruct (addr P e []) as [c |] eqn:E.
    - destruct (M c) as [a |] eqn:Q; [| exfalso; apply (R ltac:(discriminate) c); auto; exists []; split; auto; constructor]. eexists. split; [reflexivity |]. split.
      + intros i c' I H. inversion I; subst. rewrite E in H. injection H as <-. eexists. split; [apply set_here |]. exists a. split; auto.
      + intros d N. apply set_there. intros ->. apply N. exists []. split; auto. constructor.
    - eexists. split; [reflexivity |]. split; auto. intros i c I H. inversion I; subst. congruence.
  Qed.
  Lemma nought_right P e A s : separate P e (map (ival e) s) -> forall M, exists M', exec (box 0 s Nought P) e A M = Some M' /\ (forall i c, inside i (map (ival e) s) -> addr P e i = Some c -> M' c = Some zero) /\ (forall c, ~ target P e (map (ival e) s) c -> M' c = M c).
  Proof. intros U M. exact (box_right Nought zero (fun _ _ _ _ => eq_refl) s 0 P e A M U). Qed.

  Lemma both2_some f r r' s : both2 f r r' = Some s -> exists a b, r = Some a /\ r' = Some b /\ s = f a b.
  Proof. destruct r, r'; try discriminate. intros [= <-]. eauto. Qed.
  Lemma map_some {X Y} (f : X -> Y) r y : option_map f r = Some y -> exists x, r = Some x /\ y = f x.
  Proof. destruct r; [intros [= <-]; eauto | discriminate]. Qed.

  Theorem lowered_right t : forall m P s e A, lower m t P = Some s -> fine t e -> separate P e (dims t e) -> right m t P s e A.
  Proof.
    induction t using term_ind'; intros mode P st e A E F U; cbn [lower] in E.
    - (* Gen *) apply map_some in E as (b & E & ->). cbn [fine] in F. destruct F as [S F]. intros M R. cbn [exec]. cbn [dims] in *.
      destruct (rounds_apart (fun x => exec b (cons x e) A) (list Z) (fun x i c => ival e lo <= x < ival e hi /\ inside i (dims t (cons (ival e lo) e)) /\ addr P e (x - ival e lo :: i) = Some c)
        (fun x i before v => value_is mode t (cons x e) A i before v) (mode <> None) (Z.to_nat (ival e hi - ival e lo)) (ival e lo) M) as (M' & X & Y & W).
      + intros x M0 Xr D. assert (Xr' : ival e lo <= x < ival e hi) by lia. destruct (IHt mode (next P lo) b (cons x e) A E (F x Xr')) with (M := M0) as (M1 & X1 & Y1 & Z1).
        * rewrite (S x (ival e lo) e). intros i j c I J Hi Hj. rewrite addr_next in Hi, Hj. assert (Q : x - ival e lo :: i = x - ival e lo :: j) by (apply (U _ _ c); auto; constructor; auto; lia). now injection Q.
        * intros N c (i & I & H). rewrite (S x (ival e lo) e) in I. rewrite addr_next in H. apply (D N i c). auto.
        * exists M1. split; [exact X1 |]. rewrite (S x (ival e lo) e) in Y1, Z1. split.
          -- intros i c (_ & I & H). apply Y1; auto. now rewrite addr_next.
          -- intros c N. apply Z1. intros (i & I & H). rewrite addr_next in H. apply (N i). auto.
      + intros x y i j c (X1 & I & H) (Y1 & J & K). assert (Q : x - ival e lo :: i = y - ival e lo :: j) by (apply (U _ _ c); auto; constructor; auto; lia). injection Q. lia.
      + intros N x i c Xr (X2 & I & H). apply (R N). exists (x - ival e lo :: i). split; auto. constructor; auto. lia.
      + exists M'. split; [exact X |]. split.
        * intros i c I H. inversion I as [| x n r q Xr R']; subst. destruct (Y (ival e lo + x) r c) as (v & G & Q); [lia | replace (ival e lo + x - ival e lo) with x by lia; split; [lia | auto] |]. exists v. split; auto.
        * intros c N. apply W. intros x i Xr (X2 & I & H). apply N. exists (x - ival e lo :: i). split; auto. constructor; auto. lia.
    - (* Sum *) cbn [fine] in F. destruct F as [S F]. cbn [dims] in U.
      assert (B : forall b, lower (Some m) t (deeper P) = Some b -> forall x, ival e lo <= x < ival e hi -> right (Some m) t (deeper P) b (cons x e) A).
      { intros b Eb x X. apply IHt; auto. rewrite (S x (ival e lo) e). intros i j c I J Hi Hj. rewrite addr_deeper in *. now apply (U i j c). }
      destruct mode as [o |].
      + destruct (monoid_eq o m); [subst | discriminate]. apply map_some in E as (b & E & ->). intros M R. cbn [exec dims] in *.
        destruct (sum_rounds m t P b e A lo hi S (B b E) (span (ival e lo) (ival e hi)) (fun x => in_span _ _ x) M (R ltac:(discriminate))) as (M' & X & Y & W). exists M'. split; [exact X |]. split; [| exact W].
        intros i c I H. destruct (M c) as [a |] eqn:Q; [| exfalso; apply (R ltac:(discriminate) c); auto; exists i; auto]. eexists. split; [apply (Y i c a); auto |]. exists a. split; auto. now rewrite sum_fold.
      + apply map_some in E as (q & E & ->). apply map_some in E as (b & E & ->). intros M R. cbn [exec].
        assert (Sh : map (ival e) (shape (Sum m lo hi t)) = dims t (cons (ival e lo) e)) by (rewrite shape_dims; reflexivity).
        destruct (box_right (Begin m) (neutral m) (fun _ _ _ _ => eq_refl) (shape (Sum m lo hi t)) 0 P e A M) as (M1 & X1 & Y1 & Z1); [change (skip 0 e) with e; now rewrite Sh |].
        change (skip 0 e) with e in *. rewrite Sh in *. cbn [dims]. cbn [lower] in X1. rewrite X1.
        destruct (sum_rounds m t P b e A lo hi S (B b E) (span (ival e lo) (ival e hi)) (fun x => in_span _ _ x) M1) as (M' & X & Y & W); [intros c (i & I & H); rewrite (Y1 i c I H); discriminate |].
        exists M'. split; [exact X |]. split.
        * intros i c I H. eexists. split; [exact (Y i c (neutral m) I H (Y1 i c I H)) |]. reflexivity.
        * intros c N. rewrite W by auto. now apply Z1.
    - (* Guard *) cbn [fine dims] in *.
      assert (G : forall s0, lower mode t P = Some s0 -> all_hold cs e = true -> right mode t P s0 e A) by (intros; apply IHt; auto).
      destruct mode as [[] |]; try discriminate; apply map_some in E as (b & E & ->); intros M R; cbn [exec].
      + destruct (all_hold cs e) eqn:H.
        * destruct (G b E eq_refl M R) as (M' & X & Y & W). exists M'. split; auto. split; auto. intros i c I Q. destruct (Y i c I Q) as (v & K & (a & Ka & Kv)). exists v. split; auto. exists a. split; auto. cbn [Terms.sem]. now rewrite H.
        * exists M. split; auto. split; auto. intros i c I Q. destruct (M c) as [a |] eqn:K; [| exfalso; apply (R ltac:(discriminate) c); auto; exists i; auto]. exists a. split; auto. exists a. split; auto. cbn [Terms.sem]. now rewrite H.
      + destruct (all_hold cs e) eqn:H.
        * destruct (G b E eq_refl M R) as (M' & X & Y & W). exists M'. split; auto. split; auto. intros i c I Q. destruct (Y i c I Q) as (v & K & Kv). exists v. split; auto. cbn [value_is Terms.sem] in *. now rewrite H.
        * destruct (nought_right P e A (shape t)) with (M := M) as (M' & X & Y & W); [now rewrite shape_dims |]. rewrite shape_dims in *. exists M'. split; auto. split; auto. intros i c I Q. exists zero. split; [eauto |]. cbn [value_is Terms.sem]. now rewrite H.
    - (* Let *) apply both2_some in E as (sx & sb & Ex & Eb & ->). cbn [fine dims] in *. destruct F as [Fx Fb]. intros M R. cbn [exec].
      destruct (IHt1 None anywhere sx e A Ex Fx) with (M := fun _ : cell => @None V) as (X & Xx & Yx & Zx); [intros i j c I J Hi Hj; unfold addr, anywhere in *; cbn in *; congruence | intros N; contradiction |]. rewrite Xx.
      set (A' := cons (fun j => match X j with Some v => v | None => junk end) A).
      assert (K : forall mm u i a, sem mm u e A' i a = sem mm u e (cons (fun j => if within j (dims t1 e) then sem None t1 e A j zero else junk) A) i a).
      { intros mm u i a. apply sem_ext; auto. intros [| x] j; cbn [A' cons]; auto. destruct (within j (dims t1 e)) eqn:Wj.
        - apply within_inside in Wj. destruct (Yx j j Wj eq_refl) as (v & G & Q). cbn [value_is] in Q. now rewrite G.
        - rewrite Zx; auto. intros (i' & I & H). unfold addr, anywhere in H. cbn in H. injection H as ->. apply within_inside in I. congruence. }
      destruct (IHt2 mode P sb e A' Eb Fb U M R) as (M' & X' & Y' & Z'). exists M'. split; auto. split; auto. intros i c I H. destruct (Y' i c I H) as (v & G & Q). exists v. split; auto.
      destruct mode as [o |]; cbn [value_is Terms.sem] in *; [destruct Q as (a & Qa & Qv); exists a; split; auto; now rewrite <- K | now rewrite <- K].
    - (* Cat *) apply both2_some in E as (su & sv & Eu & Ev & ->). cbn [fine] in F. destruct F as (Fu & Fv & N & L & P1 & P2 & K1 & K2). set (k := nth n (dims t1 e) 0) in *.
      assert (Kv : ival e (nth n (shape t1) (Num 0)) = k) by (unfold k; rewrite <- shape_dims; symmetry; apply nth_val).
      set (Q := shifted P n (nth n (shape t1) (Num 0))) in *. set (up := at_axis n (fun l => match l with x :: r => x + k :: r | [] => [] end)) in *.
      assert (AQ : forall j, addr Q e j = addr P e (up j)) by (intro j; unfold Q; rewrite addr_shifted, Kv; reflexivity).
      assert (Wu : forall i, inside i (dims t1 e) -> inside i (dims (Cat n t1 t2) e)) by (intros i I; cbn [dims]; apply widened; auto).
      assert (Wv : forall j, inside j (dims t2 e) -> inside (up j) (dims (Cat n t1 t2) e) /\ k <= nth n (up j) 0) by (intros j J; cbn [dims]; apply (raised n j (dims t1 e) (dims t2 e)); auto).
      assert (Low : forall i, inside i (dims t1 e) -> nth n i 0 < k) by (intros i I; clear - I N; subst k; revert I N; generalize (dims t1 e) as s; revert i; induction n as [| n IHn]; intros i s I N; inversion I; subst; cbn [length nth] in *; try lia; apply IHn; auto; lia).
      assert (Inj : forall i j, up i = up j -> i = j) by (intros i j H; unfold up in H; rewrite <- (back_and_there n k i), <- (back_and_there n k j); now rewrite H).
      intros M R. cbn [exec].
      destruct (IHt1 mode P su e A Eu Fu) with (M := M) as (M1 & X1 & Y1 & Z1); [intros i j c I J; apply U; auto | intros D c (i & I & H); apply (R D); exists i; auto |]. rewrite X1.
      assert (Keep : forall j c, inside j (dims t2 e) -> addr Q e j = Some c -> M1 c = M c).
      { intros j c J H. apply Z1. intros (i & I & H'). rewrite AQ in H. destruct (Wv j J) as [J' G]. assert (i = up j) by (apply (U _ _ c); auto). subst i. specialize (Low _ I). lia. }
      destruct (IHt2 mode Q sv e A Ev Fv) with (M := M1) as (M2 & X2 & Y2 & Z2).
      { intros i j c I J Hi Hj. rewrite AQ in Hi, Hj. apply Inj. apply (U _ _ c); auto; apply Wv; auto. }
      { intros D c (j & J & H). rewrite (Keep j c J H). apply (R D). rewrite AQ in H. exists (up j). split; auto. now apply Wv. }
      exists M2. split; auto. split.
      + intros i c I H. destruct (Z.ltb_spec (nth n i 0) k) as [C | C].
        * assert (Iu : inside i (dims t1 e)) by (cbn [dims] in I; now apply (left_inside _ n) in I). destruct (Y1 i c Iu H) as (v & G & Qv). exists v. split.
          -- rewrite Z2; auto. intros (j & J & H'). rewrite AQ in H'. destruct (Wv j J) as [J' Gj]. assert (i = up j) by (apply (U _ _ c); auto). subst i. lia.
          -- assert (B : forall mm a, sem mm (Cat n t1 t2) e A i a = sem mm t1 e A i a) by (intros; cbn [Terms.sem]; cbn zeta; fold k; destruct (Z.ltb_spec (nth n i 0) k); [reflexivity | lia]).
             destruct mode; cbn [value_is] in *; rewrite ?B; auto. destruct Qv as (a & Qa & Qb). exists a. now rewrite B.
        * set (j := at_axis n (fun l => match l with x :: r => x - k :: r | [] => [] end) i). assert (Uj : up j = i) by apply there_and_back.
          assert (J : inside j (dims t2 e)) by (cbn [dims] in I; apply (shifted_inside n i (dims t1 e)); auto). assert (H' : addr Q e j = Some c) by now rewrite AQ, Uj.
          destruct (Y2 j c J H') as (v & G & Qv). exists v. split; auto.
          assert (B : forall mm a, sem mm (Cat n t1 t2) e A i a = sem mm t2 e A j a) by (intros; cbn [Terms.sem]; cbn zeta; fold k; destruct (Z.ltb_spec (nth n i 0) k); [lia | reflexivity]).
          rewrite (Keep j c J H') in Qv. destruct mode; cbn [value_is] in *; rewrite ?B; auto. destruct Qv as (a & Qa & Qb). exists a. now rewrite B.
      + intros c Nt. rewrite Z2, Z1; auto.
        * intros (i & I & H). apply Nt. exists i. auto.
        * intros (j & J & H). apply Nt. exists (up j). rewrite AQ in H. split; auto. now apply Wv.
    - (* Plus *) cbn [fine dims] in *. destruct F as (Fu & Fv & D).
      assert (G : forall mu mv su sv, lower mu t1 P = Some su -> lower mv t2 P = Some sv -> mv = Some m -> (mode <> None -> mu <> None) -> (mu <> None -> mode <> None) ->
        (forall i before v1 v, value_is mu t1 e A i before v1 -> value_is mv t2 e A i (Some v1) v -> value_is mode (Plus m t1 t2) e A i before v) -> right mode (Plus m t1 t2) P (Seq su sv) e A).
      { intros mu mv su sv Eu Ev -> Dm Dm' V M R. cbn [exec]. destruct (IHt1 mu P su e A Eu Fu U M) as (M1 & X1 & Y1 & Z1); [intros N; apply R; auto |]. rewrite X1. cbn [dims] in *.
        destruct (IHt2 (Some m) P sv e A Ev Fv) with (M := M1) as (M2 & X2 & Y2 & Z2); [now rewrite <- D | intros _ c (i & I & H); rewrite <- D in I; destruct (Y1 i c I H) as (v & K & _); congruence |].
        exists M2. split; auto. split.
        - intros i c I H. destruct (Y1 i c I H) as (v1 & K1 & Q1). destruct (Y2 i c) as (v & K & Q); [now rewrite <- D | auto |]. exists v. split; auto. rewrite K1 in Q. eapply V; eauto.
        - intros c N. rewrite Z2 by now rewrite <- D. now apply Z1. }
      destruct mode as [o |].
      + destruct (monoid_eq o m); [subst | discriminate]. apply both2_some in E as (su & sv & Eu & Ev & ->). apply (G (Some m) (Some m)); auto. cbn [value_is]. intros i before v1 v (a & Ka & Kb) (a' & [= <-] & Kd). exists a. split; auto. subst. cbn [Terms.sem].
        destruct (monoid_eq m m); [reflexivity | contradiction].
      + apply both2_some in E as (su & sv & Eu & Ev & ->). apply (G None (Some m)); auto. cbn [value_is]. intros i before v1 v -> (a' & [= <-] & Kd). subst. reflexivity.
    - (* View *) destruct (has_place v) eqn:HP; [| discriminate]. cbn [fine] in F. destruct F as [F Pu]. set (Q := pushed P v n (skipn n (shape t))) in *.
      assert (AQ : forall j, addr Q e j = match push_at n (view_push v e (skipn n (dims t e))) j with Some i => addr P e i | None => None end).
      { intro j. unfold Q. rewrite addr_pushed, <- skipn_map, shape_dims. reflexivity. }
      assert (To : forall j c, inside j (dims t e) -> addr Q e j = Some c -> exists i, inside i (dims (View v n t) e) /\ addr P e i = Some c /\ pull_axis n (view_pull v e) (dims t e) i = Some j).
      { intros j c J H. rewrite AQ in H. destruct (push_at n _ j) as [i |] eqn:Ej; [| discriminate]. destruct (push_pull_axis v e n (dims t e) i j Pu J Ej) as [I Ip]. exists i. auto. }
      assert (From : forall i j c, inside i (dims (View v n t) e) -> addr P e i = Some c -> pull_axis n (view_pull v e) (dims t e) i = Some j -> inside j (dims t e) /\ addr Q e j = Some c).
      { intros i j c I H Ip. cbn [dims] in I. destruct (pull_push_axis v e n (dims t e) i j Pu I Ip) as [J Ej]. split; auto. now rewrite AQ, Ej. }
      assert (Sep : separate Q e (dims t e)).
      { intros i j c I J Hi Hj. destruct (To i c I Hi) as (i' & I' & A1 & B1). destruct (To j c J Hj) as (j' & J' & A2 & B2). assert (i' = j') by (apply (U _ _ c); auto). subst. congruence. }
      assert (Sub : forall c, target Q e (dims t e) c -> target P e (dims (View v n t) e) c) by (intros c (j & J & H); destruct (To j c J H) as (i & I & Hi & _); exists i; auto).
      assert (Same : forall mm i j a, pull_axis n (view_pull v e) (dims t e) i = Some j -> sem mm (View v n t) e A i a = sem mm t e A j a) by (intros mm i j a Ip; cbn [Terms.sem]; now rewrite Ip).
      assert (Pads : forall mm i a, pull_axis n (view_pull v e) (dims t e) i = None -> sem mm (View v n t) e A i a = pad mm a) by (intros mm i a Ip; cbn [Terms.sem]; now rewrite Ip).
      assert (Inner : forall s0, lower mode t Q = Some s0 -> forall M, ready mode (target P e (dims (View v n t) e)) M -> exists M', exec s0 e A M = Some M' /\
        (forall i j c, inside i (dims (View v n t) e) -> addr P e i = Some c -> pull_axis n (view_pull v e) (dims t e) i = Some j -> exists w, M' c = Some w /\ value_is mode (View v n t) e A i (M c) w) /\
        (forall i c, inside i (dims (View v n t) e) -> addr P e i = Some c -> pull_axis n (view_pull v e) (dims t e) i = None -> M' c = M c) /\ (forall c, ~ target P e (dims (View v n t) e) c -> M' c = M c)).
      { intros s0 E0 M R. destruct (IHt mode Q s0 e A E0 F Sep M) as (M' & X & Y & W); [intros D c T; apply (R D); auto |]. exists M'. split; auto. split; [| split].
        - intros i j c I H Ip. destruct (From i j c I H Ip) as [J Hj]. destruct (Y j c J Hj) as (w & G & Qv). exists w. split; auto. destruct mode; cbn [value_is] in *; [destruct Qv as (a & Ka & Kb); exists a; split; auto |]; now rewrite (Same _ i j) by auto.
        - intros i c I H Ip. apply W. intros (j & J & Hj). destruct (To j c J Hj) as (i' & I' & H' & Ip'). assert (i = i') by (apply (U _ _ c); auto). subst. congruence.
        - intros c N. apply W. auto. }
      destruct (pads v) eqn:PV.
      + destruct mode as [[] |]; try discriminate.
        * intros M R. destruct (Inner st E M R) as (M' & X & Y & N & W). exists M'. split; auto. split; auto. intros i c I H. destruct (pull_axis n (view_pull v e) (dims t e) i) as [j |] eqn:Ip; [now apply (Y i j) |].
          destruct (M c) as [a |] eqn:K; [| exfalso; apply (R ltac:(discriminate) c); auto; exists i; auto]. exists a. split; [now rewrite (N i c) |]. exists a. split; auto. now rewrite Pads.
        * apply map_some in E as (s0 & E & ->). intros M R. cbn [exec].
          destruct (nought_right P e A (shape (View v n t))) with (M := M) as (M1 & X1 & Y1 & Z1); [now rewrite shape_dims |]. rewrite shape_dims in Y1, Z1. rewrite X1.
          destruct (Inner s0 E M1) as (M' & X & Y & N & W); [intros D; contradiction |]. exists M'. split; auto. split.
          -- intros i c I H. destruct (pull_axis n (view_pull v e) (dims t e) i) as [j |] eqn:Ip; [destruct (Y i j c I H Ip) as (w & G & Qv); exists w; split; auto |].
             exists zero. split; [rewrite (N i c); auto; eauto |]. cbn [value_is]. now rewrite Pads.
          -- intros c Nt. rewrite W, Z1; auto.
      + intros M R. destruct (Inner st E M R) as (M' & X & Y & N & W). exists M'. split; auto. split; auto. intros i c I H. destruct (pull_axis n (view_pull v e) (dims t e) i) as [j |] eqn:Ip; [now apply (Y i j) |].
        exfalso. cbn [dims] in I. revert Ip. apply pulls_something_axis; auto. clear - Pu HP. revert Pu. generalize (dims t e) as s. induction n as [| n IHn]; intros s Pu.
        -- cbn [skipn] in Pu. destruct v; try discriminate; destruct s as [| ? [| ? ?]]; cbn in *; try easy; lia.
        -- destruct s as [| x s]; [destruct v; cbn in Pu; easy |]. cbn [skipn length] in *. specialize (IHn s Pu). lia.
    - (* Zeros *) destruct mode as [[] |]; try discriminate; injection E as <-; intros M R; cbn [exec dims] in *.
      + exists M. split; auto. split; auto. intros i c I H. destruct (M c) as [a |] eqn:K; [| exfalso; apply (R ltac:(discriminate) c); auto; exists i; auto]. exists a. split; auto. exists a. auto.
      + destruct (nought_right P e A s U M) as (M' & X & Y & W). exists M'. split; auto. split; auto. intros i c I H. exists zero. split; eauto. reflexivity.
    - destruct mode; injection E as <-; [eapply changed_scalar | apply stored_scalar]; reflexivity.
    - destruct mode; injection E as <-; [eapply changed_scalar | apply stored_scalar]; reflexivity.
    - destruct mode; injection E as <-; [eapply changed_scalar | apply stored_scalar]; reflexivity.
    - destruct mode; injection E as <-; [eapply changed_scalar | apply stored_scalar]; reflexivity.
    - destruct mode as [[] |]; injection E as <-; try (eapply changed_scalar; reflexivity). apply stored_scalar. reflexivity.
    - (* Choose *) apply both2_some in E as (su & sv & Eu & Ev & ->). cbn [fine] in F. destruct F as (Fu & Fv & Du & Dv). cbn [dims] in U. intros M R. cbn [exec dims] in *.
      destruct (passes ts e) eqn:H.
      + destruct (IHt1 mode P su e A Eu Fu) with (M := M) as (M' & X & Y & W); [now rewrite Du | now rewrite Du |]. rewrite Du in Y, W. exists M'. split; auto. split; auto. intros i c I Q. destruct (Y i c I Q) as (v & G & K). exists v. split; auto.
        destruct mode; cbn [value_is Terms.sem] in *; rewrite H; auto.
      + destruct (IHt2 mode P sv e A Ev Fv) with (M := M) as (M' & X & Y & W); [now rewrite Dv | now rewrite Dv |]. rewrite Dv in Y, W. exists M'. split; auto. split; auto. intros i c I Q. destruct (Y i c I Q) as (v & G & K). exists v. split; auto.
        destruct mode; cbn [value_is Terms.sem] in *; rewrite H; auto.
    - (* ChooseV *) apply both2_some in E as (su & sv & Eu & Ev & ->). cbn [fine] in F. destruct F as (Fu & Fv & Du & Dv). cbn [dims] in U. intros M R. cbn [exec dims] in *.
      destruct (eqb s (truth (sem None t1 e A [] zero))) eqn:H.
      + destruct (IHt2 mode P su e A Eu Fu) with (M := M) as (M' & X & Y & W); [now rewrite Du | now rewrite Du |]. rewrite Du in Y, W. exists M'. split; auto. split; auto. intros i c I Q. destruct (Y i c I Q) as (v & G & K). exists v. split; auto.
        destruct mode; cbn [value_is Terms.sem] in *; rewrite H; auto.
      + destruct (IHt3 mode P sv e A Ev Fv) with (M := M) as (M' & X & Y & W); [now rewrite Dv | now rewrite Dv |]. rewrite Dv in Y, W. exists M'. split; auto. split; auto. intros i c I Q. destruct (Y i c I Q) as (v & G & K). exists v. split; auto.
        destruct mode; cbn [value_is Terms.sem] in *; rewrite H; auto.
  Qed.

  (** A result: from nothing, every cell of its shape holds its element, and there is no other cell. *)
  Theorem result_right t s e A : lower None t anywhere = Some s -> fine t e -> exists M, exec s e A (fun _ => None) = Some M /\
    (forall i, inside i (dims t e) -> M i = Some (sem None t e A i zero)) /\ (forall c, ~ inside c (dims t e) -> M c = None).
  Proof.
    intros L F. destruct (lowered_right t None anywhere s e A L F) with (M := fun _ : cell => @None V) as (M & X & Y & Z); [intros i j c I J Hi Hj; unfold addr, anywhere in *; cbn in *; congruence | intros N; contradiction |].
    exists M. split; auto. split.
    - intros i I. destruct (Y i i I eq_refl) as (v & G & Q). cbn [value_is] in Q. now rewrite G, Q.
    - intros c N. apply Z. intros (i & I & H). unfold addr, anywhere in H. cbn in H. injection H as ->. contradiction.
  Qed.

  Lemma dims_gens s : forall d b e, (forall e, dims b e = []) -> dims (gens_under d s b) e = map (ival (skip d e)) s.
  Proof.
    induction s as [| n s IH]; intros d b e B; cbn [gens_under dims map]; auto. rewrite ival_isub. cbn [ival]. rewrite Z.sub_0_r. f_equal. rewrite IH by auto. reflexivity.
  Qed.
  (** The other way out of a view: its elements are read from where they come from. Then the loops are those of the expanded term (Elements.v). *)
  Theorem pulled_right t s e A : lower None (expanded t) anywhere = Some s -> fine (expanded t) e -> shape (elem (fun k => Var (length (shape t) + k)) t (counted (length (shape t)))) = [] ->
    exists M, exec s e A (fun _ => None) = Some M /\ (forall i, inside i (dims t e) -> M i = Some (sem None t e A i zero)) /\ (forall c, ~ inside c (dims t e) -> M c = None).
  Proof.
    intros L F S. assert (D : dims (expanded t) e = dims t e).
    { unfold expanded, gens. rewrite dims_gens; [exact (shape_dims t e) |]. intro e'. now apply scalar_dims. }
    destruct (result_right (expanded t) s e A L F) as (M & X & Y & Z). rewrite D in *. exists M. split; auto. split; auto. intros i I. rewrite (Y i I). f_equal. symmetry. apply (expand []); auto. intros q [].
  Qed.
End Lowering.

Print Assumptions pulled_right.
Print Assumptions lowered_right.
Print Assumptions result_right.
