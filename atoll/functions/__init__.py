"""First-class functions and data, compiled away.

    core ── from_core ──▶ λANF ── thirteen passes ──▶ λANF of closed functions ── counting ──▶ C

Only functions that need it come here: recursive ones, those that build or take apart recursive data, those whose function values
survive to run time. Everything first order stays on the road through AiNF, also inside: an array expression in a recursive function
is a kernel of its own, made by the ordinary pipeline and called.

    ir            the grammar of λANF and its meaning          check, show, evaluate   scoping, printing, fuel and trace
    shrink inline uncurry lambda_lift closure_convert hoist dead_parameters specialise      the transformations, one file each
    pipeline      in which order                               link, modules           programs made of separately compiled parts
"""
