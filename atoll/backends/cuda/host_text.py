"""The host program as C: memory of the device, loops over launches, sizes, and what failed. It calls nothing but a device's table of functions
(runtime/native/device.h), so one text serves a GPU and the emulation on the CPU.

Scalars that kernels make (cells) and the check that failed lie in one block on the device, which is read as a whole when the host must know one of them. A call
leaves the block as it found it (counters at 0, nothing failed), so the next call has it without preparing it; where a check failed it is thrown away.
"""

from __future__ import annotations

import re
from pathlib import Path

from atoll.ainf.ir import Site
from atoll.backends.c.emit import Emitter
from atoll.backends.c.headers import HEAD
from atoll.backends.c.jit import ALONE, MACROS, abi, prepare_text
from atoll.backends.c.prelude import needed
from atoll.backends.c.text import JIT, safe
from atoll.backends.cuda import language as k
from atoll.backends.cuda.free import Mentioned
from atoll.backends.cuda.record import played
from atoll.backends.cuda.text import FAILURE, MOST_VALUES
from atoll.core import ir as core
from atoll.loops import ir as lp
from atoll.sizes import Sym

_DEVICE = f"""
/* Memory for `count` elements on the device. */
static int at_take(at_queue *q, int64_t count, int64_t size, void **made) {{
    if (count < 0) count = 0;
    return count > (int64_t)1 << 46 ? AT_NO_ROOM : q->alloc(q, count * size, made);
}}

static void at_give_back(at_queue *q, void **held, int count) {{
    for (int k = 0; k < count; k++) q->release(q, held[k]);
}}

/* What failed on the device, if anything. */
static int at_failed_there(at_call *at, const at_failure *f) {{
    if (f->site == 0) return 0;
    for (int k = 0; k < at->room && k < {MOST_VALUES}; k++) at->args[k].i = f->args[k].i;
    at->site = f->site - 1;
    return f->site;
}}
"""


_STATE = """
/* The state as it is when everything in the queue is done. */
static int at_look_there(at_call *at, at_queue *q, at_state *now, const at_state *there) {
    const int status = q->to_host(q, now, there, sizeof *now);
    return status != 0 ? status : at_failed_there(at, &now->failure);
}

/* Whether a check failed: then a kernel has said so in the host's memory. */
static inline int at_at_the_end(at_call *at, at_queue *q, at_lent *own) {
    const int status = q->sync(q);
    return status != 0 || !*(volatile int32_t *)own->told ? status : at_look_there(at, q, own->mirror, own->there);
}

static int at_begin(at_queue *q, at_lent *own) {
    at_state *now = own->mirror;
    if (!own->fresh) return 0;
    memset(now, 0, sizeof *now);
    now->failure.rank = UINT64_MAX;
    now->failure.told = own->told;
    own->fresh = 0;
    return q->to_device(q, own->there, now, sizeof *now);
}
"""


class HostText(Emitter):
    """Prints the host program."""

    def __init__(self, program: k.Program, failures: list[tuple[Site, str]]) -> None:
        fn = program.function
        super().__init__(lp.Function(fn.name, fn.sizes, fn.inputs, fn.outputs, played(program.body), []), JIT, "at_program")
        self.program = program
        self.sites = [site for site, _ in failures]
        self.kinds = [kinds for _, kinds in failures]
        self.may_fail = bool(failures)
        self.numbers = {kernel: n for n, kernel in enumerate(program.kernels)}
        self.fetched = list(dict.fromkeys(s.var for s in k.walk(program.body) if isinstance(s, k.Fetch)))
        self.has_state = bool(program.cells) or self.may_fail

    def is_long(self, body: lp.Stmts) -> bool:
        return False

    def program_text(self) -> str:
        """The function of the program."""
        fn = self.program.function
        for sym in fn.sizes:
            self.names.enter(sym)
        params = ["at_call *at", "at_queue *at_q", *(["at_lent *at_own"] if self.has_state else []), *(f"int64_t {self.names[s]}" for s in fn.sizes)]
        for p in fn.inputs:
            params.append(f"{p.dtype.c_name} {safe(p.name)}" if isinstance(p, lp.Var) else f"const {p.dtype.c_name} *{safe(p.name)}")
        for o in fn.outputs:
            if not self.is_open(o.buffer):
                params.append(f"{o.buffer.dtype.c_name} *{safe(o.buffer.name)}")
        self.lines = []
        with self.braces(f"static int at_program_run({', '.join(params)})"):
            self.locals()
            self.uses_done = True
            for o in fn.outputs:
                if o.buffer in self.swapped:
                    self.put(f"{o.buffer.dtype.c_name} *const at_{safe(o.buffer.name)} = {safe(o.buffer.name)};")
            if self.has_state:
                self.state()
            else:
                self.put("at_failure *const at_failed = NULL;")
            for var in self.fetched:
                self.put(f"{var.dtype.c_name} {safe(var.name)} = 0;")
            self.stmts(list(self.program.body))  # type: ignore[arg-type]
            if self.may_fail:
                self.put("if ((status = at_at_the_end(at, at_q, at_own)) != 0) goto done;")
            self.finish()
        text = "\n".join(self.lines)
        given = ["at", "at_q", "at_failed", *(self.names[s] for s in fn.sizes), *(safe(p.name) for p in fn.inputs), *(safe(c.name) for _, c in self.program.cells)]
        body = text.split("{", 1)[1]
        quiet = [g for g in given if len(re.findall(rf"\b{g}\b", body)) < (2 if g == "at_failed" or g.endswith("_cell") else 1) and (g in text)]
        return text.replace("{\n", "{\n    " + " ".join(f"(void){g};" for g in quiet if g not in ("at_failed",) and not g.endswith("_cell")) + "\n", 1)

    def state(self) -> None:
        """Cells and what failed, on the device."""
        self.put("at_state *const at_now = at_own->mirror, *const at_there = at_own->there;")
        self.put("at_failure *const at_failed = &at_there->failure;")
        for n, (_, cell) in enumerate(self.program.cells):
            self.put(f"{cell.dtype.c_name} *const {safe(cell.name)} = &at_there->c{n};")

    @property
    def state_type(self) -> str:
        cells = " ".join(f"{cell.dtype.c_name} c{n};" for n, (_, cell) in enumerate(self.program.cells))
        return f"typedef struct {{ at_failure failure; {cells} }} at_state;\n" + _STATE

    look_there = "at_look_there(at, at_q, at_now, at_there)"

    # -- statements

    def write(self, stmt: k.Statement) -> None:
        match stmt:
            case k.Launch(kernel, (x, y)):
                args = ["(void *)&at_failed", *(f"(void *)&{self.names[p] if isinstance(p, Sym) else safe(p.name)}" for p in kernel.parameters)]
                with self.braces(""):
                    self.put(f"void *at_given[] = {{{', '.join(args)}}};")
                    grid = f"{self.poly(x)}, {self.poly(y)}, 1, {kernel.threads}, 1, 1, 0"
                    self.put(f"if ((status = at_q->launch(at_q, {self.numbers[kernel]}, {grid}, at_given)) != 0) goto done; /* {kernel.name} */")
            case k.Fetch(var, cell):
                self.put(f"if ((status = {self.look_there}) != 0) goto done;")
                number = next(n for n, (_, c) in enumerate(self.program.cells) if c is cell)
                self.put(f"{safe(var.name)} = at_now->c{number};")
            case k.Recorded(body, number):
                self.record(body, number)
            case k.Clear(buffer):
                name = safe(buffer.name)
                self.put(f"if ((status = at_q->fill(at_q, {name}, 0, ({self.count(buffer)}) * (int64_t)sizeof(*{name}))) != 0) goto done;")
            case k.Multiply():
                self.multiply(stmt)
            case lp.For(sym, low, high, body):
                first, last = self.poly(low), self.poly(high)
                name = self.names.enter(sym)
                with self.braces(f"for (int64_t {name} = {first}; {name} < {last}; {name}++)"):
                    self.put(self.look("64"))
                    self.stmts(body)
                self.names.leave(sym)
            case lp.Forever(body):
                with self.braces("for (;;)"):
                    self.put(self.look("64"))
                    self.stmts(body)
            case _:
                super().write(stmt)  # type: ignore[arg-type]

    def record(self, body: tuple[k.Statement, ...], number: int) -> None:
        """The loop, unless the device has it from earlier."""
        values = ", ".join(f"{{(void *)&{name}, sizeof {name}, {int(changes)}}}" for name, changes in self.values(body))
        with self.braces("for (;;)"):
            self.put(f"const at_value at_values[] = {{{values}}};")
            self.put("const int at_count = (int)(sizeof at_values / sizeof *at_values);")
            self.put(f"if ((status = at_q->record(at_q, {number}, at_values, at_count)) < 0) goto done;")
            self.put("if (status == AT_DONE) { status = 0; break; }")
            self.put("status = 0;")
            self.stmts(list(body))  # type: ignore[arg-type]
            self.put("if ((status = at_q->recorded(at_q, at_values, at_count)) < 0) goto done;")
            self.put("if (status == 0) break;")
            self.put("status = 0;")

    def values(self, body: tuple[k.Statement, ...]) -> list[tuple[str, bool]]:
        """Variables that decide what a loop launches, and whether it changes them."""
        found = Mentioned(body)
        for s in k.walk(body):
            if isinstance(s, k.Launch):
                found.mention(s.kernel.parameters)
        changed: set[object] = {s.var for s in k.walk(body) if isinstance(s, lp.Assign)} | {b for s in k.walk(body) if isinstance(s, lp.Swap) for b in (s.first, s.second)}
        cells = {cell for _, cell in self.program.cells}
        names = [(self.names[s], False) for s in found.syms] + [(safe(v.name), v in changed) for v in found.vars]
        names += [(safe(b.name), b in changed) for b in found.buffers if b not in cells and b.kind != "const"]
        return [*names, ("at_failed", False)]

    def multiply(self, m: k.Multiply) -> None:
        """Ask the device for a product; it says whether it has made it."""
        size, rows, columns, depth = m.target.buffer.dtype.size, self.poly(m.rows), self.poly(m.columns), self.poly(m.depth)
        steps = ", ".join(self.poly(p) for p in (m.left.across, m.left.along, m.right.across, m.right.along, m.target.across))
        places = ", ".join(f"{safe(s.buffer.name)} + ({self.poly(s.first)})" for s in (m.left, m.right, m.target))
        with self.braces(""):
            self.put(f"const at_matrices at_asked = {{{size}, {int(m.adds)}, {rows}, {columns}, {depth}, {steps}, {places}}};")
            self.put(f"{safe(m.done.name)} = at_q->product(at_q, &at_asked);")

    def alloc(self, buffer: lp.Buffer) -> None:
        name, t = safe(buffer.name), buffer.dtype.c_name
        self.allocated.setdefault(buffer, self.here)
        if buffer.kind == "out":
            dims = ", ".join(self.poly(p) for p in buffer.extents) or "0"
            self.put(f"{name} = at_open_result(at, {self.open_outputs[buffer]}, {len(buffer.extents)}, (int64_t[]){{{dims}}});")
            self.put(f"if ({name} == NULL) {{ status = AT_NO_ROOM; goto done; }}")
            return
        total = self.count(buffer)
        if any(p.leaves() for p in buffer.extents):
            self.guard_count(buffer)
        slot = self.held.setdefault(buffer, len(self.held))
        self.put(f"if ((status = at_take(at_q, {total}, sizeof({t}), &at_held[{slot}])) != 0) goto done;")
        self.put(f"{name} = at_held[{slot}];")

    @property
    def no_memory(self) -> str:
        return "AT_NO_ROOM"

    def free(self, buffer: lp.Buffer) -> None:
        slot = f"at_held[{self.held[buffer]}]"
        self.put(f"at_q->release(at_q, {slot});")
        self.put(f"{slot} = NULL;")

    def copy(self, target: str, source: str, count: str, maybe_same: bool) -> None:
        self.put(f"if ({target} != {source} && (status = at_q->copy(at_q, {target}, {source}, ({count}) * (int64_t)sizeof(*{target}))) != 0) goto done;")

    def check(self, check: lp.Check) -> None:
        if self.may_fail:
            self.put(f"if (!({self.tests(check.tests)}) && (status = {self.look_there}) != 0) goto done;")
        super().check(check)



_WITH_STATE = """int atoll_device_entry(at_call *at, at_queue *q) {
    at_lent *own = NULL;
    int status = q->lend(q, sizeof(at_state), &own);
    if (status != 0) return status;
    if ((status = at_begin(q, own)) == 0) status = RUN;
    if (q->recording) q->recorded(q, NULL, 0);
    q->take_back(q, own, status == 0);
    return status;
}"""


def host_text(core_fn: core.Function, program: k.Program, failures: list[tuple[Site, str]]) -> tuple[str, HostText]:
    """The file of the host program, and what printed it."""
    printer = HostText(program, failures)
    body = printer.program_text()
    fn = program.function
    args = ["at", "q", *(["own"] if printer.has_state else []), *(f"at->sizes[{n}]" for n in range(len(fn.sizes)))]
    for n, p in enumerate(fn.inputs):
        args.append(f"*(const {p.dtype.c_name} *)at->in[{n}]" if isinstance(p, lp.Var) else f"at->in[{n}]")
    args += [f"at->out[{n}]" for n, o in enumerate(fn.outputs) if not printer.is_open(o.buffer)]
    run = f"at_program_run({', '.join(args)})"
    plain = f"int atoll_device_entry(at_call *at, at_queue *q) {{\n    const int status = {run};\n    if (q->recording) q->recorded(q, NULL, 0);\n    return status;\n}}"
    entry = "void atoll_init(const at_runtime *rt) { at_rt = rt; }\n\n" + (_WITH_STATE.replace("RUN", run) if printer.has_state else plain)
    prepare = prepare_text(core_fn, fn, printer, reads_arrays=False)
    state = FAILURE + _DEVICE + (printer.state_type if printer.has_state else "")
    body = body.replace("at_free_all(at_held", "at_give_back(at_q, at_held")
    support = needed("\n".join([body, prepare]))
    pieces = [HEAD, abi(), device(), ALONE + MACROS, *support, state, body, prepare, entry]
    return "\n".join(p for p in pieces if p) + "\n", printer


def device() -> str:
    return (Path(__file__).parents[2] / "runtime" / "native" / "device.h").read_text()
