"""The grammar, for lark's LALR parser. syntax.py says what it means.

Where the thesis' notation is ambiguous (docs/sources.md M8) the rule is the same everywhere: what can go on, goes on.
A body takes all statements up to the word that closes it, `end`, `resume`, `restart` or `reset`, and those close the innermost open
body. `[s]e` is a constant array exactly when an operand follows the bracket: the tokens are marked before parsing (parse.py), as a
bracket that must be one or the other by what stands behind its partner. `state` is a word only before a name and a colon.
"""

KEYWORDS = (
    "let rec and patt view func node size type data returns of at as init last forward block end restart resume reset "
    "if then else elif with not true false import const assume guarantee match case automaton unless until foreach where"
).split()

GRAMMAR = r"""
start: item*

?item: import | record | enumeration | const | lets
const: "const" NAME "=" joined ";"?

import: "import" STRING ":" NAME ("," NAME)* ";"?
record: "type" NAME "=" "{" field ("," field)* ","? "}" ";"?
field: NAME ("of" | ":") type
enumeration: "type" NAME "=" NAME ("|" NAME)+ ";"?

lets: "let" rec? operator ("and" operator)*
rec: "rec"
operator: kind? NAME interface short? (":" body)? where? "end"? ";"?
where: "where" place ("," place)*
place: joined "at" joined
short: "=" "(" group? ")"
!kind: "patt" | "view" | "func" | "node"

interface: param* sizes? argument* returns?
param: "(" param_kind NAME+ ")"
!param_kind: "size" | "type" | "data"
argument: "(" clause? ")"
returns: "returns" result+
result: "(" clause? ")"
clause: group ("=" group)?
sizes: _OPEN size ("," size)* _CLOSE

body: statements? reset?
!reset: "restart" ";"? | "resume" ";"? | "reset" annotated ";"?

statements: done_list last? | last
done_list: done | done_list done
?done: plain ";" | nest ";"?
?last: plain | open

?plain: group
    | CONTRACT either -> contract
    | when either into NAME -> transition
    | group "=" right -> equation
    | group OPERATE right -> operate
!when: "unless" | "until"
!into: "then" | "resume"
?right: group | forward | block
?nest: forward | block | branch | match | automaton

// A nest that nothing closes is the last statement of its body.
?open: open_forward | open_block | open_equation
?open_equation: group "=" open_right -> equation
    | group OPERATE open_right -> operate
?open_right: open_forward | open_block
open_forward: each levels ":" open_body -> forward
open_block: "block" interface ":" open_body -> block
open_body: statements? -> closed

forward: each levels (":" closed)?
!each: "forward" | "foreach"
closed: statements? (reset | "end")
levels: level ("," level)*
level: rounds? index? argument* returns?
rounds: _OPEN size (low size?)? _CLOSE
low: ":"
index: _open NAME (":" "size" NAME)? "]" | _open index_size "]"
index_size: "size" NAME
block: "block" interface (":" closed)?
branch: "if" either "then" statements _otherwise
_otherwise: "else" statements "end" | "elif" branch_tail
branch_tail: either "then" statements _otherwise -> branch

match: "match" either ":" case+ other? "end"
case: "case" label ("," label)* ":" statements?
other: "else" statements | "elif" branch_tail
?label: NAME -> variable | INTEGER -> integer | "-" INTEGER -> minus_integer | "true" -> true | "false" -> false
automaton: "automaton" (NAME "of" NAME)? ":" state+ "end"
state: _STATE NAME ":" statements?

?group: annotated | annotated ("," annotated)+ -> group

?annotated: joined
    | annotated "of" type -> typed
    | annotated "at" joined -> located
    | annotated "init" joined -> initial
    | annotated "as" joined -> alias

?joined: choice
    | joined "++" choice -> concat
    | joined "with" accessor+ "=" choice -> update
?accessor: _open sum "]" -> element | FIELD -> field_of

?choice: either
    | "if" either "then" choice _other_choice -> select
_other_choice: "else" choice | "elif" select_tail
select_tail: either "then" choice _other_choice -> select

?either: both | either "||" both -> either_or
?both: negated | both "&&" negated -> both_of
?negated: compared | "not" negated -> negate
?compared: bits | bits COMPARE bits -> compare
?bits: exclusive | bits "|" exclusive -> bit_or
?exclusive: masked | exclusive "^" masked -> bit_xor
?masked: sum | masked "&" sum -> bit_and
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: unary | product "*" unary -> mul | product "/" unary -> div | product "%" unary -> mod
?unary: part
    | "!" unary -> copy
    | "last" unary -> last
    | "-" unary -> minus
    | "~" unary -> bit_not
    | _CONSTANT size "]" unary -> constant
?part: primary
    | part _PART sum "]" -> project
    | part FIELD -> member

?primary: NAME -> variable
    | INTEGER -> integer
    | FLOAT -> float
    | "true" -> true
    | "false" -> false
    | META -> meta
    | "_" -> hole
    | NAME sizes? "(" group? ")" -> apply
    | "(" plain ")"
    | "(" open_equation ")"
    | "(" scope ")"
    | "(" scope ")" "(" group? ")" -> apply_block
    | _ARRAY group "|]" -> array
    | _TUPLE group "|)" -> tuple
    | "{" group "}" -> accumulate
    | "[" group "]" -> aggregate
?scope: block | forward | open_forward | open_block

?size: size_product | size "+" size_product -> size_add | size "-" size_product -> size_sub
?size_product: size_atom | size_product "*" size_atom -> size_mul | size_product "/" size_atom -> size_div
?size_atom: INTEGER -> size_integer
    | NAME -> size_name
    | META -> size_meta
    | "_" -> size_hole
    | "-" size_atom -> size_minus
    | "(" size ")"

?type: type_atom | type_atom ("*" type_atom)+ -> tuple_type
?type_atom: _open size "]" type_atom -> array_type
    | NAME -> type_name
    | NAME _OPEN size ("," size)? _CLOSE -> sized_type
    | META -> type_meta
    | "_" -> type_hole
    | "(" type ")"

_open: "[" | _CONSTANT

CONTRACT.2: /(assume|guarantee)(?![A-Za-z0-9_'])/
OPERATE: "+=" | "-=" | "*=" | "/=" | "%="
COMPARE: "==" | "!=" | "<>" | "<=" | ">=" | "<" | ">"
_CONSTANT.-1: "[" /(?!)/
_STATE.-1: "state" /(?!)/
_OPEN.3: "<<"
_CLOSE.3: ">>"
_PART: ".["
_ARRAY: "[|"
_TUPLE: "(|"
NAME: /(?!(?:KEYWORDS)(?![A-Za-z0-9_']))(?:[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9_]+)'*/
META: /'[A-Za-z_][A-Za-z0-9_]*/
FIELD: /\.[A-Za-z_][A-Za-z0-9_]*/
FLOAT.2: /[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+/
INTEGER: /0[xX][0-9A-Fa-f]+|0[bB][01]+|[0-9]+/
STRING: /"[^"\n]*"/
COMMENT: /\/\/[^\n]*/
%import common.WS
%ignore WS
%ignore COMMENT
""".replace("KEYWORDS", "|".join(KEYWORDS))
