"""Wrong programs: a generated text with a few random changes. The front end may refuse them, with an at.Error and nothing else; what it accepts runs like
any other program."""

from __future__ import annotations

import ast
import copy
import random
import warnings

from .generator import generate
from .places import expressions

OPERATORS: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.BitAnd, ast.LShift)
NAMES = (
    "sum prod min max any all argmin argmax reduce scan fold map filter sort argsort gather scatter hist concat flatten split tile window sample reverse "
    "rotate repeat pad pad_l pad_r trunc_l trunc_r transpose zip unzip enumerate reversed range len where full zeros iota rep cumsum outer exp sqrt abs "
    "i64 f32 bool u8 c64 minimum add at.size n"
).split()
LITERALS: tuple[object, ...] = (0, 1, -1, 2, 7, 2**40, 2**70, 0.5, float("inf"), 1j, True, None, "text", ...)


def mutate(seed: int) -> str:
    """The text of a generated program with one to four changes.

    >>> mutate(5) == mutate(5)
    True
    """
    warnings.simplefilter("ignore", SyntaxWarning)
    rng = random.Random(f"mutate {seed}")
    tree = ast.parse(generate(seed).text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        tree = _changed(tree, rng)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _changed(tree: ast.Module, rng: random.Random) -> ast.Module:
    for _ in range(10):
        fresh = copy.deepcopy(tree)
        rng.choice((_replace, _replace, _replace, _rename, _operator, _drop_argument, _swap_arguments, _statement))(fresh, rng)
        try:
            text = ast.unparse(ast.fix_missing_locations(fresh))
            parsed = ast.parse(text)
            compile(parsed, "mutated", "exec")
        except (SyntaxError, ValueError, AttributeError, TypeError):
            continue
        if text != ast.unparse(tree):
            return parsed
    return tree


def _inside(tree: ast.Module) -> ast.AST:
    """The body of the last function: what Python does not run."""
    function = next(node for node in reversed(tree.body) if isinstance(node, ast.FunctionDef))
    return ast.Module(function.body, [])


def _replace(tree: ast.Module, rng: random.Random) -> None:
    """Some expression by another one of the program, or by a literal."""
    places = [p for p in expressions(_inside(tree)) if not isinstance(getattr(p[3], "ctx", None), ast.Store)]
    if not places:
        return
    node, name, index, _ = rng.choice(places)
    new: ast.expr = copy.deepcopy(rng.choice(places)[3]) if rng.random() < 0.7 else ast.Constant(rng.choice(LITERALS))  # type: ignore[arg-type]
    if index is None:
        setattr(node, name, new)
    else:
        getattr(node, name)[index] = new


def _rename(tree: ast.Module, rng: random.Random) -> None:
    """A name by another one."""
    found = [node for node in ast.walk(_inside(tree)) if isinstance(node, ast.Name)]
    if found:
        rng.choice(found).id = rng.choice([*NAMES, *(node.id for node in found)])


def _operator(tree: ast.Module, rng: random.Random) -> None:
    found = [node for node in ast.walk(_inside(tree)) if isinstance(node, (ast.BinOp, ast.AugAssign))]
    if found:
        rng.choice(found).op = rng.choice(OPERATORS)()


def _drop_argument(tree: ast.Module, rng: random.Random) -> None:
    found = [node for node in ast.walk(_inside(tree)) if isinstance(node, ast.Call) and (node.args or node.keywords)]
    if found:
        call = rng.choice(found)
        items: list[ast.expr] | list[ast.keyword] = rng.choice([x for x in (call.args, call.keywords) if x])
        del items[rng.randrange(len(items))]


def _swap_arguments(tree: ast.Module, rng: random.Random) -> None:
    found = [node for node in ast.walk(_inside(tree)) if isinstance(node, ast.Call) and len(node.args) > 1]
    if found:
        rng.shuffle(rng.choice(found).args)


def _statement(tree: ast.Module, rng: random.Random) -> None:
    """A statement left out, written twice, or moved."""
    blocks = [b for node in ast.walk(_inside(tree)) if isinstance(b := getattr(node, "body", None), list) and b]
    block = rng.choice(blocks)
    k = rng.randrange(len(block))
    taken = block[k]
    if rng.random() < 0.7 and len(block) > 1:
        del block[k]
    if rng.random() < 0.5:
        block.insert(rng.randrange(len(block) + 1), taken)
