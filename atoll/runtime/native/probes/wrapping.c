/* wrapping: integers wrap, also where a loop or a test would let a compiler think that they do not.
 * without: -fwrapv -fno-strict-overflow
 */
static __attribute__((noinline)) int wrapping_grows(int64_t x) { return x + 1 > x; }

static __attribute__((noinline)) int64_t wrapping_half(int64_t x) { return x * 2 / 2; }

static int wrapping(void) {
    volatile int64_t most = INT64_MAX;
    return wrapping_grows(most) + (wrapping_half(most) != -1);
}
