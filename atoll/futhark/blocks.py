"""The test blocks of Futhark programs: comments with a line `-- ==`, followed by cases.

    block ::= tags {..}? (error: REGEX | [entry: names] case*) structure {..}* warning: REGEX*
    case  ::= "name"? tag* [random|script] input {values}|@file  (output {values}|@file | auto output | error: REGEX)?
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from atoll.errors import fail


@dataclass(slots=True)
class Case:
    entry: str
    name: str
    tags: list[str]
    kind: str  # plain, random or script
    input: str | None
    input_file: str | None
    output: str | None = None
    output_file: str | None = None
    error: str | None = None
    auto: bool = False


@dataclass(slots=True)
class Spec:
    description: str = ""
    tags: list[str] = field(default_factory=list)
    error: str | None = None  # the program must be rejected, for this reason
    cases: list[Case] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    blocks: int = 0
    structures: int = 0


def read_spec(text: str, name: str = "program") -> Spec:
    spec = Spec()
    for block in _blocks(text):
        _Reader(block, spec, name).read()
        spec.blocks += 1
    return spec


def _blocks(text: str) -> list[str]:
    found: list[str] = []
    current: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("--"):
            current.append(line[2:])
            continue
        starts = [k for k, row in enumerate(current) if row.strip() == "=="]
        if starts:
            found.append("\n".join(current[starts[0] + 1 :]))
        current = []
    return found


class _Reader:
    def __init__(self, text: str, spec: Spec, name: str) -> None:
        self.text, self.at, self.spec, self.name = text, 0, spec, name

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def word(self) -> str:
        self.skip()
        found = re.compile(r"[A-Za-z_][\w-]*:?|@|\{|\"").match(self.text, self.at)
        return found.group() if found else ""

    def take(self, word: str) -> bool:
        if self.word() != word:
            return False
        self.skip()
        self.at += len(word)
        return True

    def line(self) -> str:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        found = self.text[self.at : end].strip()
        self.at = end
        return found

    def braces(self) -> str:
        self.skip()
        if self.text[self.at : self.at + 1] != "{":
            fail("E1409", name=self.name, text=f"its test block has no {{ where one is expected: {self.text[self.at : self.at + 30]!r}")
        depth, start, quoted = 0, self.at, False
        while self.at < len(self.text):
            c = self.text[self.at]
            if c == '"':
                quoted = not quoted
            elif not quoted and c == "{":
                depth += 1
            elif not quoted and c == "}":
                depth -= 1
                if depth == 0:
                    self.at += 1
                    return self.text[start + 1 : self.at - 1]
            self.at += 1
        fail("E1409", name=self.name, text="its test block has a { that nothing closes")

    def values(self) -> tuple[str | None, str | None]:
        if self.take("@"):
            return None, self.line()
        return self.braces(), None

    def read(self) -> None:
        entries = ["main"]
        if self.take("tags"):
            self.spec.tags += self.braces().split()
        while True:
            self.skip()
            if self.at >= len(self.text):
                return
            if self.take("error:"):
                self.spec.error = self.line()
            elif self.take("property:"):
                self.line()
            elif self.take("entry:"):
                entries = self.line().split()
            elif self.take("warning:"):
                self.spec.warnings.append(self.line())
            elif self.take("structure"):
                if self.word() != "{":
                    self.word_away()
                self.braces()
                self.spec.structures += 1
            elif self.word() and self.word() not in ("{", "@"):
                self.case(entries)
            else:
                fail("E1409", name=self.name, text=f"its test block says {self.line()!r}, which is no test")

    def word_away(self) -> str:
        found = self.word()
        self.skip()
        self.at += len(found)
        return found

    def case(self, entries: list[str]) -> None:
        title = ""
        if self.take('"'):
            end = self.text.find('"', self.at)
            title = self.text[self.at : end]
            self.at = end + 1
        tags: list[str] = []
        kind = "plain"
        while True:
            word = self.word_away()
            if word == "input":
                break
            if word in ("random", "script"):
                kind = word
            elif not word:
                fail("E1409", name=self.name, text=f"its test block says {self.line()!r}, which is no test")
            else:
                tags.append(word)
        given, file = self.values()
        case = Case("", title, tags, kind, given, file)
        if self.take("output"):
            case.output, case.output_file = self.values()
        elif self.take("auto"):
            self.take("output")
            case.auto = True
        elif self.take("error:"):
            case.error = self.line()
        for entry in entries:
            self.spec.cases.append(Case(entry, title, tags, kind, given, file, case.output, case.output_file, case.error, case.auto))
