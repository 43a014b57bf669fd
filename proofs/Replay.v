(** A schedule's certificate, replayed: every step applied again to terms with de Bruijn binders, at its position, under what is known there. [replay] is extracted, and
    `atoll prove --verified` runs it; [replay_sound] is what its yes means: the last term has the shape and every element of the source, for all sizes that the facts allow,
    whatever the operators do, but for the laws that the replay lists. *)

Require Import ZArith List Lia Bool.
Require Import Arithmetic.
Require Import Terms Kernel Named Elements Normal Compare Path Applied Values Simplify Online Joined.
Import ListNotations.
Open Scope Z_scope.

Inductive action :=
| Rule (r : rule)
| Simplified           (* simplify *)
| Unfolded | Folded | GuardGet
| Factor (part : list bool) | Rescale (at_ low high : idx) | Join (count : nat)   (* s.online *)
| Named_.              (* let_bind, let_view: the new term begins with a name, and reads it for what it holds *)
Record move := { path : list nat; kind : action; new : term; after : term }.   (* after: the whole term, as it is written down *)

Section Replay.
  Variable table : list (list poly * list step).
  Hypothesis table_ok : forallb (fun g => rows_ok (fst g) (snd g)) table = true.
  Variable top : list idx.
  Variable inputs : list (list idx).    (* shapes of arguments *)
  Variable fuel : nat.
  Notation sure := (sure top).
  Notation closed := (closed top).
  Notation here := (here table top).

  Definition act C (k : action) (t new : term) : option (list law) :=
    match k with
    | Rule r =>
        match instance sure C r t new with
        | Some (fs, lhs, rhs, l) => when (forallb (here C) fs && alike sure (depth C) [] t lhs && alike sure (depth C) [] rhs new) (Some l)
        | None => None
        end
    | Simplified => follow table top false fuel C t new
    | Folded => recalled table top (follow table top false fuel) C t new
    | Unfolded => when (scalar t && scalar new) (recalled table top (follow table top false fuel) C new t)
    | GuardGet =>
        match t with
        | Get x i => match held C x with Some d => when (in_range table top C i (shape d) && alike sure (depth C) [] (Guard (conds (elem Var d i)) t) new) (Some (pad_law (mode C))) | None => None end
        | _ => None
        end
    | Factor part => factored table top C part t new
    | Rescale at_ low high => rescaled table top C at_ low high t new
    | Join count => joined table top fuel C count t new
    | Named_ => match new with Let x b => follow table top true fuel (naming x C) (under_let t) b | _ => None end
    end.

  Definition start := {| depth := 0; facts := top; mode := None; defs := []; bounds := combine (seq 0 (length inputs)) inputs; links := [] |}.
  Definition once (s : move) (t : term) : option (list law) :=
    match inside_out table top law (fun C u => match act C (kind s) u (new s) with Some l => Some (new s, l) | None => None end) (path s) start t with
    | Some (u, l) => when (alike sure 0 [] u (after s)) (Some l)
    | None => None
    end.
  Fixpoint all_moves (steps : list move) (t : term) : option (term * list law) :=
    match steps with
    | [] => Some (t, [])
    | s :: more => match once s t with Some l => match all_moves more (after s) with Some (u, l') => Some (u, l ++ l') | None => None end | None => None end
    end.

  Section Sound.
    Context {ops : operators}.

    Theorem act_fits C k t u l : act C k t u = Some l -> lawful l -> fits top C t u.
    Proof.
      intros H W. destruct k; cbn [act] in H.
      - destruct (instance sure C r t u) as [[[[fs lhs] rhs] l'] |] eqn:E; [| discriminate]. apply when_some in H as [X [= <-]]. rewrite !andb_true_iff in X. destruct X as [[X L] R].
        intros e A i a K F Q I. destruct (alike_means top (depth C) _ _ e L K) as [D S]. destruct (alike_means top (depth C) _ _ e R K) as [D' S']. rewrite S, <- S'.
        apply (instance_same sure C r t u fs lhs rhs l' E W); [| now rewrite <- D]. intros p P. rewrite forallb_forall in X. apply (here_sound table table_ok top C); auto.
      - eapply follow_fits; eauto.
      - assert (NF : forall C t u l, follow table top false fuel C t u = Some l -> lawful l -> fits top C t u) by (intros; eapply follow_fits; eauto).
        destruct (scalar t && scalar u) eqn:X; [| discriminate]. cbn [when] in H. apply andb_prop in X as [X Y]. pose proof (recalled_fits table table_ok top _ C u t l NF H W) as G. intros e A i a K F Q I. symmetry. apply G; auto.
        pose proof (is_scalar t e X) as J. pose proof (is_scalar u e Y) as J'. assert (i = []) as -> by (apply inside_length in I; apply inside_length in J; destruct i; auto; cbn in *; lia). exact J'.
      - eapply recalled_fits; [exact table_ok | intros; eapply follow_fits; eauto | eauto | eauto].
      - destruct t; try discriminate. destruct (held C x) as [d |] eqn:D; [| discriminate]. apply when_some in H as [X [= <-]]. apply andb_prop in X as [R X]. intros e A i a K F Q I.
        rewrite <- (proj2 (alike_means top (depth C) _ _ e X K)). cbn [Terms.sem]. destruct (all_hold (conds (elem Var d index)) e) eqn:E; auto.
        rewrite (element_known table table_ok top C A e x d index K F Q D R), (proj2 (core_means (elem Var d index) e)). cbn [Terms.sem]. rewrite E. now apply pad_so.
      - eapply factored_fits; eauto.
      - eapply rescaled_fits; eauto.
      - eapply joined_fits; eauto.
      - destruct u; try discriminate. pose proof (follow_fits table table_ok top true fuel (naming u1 C) (under_let t) u2 l H W) as G. intros e A i a K F Q I.
        cbn [Terms.sem]. rewrite <- (sem_under_let (mode C) t e (fun j => if within j (dims u1 e) then sem None u1 e A j zero else junk) A i a). apply G; auto; [now apply knowing_name | now rewrite dims_under_let].
    Qed.

    Theorem once_good s t l : once s t = Some l -> lawful l -> good top start t (after s).
    Proof.
      intros H W. unfold once in H. destruct (inside_out _ _ _ _ _ _ _) as [[u l'] |] eqn:E; [| discriminate]. apply when_some in H as [X [= <-]].
      destruct (inside_out_good table table_ok top law (fun C u => match act C (kind s) u (new s) with Some l => Some (new s, l) | None => None end) lawful) with (2 := E) as [S D]; auto.
      { intros C t0 v k G L. destruct (act C (kind s) t0 (new s)) as [l0 |] eqn:A; [| discriminate]. injection G as <- <-. eapply act_fits; eauto. }
      split.
      - intros e A i a K F Q I. rewrite (S e A i a K F Q I). apply (proj2 (alike_means top 0 _ _ e X K)).
      - intros e K. rewrite (D e K). apply (proj1 (alike_means top 0 _ _ e X K)).
    Qed.

    Theorem moves_good steps : forall t u l, all_moves steps t = Some (u, l) -> lawful l -> good top start t u.
    Proof.
      induction steps as [| s steps IH]; intros t u l H W; cbn [all_moves] in H.
      - injection H as <- <-. split; [intros e A i a K F Q I; reflexivity | intros e K; reflexivity].
      - destruct (once s t) as [k |] eqn:O; [| discriminate]. destruct (all_moves steps (after s)) as [[v k'] |] eqn:M; [| discriminate]. injection H as <- <-. apply lawful_app in W as [W W'].
        destruct (once_good s t k O W) as [S D]. destruct (IH _ _ _ M W') as [S' D']. split.
        + intros e A i a K F Q I. rewrite (S e A i a K F Q I). apply S'; auto. now rewrite <- (D e K).
        + intros e K. now rewrite (D e K), (D' e K).
    Qed.
  End Sound.
End Replay.

(** Proofs first, then every step, then that the last term is the one that is lowered. *)
Definition replay (table : list (list poly * list step)) (top : list idx) (inputs : list (list idx)) (fuel : nat) (source : term) (steps : list move) (final : term) : option (list law) :=
  if forallb (fun g => rows_ok (fst g) (snd g)) table then
    match all_moves table top inputs fuel steps source with Some (u, l) => if alike (sure top) 0 [] u final then Some l else None | None => None end
  else None.

Theorem replay_sound {ops : operators} table top inputs fuel source steps final l : replay table top inputs fuel source steps final = Some l -> lawful l ->
  forall e, holds top e -> dims source e = dims final e /\ forall A i a, (forall x s, In (x, s) (combine (seq 0 (length inputs)) inputs) -> bounded A x (map (ival e) s)) ->
    inside i (dims source e) -> sem None source e A i a = sem None final e A i a.
Proof.
  unfold replay. intros H W e F. destruct (forallb _ table) eqn:T; [| discriminate]. destruct (all_moves table top inputs fuel steps source) as [[u k] |] eqn:M; [| discriminate].
  destruct (alike (sure top) 0 [] u final) eqn:X; [| discriminate]. injection H as <-. destruct (moves_good table T top inputs fuel steps source u k M W) as [S D].
  assert (K : Compare.closed top 0 e) by exact F. destruct (alike_means top 0 _ _ e X K) as [D' S']. split; [now rewrite (D e K), D' |]. intros A i a B I. rewrite <- S'. apply (S e A i a K F); auto. split; [intros x [] | split; [intros [x s] Y; exact (B x s Y) | intros x []]].
Qed.

Print Assumptions replay_sound.
