(** From "the questions are answered" to "the memory is the same": the questions that the validator of rewrites asks of a region (atoll/check/rewrites/region.py: inside, once, all, order),
    built from conditions, rounds, footprints and times of its statements, each answered by a tree that [impossible] (Questions.v) accepts; then the theorem of Reorder.v applies.

    A statement before the rewrite is a [leaf]: conditions on its indices, cells it touches, its time (positions and indices, from the outside in, in the order of dictionaries). One after it is a
    [copy]: a leaf that says which statement before it is, and in which round, as polynomials of its own indices. [memory_same] is for all sizes and all data that conditions speak of. *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic Questions.
Require Reorder.
Import ListNotations.
Open Scope Z_scope.

(** * Unknowns: indices of one instance (..0), of another (..01), and everything else *)

Definition number_of (q : positive) := Nat.pred (Pos.to_nat q).
Definition two (p : positive -> Z) (x z : list Z) : positive -> Z :=
  fun k => match k with xO q => nth (number_of q) x 0 | xI (xO q) => nth (number_of q) z 0 | _ => p k end.
Definition one p x := two p x x.
Definition first (n : nat) : positive := xO (Pos.of_succ_nat n).
Definition second (n : nat) : positive := xI (xO (Pos.of_succ_nat n)).

(** Polynomials put for unknowns. *)
Fixpoint put_atom (s : positive -> poly) (a : atom) : poly := match a with Unknown x => s x | Quotient n d => alone (Quotient (put s n) (put s d)) end
with put_mono (s : positive -> poly) (m : mono) : poly := match m with One => number 1 | Times a r => poly_mul (put_atom s a) (put_mono s r) end
with put (s : positive -> poly) (p : poly) : poly := match p with Zero => Zero | Plus m c r => poly_add (poly_scale One c (put_mono s m)) (put s r) end.
Lemma put_values env s : let env' := fun k => poly_value env (s k) in
  (forall a, poly_value env (put_atom s a) = atom_value env' a) /\ (forall m, poly_value env (put_mono s m) = mono_value env' m) /\ (forall p, poly_value env (put s p) = poly_value env' p).
Proof.
  intro env'. apply arithmetic_ind; cbn [put_atom put_mono put atom_value mono_value poly_value]; intros; auto.
  - rewrite alone_value. cbn [atom_value]. now rewrite H, H0.
  - rewrite poly_mul_value. now rewrite H, H0.
  - rewrite poly_add_value, poly_scale_value. cbn [mono_value]. rewrite H, H0. ring.
Qed.
Lemma values_ext env env' : (forall k, env k = env' k) ->
  (forall a, atom_value env a = atom_value env' a) /\ (forall m, mono_value env m = mono_value env' m) /\ (forall p, poly_value env p = poly_value env' p).
Proof. intro E. apply arithmetic_ind; cbn [atom_value mono_value poly_value]; intros; auto; congruence. Qed.
Lemma put_value env s p : poly_value env (put s p) = poly_value (fun k => poly_value env (s k)) p.
Proof. apply (put_values env s). Qed.
Lemma value_ext env env' p : (forall k, env k = env' k) -> poly_value env p = poly_value env' p.
Proof. intro E. apply (values_ext env env' E). Qed.

Definition mine (k : positive) : poly := alone (Unknown match k with xI (xO q) => xO q | _ => k end).
Definition other (k : positive) : poly := alone (Unknown match k with xO q => xI (xO q) | _ => k end).
Definition in_round (f : list poly) (k : positive) : poly := match k with xO q | xI (xO q) => nth (number_of q) f Zero | _ => alone (Unknown k) end.
Lemma mine_value p y z q : poly_value (two p y z) (put mine q) = poly_value (one p y) q.
Proof. rewrite put_value. apply value_ext. intro k. unfold mine. rewrite alone_value. destruct k as [[] | |]; reflexivity. Qed.
Lemma other_value p y z q : poly_value (two p y z) (put other q) = poly_value (one p z) q.
Proof. rewrite put_value. apply value_ext. intro k. unfold other. rewrite alone_value. destruct k as [[] | |]; reflexivity. Qed.
Definition at_round p y (f : list poly) := map (poly_value (one p y)) f.
Lemma round_value p y f q : poly_value (one p y) (put (in_round f) q) = poly_value (one p (at_round p y f)) q.
Proof.
  rewrite put_value. apply value_ext. intro k.
  assert (N : forall n, poly_value (one p y) (nth n f Zero) = nth n (at_round p y f) 0) by (intro n; symmetry; exact (map_nth (poly_value (one p y)) f Zero n)).
  destruct k as [[] | |]; cbn [in_round one two]; rewrite ?N, ?alone_value; reflexivity.
Qed.

Definition moved (s : positive -> poly) (c : cond) : cond := match c with Least p => Least (put s p) | Equal p => Equal (put s p) | Differs p => Differs (put s p) | Data k t => Data k t end.
Lemma moved_so env data s c : so env data (moved s c) <-> so (fun k => poly_value env (s k)) data c.
Proof. destruct c; cbn [moved so]; rewrite ?put_value; reflexivity. Qed.
Lemma so_ext env env' data c : (forall k, env k = env' k) -> so env data c <-> so env' data c.
Proof. intro E. destruct c; cbn [so]; rewrite ?(value_ext env env' _ E); reflexivity. Qed.

Definition domain env data (cs : list cond) (gs : list (list (list cond))) := possible env data cs gs.
Definition moved_groups s (gs : list (list (list cond))) := map (map (map (moved s))) gs.
Lemma domain_moved env env' data s cs gs : (forall p, poly_value env (put s p) = poly_value env' p) -> domain env' data cs gs -> domain env data (map (moved s) cs) (moved_groups s gs).
Proof.
  intros E [C G]. assert (S : forall c, so env' data c -> so env data (moved s c)) by (intros c H; destruct c; cbn [moved so] in *; rewrite ?E; auto). split.
  - intros c I. apply in_map_iff in I as (d & <- & I). auto.
  - intros g I. apply in_map_iff in I as (h & <- & I). destruct (G h I) as (case & K & A). exists (map (moved s) case). split; [now apply in_map |]. intros c J. apply in_map_iff in J as (d & <- & J). auto.
Qed.
Lemma possible_both env data cs cs' gs gs' : domain env data cs gs -> domain env data cs' gs' -> domain env data (cs ++ cs') (gs ++ gs').
Proof. intros [C G] [C' G']. split; [now apply all_app |]. intros g I. apply in_app_iff in I as [I | I]; auto. Qed.
Lemma possible_more env data cs ds gs : all_so env data ds -> domain env data cs gs -> domain env data (ds ++ cs) gs.
Proof. intros D [C G]. split; [now apply all_app | exact G]. Qed.

(** * Answers *)

Definition answered cs gs := exists t, impossible t cs gs = true.
Lemma answered_no cs gs env data : answered cs gs -> domain env data cs gs -> False.
Proof. intros [t T] D. exact (impossible_sound t cs gs env data T D). Qed.

Definition negations (c : cond) : list cond := match c with Least p => [Least (less p)] | Equal p => [Least (more p); Least (less p)] | Differs p => [Equal p] | Data k t => [Data k (negb t)] end.
Lemma not_negated env data c : (forall n, In n (negations c) -> ~ so env data n) -> so env data c.
Proof.
  intro H. destruct c; cbn [negations so] in *; unfold more, less in *.
  - specialize (H _ (or_introl eq_refl)). cbn [so] in H. rewrite poly_add_value, poly_scale_value, number_value in H. cbn [mono_value] in H. lia.
  - pose proof (H _ (or_introl eq_refl)) as A. pose proof (H _ (or_intror (or_introl eq_refl))) as B. cbn [so] in A, B. rewrite ?poly_add_value, ?poly_scale_value, ?number_value in *. cbn [mono_value] in B. lia.
  - intro E. apply (H _ (or_introl eq_refl)). exact E.
  - specialize (H _ (or_introl eq_refl)). cbn [so] in H. destruct (data key), truth; auto; exfalso; apply H; reflexivity.
Qed.
Lemma so_or_not env data c : so env data c \/ exists n, In n (negations c) /\ so env data n.
Proof.
  destruct c; cbn [negations so]; unfold more, less.
  - destruct (Z.le_gt_cases 0 (poly_value env p)); auto. right. eexists. split; [now left |]. cbn [so]. rewrite poly_add_value, poly_scale_value, number_value. cbn [mono_value]. lia.
  - destruct (Z.lt_trichotomy (poly_value env p) 0) as [L | [L | L]]; auto; right.
    + eexists. split; [right; now left |]. cbn [so]. rewrite poly_add_value, poly_scale_value, number_value. cbn [mono_value]. lia.
    + eexists. split; [now left |]. cbn [so]. rewrite poly_add_value, number_value. lia.
  - destruct (Z.eq_dec (poly_value env p) 0) as [E | E]; auto. right. eexists. split; [now left |]. exact E.
  - destruct (bool_dec (data key) truth) as [E | E]; auto. right. eexists. split; [now left |]. cbn [so]. destruct (data key), truth; cbn; congruence.
Qed.
Definition none_of (g : list (list cond)) : list (list (list cond)) := map (fun case => map (fun n => [n]) (flat_map negations case)) g.
Lemma some_of env data cs gs g : answered cs (none_of g ++ gs) -> domain env data cs gs -> exists case, In case g /\ all_so env data case.
Proof.
  intros A [C G].
  assert (D : (exists case, In case g /\ all_so env data case) \/ forall case, In case g -> exists n, In n (flat_map negations case) /\ so env data n).
  { clear A. induction g as [| case g IH]; [right; intros ? [] |]. destruct IH as [(k & K & S) | IH]; [left; exists k; split; [now right | auto] |].
    assert (E : all_so env data case \/ exists n, In n (flat_map negations case) /\ so env data n).
    { clear. induction case as [| c case IH]; [left; intros ? [] |]. destruct (so_or_not env data c) as [S | (n & N & S)].
      - destruct IH as [A | (n & N & A)]; [left; now apply all_more | right; exists n; split; auto; apply in_flat_map in N as (d & D & N); apply in_flat_map; exists d; split; auto; now right].
      - right. exists n. split; auto. apply in_flat_map. exists c. split; auto. now left. }
    destruct E as [E | E]; [left; exists case; split; [now left | auto] | right; intros k [<- | K]; auto]. }
  destruct D as [D | D]; auto. exfalso. apply (answered_no _ _ env data A). split; auto. intros h H. apply in_app_iff in H as [H | H]; auto.
  unfold none_of in H. apply in_map_iff in H as (case & <- & K). destruct (D case K) as (n & N & S). exists [n]. split; [now apply (in_map (fun n => [n])) |]. intros c [<- | []]. exact S.
Qed.

(** A copy is made wherever the conditions hold: cases until one is certain. *)
Inductive covers (made : list (list cond)) (gs : list (list (list cond))) : list cond -> Prop :=
| covers_never cs : answered cs gs -> covers made gs cs
| covers_made cs m : In m made -> (forall c, In c m -> forall n, In n (negations c) -> answered (n :: cs) gs) -> covers made gs cs
| covers_on cs c : covers made gs (c :: cs) -> (forall n, In n (negations c) -> covers made gs (n :: cs)) -> covers made gs cs.
Lemma covers_some made gs cs env data : covers made gs cs -> domain env data cs gs -> exists m, In m made /\ all_so env data m.
Proof.
  intro H. induction H as [cs A | cs m M A | cs c Y IHy N IHn]; intro D.
  - exfalso. exact (answered_no _ _ env data A D).
  - exists m. split; auto. intros c C. apply not_negated. intros n I S. apply (answered_no _ _ env data (A c C n I)). destruct D as [D G]. split; auto. now apply all_more.
  - destruct D as [D G]. destruct (so_or_not env data c) as [S | (n & I & S)]; [apply IHy | apply (IHn n I)]; split; auto; now apply all_more.
Qed.

(** * Times *)

Inductive earlier : list Z -> list Z -> Prop :=
| earlier_now x y l k : x < y -> earlier (x :: l) (y :: k)
| earlier_later x l k : earlier l k -> earlier (x :: l) (x :: k).
Fixpoint earlier_cases (l k : list poly) : list (list cond) :=
  match l, k with p :: l, q :: k => [Least (poly_sub (poly_sub q p) (number 1))] :: map (List.cons (Equal (poly_sub p q))) (earlier_cases l k) | _, _ => [] end.
Lemma earlier_cases_so env data l : forall k, earlier (map (poly_value env) l) (map (poly_value env) k) -> exists cs, In cs (earlier_cases l k) /\ all_so env data cs.
Proof.
  induction l as [| p l IH]; intros [| q k] H; cbn [map] in H; inversion H; subst.
  - eexists. split; [now left |]. intros c [<- | []]. cbn [so]. rewrite !poly_sub_value, number_value. lia.
  - destruct (IH k) as (cs & I & S); auto. eexists. split; [right; apply in_map; exact I |]. apply all_more; auto. cbn [so]. rewrite poly_sub_value. lia.
Qed.
Definition equals (l k : list poly) : list cond := map (fun pq => Equal (poly_sub (fst pq) (snd pq))) (combine l k).
Lemma equals_so env data : forall l k, map (poly_value env) l = map (poly_value env) k -> all_so env data (equals l k).
Proof.
  unfold equals. induction l as [| p l IH]; intros [| q k] E c I; cbn [combine map In] in I; try easy. cbn [map] in E. injection E as E E'. destruct I as [<- | I]; [cbn [so fst snd]; rewrite poly_sub_value; lia | now apply (IH k)].
Qed.

(** * Regions *)

Record leaf := { size : nat; conds : list cond; groups : list (list (list cond)); time : list poly; cells : list (positive * list poly * bool) }.
Record copy := { as_leaf : leaf; number : nat; round : list poly }.

Section Region.
  Variable old : list leaf.
  Variable new : list copy.

  Definition pair_conds (a b : copy) := map (moved mine) (conds (as_leaf a)) ++ map (moved other) (conds (as_leaf b)).
  Definition pair_groups (a b : copy) := moved_groups mine (groups (as_leaf a)) ++ moved_groups other (groups (as_leaf b)).
  Definition of_a (a : copy) p := put mine (put (in_round (round a)) p).
  Definition of_b (b : copy) p := put other (put (in_round (round b)) p).

  Definition inside_asked := forall c, In c new -> exists l, nth_error old (number c) = Some l /\ length (round c) = size l /\
    (forall d, In d (conds l) -> forall n, In n (negations d) -> answered (moved (in_round (round c)) n :: conds (as_leaf c)) (groups (as_leaf c))) /\
    (forall g, In g (groups l) -> answered (conds (as_leaf c)) (none_of (map (map (moved (in_round (round c)))) g) ++ groups (as_leaf c))).
  Definition once_asked := forall i j a b, nth_error new i = Some a -> nth_error new j = Some b -> number a = number b -> (i <= j)%nat ->
    let same := equals (map (put mine) (round a)) (map (put other) (round b)) ++ pair_conds a b in
    if Nat.eqb i j then forall s, (s < size (as_leaf a))%nat -> answered (Least (poly_sub (poly_sub (alone (Unknown (second s))) (alone (Unknown (first s)))) (Arithmetic.number 1)) :: same) (pair_groups a b)
    else answered same (pair_groups a b).
  (** A witness of every copy: its indices, from those of the statement before. *)
  Definition made_conds (l : leaf) (c : copy) (g : list poly) := map (moved (in_round g)) (conds (as_leaf c)) ++ equals (map (put (in_round g)) (round c)) (map (fun n => alone (Unknown (first n))) (seq 0 (size l))).
  Definition all_asked := forall k l, nth_error old k = Some l -> exists ws : list (nat * list poly),
    (forall j g, In (j, g) ws -> exists c, nth_error new j = Some c /\ number c = k /\ length g = size (as_leaf c) /\ groups (as_leaf c) = []) /\
    covers (flat_map (fun w => match nth_error new (fst w) with Some c => [made_conds l c (snd w)] | None => [] end) ws) (groups l) (conds l).
  Definition order_asked := forall a b la lb, In a new -> In b new -> nth_error old (number a) = Some la -> nth_error old (number b) = Some lb ->
    forall x ps w qs v, In (x, ps, w) (cells la) -> In (x, qs, v) (cells lb) -> w || v = true ->
    forall was, In was (earlier_cases (map (of_a a) (time la)) (map (of_b b) (time lb))) ->
    forall now, In now (earlier_cases (map (put other) (time (as_leaf b))) (map (put mine) (time (as_leaf a)))) ->
    answered (now ++ was ++ equals (map (of_a a) ps) (map (of_b b) qs) ++ pair_conds a b) (pair_groups a b).

  Hypothesis inside : inside_asked.
  Hypothesis once : once_asked.
  Hypothesis all : all_asked.
  Hypothesis order : order_asked.

  (** Sizes and data, whatever they are. *)
  Variable p : positive -> Z.
  Variable data : positive -> bool.

  Definition instance := (nat * list Z)%type.
  Definition is_old (i : instance) := exists l, nth_error old (fst i) = Some l /\ length (snd i) = size l /\ domain (one p (snd i)) data (conds l) (groups l).
  Definition is_new (y : instance) := exists c, nth_error new (fst y) = Some c /\ length (snd y) = size (as_leaf c) /\ domain (one p (snd y)) data (conds (as_leaf c)) (groups (as_leaf c)).
  Definition origin (y : instance) : instance := match nth_error new (fst y) with Some c => (number c, at_round p (snd y) (round c)) | None => y end.
  Definition when_old (i : instance) := match nth_error old (fst i) with Some l => map (poly_value (one p (snd i))) (time l) | None => [] end.
  Definition when_new (y : instance) := match nth_error new (fst y) with Some c => map (poly_value (one p (snd y))) (time (as_leaf c)) | None => [] end.
  Definition cell := (positive * list Z)%type.
  Definition touches (w : bool) (i : instance) (c : cell) := exists l ps, nth_error old (fst i) = Some l /\ In (fst c, ps, w) (cells l) /\ map (poly_value (one p (snd i))) ps = snd c.

  Lemma of_a_value a y z q : poly_value (two p y z) (of_a a q) = poly_value (one p (at_round p y (round a))) q.
  Proof. unfold of_a. rewrite mine_value. apply round_value. Qed.
  Lemma of_b_value b y z q : poly_value (two p y z) (of_b b q) = poly_value (one p (at_round p z (round b))) q.
  Proof. unfold of_b. rewrite other_value. apply round_value. Qed.
  Lemma map_value env env' (f : poly -> poly) l : (forall q, poly_value env (f q) = poly_value env' q) -> map (poly_value env) (map f l) = map (poly_value env') l.
  Proof. intro H. rewrite map_map. apply map_ext. exact H. Qed.
  Lemma pair_domain a b y z : domain (one p y) data (conds (as_leaf a)) (groups (as_leaf a)) -> domain (one p z) data (conds (as_leaf b)) (groups (as_leaf b)) ->
    domain (two p y z) data (pair_conds a b) (pair_groups a b).
  Proof. intros A B. apply possible_both; [apply (domain_moved _ (one p y)); auto; intro; apply mine_value | apply (domain_moved _ (one p z)); auto; intro; apply other_value]. Qed.

  Lemma origin_inside y : is_new y -> is_old (origin y).
  Proof.
    intros (c & N & L & D). unfold origin. rewrite N. destruct (inside c (nth_error_In _ _ N)) as (l & O & R & C & G). exists l. cbn [fst snd]. split; auto. split; [unfold at_round; now rewrite map_length |].
    assert (E : forall d, so (one p (snd y)) data (moved (in_round (round c)) d) <-> so (one p (at_round p (snd y) (round c))) data d).
    { intro d. destruct d; cbn [moved so]; rewrite ?round_value; reflexivity. }
    split.
    - intros d I. apply not_negated. intros n J S. apply (answered_no _ _ (one p (snd y)) data (C d I n J)). destruct D as [D H]. split; auto. apply all_more; auto. now apply E.
    - intros g I. destruct (some_of (one p (snd y)) data _ _ _ (G g I) D) as (case & K & S). apply in_map_iff in K as (h & <- & K). exists h. split; auto. intros d J. apply E. apply S. now apply in_map.
  Qed.

  Lemma two_first y z s : poly_value (two p y z) (alone (Unknown (first s))) = nth s y 0.
  Proof. rewrite alone_value. cbn [atom_value first two]. unfold number_of. now rewrite SuccNat2Pos.id_succ. Qed.
  Lemma two_second y z s : poly_value (two p y z) (alone (Unknown (second s))) = nth s z 0.
  Proof. rewrite alone_value. cbn [atom_value second two]. unfold number_of. now rewrite SuccNat2Pos.id_succ. Qed.

  Lemma origin_once y z : is_new y -> is_new z -> origin y = origin z -> y = z.
  Proof.
    assert (H : forall i j y z a b, nth_error new i = Some a -> nth_error new j = Some b -> (i <= j)%nat -> length y = size (as_leaf a) -> length z = size (as_leaf b) ->
      domain (one p y) data (conds (as_leaf a)) (groups (as_leaf a)) -> domain (one p z) data (conds (as_leaf b)) (groups (as_leaf b)) -> number a = number b -> at_round p y (round a) = at_round p z (round b) ->
      i = j /\ forall s, (s < size (as_leaf a))%nat -> nth s z 0 <= nth s y 0).
    { intros i j y0 z0 a b A B L Ly Lz Dy Dz N R. pose proof (once i j a b A B N L) as Q. cbn zeta in Q.
      assert (S : domain (two p y0 z0) data (equals (map (put mine) (round a)) (map (put other) (round b)) ++ pair_conds a b) (pair_groups a b)).
      { apply possible_more; [| now apply pair_domain]. apply equals_so. rewrite (map_value _ (one p y0)) by (intro; apply mine_value). rewrite (map_value _ (one p z0)) by (intro; apply other_value). exact R. }
      destruct (Nat.eqb_spec i j) as [E | E]; [| exfalso; exact (answered_no _ _ _ _ Q S)]. split; auto. intros s I. destruct (Z.le_gt_cases (nth s z0 0) (nth s y0 0)); auto. exfalso.
      apply (answered_no _ _ (two p y0 z0) data (Q s I)). destruct S as [S G]. split; auto. apply all_more; auto. cbn [so]. rewrite !poly_sub_value, number_value, two_first, two_second. lia. }
    intros (a & A & Ly & Dy) (b & B & Lz & Dz) E. unfold origin in E. rewrite A, B in E. injection E as N R. destruct y as [i y], z as [j z]. cbn [fst snd] in *.
    destruct (Nat.le_ge_cases i j) as [L | L].
    - destruct (H i j y z a b A B L Ly Lz Dy Dz N R) as [-> P]. rewrite A in B. injection B as <-. destruct (H j j z y a a A A L Lz Ly Dz Dy eq_refl (eq_sym R)) as [_ P']. f_equal.
      apply (nth_ext _ _ 0 0); [congruence |]. intros s S. apply Z.le_antisymm; [apply P' | apply P]; lia.
    - destruct (H j i z y b a B A L Lz Ly Dz Dy (eq_sym N) (eq_sym R)) as [-> P]. rewrite A in B. injection B as <-. destruct (H i i y z a a A A L Ly Lz Dy Dz eq_refl R) as [_ P']. f_equal.
      apply (nth_ext _ _ 0 0); [congruence |]. intros s S. apply Z.le_antisymm; [apply P | apply P']; lia.
  Qed.

  Lemma origin_all x : is_old x -> exists y, is_new y /\ origin y = x.
  Proof.
    intros (l & O & L & D). destruct (all _ l O) as (ws & W & C). destruct (covers_some _ _ _ (one p (snd x)) data C D) as (m & M & S).
    apply in_flat_map in M as ((j & g) & J & M). destruct (W j g J) as (c & N & K & G & E). cbn [fst snd] in M. rewrite N in M. destruct M as [<- | []].
    set (y := at_round p (snd x) g). exists (j, y). split.
    - exists c. cbn [fst snd]. split; auto. split; [unfold y, at_round; now rewrite map_length |]. split; [| rewrite E; intros ? []]. intros d I.
      assert (T : so (one p (snd x)) data (moved (in_round g) d)) by (apply S; unfold made_conds; apply in_app_iff; left; now apply in_map). destruct d; cbn [moved so] in *; rewrite ?round_value in T; exact T.
    - unfold origin. cbn [fst snd]. rewrite N, K. destruct x as [k x]. cbn [fst snd] in *. f_equal.
      destruct (inside c (nth_error_In _ _ N)) as (l' & O' & R & _). rewrite K, O in O'. injection O' as <-.
      apply (nth_ext _ _ 0 0); [unfold at_round; rewrite map_length; congruence |]. intros n I. unfold at_round in I. rewrite map_length, R in I.
      assert (Q : so (one p x) data (Equal (poly_sub (put (in_round g) (nth n (round c) Zero)) (alone (Unknown (first n)))))).
      { apply S. unfold made_conds. apply in_app_iff. right. unfold equals. apply in_map_iff. exists (put (in_round g) (nth n (round c) Zero), alone (Unknown (first n))). split; auto.
        assert (T : nth n (combine (map (put (in_round g)) (round c)) (map (fun n => alone (Unknown (first n))) (seq 0 (size l)))) (put (in_round g) Zero, alone (Unknown (first 0))) = (put (in_round g) (nth n (round c) Zero), alone (Unknown (first n)))).
        { rewrite combine_nth by (rewrite !map_length, seq_length; auto). f_equal; [apply map_nth |]. rewrite (map_nth (fun n => alone (Unknown (first n)))). now rewrite seq_nth by lia. }
        rewrite <- T. apply nth_In. rewrite combine_length, !map_length, seq_length. lia. }
      cbn [so] in Q. rewrite poly_sub_value, round_value in Q. rewrite (two_first x x n : poly_value (one p x) _ = _) in Q. fold y in Q. unfold at_round.
      rewrite (nth_indep _ 0 (poly_value (one p y) Zero)) by (rewrite map_length; lia). rewrite (map_nth (poly_value (one p y))). lia.
  Qed.

  Section Memory.
    Variable V : Type.
    Variable act act' : instance -> Reorder.memory cell V -> option (Reorder.memory cell V).
    Hypothesis keeps : forall i m m' c, act i m = Some m' -> ~ touches true i c -> m' c = m c.
    Hypothesis depends : forall i m n, (forall c, touches false i c -> m c = n c) -> match act i m, act i n with Some m', Some n' => forall c, touches true i c -> m' c = n' c | None, None => True | _, _ => False end.
    Hypothesis text : forall y m, is_new y -> act' y m = act (origin y) m.

    Lemma touches_or_not i c : touches true i c \/ ~ touches true i c.
    Proof.
      unfold touches. destruct (nth_error old (fst i)) as [l |]; [| right; intros (? & ? & ? & _); discriminate].
      assert (D : (exists ps, In (fst c, ps, true) (cells l) /\ map (poly_value (one p (snd i))) ps = snd c) \/ ~ (exists ps, In (fst c, ps, true) (cells l) /\ map (poly_value (one p (snd i))) ps = snd c)).
      { induction (cells l) as [| [[x ps] w] r IH]; [right; intros (? & [] & _) |]. destruct IH as [(qs & I & E) | N]; [left; exists qs; split; auto; now right |].
        destruct (Pos.eq_dec x (fst c)) as [-> | X]; [destruct w; [destruct (list_eq_dec Z.eq_dec (map (poly_value (one p (snd i))) ps) (snd c)) as [E | E] |] |].
        - left. exists ps. split; auto. now left.
        - right. intros (qs & [I | I] & E'); [injection I as <-; auto | apply N; eauto].
        - right. intros (qs & [I | I] & E'); [discriminate | apply N; eauto].
        - right. intros (qs & [I | I] & E'); [injection I as ? ?; congruence | apply N; eauto]. }
      destruct D as [(ps & I & E) | N]; [left; eauto | right; intros (l' & ps & [= <-] & I & E); eauto].
    Qed.

    (** The instances before, in their order; those after, in theirs. *)
    Variables olds news : list instance.
    Hypothesis olds_are : forall i, In i olds <-> is_old i.
    Hypothesis news_are : forall y, In y news <-> is_new y.
    Hypothesis olds_once : NoDup olds.
    Hypothesis news_once : NoDup news.
    Hypothesis olds_order : forall a b, Reorder.before instance olds a b -> earlier (when_old a) (when_old b).
    Hypothesis news_order : forall y z, In y news -> In z news -> earlier (when_new y) (when_new z) -> Reorder.before instance news y z.
    Hypothesis news_total : forall y z, In y news -> In z news -> y <> z -> earlier (when_new y) (when_new z) \/ earlier (when_new z) (when_new y).

    Lemma before_map {A B} (f : A -> B) l a b : Reorder.before A l a b -> Reorder.before B (map f l) (f a) (f b).
    Proof. induction l as [| x l IH]; cbn; auto. intros [[-> H] | H]; auto. left. split; auto. now apply in_map. Qed.
    Lemma before_in {A} l (a b : A) : Reorder.before A l a b -> In a l /\ In b l.
    Proof. induction l as [| x l IH]; cbn; [easy |]. intros [[-> H] | H]; auto. destruct (IH H). auto. Qed.
    Lemma earlier_self l : ~ earlier l l.
    Proof. induction l; intro H; inversion H; subst; auto. lia. Qed.

    Theorem memory_same m : Reorder.same_result cell V (Reorder.run cell V instance act olds m) (Reorder.run' cell V instance act' news m).
    Proof.
      apply (Reorder.validated cell V instance act (touches false) (touches true)) with (origin := origin); auto using touches_or_not.
      - intros y n Y. apply text. now apply news_are.
      - intros y Y. apply olds_are, origin_inside. now apply news_are.
      - clear - news_once news_are inside once. assert (P : forall l, (forall y, In y l -> is_new y) -> NoDup l -> NoDup (map origin l)).
        { induction l as [| y l IH]; intros I N; cbn [map]; [constructor |]. inversion N as [| ? ? X M]; subst. constructor; [| apply IH; auto; intros; apply I; now right]. intro J. apply in_map_iff in J as (z & E & Z).
          assert (z = y) by (apply origin_once; auto; apply I; [now right | now left]). subst. auto. }
        apply P; auto. intros y Y. now apply news_are.
      - intros x X. apply olds_are in X. destruct (origin_all x X) as (y & Y & E). exists y. split; auto. now apply news_are.
      - intros i j B C. destruct (before_in _ _ _ B) as [Ii Ij]. pose proof (olds_order i j B) as T. apply olds_are in Ii. apply olds_are in Ij.
        destruct (origin_all i Ii) as (y & Y & Ey). destruct (origin_all j Ij) as (z & Z & Ez). rewrite <- Ey, <- Ez. apply before_map.
        assert (N : y <> z) by (intro E; rewrite <- Ey, <- Ez, E in T; exact (earlier_self _ T)).
        apply news_are in Y as Ny. apply news_are in Z as Nz. apply news_order; auto. destruct (news_total y z Ny Nz N) as [H | H]; auto. exfalso.
        destruct Y as (a & A & Ly & Dy). destruct Z as (b & Bb & Lz & Dz). unfold origin in Ey, Ez. rewrite A in Ey. rewrite Bb in Ez. subst i j.
        destruct (inside a (nth_error_In _ _ A)) as (la & Oa & _). destruct (inside b (nth_error_In _ _ Bb)) as (lb & Ob & _).
        unfold when_old in T. cbn [fst snd] in T. rewrite Oa, Ob in T. unfold when_new in H. rewrite A, Bb in H.
        assert (K : exists x ps w qs v, In (x, ps, w) (cells la) /\ In (x, qs, v) (cells lb) /\ w || v = true /\
          map (poly_value (one p (at_round p (snd y) (round a)))) ps = map (poly_value (one p (at_round p (snd z) (round b)))) qs).
        { unfold Reorder.conflict, touches in C. cbn [fst snd] in C. rewrite Oa, Ob in C.
          destruct C as ([x ix] & [[(l1 & ps & [= <-] & P & E) [(l2 & qs & [= <-] & Q & E') | (l2 & qs & [= <-] & Q & E')]] | [(l1 & qs & [= <-] & Q & E') (l2 & ps & [= <-] & P & E)]]); cbn [fst snd] in *;
            do 5 eexists; (split; [exact P |]; split; [exact Q |]; split; [reflexivity | congruence]). }
        destruct K as (x & ps & w & qs & v & P & Q & WV & E).
        set (env := two p (snd y) (snd z)).
        destruct (earlier_cases_so env data (map (of_a a) (time la)) (map (of_b b) (time lb))) as (was & Was & Sw).
        { rewrite (map_value _ (one p (at_round p (snd y) (round a)))) by (intro; apply of_a_value). rewrite (map_value _ (one p (at_round p (snd z) (round b)))) by (intro; apply of_b_value). exact T. }
        destruct (earlier_cases_so env data (map (put other) (time (as_leaf b))) (map (put mine) (time (as_leaf a)))) as (now & Now & Sn).
        { rewrite (map_value _ (one p (snd z))) by (intro; apply other_value). rewrite (map_value _ (one p (snd y))) by (intro; apply mine_value). exact H. }
        apply (answered_no _ _ env data (order a b la lb (nth_error_In _ _ A) (nth_error_In _ _ Bb) Oa Ob x ps w qs v P Q WV was Was now Now)).
        apply possible_more; auto. apply possible_more; auto. apply possible_more; [| now apply pair_domain]. apply equals_so.
        rewrite (map_value _ (one p (at_round p (snd y) (round a)))) by (intro; apply of_a_value). rewrite (map_value _ (one p (at_round p (snd z) (round b)))) by (intro; apply of_b_value). exact E.
    Qed.
  End Memory.
End Region.

Print Assumptions memory_same.
