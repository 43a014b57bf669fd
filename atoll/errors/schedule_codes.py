"""Error codes of schedules and certificates, E05xx: rows in the shape of `catalog._ROWS`."""

from __future__ import annotations

from atoll.errors import base as b

_SCHEDULE = b.ScheduleError

ROWS: list[tuple[str, type[b.Error], str, str, str]] = [
    ("E0501", _SCHEDULE, "{step}: {condition} does not follow", "", "A step of a schedule is a theorem with a side condition. The condition is proved from the hypotheses in force at that place: the ranges of the loops around it, the guards, and what is known of the sizes. Where a valuation of the unknowns breaks the condition, it is shown."),
    ("E0502", _SCHEDULE, "{step}: {name!r} {problem}", "{choices}", "Loops are named by the variables of comprehensions, values by the names they were bound to; a split of y makes y_o and y_i. A name that occurs several times is made exact by the loops around it: y_o/x_i."),
    ("E0503", _SCHEDULE, "{step}: {problem}", "", "Each rule applies to one form of program: two loops directly inside each other, a guard over a loop, a value bound by name. print(s) shows the program at this step."),
    ("E0504", _SCHEDULE, "{step}: changes the order of floating-point operations, which {name} forbids", "leave out reassociate=False, or choose another step", "@at.fn(reassociate=False) fixes the order of every sum. Steps that keep the order bit for bit are still allowed."),
    ("E0505", _SCHEDULE, "the loops of this schedule are not safe: {problem}", "", "Before any code is made, the loops are checked: every index in range, every cell written once and before it is read, nothing that is not padding cut off. This obligation could not be proved, so there is no program."),
    ("E0506", _SCHEDULE, "{name} cannot be scheduled: {problem}", "", "Schedules work on the part of a program that is made of comprehensions and reductions over closed sizes; scans, histograms, loops and sorts are kept whole between them."),
    ("E0507", _SCHEDULE, "{step}: {problem}", "", "The arguments of a step are names of loops and values, numbers, and sizes."),
    ("E0508", _SCHEDULE, "{step}: the rounds of {name} are not independent: {problem}", "", "A parallel or vector loop may run its rounds in any order, so no round may write what another reads or writes."),
    ("E0509", _SCHEDULE, "the certificate is not valid: {problem}", "", "A certificate is replayed step by step by a checker that shares no code with the compiler. Something in this file does not follow."),
    ("E0510", _SCHEDULE, "no certificate can be made: {problem}", "", "Some condition was settled by a solver whose word cannot be replayed; the certificate says so only when asked to, with certificate(trusted=True)."),
    ("E0511", _SCHEDULE, "{name}: the compiler's rewrite {rewrite} is wrong: {problem}", "ATOLL_PASSES=K stops before it (tools/bisect_passes.py finds K)", "With ATOLL_CHECK=certify, and for f.certificate(), every rewrite of the loops is validated: for all sizes where that can be proved, else by running the loops before and after it, over expressions, at small sizes. Here they computed something else. It is a defect of the compiler: please report it."),
]
