"""The grammar of Futhark, for lark's LALR parser. Chains of operators are read flat; parse.py puts them together by precedence.

Where two readings are possible the longer one is meant (lark shifts): the body of `let`, `if` and a lambda goes as far as it can.
"""

from atoll.futhark.lexer import TERMINALS

GRAMMAR = (
    r"""
start: dec*

?dec: valdec | typeabbr | sigdef | moddef
    | OPEN modexp -> open_dec
    | IMPORT STRING -> import_dec
    | LOCAL dec -> local_dec
    | ATTR dec -> attr_dec

!defword: DEF | ENTRY | LET
valdec: defword bindingid typarams params ascription EQUAL exp -> def_
    | defword ppat bindop ppat ascription EQUAL exp -> def_infix

bindingid: NAME | LPAR bindop RPAR
!bindop: OP | STAR | LESS | HAT | PIPE | MINUS | BACKTICK NAME BACKTICK
ascription: (COLON type)?
params: ppat*
params1: ppat+

typeabbr: TYPE lifted NAME typarams EQUAL type
!lifted: (TILDE | HAT)?
typarams: typaram*
?typaram: LSQB NAME RSQB -> size_param
    | INDEX NAME RSQB -> size_param
    | TICK NAME -> type_param

// modules
sigdef: MODULE TYPE NAME EQUAL sig
moddef: MODULE NAME modparam* sigascription EQUAL modexp
sigascription: (COLON sig)?
modparam: LPAR NAME COLON sig RPAR
?modexp: modexp COLON sig -> mod_ascribe
    | LAMBDA modparam simplesig ARROW modexp -> mod_lambda
    | IMPORT STRING -> mod_import
    | modapply
?modapply: modatom | modapply modatom -> mod_apply
?modatom: LPAR modexp RPAR -> parens
    | qualname -> mod_name
    | LBRACE dec* RBRACE -> mod_decs
simplesig: (COLON simplesig_)?
?simplesig_: qualname -> sig_name | LPAR sig RPAR -> parens

?sig: sigterm
    | LPAR NAME COLON sig RPAR ARROW sig -> sig_named_arrow
    | sigterm ARROW sig -> sig_arrow
?sigterm: sigatom | sigterm WITH qualname typarams EQUAL type -> sig_with
?sigatom: qualname -> sig_name
    | LBRACE spec* RBRACE -> sig_specs
    | LPAR sig RPAR -> parens
?spec: VAL specname typarams COLON type -> val_spec
    | typeabbr
    | TYPE lifted NAME typarams -> type_spec
    | MODULE NAME COLON sig -> mod_spec
    | INCLUDE sig -> include_spec
    | ATTR spec -> attr_dec
specname: NAME | bindop | LPAR bindop RPAR

// types
?type: LPAR NAME COLON type RPAR ARROW type -> named_arrow
    | typeterm ARROW type -> arrow
    | QUESTION exdims DOT type -> exists
    | typeterm
exdims: (LSQB NAME RSQB | INDEX NAME RSQB)+
?typeterm: STAR typeterm -> unique
    | typeapply
    | sums
sums: sumclause (PIPE sumclause)*
sumclause: CASENAME typeatom*
?typeapply: typeatom | typeapply typearg -> type_apply
?typearg: sizeexp | plaintype
?typeatom: plaintype | sizeexp typeterm -> array_type
?plaintype: LPAR type RPAR -> parens
    | LPAR RPAR -> unit_type
    | LPAR type COMMA types RPAR -> tuple_type
    | LBRACE fieldtypes RBRACE -> record_type
    | qualname -> type_name
types: type (COMMA type)* COMMA?
fieldtypes: (fieldtype (COMMA fieldtype)* COMMA?)?
fieldtype: fieldid COLON type
sizeexp: LSQB exp RSQB | LSQB RSQB | INDEX exp RSQB | INDEX RSQB
qualname: NAME | qualname DOT NAME
fieldid: NAME | NATURAL

// patterns
?pat: ATTR pat -> attr_pat
    | innerpat COLON type -> typed_pat
    | innerpat
    | CASENAME innerpat+ -> case_pat
?innerpat: ppat | MINUS number -> neg_pat
?ppat: NAME -> name_pat
    | LPAR bindop RPAR -> op_pat
    | UNDERSCORE -> wild_pat
    | LPAR RPAR -> unit_pat
    | LPAR pat RPAR -> parens
    | LPAR pat COMMA pats RPAR -> tuple_pat
    | LBRACE fieldpats RBRACE -> record_pat
    | literal -> lit_pat
    | CASENAME -> case0_pat
pats: pat (COMMA pat)* COMMA?
fieldpats: (fieldpat (COMMA fieldpat)* COMMA?)?
fieldpat: fieldid EQUAL pat | fieldid COLON type -> fieldpat_typed | fieldid -> fieldpat_short

// expressions
?exp: exp COLON type -> ascribe
    | exp COERCE type -> coerce
    | chain
?chain: ops -> chain
ops: operand -> ops
    | ops binop operand -> op_tail
    | ops WITH step+ EQUAL operand -> with_tail
    | ops DOTS operand -> range_tail
    | ops DOTDOT operand -> range_tail
!binop: OP | STAR | LESS | HAT | PIPE | MINUS | QUALOP | BACKTICK qualname BACKTICK
?operand: unary | IF exp THEN exp ELSE exp -> if_
    | LOOP pat loopinit loopform DO exp -> loop
    | letexp
    | MATCH exp case+ -> match
    | ASSERT atom exp -> assert_
    | ATTR exp -> attr
?unary: MINUS unary -> neg
    | BANG unary -> not_
    | apply
?apply: applied | lambda_
    | applied lambda_ -> apply_last
?applied: atom | applied atom -> apply_
?lambda_: LAMBDA params1 lamresult ARROW exp -> lambda_
lamresult: (COLON typeterm)?
loopinit: (EQUAL exp)?
loopform: FOR NAME LESS exp -> for_form
    | FOR pat IN exp -> in_form
    | WHILE exp -> while_form
case: CASE pat ARROW exp

letexp: LET sizebinder+ pat EQUAL exp letbody -> let_sizes
    | LET pat EQUAL exp letbody -> let
    | LET NAME localparams params1 ascription EQUAL exp letbody -> let_fun
    | LET NAME letstep+ EQUAL exp letbody -> let_with
sizebinder: LSQB NAME RSQB | INDEX NAME RSQB
localparams: (locparam typaram*)?
?locparam: LSQB NAME RSQB -> size_param
    | TICK NAME -> type_param
?letbody: IN exp -> letbody | letexp
letstep: INDEX dims RSQB -> step_index | DOT fieldid -> step_field
step: LSQB dims RSQB -> step_index | INDEX dims RSQB -> step_index | fieldid -> step_field | DOT fieldid -> step_field

?atom: literal | STRING -> string | HOLE -> hole
    | NAME -> var
    | CASENAME -> case0
    | LPAR exp RPAR -> parens
    | LPAR exp COMMA exps RPAR -> tuple
    | LPAR RPAR -> unit
    | LSQB exps RSQB -> array
    | LSQB RSQB -> array0
    | LBRACE fields RBRACE -> record
    | atom DOT NAME -> dot
    | atom DOT NATURAL -> dot
    | atom DOT LPAR exp RPAR -> open_in
    | atom INDEX dims RSQB -> index
    | LPAR secop RPAR -> section
    | LPAR MINUS RPAR -> minus_section
    | LPAR secop ops RPAR -> section_right
    | LPAR ops binop RPAR -> section_left
    | LPAR pathsteps RPAR -> path_section
!secop: OP | STAR | LESS | HAT | PIPE | QUALOP | BACKTICK qualname BACKTICK
pathsteps: DOT fieldid pathtail* -> path_field | DOT LSQB dims RSQB pathtail* -> path_index
pathtail: DOT fieldid -> step_field | INDEX dims RSQB -> step_index
exps: exp (COMMA exp)* COMMA?
fields: (recfield (COMMA recfield)* COMMA?)?
recfield: fieldid EQUAL exp | NAME -> recfield_short
dims: (dim (COMMA dim)*)?
dim: ops -> dim_index
    | dimlow COLON dimlow dimstep -> dim_slice
dimlow: ops?
dimstep: (COLON dimlow)?

?literal: number | TRUE -> true | FALSE -> false | CHAR -> char
number: NATURAL | INTEGER | FLOAT | HEXFLOAT
"""
    + "\n".join(f"%declare {t}" for t in TERMINALS)
    + "\n"
)
