import os

from atoll.distribute.kernel import Kernel

sent = Kernel("f part 0", "/* C that is nowhere compiled yet */", (), (), b"an object", "another processor")
before = os.environ.get("ATOLL_CC")
os.environ["ATOLL_CC"] = "/no/compiler/here"
try:
    sent.run((), (), ())
finally:
    del os.environ["ATOLL_CC"]
    if before is not None:
        os.environ["ATOLL_CC"] = before

#> E1205: f part 0: this worker has no C compiler, and was sent code for another processor
#>    help: install gcc or clang there, or pip install ziglang
