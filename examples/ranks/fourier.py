"""The discrete Fourier transform by its definition, of many signals, and their power spectra."""

import atoll as at
from atoll import c128, f64, pi

b, n = at.sizes("b n")

# with maps


@at.fn
def with_maps(signals: f64[b, n]):
    def coefficient(x, k):
        waves = map(lambda v, j: v * exp(-2.0j * pi * f64(j * k) / f64(n)), x, range(n))
        return sum(waves)

    spectra = map(lambda x: map(lambda k: coefficient(x, k), range(n)), signals)
    return spectra, map(lambda row: map(lambda c: abs(c) * abs(c) / f64(n), row), spectra)


# without maps


@at.fn
def coefficient(x: f64[n], k: f64) -> c128:
    return sum(x * exp(-2.0j * pi * f64(iota(n)) * k / f64(n)))


@at.fn
def spectrum(x: f64[n]) -> c128[n]:
    return coefficient(x, f64(iota(n)))


@at.fn
def without_maps(signals: f64[b, n]):
    spectra = spectrum(signals)
    return spectra, abs(spectra) * abs(spectra) / f64(n)


def arguments(rng):
    return (rng.standard_normal((2, 8)),)
