
import atoll as at
stack = at.module("stack.atoi")

@at.fn
def twice(x: at.i64) -> at.i64:
    return stack.push(stack.push(x))
