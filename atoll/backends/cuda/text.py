"""Kernels as CUDA C: the text that NVRTC compiles, and g++ too for tests without a GPU (runtime/cuda, cuda_on_cpu.h).

Expressions and plain statements are printed as the C backend prints them, in a dialect without GNU's extensions and with integers that wrap around by
themselves written out. A check that fails goes to the end of the region it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from atoll.ainf.ir import Site
from atoll.backends.c import ops
from atoll.backends.c.emit import Emitter
from atoll.backends.c.prelude import needed
from atoll.backends.c.text import Dialect, safe
from atoll.backends.cuda import language as k
from atoll.backends.cuda.complex_text import COMPLEX, with_complex
from atoll.loops import ir as lp
from atoll.sizes import Atom, Poly, Sym
from atoll.sizes.poly import Quot
from atoll.types.dtypes import BOOL, DType

CUDA = Dialect("cuda", wrapping=False, gnu=False, hosted=False)

_COORDINATES: dict[Atom, str] = {k.THREAD: "at_thread", k.BLOCK: "at_block", k.BLOCK_Y: "at_block_y", k.BLOCKS: "at_blocks"}
_PLACES = (("at_thread", "threadIdx.x"), ("at_block", "blockIdx.x"), ("at_block_y", "blockIdx.y"), ("at_blocks", "gridDim.x"))

# Most numbers are small, and a division of small numbers is several times quicker.
_QUICK_FDIV = """/* floor division of indices; b > 0 */
static inline int64_t at_fdiv(int64_t a, int64_t b) {
    if (((uint64_t)a | (uint64_t)b) >> 32 == 0) return (int64_t)((uint32_t)a / (uint32_t)b);
    int64_t q = a / b;
    return q - (a % b < 0);
}"""

_NARROW_FDIV = """/* the same of numbers of 32 bits */
static inline int32_t at_fdiv32(int32_t a, int32_t b) {
    if (a >= 0) return (int32_t)((uint32_t)a / (uint32_t)b);
    int32_t q = a / b;
    return q - (a % b < 0);
}"""

UNROLLED = 4  # rounds of a loop whose number is not known
MOST_VALUES = 16  # that a failed check shows

FAILURE = f"""/* The check that failed: the one with the least rank, of the first kernel in which one did. */
typedef struct {{ uint64_t rank; int32_t site, lock; int32_t *told; union {{ int64_t i; double d; }} args[{MOST_VALUES}]; }} at_failure;
"""

SUPPORT = """
/* Takes the lock if this failure is to be told; the caller writes its values and gives the lock back. */
static inline int at_told(at_failure *f, uint64_t rank, int32_t site) {
    for (;;) {
        if (*(volatile uint64_t *)&f->rank <= rank) return 0;
        if (atomicCAS(&f->lock, 0, 1) == 0) break;
    }
    __threadfence();
    if (*(volatile uint64_t *)&f->rank > rank) {
        *(volatile uint64_t *)&f->rank = rank;
        *(volatile int32_t *)&f->site = site;
        return 1;
    }
    __threadfence();
    atomicExch(&f->lock, 0);
    return 0;
}
"""

WAITING = """
/* One block tells another, which waits for it; behind cuda_on_cpu.h it must have been told. */
static inline void at_tell(uint32_t *told) {
    __threadfence();
    *(volatile uint32_t *)told = 1;
}
#ifndef AT_ON_CPU
static inline void at_await(const uint32_t *told) {
    for (unsigned pause = 0; *(const volatile uint32_t *)told == 0; pause += pause < 96u ? 8u : 0u) __nanosleep(pause); /* others want to be heard too */
    __threadfence();
}
#endif
"""

SAME = """
/* The lanes of a warp that have the same value of a few bits: a vote for each bit. */
template <int bits> static inline unsigned at_same(unsigned value) {
    unsigned found = 0xffffffffu;
    #pragma unroll
    for (int b = 0; b < bits; b++) {
        const unsigned here = value >> b & 1u, votes = __ballot_sync(0xffffffffu, (int)here);
        found &= votes ^ (here - 1u);
    }
    return found;
}
"""


_CPP_WORDS = re.compile(
    r"\b(alignas|alignof|and|and_eq|asm|bitand|bitor|catch|char16_t|char32_t|char8_t|class|compl|concept|const_cast|consteval|constexpr|constinit|co_await|co_return|co_yield"
    r"|decltype|delete|dynamic_cast|explicit|export|friend|mutable|namespace|new|noexcept|not|not_eq|nullptr|operator|or|or_eq|private|protected|public|reinterpret_cast|requires"
    r"|static_assert|static_cast|template|this|thread_local|throw|try|typeid|typename|using|virtual|wchar_t|xor|xor_eq|warpSize|blockDim)\b"
)
"""Names that C has free and CUDA C has not; the text of kernels uses none of these words itself."""


_ORDERED = {  # whole numbers that are ordered as values are
    **{f"i{bits}": f"((uint{bits}_t){{x}} ^ (uint{bits}_t)(UINT64_C(1) << {bits - 1}))" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"(uint{bits}_t){{x}}" for bits in (8, 16, 32, 64)},
    "bool": "(uint32_t){x}",
    "f32": "at_ordered_f32({x})",
    "f64": "at_ordered_f64({x})",
}
_ORDERED_FLOATS = {
    name: f"""/* Ordered as numbers are; NaN after all of them, and zeros are the same. */
static inline {u} at_ordered_{name}({t} x) {{
    if (x != x) return ~({u})0;
    const {u} bits = x == 0 ? 0 : ({u}){cast}(x);
    return bits >> {n - 1} ? ~bits : bits | ({u})1 << {n - 1};
}}"""
    for name, t, u, cast, n in (("f32", "float", "uint32_t", "__float_as_uint", 32), ("f64", "double", "uint64_t", "__double_as_longlong", 64))
}


class KernelText(Emitter):
    """Prints the kernels of a program, one after the other."""

    def __init__(self, program: k.Program) -> None:
        fn = program.function
        bare = lp.Function(fn.name, fn.sizes, [], [], [], fn.consts)
        super().__init__(bare, CUDA, "at_kernel")
        self.program = program
        self.failures: list[tuple[Site, str]] = []
        self.regions: list[str] = []
        self.region_count = 0
        self.written: set[object] = set()
        self.read_back: set[DType] = set()
        """Of arrays that the kernel both writes and reads. NVRTC 13.0 reads `c ? a[i] : b[i]` by one ld.global.nc of either address where a is const and
        restrict, although the kernel has written b: old values (tests/cuda/test_nvrtc.py). So nothing of that type is both."""
        self.meeting = False  # blocks of the kernel hand something to each other
        self.narrow: frozenset[Atom] = frozenset()
        self.given: set[lp.Var] = set()  # by the host
        self.sizes: set[Atom] = set()  # and indices
        self.widened = False  # an index of 32 bits is written as one of 64

    def kernels(self) -> list[str]:
        return [self.one(kernel) for kernel in self.program.kernels]

    def one(self, kernel: k.Kernel) -> str:
        """A kernel as text."""
        self.lines, self.depth = [], 0
        self.names.reserved = _names(kernel)
        self.names.active = dict(_COORDINATES)
        self.swapped = {b for s in k.walk(kernel.body) if isinstance(s, lp.Swap) for b in (s.first, s.second)}
        self.written = written = k.written(kernel)
        self.meeting = any(isinstance(s, (k.Fence, k.Tell, k.Await)) for s in k.walk(kernel.body))
        self.read_back = {b.dtype for b in k.read(kernel) & written}
        self.narrow, self.widened = kernel.narrow, False
        self.given = {p for p in kernel.parameters if isinstance(p, lp.Var)}
        self.sizes = {p for p in kernel.parameters if isinstance(p, Sym)}
        params = ["at_failure *at_failed"]
        for p in kernel.parameters:
            params.append(self.parameter(p, p in written))
        if kernel.note:
            self.put(f"/* {kernel.note.replace('*/', '* /')} */")
        bounds = f"{kernel.threads}, {kernel.resident}" if kernel.resident else str(kernel.threads)
        with self.braces(f'extern "C" __global__ void __launch_bounds__({bounds}) {kernel.name}({", ".join(params)})'):
            for b in kernel.shared:
                self.put(f"__shared__ __align__(16) {b.dtype.c_name} {safe(b.name)}[{self.count(b)}];")
            head = len(self.lines)
            self.stmts(list(kernel.body))  # type: ignore[arg-type]
            text = "\n".join(self.lines[head:])
            index = "int32_t" if self.narrow else "int64_t"
            first = [f"    const {index} {name} = ({index}){source};" if self.narrow else f"    const {index} {name} = {source};" for name, source in _PLACES if re.search(rf"\b{name}\b", text)]
            given = [safe(p.name) if isinstance(p, lp.Var) else self.names[p] for p in kernel.parameters if not isinstance(p, lp.Buffer)]
            first += [f"    const int32_t {_narrow(wide)} = (int32_t){wide};" for wide in given if re.search(rf"\b{_narrow(wide)}\b", text)]
            self.lines[head:head] = first
        return "\n".join(self.lines)

    def parameter(self, p: k.Parameter, is_written: bool) -> str:
        if isinstance(p, Sym):
            return f"int64_t {self.names.enter(p)}"
        if isinstance(p, lp.Var):
            return f"{p.dtype.c_name} {safe(p.name)}"
        if is_written and self.meeting:  # blocks hand something to each other there: a compiler that believes in restrict may read before it waits
            return f"{p.dtype.c_name} *{safe(p.name)}"
        if not is_written and p.dtype in self.read_back:
            return f"const {p.dtype.c_name} *{safe(p.name)}"
        return f"{'' if is_written else 'const '}{p.dtype.c_name} *__restrict__ {safe(p.name)}"

    # -- indices of 32 bits

    def atom(self, atom: Atom) -> str:
        if not self.narrow:
            return super().atom(atom)
        if isinstance(atom, Quot):
            return super().atom(atom) if self.widened else f"at_fdiv32({self.poly(atom.num)}, {self.poly(atom.den)})"
        if atom not in self.narrow or (self.widened and self.is_given(atom)):  # of the host's numbers only those in narrow polynomials are known to be small
            return super().atom(atom)
        return f"(int64_t){self.small(atom)}" if self.widened else self.small(atom)

    def is_given(self, atom: Atom) -> bool:
        return atom.var in self.given if isinstance(atom, lp.VarAtom) else atom in self.sizes

    def small(self, atom: Atom) -> str:
        name = super().atom(atom)
        return _narrow(name) if self.is_given(atom) else name

    @contextmanager
    def wide(self, *polys: Poly) -> Iterator[bool]:
        """Where one of them mentions an index of 64 bits, all are computed so."""
        saved = self.widened
        self.widened = saved or not all(p.leaves() <= self.narrow for p in polys)
        yield self.widened
        self.widened = saved

    def poly(self, p: Poly) -> str:
        with self.wide(p):
            return super().poly(p)

    def value(self, p: Poly) -> str:
        if not self.narrow:
            return super().value(p)
        with self.wide(p) as is_wide:
            return super().value(p) if is_wide else f"(int64_t)({super().poly(p)})"

    def flat(self, buffer: lp.Buffer, index: tuple[Poly, ...]) -> str:
        with self.wide(*index, *buffer.extents[1:]):
            return super().flat(buffer, index)

    def test(self, t: lp.Test) -> str:
        with self.wide(*([] if t.poly is None else [t.poly])):  # both sides alike
            return super().test(t)

    def expr(self, e: lp.Expr) -> str:
        if isinstance(e, lp.Use) and e.var.atom in self.narrow and e.var not in self.given:
            return f"(int64_t){safe(e.var.name)}"
        return super().expr(e)

    def short(self, value: lp.Expr) -> str:
        """What a variable of 32 bits is set to."""
        if isinstance(value, lp.Index) and value.poly.leaves() <= self.narrow:
            return self.poly(value.poly)
        if isinstance(value, lp.Use) and value.var.atom in self.narrow:
            return self.small(value.var.atom)
        return f"(int32_t){self.expr(value)}"  # a minimum or maximum

    # -- statements

    def write(self, stmt: k.Statement) -> None:
        match stmt:
            case lp.Let(var, value) | lp.Declare(var, value) | lp.Assign(var, value) if value is not None and var.atom in self.narrow:
                kind = {lp.Let: "const int32_t ", lp.Declare: "int32_t ", lp.Assign: ""}[type(stmt)]
                self.put(f"{kind}{safe(var.name)} = {self.short(value)};")
            case k.Region(body):
                self.region(body)
            case k.Ensure():
                self.ensure(stmt)
            case k.Leave(tests):
                self.put(f"if (!({self.tests(tests)})) goto {self.regions[-1]};")
            case k.Barrier():
                self.put("__syncthreads();")
            case k.WarpBarrier():
                self.put("__syncwarp();")
            case k.Fence():
                self.put("__threadfence();")
            case k.Shuffle(var, value, lane):
                self.shuffle(var, value, self.poly(lane))
            case k.Same(before, count, value, bits):
                mask = f"at_{safe(before.name)}"
                same = f"at_same<{bits}>((unsigned){self.expr(value)})" if bits else f"__match_any_sync(0xffffffffu, (int){self.expr(value)})"
                self.put(f"const unsigned {mask} = {same};")
                self.put(f"const {before.dtype.c_name} {safe(before.name)} = ({before.dtype.c_name})__popc({mask} & ((1u << (threadIdx.x & 31u)) - 1u));")
                self.put(f"const {count.dtype.c_name} {safe(count.name)} = ({count.dtype.c_name})__popc({mask});")
            case k.Digit(var, value, shift):
                number = _ORDERED.get(value.dtype.name, "{x}").format(x=self.expr(value))
                self.put(f"const {var.dtype.c_name} {safe(var.name)} = ({var.dtype.c_name})(({number} >> ({self.poly(shift)})) & 255u);")
            case k.Atomic():
                self.atomic(stmt)
            case k.Tell(buffer, index):
                self.put(f"at_tell(&{self.element(buffer, index)});")
            case k.Await(buffer, index):
                self.put(f"at_await(&{self.element(buffer, index)});")
            case k.Part(buffer, home, first):
                const = "" if home in self.written else "const "
                self.put(f"{const}{buffer.dtype.c_name} *{safe(buffer.name)} = {safe(home.name)} + ({self.poly(first)});")
            case lp.For():
                self.for_loop(stmt)
            case lp.Alloc(buffer):
                t, name = buffer.dtype.c_name, safe(buffer.name)
                if buffer in self.swapped:
                    self.put(f"{t} at_{name}[{self.count(buffer)}], *{name} = at_{name};")
                else:
                    self.put(f"{t} {name}[{self.count(buffer)}];")
            case lp.Let() | lp.Declare() | lp.Assign() | lp.Store() | lp.Update() | lp.If() | lp.BreakUnless() | lp.Swap() | lp.Note():
                super().write(stmt)
            case lp.Forever(body):
                with self.braces("for (;;)"):
                    self.stmts(body)
            case _:
                raise AssertionError(type(stmt).__name__)

    def for_loop(self, loop: lp.For) -> None:
        if loop.unroll:
            rounds = (loop.high - loop.low).const()
            self.put(f"#pragma unroll {UNROLLED if rounds is None else max(1, rounds)}")
        low, high = self.poly(loop.low), self.poly(loop.high)
        name = self.names.enter(loop.sym)
        with self.braces(f"for ({'int32_t' if loop.sym in self.narrow else 'int64_t'} {name} = {low}; {name} < {high}; {name}++)"):
            self.stmts(loop.body)
        self.names.leave(loop.sym)

    def region(self, body: Sequence[k.Statement]) -> None:
        label = f"at_left{self.region_count}"
        self.region_count += 1
        fails = any(isinstance(s, (k.Ensure, k.Leave)) for s in k.walk(body))
        inside = bool(self.regions)
        self.regions.append(label)
        if self.may_fail or fails:  # a jump must not pass declarations of its own block
            with self.braces("if (at_failed->site == 0)" if self.may_fail and not inside else ""):
                self.stmts(list(body))  # type: ignore[arg-type]
        else:
            self.stmts(list(body))  # type: ignore[arg-type]
        self.regions.pop()
        if fails:
            self.put(f"{label}:;")

    @property
    def may_fail(self) -> bool:
        """Any check on the device."""
        return any(isinstance(s, k.Ensure) for kernel in self.program.kernels for s in k.walk(kernel.body))

    def ensure(self, check: k.Ensure) -> None:
        number = len(self.failures)
        self.failures.append((check.site, "".join("d" if a.dtype.is_float else "i" for a in check.args)))
        with self.braces(f"if (!({self.tests(check.tests)}))"):
            with self.braces(f"if (at_told(at_failed, (uint64_t)({self.poly(check.rank)}), {number + 1}))"):
                for n, arg in enumerate(check.args[:MOST_VALUES]):
                    text = self.expr(arg)
                    self.put(f"at_failed->args[{n}].{'d = (double)' if arg.dtype.is_float else 'i = (int64_t)'}{text};")
                self.put("*(volatile int32_t *)at_failed->told = 1;")
                self.put("__threadfence();")
                self.put("atomicExch(&at_failed->lock, 0);")
            self.put(f"goto {self.regions[-1]};")

    def shuffle(self, var: lp.Var, value: lp.Expr, lane: str) -> None:
        t, text = var.dtype, self.expr(value)
        if t.is_complex:
            self.put(f"const {t.c_name} {safe(var.name)} = at_shuffle_{t.name}({text}, {lane});")
        elif t.size < 4:
            self.put(f"const {t.c_name} {safe(var.name)} = ({t.c_name})__shfl_sync(0xffffffffu, (int){text}, (int)({lane}));")
        else:
            cast = {"i64": "long long", "u64": "unsigned long long"}.get(t.name)
            inner = f"({cast}){text}" if cast else text
            self.put(f"const {t.c_name} {safe(var.name)} = ({t.c_name})__shfl_sync(0xffffffffu, {inner}, (int)({lane}));")

    def atomic(self, s: k.Atomic) -> None:
        t = s.buffer.dtype
        name = {"add": "Add", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor"}[s.op]
        signed = t.kind == "i" and s.op in ("min", "max")
        word = ("long long" if signed else "unsigned long long") if t.bits == 64 else ("int" if signed else "unsigned int")
        done = f"atomic{name}(({word} *)&{self.element(s.buffer, s.index)}, ({word}){self.expr(s.value)})"
        self.put(f"const {t.c_name} {safe(s.old.name)} = ({t.c_name}){done};" if s.old is not None else f"{done};")


def _narrow(name: str) -> str:
    """What a number of the host is called where it has 32 bits."""
    return f"at_32_{name}"


def _names(kernel: k.Kernel) -> set[str]:
    """Names of variables and buffers in a kernel: indices are called otherwise."""
    found = {safe(p.name) for p in kernel.parameters if not isinstance(p, Sym)} | {safe(b.name) for b in kernel.shared}
    for stmt in k.walk(kernel.body):
        for attribute in ("var", "buffer", "old", "before", "count"):
            made = getattr(stmt, attribute, None)
            if isinstance(made, (lp.Var, lp.Buffer)):
                found.add(safe(made.name))
    return found


def kernels_text(program: k.Program) -> tuple[str, list[tuple[str, tuple[str, ...]]], list[tuple[Site, str]]]:
    """The file of the kernels; each kernel's name with the types of its parameters; the checks that may fail in them."""
    printer = KernelText(program)
    texts = printer.kernels()
    body = _CPP_WORDS.sub(r"\1_", "\n\n".join([*printer.const_arrays(), *texts]))
    support = [_QUICK_FDIV if " at_fdiv(int64_t a, int64_t b)" in text else text for text in needed(body)]
    support += [_NARROW_FDIV] if "at_fdiv32(" in body else []
    support += [text for name, text in _ORDERED_FLOATS.items() if f"at_ordered_{name}(" in body]
    pieces = [FAILURE, SUPPORT if printer.may_fail else "", WAITING if "at_await(" in body else "", SAME if "at_same<" in body else "", *(COMPLEX if "complex" in body else ()), *support, body]
    text = with_complex("\n".join(p for p in pieces if p) + "\n").replace("static const ", "__device__ static const ")
    table = [(kernel.name, ("at_failure *", *(_type(p) for p in kernel.parameters))) for kernel in program.kernels]
    return text, table, printer.failures


def _type(p: k.Parameter) -> str:
    if isinstance(p, Sym):
        return "int64_t"
    name = with_complex(p.dtype.c_name)
    return name if isinstance(p, lp.Var) else f"{name} *"


__all__ = ["BOOL", "CUDA", "FAILURE", "KernelText", "kernels_text", "ops"]
