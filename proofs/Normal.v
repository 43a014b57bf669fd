(** Normal forms of index arithmetic (atoll/check/sums.py, div): what divides leaves a floor quotient, literal divisors are reduced, quotients of quotients are one.

    The rules need divisors that are positive: literals are, of others it is looked up among the facts ([sure]). Elsewhere a quotient stays what it is, so [normal_value] holds
    without a condition. Unknowns are numbered from the outside in ([key]): sizes, then the loops around, so that a row of a proof means the same at every depth. *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Require Terms.
Import ListNotations.
Open Scope Z_scope.

Fixpoint tidy (p : poly) : poly := match p with Zero => Zero | Plus m c r => if c =? 0 then tidy r else Plus m c (tidy r) end.
Fixpoint constant_part (p : poly) : Z := match p with Zero => 0 | Plus One c r => c + constant_part r | Plus _ _ r => constant_part r end.
Fixpoint others (p : poly) : poly := match p with Zero => Zero | Plus One _ r => others r | Plus m c r => Plus m c (others r) end.
Definition constant (p : poly) : option Z := match others p with Zero => Some (constant_part p) | _ => None end.

(** What a literal divides, and the rest. *)
Fixpoint split_by (c : Z) (p : poly) : poly * poly :=
  match p with
  | Zero => (Zero, Zero)
  | Plus m d r => let (w, s) := split_by c r in if d mod c =? 0 then (Plus m (d / c) w, s) else (w, Plus m d s)
  end.
Fixpoint content (c : Z) (p : poly) : Z := match p with Zero => c | Plus _ d r => content (Z.gcd c d) r end.

Fixpoint without_atom (a : atom) (m : mono) : option mono :=
  match m with One => None | Times b r => if atom_eq a b then Some r else option_map (Times b) (without_atom a r) end.
Fixpoint without (m k : mono) : option mono := match k with One => Some m | Times a r => match without_atom a m with Some m' => without m' r | None => None end end.
(** What a product divides, and the rest. *)
Fixpoint split_mono (k : mono) (kc : Z) (p : poly) : poly * poly :=
  match p with
  | Zero => (Zero, Zero)
  | Plus m d r =>
      let (w, s) := split_mono k kc r in
      match without m k with Some other => if d mod kc =? 0 then (Plus other (d / kc) w, s) else (w, Plus m d s) | None => (w, Plus m d s) end
  end.

Section Divide.
  Variable sure : poly -> bool.    (* it is positive *)

  (** w, and s + r by k, where a quotient may stand alone in s. *)
  Definition last (again : poly -> poly -> poly) (k w s : poly) (r : Z) : poly :=
    let as_it_is := tidy (poly_add w (alone (Quotient (tidy (poly_add s (number r))) k))) in
    match s with
    | Plus (Times (Quotient n d) One) 1 Zero => if sure d then tidy (poly_add w (again (tidy (poly_add n (poly_mul d (number r)))) (tidy (poly_mul d k)))) else as_it_is
    | _ => as_it_is
    end.

  Fixpoint divide (fuel : nat) (a k : poly) : poly :=
    match fuel with
    | O => alone (Quotient a k)
    | S fuel =>
        match constant k with
        | Some c =>
            if c =? 1 then a else if c <=? 0 then alone (Quotient a k) else
            let n := constant_part a in
            let (w, s) := split_by c (others a) in
            let whole := poly_add w (number (n / c)) in
            let r := n mod c in
            match s with
            | Zero => tidy whole
            | _ =>
                let g := content c s in
                let (b, more) := split_by g s in
                match more with
                | Zero => if (1 <? g) && (c mod g =? 0) then tidy (poly_add whole (divide fuel (tidy (poly_add b (number (r / g)))) (number (c / g)))) else last (divide fuel) k whole s r
                | _ => last (divide fuel) k whole s r
                end
            end
        | None =>
            if sure k then
              if poly_eq a k then number 1 else
              let (w, s) := match k with Plus km kc Zero => if 0 <? kc then split_mono km kc a else (Zero, a) | _ => (Zero, a) end in
              match constant s with
              | Some n => if n =? 0 then tidy w else if n =? -1 then tidy (poly_add w (number (-1))) else tidy (poly_add w (alone (Quotient (tidy s) k)))
              | None => last (divide fuel) k w (others s) (constant_part s)
              end
            else alone (Quotient a k)
        end
    end.

  Variable env : positive -> Z.
  Notation value := (poly_value env).
  Hypothesis sure_sound : forall k, sure k = true -> 1 <= value k.

  Lemma tidy_value p : value (tidy p) = value p.
  Proof. induction p as [| m c r IH]; cbn [tidy poly_value]; auto. destruct (Z.eqb_spec c 0); cbn [poly_value]; lia. Qed.
  Lemma parts_value p : value p = constant_part p + value (others p).
  Proof. induction p as [| m c r IH]; cbn [constant_part others poly_value]; auto. destruct m; cbn [poly_value mono_value]; lia. Qed.
  Lemma constant_value p c : constant p = Some c -> value p = c.
  Proof. unfold constant. intro H. rewrite parts_value. destruct (others p); [injection H as <-; cbn [poly_value]; lia | discriminate]. Qed.
  Lemma split_value c p : c <> 0 -> value p = c * value (fst (split_by c p)) + value (snd (split_by c p)).
  Proof.
    intro C. induction p as [| m d r IH]; cbn [split_by fst snd poly_value]; [lia |]. destruct (split_by c r) as [w s]. cbn [fst snd] in IH.
    destruct (Z.eqb_spec (d mod c) 0) as [E | E]; cbn [fst snd poly_value]; [| lia]. pose proof (Z.div_mod d c C). rewrite E in *. nia.
  Qed.
  Lemma without_atom_value a : forall m m', without_atom a m = Some m' -> mono_value env m = atom_value env a * mono_value env m'.
  Proof.
    induction m as [| b r IH]; cbn [without_atom]; [discriminate |]. intros m' H. destruct (atom_eq a b) eqn:E.
    - injection H as <-. cbn [mono_value]. now rewrite (proj1 (same_values env) _ _ E).
    - destruct (without_atom a r) as [r' |]; [| discriminate]. injection H as <-. cbn [mono_value]. rewrite (IH _ eq_refl). ring.
  Qed.
  Lemma without_value k : forall m other, without m k = Some other -> mono_value env m = mono_value env k * mono_value env other.
  Proof.
    induction k as [| a r IH]; cbn [without mono_value]; intros m other H; [injection H as <-; ring |]. destruct (without_atom a m) as [m' |] eqn:E; [| discriminate].
    rewrite (without_atom_value _ _ _ E), (IH _ _ H). ring.
  Qed.
  Lemma split_mono_value k kc p : kc <> 0 -> value p = kc * mono_value env k * value (fst (split_mono k kc p)) + value (snd (split_mono k kc p)).
  Proof.
    intro C. induction p as [| m d r IH]; cbn [split_mono fst snd poly_value]; [lia |]. destruct (split_mono k kc r) as [w s]. cbn [fst snd] in IH.
    destruct (without m k) as [other |] eqn:W; cbn [fst snd poly_value]; [| lia]. destruct (Z.eqb_spec (d mod kc) 0) as [E | E]; cbn [fst snd poly_value]; [| lia].
    rewrite (without_value _ _ _ W). pose proof (Z.div_mod d kc C). rewrite E in *. nia.
  Qed.

  Lemma quotient_value a k : value (alone (Quotient a k)) = value a / value k.
  Proof. rewrite alone_value. reflexivity. Qed.

  Theorem divide_value : forall fuel a k, value (divide fuel a k) = value a / value k.
  Proof.
    induction fuel as [| fuel IH]; intros a k; [apply quotient_value |]. cbn [divide].
    assert (L : forall w s r, 1 <= value k -> value (last (divide fuel) k w s r) = value w + (value s + r) / value k).
    { intros w s r K. assert (D : value (tidy (poly_add w (alone (Quotient (tidy (poly_add s (number r))) k)))) = value w + (value s + r) / value k).
      { rewrite tidy_value, poly_add_value, quotient_value, tidy_value, poly_add_value, number_value. reflexivity. }
      unfold last. destruct s as [| [| [x | n d] [| a' m']] [| [p | p |] | p] [| m'' c'' r'']]; try exact D. destruct (sure d) eqn:S; [| exact D]. apply sure_sound in S.
      rewrite tidy_value, poly_add_value, IH, !tidy_value, poly_add_value, !poly_mul_value, number_value. f_equal. cbn [poly_value mono_value atom_value].
      rewrite Z.mul_1_r, Z.mul_1_l, Z.add_0_r. rewrite <- Z.div_div by lia. f_equal. rewrite Z.mul_comm, Z.div_add by lia. reflexivity. }
    destruct (constant k) as [c |] eqn:C.
    - apply constant_value in C. destruct (Z.eqb_spec c 1) as [E | E]; [rewrite C, E; now rewrite Z.div_1_r |]. destruct (Z.leb_spec c 0) as [N | N]; [apply quotient_value |].
      pose proof (split_value c (others a) ltac:(lia)) as W. destruct (split_by c (others a)) as [w s]. cbn [fst snd] in W.
      assert (A : value a / value k = value (poly_add w (number (constant_part a / c))) + (value s + constant_part a mod c) / c).
      { rewrite poly_add_value, number_value, (parts_value a), W, C. replace (constant_part a + (c * value w + value s)) with (value s + constant_part a mod c + (value w + constant_part a / c) * c).
        - rewrite Z.div_add by lia. lia.
        - pose proof (Z.div_mod (constant_part a) c ltac:(lia)). lia. }
      rewrite A. set (whole := poly_add w _) in *. clearbody whole.
      assert (R : 0 <= constant_part a mod c < c) by (apply Z.mod_pos_bound; lia).
      destruct s as [| m d r'] eqn:S; [rewrite tidy_value; cbn [poly_value]; rewrite Z.add_0_l, Z.div_small by lia; lia |]. rewrite <- S in *. clear S.
      assert (Last : value (last (divide fuel) k whole s (constant_part a mod c)) = value whole + (value s + constant_part a mod c) / c) by (rewrite L by lia; now rewrite C).
      set (g := content c s). pose proof (fun H => split_value g s H) as G. destruct (split_by g s) as [b more]. cbn [fst snd] in G. destruct more; [| exact Last].
      destruct (Z.ltb_spec 1 g) as [P | P]; cbn [andb]; [| exact Last]. destruct (Z.eqb_spec (c mod g) 0) as [M | M]; [| exact Last].
      rewrite tidy_value, poly_add_value, IH, tidy_value, poly_add_value, !number_value. f_equal. rewrite (G ltac:(lia)). cbn [poly_value]. rewrite Z.add_0_r.
      pose proof (Z.div_mod c g ltac:(lia)) as Q. rewrite M, Z.add_0_r in Q. assert (0 < c / g) by (apply Z.div_str_pos; split; [lia | apply Z.divide_pos_le; [lia | apply Z.mod_divide; lia]]).
      transitivity ((g * value b + constant_part a mod c) / (g * (c / g))); [| now rewrite <- Q]. rewrite <- Z.div_div by lia. f_equal. now rewrite Z.mul_comm, Z.div_add_l by lia.
    - destruct (sure k) eqn:S; [| apply quotient_value]. apply sure_sound in S. destruct (poly_eq a k) eqn:E.
      { apply (poly_eq_value env) in E. rewrite E, number_value. symmetry. apply Z.div_same. lia. }
      assert (W : exists w s, (match k with Plus km kc Zero => if 0 <? kc then split_mono km kc a else (Zero, a) | _ => (Zero, a) end) = (w, s) /\ value a = value k * value w + value s).
      { assert (D : value a = value k * value Zero + value a) by (cbn [poly_value]; lia).
        destruct k as [| km kc [| m' c' r']]; try (do 2 eexists; split; [reflexivity | exact D]). destruct (Z.ltb_spec 0 kc) as [P | P]; [| do 2 eexists; split; [reflexivity | exact D]].
        pose proof (split_mono_value km kc a ltac:(lia)) as M. destruct (split_mono km kc a) as [w s]. exists w, s. split; auto. cbn [fst snd] in M. rewrite M. cbn [poly_value]. ring. }
      destruct W as (w & s & -> & W).
      assert (A : value a / value k = value w + value s / value k) by (rewrite W, (Z.mul_comm (value k)), Z.div_add_l by lia; reflexivity).
      rewrite A. destruct (constant s) as [n |] eqn:N.
      + apply constant_value in N. destruct (Z.eqb_spec n 0) as [Q | Q]; [rewrite tidy_value, N, Q, Z.div_0_l by lia; lia |].
        destruct (Z.eqb_spec n (-1)) as [Q' | Q'].
        * rewrite tidy_value, poly_add_value, number_value, N, Q'. f_equal. apply Z.div_unique with (value k - 1); lia.
        * now rewrite tidy_value, poly_add_value, quotient_value, tidy_value.
      + rewrite L by lia. rewrite (parts_value s). f_equal. f_equal. lia.
  Qed.
End Divide.

(** * Keys *)

Definition key (d n : nat) : positive := if (n <? d)%nat then xO (Pos.of_succ_nat (d - 1 - n)) else xI (Pos.of_succ_nat (n - d)).
Definition seen (d : nat) (e : Terms.env) (x : positive) : Z :=
  match x with xO p => e (d - 1 - Nat.pred (Pos.to_nat p))%nat | xI p => e (d + Nat.pred (Pos.to_nat p))%nat | xH => 0 end.
Lemma seen_key d e n : seen d e (key d n) = e n.
Proof. unfold key. destruct (Nat.ltb_spec n d); cbn [seen]; rewrite SuccNat2Pos.id_succ; cbn [Nat.pred]; f_equal; lia. Qed.

Definition deep : nat := 40.
Fixpoint normal (sure : poly -> bool) (d : nat) (p : Terms.idx) : poly :=
  match p with
  | Terms.Var n => alone (Unknown (key d n))
  | Terms.Num z => tidy (number z)
  | Terms.IAdd p q => tidy (poly_add (normal sure d p) (normal sure d q))
  | Terms.IMul p q => tidy (poly_mul (normal sure d p) (normal sure d q))
  | Terms.IDiv p q => divide sure deep (normal sure d p) (normal sure d q)
  end.
Theorem normal_value sure d e p : (forall k, sure k = true -> 1 <= poly_value (seen d e) k) -> poly_value (seen d e) (normal sure d p) = Terms.ival e p.
Proof.
  intro S. induction p; cbn [normal Terms.ival].
  - rewrite alone_value. cbn [atom_value]. apply seen_key.
  - now rewrite tidy_value, number_value.
  - rewrite tidy_value, poly_add_value. congruence.
  - rewrite tidy_value, poly_mul_value. congruence.
  - rewrite divide_value by auto. congruence.
Qed.

(** What is positive, by facts: a literal, something known to be at least 1, a product of such. *)
Definition surely (facts : list poly) (k : poly) : bool :=
  positive_known facts k || match k with Plus m c Zero => (0 <? c) && mono_all (fun a => positive_known facts (alone a)) m | _ => false end.
Lemma surely_sound env facts k : (forall p, In p facts -> 0 <= poly_value env p) -> surely facts k = true -> 1 <= poly_value env k.
Proof.
  intros F H. unfold surely in H. apply orb_prop in H as [H | H]; [now apply (positive_sound env facts F) |]. destruct k as [| m c [| ? ? ?]]; try discriminate.
  apply andb_prop in H as [C M]. apply Z.ltb_lt in C. cbn [poly_value].
  assert (1 <= mono_value env m); [| nia]. apply (mono_all_sound env _ 1) in M; [exact M | | lia]. intros a A. apply (positive_sound env facts F) in A. now rewrite alone_value in A.
Qed.

Print Assumptions normal_value.
