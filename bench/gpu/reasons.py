"""Why a kernel is behind its best peer on a GPU, by the name of the kernel, as far as it is known."""

REASONS: dict[str, str] = {}
