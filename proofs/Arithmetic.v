(** The arithmetic of certificates: polynomials over unknowns and floor quotients, and rows of proofs.

    A row is an identity between polynomials that is multiplied out and compared; nothing is searched. [rows_sound] says: what the rows of a
    table prove from hypotheses is not negative wherever the hypotheses are not, for all values of the unknowns. A quotient is an atom of its own
    kind, not a name, so nothing known of one is ever known of the other. This is atoll/check/sums.py ([Proofs._check]), row by row. *)

Require Import ZArith List Lia Bool.
Import ListNotations.
Open Scope Z_scope.

(** * Polynomials *)

Inductive atom := Unknown (x : positive) | Quotient (num den : poly)
with mono := One | Times (a : atom) (m : mono)
with poly := Zero | Plus (m : mono) (c : Z) (p : poly).

Scheme atom_mut := Induction for atom Sort Prop
  with mono_mut := Induction for mono Sort Prop
  with poly_mut := Induction for poly Sort Prop.
Combined Scheme arithmetic_ind from atom_mut, mono_mut, poly_mut.

Fixpoint atom_value (env : positive -> Z) (a : atom) {struct a} : Z :=
  match a with Unknown x => env x | Quotient n d => poly_value env n / poly_value env d end
with mono_value (env : positive -> Z) (m : mono) {struct m} : Z := match m with One => 1 | Times a r => atom_value env a * mono_value env r end
with poly_value (env : positive -> Z) (p : poly) {struct p} : Z := match p with Zero => 0 | Plus m c r => c * mono_value env m + poly_value env r end.

(** Equality as polynomials: factors and terms in any order. *)
Fixpoint atom_eq (a b : atom) {struct a} : bool :=
  match a, b with
  | Unknown x, Unknown y => Pos.eqb x y
  | Quotient n d, Quotient n' d' => poly_same n n' && poly_same d d'
  | _, _ => false
  end
with mono_eq (m n : mono) {struct m} : bool :=
  match m with
  | One => match n with One => true | _ => false end
  | Times a r =>
      match (fix remove (n : mono) : option mono :=
               match n with
               | One => None
               | Times b t => if atom_eq a b then Some t else match remove t with Some t' => Some (Times b t') | None => None end
               end) n with
      | Some n' => mono_eq r n'
      | None => false
      end
  end
with poly_same (p q : poly) {struct p} : bool :=
  match p with
  | Zero => match q with Zero => true | _ => false end
  | Plus m c r =>
      match (fix remove (q : poly) : option poly :=
               match q with
               | Zero => None
               | Plus n d t => if mono_eq m n && (c =? d) then Some t else match remove t with Some t' => Some (Plus n d t') | None => None end
               end) q with
      | Some q' => poly_same r q'
      | None => false
      end
  end.

Lemma same_values : forall env,
  (forall a b, atom_eq a b = true -> atom_value env a = atom_value env b) /\
  (forall m n, mono_eq m n = true -> mono_value env m = mono_value env n) /\
  (forall p q, poly_same p q = true -> poly_value env p = poly_value env q).
Proof.
  intro env. apply arithmetic_ind; simpl.
  - intros x [y | n d] H; simpl; try discriminate. apply Pos.eqb_eq in H. now subst.
  - intros n Hn d Hd [y | n' d'] H; simpl; try discriminate. apply andb_prop in H as [H1 H2]. now rewrite (Hn _ H1), (Hd _ H2).
  - intros [| a m] H; simpl; auto. discriminate.
  - intros a Ha r Hr n H.
    set (remove := fix remove (n : mono) : option mono :=
      match n with One => None | Times b t => if atom_eq a b then Some t else match remove t with Some t' => Some (Times b t') | None => None end end) in *.
    assert (R : forall n n', remove n = Some n' -> mono_value env n = atom_value env a * mono_value env n').
    { induction n0 as [| b t IH]; simpl; intros n' E; [discriminate|]. destruct (atom_eq a b) eqn:Eb.
      - injection E as <-. now rewrite <- (Ha _ Eb).
      - destruct (remove t) as [t'|]; [|discriminate]. injection E as <-. simpl. rewrite (IH _ eq_refl). ring. }
    destruct (remove n) as [n'|] eqn:E; [|discriminate]. now rewrite (Hr _ H), (R _ _ E).
  - intros [| m c p] H; simpl; auto. discriminate.
  - intros m Hm c r Hr q H.
    set (remove := fix remove (q : poly) : option poly :=
      match q with Zero => None | Plus n d t => if mono_eq m n && (c =? d) then Some t else match remove t with Some t' => Some (Plus n d t') | None => None end end) in *.
    assert (R : forall q q', remove q = Some q' -> poly_value env q = c * mono_value env m + poly_value env q').
    { induction q0 as [| n d t IH]; simpl; intros q' E; [discriminate|]. destruct (mono_eq m n && (c =? d)) eqn:Eb.
      - injection E as <-. apply andb_prop in Eb as [E1 E2]. apply Z.eqb_eq in E2. subst. now rewrite <- (Hm _ E1).
      - destruct (remove t) as [t'|]; [|discriminate]. injection E as <-. simpl. rewrite (IH _ eq_refl). ring. }
    destruct (remove q) as [q'|] eqn:E; [|discriminate]. now rewrite (Hr _ H), (R _ _ E).
Qed.

(** * Sums and products *)

Fixpoint mono_mul (m n : mono) : mono := match m with One => n | Times a r => Times a (mono_mul r n) end.

(** One more term, added to the term of the same monomial where there is one. *)
Fixpoint add_term (m : mono) (c : Z) (p : poly) : poly :=
  match p with
  | Zero => Plus m c Zero
  | Plus n d r => if mono_eq m n then Plus n (c + d) r else Plus n d (add_term m c r)
  end.
Fixpoint poly_add (p q : poly) : poly := match p with Zero => q | Plus m c r => add_term m c (poly_add r q) end.
Fixpoint poly_scale (m : mono) (c : Z) (q : poly) : poly := match q with Zero => Zero | Plus n d r => Plus (mono_mul m n) (c * d) (poly_scale m c r) end.
Fixpoint poly_mul (p q : poly) : poly := match p with Zero => Zero | Plus m c r => poly_add (poly_scale m c q) (poly_mul r q) end.
Definition poly_sub (p q : poly) : poly := poly_add (poly_scale One (-1) q) p.
Definition number (c : Z) : poly := Plus One c Zero.
Fixpoint all_zero (p : poly) : bool := match p with Zero => true | Plus _ c r => (c =? 0) && all_zero r end.
Definition poly_eq (p q : poly) : bool := all_zero (poly_sub p q).
Definition alone (a : atom) : poly := Plus (Times a One) 1 Zero.

Section Values.
  Variable env : positive -> Z.
  Notation value := (poly_value env).

  Lemma mono_mul_value m n : mono_value env (mono_mul m n) = mono_value env m * mono_value env n.
  Proof. induction m as [| a r IH]; cbn [mono_mul mono_value]; [ring|]. rewrite IH. ring. Qed.

  Lemma add_term_value m c p : value (add_term m c p) = c * mono_value env m + value p.
  Proof.
    induction p as [| n d r IH]; cbn [add_term]; auto. destruct (mono_eq m n) eqn:E; cbn [poly_value].
    - rewrite (proj1 (proj2 (same_values env)) _ _ E). ring.
    - rewrite IH. ring.
  Qed.

  Lemma poly_add_value p q : value (poly_add p q) = value p + value q.
  Proof. induction p as [| m c r IH]; cbn [poly_add poly_value]; auto. rewrite add_term_value, IH. ring. Qed.

  Lemma poly_scale_value m c q : value (poly_scale m c q) = c * mono_value env m * value q.
  Proof. induction q as [| n d r IH]; cbn [poly_scale poly_value]; [ring|]. rewrite IH, mono_mul_value. ring. Qed.

  Lemma poly_mul_value p q : value (poly_mul p q) = value p * value q.
  Proof. induction p as [| m c r IH]; cbn [poly_mul poly_value]; auto. rewrite poly_add_value, poly_scale_value, IH. ring. Qed.

  Lemma poly_sub_value p q : value (poly_sub p q) = value p - value q.
  Proof. unfold poly_sub. rewrite poly_add_value, poly_scale_value. cbn [mono_value]. ring. Qed.

  Lemma number_value c : value (number c) = c.
  Proof. unfold number. cbn [poly_value mono_value]. ring. Qed.

  Lemma alone_value a : value (alone a) = atom_value env a.
  Proof. unfold alone. cbn [poly_value mono_value]. ring. Qed.

  Lemma all_zero_value p : all_zero p = true -> value p = 0.
  Proof. induction p as [| m c r IH]; cbn [all_zero poly_value]; auto. intros H. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1. subst. rewrite IH; auto. Qed.

  Lemma poly_eq_value p q : poly_eq p q = true -> value p = value q.
  Proof. unfold poly_eq. intros H. apply all_zero_value in H. rewrite poly_sub_value in H. lia. Qed.
End Values.

(** * Rows *)

(** What a row adds up: something known, or a law of floor quotients whose divisor is known to be positive. *)
Inductive source :=
| Known (p : poly)                        (* a hypothesis, or the goal of a row before *)
| Below (n d : poly)                      (* d * floor(n / d) <= n *)
| Above (n d : poly)                      (* n <= d * floor(n / d) + d - 1 *)
| AtLeast (n d : poly) (k : Z).           (* k <= floor(n / d), where k * d <= n *)

(** scale * goal = rest + sum of multiplier * source; with a cut, cut * goal + cut - 1 stands for the goal. *)
Record row := { goal : poly; scale : poly; rest : poly; terms : list (poly * source); cut : option poly }.
Inductive step := Sum (r : row) | Weaker (k r : Z) (inner goal : poly).   (* k * inner + r, for k > 0 and r >= 0 *)

Definition member (p : poly) (known : list poly) : bool := existsb (poly_eq p) known.

Definition positive_known (known : list poly) (p : poly) : bool :=
  match p with
  | Plus One c Zero => 0 <? c
  | _ => member (poly_sub p (number 1)) known
  end.

Definition atom_nonneg (known : list poly) (a : atom) : bool :=
  member (alone a) known ||
  match a with Quotient n d => positive_known known d && member n known | Unknown _ => false end.

Fixpoint mono_all (test : atom -> bool) (m : mono) : bool := match m with One => true | Times a r => test a && mono_all test r end.
Fixpoint nonneg (known : list poly) (p : poly) : bool :=
  match p with Zero => true | Plus m c r => (0 <? c) && mono_all (atom_nonneg known) m && nonneg known r end.
Fixpoint some_term_positive (known : list poly) (p : poly) : bool :=
  match p with Zero => false | Plus m _ r => mono_all (fun a => positive_known known (alone a)) m || some_term_positive known r end.

Definition source_poly (s : source) : poly :=
  match s with
  | Known p => p
  | Below n d => poly_sub n (poly_mul d (alone (Quotient n d)))
  | Above n d => poly_sub (poly_sub (poly_add (poly_mul d (alone (Quotient n d))) d) (number 1)) n
  | AtLeast n d k => poly_sub (alone (Quotient n d)) (number k)
  end.
Definition source_known (known : list poly) (s : source) : bool :=
  match s with
  | Known p => member p known
  | Below n d | Above n d => positive_known known d
  | AtLeast n d k => positive_known known d && member (poly_sub n (poly_mul (number k) d)) known
  end.

Definition total (r : row) : poly := fold_right (fun t sum => poly_add (poly_mul (fst t) (source_poly (snd t))) sum) (rest r) (terms r).
Definition reached (r : row) : poly :=
  match cut r with None => goal r | Some c => poly_sub (poly_add (poly_mul c (goal r)) c) (number 1) end.

Definition row_ok (known : list poly) (r : row) : bool :=
  nonneg known (rest r) && nonneg known (scale r) && some_term_positive known (scale r)
  && forallb (fun t => nonneg known (fst t) && source_known known (snd t)) (terms r)
  && match cut r with None => true | Some c => positive_known known c || nonneg known c end
  && poly_eq (poly_mul (scale r) (reached r)) (total r).

Definition step_goal (s : step) : poly := match s with Sum r => goal r | Weaker _ _ _ g => g end.
Definition step_ok (known : list poly) (s : step) : bool :=
  match s with
  | Sum r => row_ok known r
  | Weaker k r inner g => (0 <? k) && (0 <=? r) && member inner known && poly_eq (poly_add (poly_mul (number k) inner) (number r)) g
  end.

(** The rows of one table, each from the hypotheses and the rows before it. *)
Fixpoint rows_ok (known : list poly) (steps : list step) : bool :=
  match steps with [] => true | s :: more => step_ok known s && rows_ok (step_goal s :: known) more end.

Section Sound.
  Variable env : positive -> Z.
  Notation value := (poly_value env).
  Variable known : list poly.
  Hypothesis all_known : forall p, In p known -> 0 <= value p.

  Lemma member_sound p : member p known = true -> 0 <= value p.
  Proof. unfold member. rewrite existsb_exists. intros (q & H & E). apply (poly_eq_value env) in E. rewrite E. auto. Qed.

  Lemma positive_sound p : positive_known known p = true -> 1 <= value p.
  Proof.
    assert (M : member (poly_sub p (number 1)) known = true -> 1 <= value p).
    { intros H. apply member_sound in H. rewrite poly_sub_value, number_value in H. lia. }
    unfold positive_known. destruct p as [| [| a m] c [| m' c' r]]; auto.
    intros H. apply Z.ltb_lt in H. cbn [poly_value mono_value]. lia.
  Qed.

  Lemma atom_nonneg_sound a : atom_nonneg known a = true -> 0 <= atom_value env a.
  Proof.
    unfold atom_nonneg. intros H. apply orb_prop in H as [H | H].
    - apply member_sound in H. now rewrite alone_value in H.
    - destruct a as [| n d]; [discriminate|]. apply andb_prop in H as [H1 H2]. apply positive_sound in H1. apply member_sound in H2.
      cbn [atom_value]. apply Z.div_pos; lia.
  Qed.

  Lemma mono_all_sound test bound m : (forall a, test a = true -> bound <= atom_value env a) -> 0 <= bound <= 1 -> mono_all test m = true -> bound <= mono_value env m.
  Proof.
    intros T B. induction m as [| a r IH]; cbn [mono_all mono_value]; [lia|]. intros H. apply andb_prop in H as [H1 H2].
    apply T in H1. apply IH in H2. nia.
  Qed.

  Lemma nonneg_sound p : nonneg known p = true -> 0 <= value p.
  Proof.
    induction p as [| m c r IH]; cbn [nonneg poly_value]; [lia|]. intros H. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
    apply Z.ltb_lt in H1. apply (mono_all_sound _ 0) in H2; [| apply atom_nonneg_sound | lia]. apply IH in H3. nia.
  Qed.

  Lemma some_term_sound p : nonneg known p = true -> some_term_positive known p = true -> 1 <= value p.
  Proof.
    induction p as [| m c r IH]; cbn [nonneg some_term_positive poly_value]; [discriminate|].
    intros H P. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. apply Z.ltb_lt in H1.
    apply orb_prop in P as [P | P].
    - assert (T : forall a, positive_known known (alone a) = true -> 1 <= atom_value env a).
      { intros a Ha. apply positive_sound in Ha. now rewrite alone_value in Ha. }
      apply (mono_all_sound _ 1) in P; [| exact T | lia]. apply nonneg_sound in H3. nia.
    - apply (mono_all_sound _ 0) in H2; [| apply atom_nonneg_sound | lia]. specialize (IH H3 P). nia.
  Qed.

  Lemma source_sound s : source_known known s = true -> 0 <= value (source_poly s).
  Proof.
    destruct s as [p | n d | n d | n d k]; cbn [source_known source_poly].
    - apply member_sound.
    - intros H. apply positive_sound in H. rewrite poly_sub_value, poly_mul_value, alone_value. cbn [atom_value].
      pose proof (Z.mul_div_le (value n) (value d)). lia.
    - intros H. apply positive_sound in H. rewrite !poly_sub_value, poly_add_value, poly_mul_value, alone_value, number_value. cbn [atom_value].
      pose proof (Z.mul_succ_div_gt (value n) (value d)). lia.
    - intros H. apply andb_prop in H as [H1 H2]. apply positive_sound in H1. apply member_sound in H2.
      rewrite poly_sub_value, poly_mul_value, number_value in H2. rewrite poly_sub_value, alone_value, number_value. cbn [atom_value].
      assert (k <= value n / value d) by (apply Z.div_le_lower_bound; lia). lia.
  Qed.

  Lemma row_sound r : row_ok known r = true -> 0 <= value (goal r).
  Proof.
    unfold row_ok. intros H. repeat (apply andb_prop in H; destruct H as [H ?]).
    match goal with E : poly_eq _ _ = true |- _ => apply (poly_eq_value env) in E; rewrite poly_mul_value in E end.
    assert (S : 1 <= value (scale r)) by (apply some_term_sound; auto).
    assert (T : 0 <= value (total r)).
    { apply nonneg_sound in H. unfold total. induction (terms r) as [| [m s] l IH]; cbn [fold_right fst snd]; auto.
      cbn [forallb fst snd] in *. match goal with F : _ && _ = true |- _ => apply andb_prop in F as [A B] end. apply andb_prop in A as [A1 A2].
      rewrite poly_add_value, poly_mul_value. apply nonneg_sound in A1. apply source_sound in A2. specialize (IH B). nia. }
    assert (R : 0 <= value (reached r)) by nia.
    unfold reached in R. destruct (cut r) as [c|]; auto.
    rewrite poly_sub_value, poly_add_value, poly_mul_value, number_value in R.
    assert (C : 0 <= value c).
    { match goal with F : _ || _ = true |- _ => apply orb_prop in F as [F | F]; [apply positive_sound in F; lia | now apply nonneg_sound] end. }
    nia.
  Qed.

  Lemma step_sound s : step_ok known s = true -> 0 <= value (step_goal s).
  Proof.
    destruct s as [r | k r inner g]; cbn [step_ok step_goal]. apply row_sound.
    intros H. repeat (apply andb_prop in H; destruct H as [H ?]). apply Z.ltb_lt in H.
    match goal with E : poly_eq _ _ = true |- _ => apply (poly_eq_value env) in E; rewrite poly_add_value, poly_mul_value, !number_value in E; rewrite <- E end.
    match goal with E : member _ _ = true |- _ => apply member_sound in E end.
    match goal with E : (_ <=? _) = true |- _ => apply Z.leb_le in E end. nia.
  Qed.
End Sound.

(** Whatever the rows prove is so, for all values of the unknowns that the hypotheses allow. *)
Theorem rows_sound steps : forall known env,
  (forall p, In p known -> 0 <= poly_value env p) -> rows_ok known steps = true -> forall s, In s steps -> 0 <= poly_value env (step_goal s).
Proof.
  induction steps as [| s more IH]; intros known env K H t Ht; [destruct Ht|].
  cbn [rows_ok] in H. apply andb_prop in H as [H1 H2]. pose proof (step_sound env known K s H1) as G.
  destruct Ht as [<- | Ht]; auto. apply (IH (step_goal s :: known) env); auto. intros p [<- | Hp]; auto.
Qed.

Print Assumptions rows_sound.

(** * Refutations: rows that end in a negative number say that the hypotheses cannot hold together. *)

Definition negative (p : poly) : bool := match p with Plus One c Zero => c <? 0 | _ => false end.
Definition refutes (known : list poly) (steps : list step) : bool := rows_ok known steps && existsb (fun s => negative (step_goal s)) steps.

Theorem refutes_sound known steps env : refutes known steps = true -> ~ (forall p, In p known -> 0 <= poly_value env p).
Proof.
  unfold refutes. intros H K. apply andb_prop in H as [H1 H2]. apply existsb_exists in H2 as (s & I & N).
  pose proof (rows_sound _ _ _ K H1 s I) as G. unfold negative in N. destruct (step_goal s) as [| [| a m] c [| m' c' r]]; try discriminate.
  apply Z.ltb_lt in N. cbn [poly_value mono_value] in G. lia.
Qed.

Print Assumptions refutes_sound.
