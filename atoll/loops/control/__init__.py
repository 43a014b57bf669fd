"""Checks and branches: which are needless, which are made once, which leave their loops; loops that count, loops that do nothing."""
