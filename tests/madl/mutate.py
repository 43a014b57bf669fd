"""Broken programs: texts of the corpus with tokens removed, doubled, exchanged or replaced. Whatever comes out is a program or an error with a place.

    python -m tests.madl.mutate SEED COUNT
"""

from __future__ import annotations

import random
import re
import sys
import traceback
from pathlib import Path

from atoll.errors import Error
from atoll.madl.grammar import KEYWORDS
from atoll.madl.library import Library
from atoll.madl.oracle import Stuck
from tests.madl.corpus import ACCEPTED, Q
from tests.madl.harness import NoSizes, agree

TOKENS = re.compile(r"<<|>>|\[\||\|\]|\(\||\|\)|\+\+|\+=|-=|:|\.\[|\w+'*|'\w+|\s+|.")
WORDS = "last init ! ++ [ ] [| |] ( ) (| |) { } <<n>> <<2>> of at as 'l 'm _ 0 1 0.5 true int f64 [3]int forward block end reset if then else with = , ; + * reverse( transpose( window<<2>>( split<<2>>( x a n i .[0] .re [_]".split(" ")


def sources() -> list[str]:
    examples = [p.read_text() for p in sorted((Path(__file__).parents[2] / "examples" / "madl").glob("*.madl"))]
    return [*ACCEPTED.values(), *Q.values(), *examples]


SLOW = {"convol_2D", "fft64", "mat_mat"}
NAMES = re.compile(r"[a-zA-Z_]\w*'*")
PLACES = ["'l", "'m", "reverse('l)", "_ ++ 'l", "repeat<<_>>(_)", "transpose('l)"]


def mutated(text: str, rng: random.Random) -> str:
    """Half of them are still programs by their grammar."""
    tokens = TOKENS.findall(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        k = rng.randrange(len(tokens))
        if rng.random() < 0.8:
            k = rng.choice([j for j, t in enumerate(tokens) if not t.isspace()])
            tokens[k] = changed(tokens[k], tokens, rng)
            continue
        match rng.randrange(4):
            case 0:
                tokens[k] = ""
            case 1:
                j = rng.randrange(len(tokens))
                tokens[k], tokens[j] = tokens[j], tokens[k]
            case 2:
                tokens[k] = rng.choice(WORDS)
            case 3:
                tokens[k] = tokens[k] + " " + rng.choice(WORDS)
    return "".join(tokens)


def changed(token: str, tokens: list[str], rng: random.Random) -> str:
    """Another token that can stand there."""
    names = [t for t in tokens if NAMES.fullmatch(t) and t not in KEYWORDS]
    if token.isdigit():
        return rng.choice(["0", "1", "2", "7", "n", "_", "'n"])
    if token in ("+", "-", "*", "/", "++"):
        return rng.choice(["+", "-", "*", "/", "++", "%", "<"])
    if token == "!":
        return rng.choice(["", "!!", "last ", "!last "])
    if token == "last":
        return rng.choice(["", "!", "!last", "last last"])
    if token in ("resume", "restart", "end"):
        return rng.choice(["resume", "restart", "end", "reset true"])
    if NAMES.fullmatch(token) and token not in KEYWORDS:
        other = rng.choice(names)
        return rng.choice(
            [other, other, f"!{token}", f"last {token}", f"reverse({token})", f"[|{token}|]", f"{token} ++ {other}", f"{token}.[0]", f"{token} + {other}"]
            + [f"({token} at {rng.choice(PLACES)})", f"({token} init 0)", f"({token} of [3]int)", f"(| {token}, {other} |)", f"{{{token}}}", f"[{token}]"]
            + [f"{token} with [0] = {other}", f"window<<2>>({token})", f"(if {other} then {token} else {other})", f"flatten<<2>>({token})", f"[2]{token}"]
        )
    return token


def outcome(text: str) -> str:
    """`ok`, the code of an error, or a traceback."""
    try:
        library = Library(text)
        for op in library.operators.values():
            op.scheme.show(), op.scheme.show_places()
            if op.kind in ("func", "node") and len(op.graph.sizes) <= 4 and op.name not in SLOW:
                agree(op, seed=len(text), cycles=2, code=False, most=3)
        return "ok"
    except NoSizes:
        return "ok without sizes"
    except Stuck as stuck:
        return f"STUCK {stuck}"
    except Error as error:
        str(error)
        return error.code if error.span is not None and error.span.line else f"NOWHERE {error.code}"
    except Exception:  # noqa: BLE001  what is looked for
        return "CRASH " + traceback.format_exc(limit=-4)


def main() -> None:
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    found: dict[str, int] = {}
    shown: set[str] = set()
    texts = sources()
    for k in range(count):
        rng = random.Random(seed * 1_000_003 + k)
        text = mutated(rng.choice(texts), rng)
        result = outcome(text)
        found[result.split()[0]] = found.get(result.split()[0], 0) + 1
        if result.startswith(("CRASH", "NOWHERE", "STUCK")):
            last = result.strip().splitlines()[-2:]
            if str(last) not in shown:
                shown.add(str(last))
                print(f"--- {seed}:{k}\n{text}\n{result}")
    print(dict(sorted(found.items(), key=lambda item: -item[1])))


if __name__ == "__main__":
    main()
