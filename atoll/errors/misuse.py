"""A command or call that is wrong in itself, before any program is looked at: exit status 2."""


class Misuse(Exception):
    """The command was called wrongly."""
