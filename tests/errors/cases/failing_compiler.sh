#!/bin/sh
# A C compiler that knows its version and compiles nothing.
case "$*" in *--version*) echo "gcc (failing) 1.0"; exit 0;; esac
echo "out of ideas" >&2
exit 1
