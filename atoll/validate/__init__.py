"""Translation validation of the rewrites of loops (Necula; Pnueli, Siegel and Singerman): not the rewrite is trusted, each use of it is looked at.

    fingerprints.py   what loops compute at small sizes, as expressions over their inputs
    bounded.py        before and after every pass, for several sizes and both orders of independent rounds: the same expressions
"""
