"""The formula of the pieces, in Python and in C."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

from atoll.backends.c.prelude import needed
from atoll.distribute.pieces import piece_length
from atoll.runtime.toolchain import compile_c


def test_pieces_are_cut_as_in_c(tmp_path: Path) -> None:
    (text,) = [t for t in needed("at_piece(") if "at_piece" in t]
    source = "#include <stdint.h>\n" + re.sub("static inline", "", text)
    (tmp_path / "p.c").write_text(source)
    compile_c(tmp_path / "p.c", tmp_path / "p.so", "1")
    at_piece = ctypes.CDLL(str(tmp_path / "p.so")).at_piece
    at_piece.restype, at_piece.argtypes = ctypes.c_int64, [ctypes.c_int64] * 5
    for extent in (1, 7, 1000, 32768, 1_000_003, 10**9):
        for work in (0, 1, 3, 40_000):
            for align in (1, 8, 12):
                for most in (1, 16, 256):
                    assert piece_length(extent, work, 32768, align, most) == at_piece(extent, work, 32768, align, most)
