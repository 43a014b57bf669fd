"""Coefficients of polynomials for portable_math.py: interpolations at the Chebyshev points of an interval, made with 400 bits and rounded once, as polynomials
of u in -1..1, the constant first (tools/portable_tables.py). What they are of stands where they are used; tests/portable/test_functions.py looks at the functions."""

TABLES: dict[str, tuple[str, ...]] = {
    "erf_small": (
        "0x1.12f06cf1bce03p+0", "-0x1.a9f0ca51b82c9p-5", "0x1.2fda5c6f784dfp-9", "-0x1.5ac09741008fbp-14",
        "0x1.444ff44a7742cp-19", "-0x1.ff825e66affdap-25", "0x1.5c0a87f3fe707p-30", "-0x1.a01e250458d2fp-36",
        "0x1.bba73016a8e5ap-42", "-0x1.aa412c49b51f9p-48",
    ),
    "erfc_1": (
        "0x1.db747ee409ac5p-2", "-0x1.e51ef10260e4ap-4", "0x1.b10d812df6979p-6", "-0x1.5cc2987b59960p-8",
        "0x1.024f7d42c2a41p-10", "-0x1.648acef181ad4p-13", "0x1.cef502b4eb69bp-16", "-0x1.1ccd7237b338bp-18",
        "0x1.4decd01e8ffd5p-21", "-0x1.76d0bc2a647e2p-24", "0x1.944974750ca89p-27", "-0x1.a4630a563f975p-30",
        "0x1.a6856875d9ef0p-33", "-0x1.9ae7cf0db29c2p-36", "0x1.847f3090ff407p-39", "-0x1.78b0c229d237cp-42",
        "0x1.5081eb08681b7p-45",
    ),
    "erfc_2": (
        "0x1.13e5743b60480p-2", "-0x1.2e1f707cfa80fp-4", "0x1.3426b7294385fp-6", "-0x1.27df585276150p-8",
        "0x1.0d85855fae3cbp-10", "-0x1.d4a8057584843p-13", "0x1.86bb2331be66ep-15", "-0x1.3995fa9b32375p-17",
        "0x1.e6114a9998254p-20", "-0x1.6cc060b3d6c9dp-22", "0x1.09a14406e23ccp-24", "-0x1.78337d5934e43p-27",
        "0x1.037caad20d5f4p-29", "-0x1.5d43072bbac66p-32", "0x1.cb1f6bb48fd10p-35", "-0x1.25729d828aaffp-37",
        "0x1.71897dd8744f6p-40", "-0x1.fe0ebd76f8d0cp-43", "0x1.336d41096562fp-45",
    ),
    "erfc_3": (
        "0x1.18932bf08e154p-3", "-0x1.8dedb3ad2e4a7p-5", "0x1.1334aacbd201ap-6", "-0x1.73d9bf610b5fcp-8",
        "0x1.eb7f09c83b776p-10", "-0x1.3e24662cd0a18p-11", "0x1.93d7094af6b1fp-13", "-0x1.f72192121f0f6p-15",
        "0x1.33e2f3944753ep-16", "-0x1.72768aeebf3dbp-18", "0x1.b68f7467e4739p-20", "-0x1.ff2176f0dacd1p-22",
        "0x1.256b2e5c4ef8cp-23", "-0x1.4c0e2c29cedcep-25", "0x1.7292530c5c41fp-27", "-0x1.97cdbd33fae81p-29",
        "0x1.bb3fe174f88e5p-31", "-0x1.dfd0c2bade9f2p-33", "0x1.fc718c1cedc46p-35", "-0x1.e6cc02a5f6fecp-37",
        "0x1.fa48749817fd1p-39", "-0x1.966c336235c3cp-40", "0x1.98a41b97b3481p-42",
    ),
    "erfc_4": (
        "0x1.1e88dd5db3ddbp-1", "-0x1.234bec000fd48p-8", "0x1.aef792ddbc935p-14", "-0x1.021436cfbc6bcp-18",
        "0x1.a4db2db67e2a3p-23", "-0x1.ad8ab063b9ac5p-27", "0x1.05184394af2b4p-30", "-0x1.6de7cc361b971p-34",
        "0x1.20cf7aabe82e2p-37", "-0x1.f81f70be92302p-41", "0x1.e13c3a4f2694bp-44", "-0x1.0a55071d5f7d6p-46",
        "0x1.297b92ae1fb3fp-49",
    ),
    "lgamma_1": (
        "0x1.eeb95b094c191p-2", "-0x1.2aed059bd608ap-4", "0x1.01af62a2929c0p-6", "-0x1.007aa83cee1acp-8",
        "0x1.133423527f1f2p-10", "-0x1.34dbda14971e2p-12", "0x1.64f0664c4f943p-14", "-0x1.a5035232a7d25p-16",
        "0x1.f814bab49d011p-18", "-0x1.313e8a3ddad6fp-19", "0x1.750a7900f071ep-21", "-0x1.cb44dee9fac00p-23",
        "0x1.1c7e3a261c9ebp-24", "-0x1.623f109df00eep-26", "0x1.b9e43433855c2p-28", "-0x1.156abea920aefp-29",
        "0x1.68f13e0fbb796p-31", "-0x1.c85e4bc95846cp-33", "0x1.ba730a9784e07p-35", "-0x1.18598e23bb974p-36",
        "0x1.9759e019683d0p-37", "-0x1.0467902760469p-38",
    ),
    "lgamma_2": (
        "0x1.84afe00cddfdfp-2", "-0x1.31d26e9323010p-5", "0x1.462044b0af667p-8", "-0x1.8a722dfc5d7efp-11",
        "0x1.feef08b136431p-14", "-0x1.59512000e75a8p-16", "0x1.e05c3c368e7b5p-19", "-0x1.5501aafb06c5fp-21",
        "0x1.eb8f77c97c52cp-24", "-0x1.667082a03af13p-26", "0x1.07c6c7a6cae03p-28", "-0x1.871dd64f13021p-31",
        "0x1.23df937961832p-33", "-0x1.b5a84b36743e2p-36", "0x1.454b1adbc86b7p-38", "-0x1.eba7f1c3d9760p-41",
        "0x1.bd89faea6be05p-43", "-0x1.5318fc433f2f5p-45",
    ),
    "gamma": (
        "0x1.544fa6d47b390p+0", "0x1.de9585f1a7093p-2", "0x1.4f224d4b7e016p-3", "0x1.03f6d2fa4f4fdp-5",
        "0x1.c138b89493ef9p-8", "0x1.d0a9bc49334e7p-11", "0x1.5489cc6a2c406p-13", "0x1.a55ed2133d31ep-17",
        "0x1.8b8fcf944edc5p-19", "0x1.0886fa7157a6ep-27", "0x1.013bdfc057f7bp-24", "-0x1.ad8b2d371d88ep-28",
        "0x1.e716924cc6e9dp-30", "-0x1.57dc4d9963c13p-32", "0x1.1e01a1e36520ap-34", "-0x1.c189aebb2619bp-37",
        "0x1.ba42dbab2658fp-39", "-0x1.61678760e530bp-41",
    ),
}  # fmt: skip
