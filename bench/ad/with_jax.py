"""The objectives of rows.py for JAX, as one would write them: functions of jax.numpy arrays, to be jitted.

Each is made for its arguments, as NumPy arrays: numbers of rounds and ragged ranges must be known when JAX traces. Records are dictionaries.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bench.ad import tables


def log_sum_exp(*_: Any) -> Any:
    return jax.nn.logsumexp


def dot(*_: Any) -> Any:
    return lambda x, y: jnp.sum(x * y)


def elementwise(*_: Any) -> Any:
    return lambda x: jnp.sum(x * x / (1 + x * x))


def kmeans(*_: Any) -> Any:
    def objective(points: Any, centers: Any) -> Any:
        distances = jnp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
        return jnp.sum(jnp.min(distances, axis=1))

    return objective


def kmeans_sparse(_values: Any, _columns: Any, rows: Any, _centers: Any) -> Any:
    owner, count = tables.owners(rows), len(rows) - 1

    def objective(values: Any, columns: Any, _: Any, centers: Any) -> Any:
        dots = jax.ops.segment_sum(values[:, None] * centers.T[columns], owner, count)
        return jnp.sum(values * values) + jnp.sum(jnp.min(jnp.sum(centers * centers, 1) - 2.0 * dots, 1))

    return objective


def mlp(*_: Any) -> Any:
    def objective(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, labels: Any) -> Any:
        scores = jax.nn.log_softmax(jnp.tanh(x @ w1 + b1) @ w2 + b2)
        return -jnp.sum(scores[jnp.arange(x.shape[0]), labels]) / x.shape[0]

    return objective


def gmm(*_: Any) -> Any:
    def objective(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, wishart_m: Any) -> Any:
        count, d = x.shape
        k = alphas.shape[0]
        diagonal, packed = jnp.exp(icf[:, :d]), icf[:, d:]
        sum_log = jnp.sum(icf[:, :d], 1)
        rows, columns = tables.lower_triangle(d)
        lower = jnp.zeros((k, d, d)).at[:, rows, columns].set(packed)
        centred = x[:, None, :] - means[None]
        q = diagonal[None] * centred + jnp.einsum("kba,nka->nkb", lower, centred)
        terms = alphas + sum_log - 0.5 * jnp.sum(q * q, 2)
        likelihood = jnp.sum(jax.nn.logsumexp(terms, axis=1)) - count * jax.nn.logsumexp(alphas) - 0.5 * count * d * jnp.log(2 * jnp.pi)
        n_ = d + wishart_m + 1
        a = 0.5 * n_
        log_gamma = 0.25 * d * (d - 1) * jnp.log(jnp.pi) + sum(jax.scipy.special.gammaln(a - 0.5 * j) for j in range(d))
        constant = n_ * d * (jnp.log(gamma) - 0.5 * jnp.log(2.0)) - log_gamma
        squares = jnp.sum(diagonal**2) + jnp.sum(packed**2)
        return likelihood + 0.5 * gamma * gamma * squares - wishart_m * jnp.sum(sum_log) - k * constant

    return objective


def lstm(*_: Any) -> Any:
    def layer(weight: Any, bias: Any, hidden: Any, cell: Any, x: Any) -> Any:
        forget, ingate = jax.nn.sigmoid(x * weight[0] + bias[0]), jax.nn.sigmoid(hidden * weight[1] + bias[1])
        outgate, change = jax.nn.sigmoid(x * weight[2] + bias[2]), jnp.tanh(hidden * weight[3] + bias[3])
        cell = cell * forget + ingate * change
        return outgate * jnp.tanh(cell), cell

    def objective(weights: Any, biases: Any, extra: Any, hidden: Any, cell: Any, sequence: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            hidden, cell = state
            x, gold = now[0] * extra[0], now[1]
            hs, cs = [], []
            for i in range(weights.shape[0]):
                x, c = layer(weights[i], biases[i], hidden[i], cell[i], x)
                hs.append(x)
                cs.append(c)
            predicted = x * extra[1] + extra[2]
            norm = jnp.log(jnp.sum(jnp.exp(predicted)) + 2.0)
            return (jnp.stack(hs), jnp.stack(cs)), jnp.sum(gold * (predicted - norm))

        _, terms = jax.lax.scan(step, (hidden, cell), (sequence[:-1], sequence[1:]))
        return -jnp.sum(terms) / sequence[1:].size

    return objective


def lstm_batch(*_: Any) -> Any:
    def objective(w_input: Any, w_hidden: Any, bias: Any, hidden: Any, cell: Any, x: Any, target: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            hidden, cell = state
            gates = jnp.einsum("sd,gdh->gsh", now, w_input) + jnp.einsum("sk,gkh->gsh", hidden, w_hidden) + bias[:, None, :]
            cell = jax.nn.sigmoid(gates[0]) * cell + jax.nn.sigmoid(gates[1]) * jnp.tanh(gates[3])
            return (jax.nn.sigmoid(gates[2]) * jnp.tanh(cell), cell), None

        (hidden, _), _ = jax.lax.scan(step, (hidden, cell), x)
        return jnp.mean((hidden - target) ** 2)

    return objective


def lbm(f: Any, _lid: Any, _rate: Any, steps: int) -> Any:
    dx, dy, weight = tables.FLUID.DX, tables.FLUID.DY, tables.FLUID.WEIGHT
    directions = tables.moves(*f.shape[:2])

    def step(f: Any, lid: Any, rate: Any) -> Any:
        rho = jnp.sum(f, 2)
        ux, uy = jnp.sum(f * dx, 2) / rho, jnp.sum(f * dy, 2) / rho
        along = dx * ux[..., None] + dy * uy[..., None]
        square = (ux * ux + uy * uy)[..., None]
        after = f + rate * (weight * rho[..., None] * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square) - f)
        moved = []
        for q, (down, right, inside, push) in enumerate(directions):
            back = after[..., tables.FLUID.OPPOSITE[q]] + push * lid
            moved.append(jnp.where(inside, jnp.roll(after[..., q], (down, right), (0, 1)), back))
        return jnp.stack(moved, 2)

    def objective(f: Any, lid: Any, rate: Any, _: Any) -> Any:
        f, _ = jax.lax.scan(lambda g, _: (step(g, lid, rate), None), f, None, length=steps)
        px, py = jnp.sum(f * dx, 2), jnp.sum(f * dy, 2)
        return jnp.sum(px * px + py * py) / (f.shape[0] * f.shape[1])

    return objective


def lotka_volterra(*_: Any) -> Any:
    def change(rates: Any, y: Any) -> Any:
        both = y[0] * y[1]
        return jnp.stack([rates[0] * y[0] - rates[1] * both, rates[3] * both - rates[2] * y[1]])

    def objective(rates: Any, start: Any, h: Any, measured: Any) -> Any:
        def step(y: Any, seen: Any) -> Any:
            k1 = change(rates, y)
            k2 = change(rates, y + 0.5 * h * k1)
            k3 = change(rates, y + 0.5 * h * k2)
            k4 = change(rates, y + h * k3)
            y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            return y, jnp.sum((y - seen) ** 2)

        return jnp.sum(jax.lax.scan(step, start, measured)[1]) / len(measured)

    return objective


def ba_jacobian(*_: Any) -> Any:
    def turned(rotation: Any, x: Any) -> Any:
        square = jnp.sum(rotation * rotation)
        angle = jnp.sqrt(jnp.where(square != 0.0, square, 1.0))
        axis = rotation / angle
        along = jnp.dot(axis, x) * (1.0 - jnp.cos(angle))
        about = x * jnp.cos(angle) + jnp.cross(axis, x) * jnp.sin(angle) + axis * along
        return jnp.where(square != 0.0, about, x + jnp.cross(rotation, x))

    def error(camera: Any, x: Any, weight: Any, feature: Any) -> Any:
        seen = turned(camera[:3], x - camera[3:6])
        flat = seen[:2] / seen[2]
        square = jnp.sum(flat * flat)
        bent = (1.0 + camera[9] * square + camera[10] * square * square) * camera[6]
        return weight * (flat * bent + camera[7:9] - feature)

    def jacobian(cameras: Any, points: Any, weights: Any, camera_of: Any, point_of: Any, features: Any) -> Any:
        rows = jax.vmap(jax.jacrev(error, argnums=(0, 1, 2)))
        return (*rows(cameras[camera_of], points[point_of], weights, features), -2.0 * weights)

    return jacobian


def xsbench(_energies: Any, _materials: Any, starts: Any, nuclides: Any, *_: Any) -> Any:
    entries, there = tables.ragged(starts)
    members = nuclides[entries]

    def objective(energies: Any, materials: Any, _: Any, __: Any, densities: Any, union: Any, rows: Any, grid: Any, sections: Any) -> Any:
        place = jnp.clip(jnp.searchsorted(union, energies, side="right") - 1, 0, len(union) - 2)
        nuclide = jnp.asarray(members)[materials]
        row = jnp.minimum(rows[place[:, None], nuclide], grid.shape[1] - 2)
        above, below = grid[nuclide, row + 1], grid[nuclide, row]
        f = ((above - energies[:, None]) / (above - below))[..., None]
        high, low = sections[nuclide, row + 1], sections[nuclide, row]
        density = jnp.where(there, densities[entries], 0.0)[materials][..., None]
        return jnp.mean(jnp.max(jnp.sum(density * (high - f * (high - low)), 1), 1))

    return objective


def rsbench(_energies: Any, _materials: Any, starts: Any, nuclides: Any, _densities: Any, _background: Any, first: Any, *_: Any) -> Any:
    entries, there = tables.ragged(starts)
    poles_of, has_pole = tables.ragged(first)
    members = nuclides[entries]
    series = tables.SERIES

    def faddeeva(z: Any) -> Any:
        turn = jnp.exp(12j * z)
        terms = series.WEIGHTS * (series.SIGNS * turn[..., None] - 1.0) / (series.CENTERS - 144.0 * (z * z)[..., None])
        near = 1j * (1.0 - turn) / (12.0 * z) + 144.0 / np.sqrt(np.pi) * 1j * z * jnp.sum(terms, -1)
        far = 1j * z * (0.5124242247547685 / (z * z - 0.27525512860841095) + 0.05176535879298782 / (z * z - 2.724744871391589))
        return jnp.where(z.real**2 + z.imag**2 < 36.0, near, far)

    def phase(k: Any, e: Any, order: Any) -> Any:
        phi = k * jnp.sqrt(e)
        less = jnp.stack([0.0 * phi, phi, 3.0 * phi / (3.0 - phi * phi), phi * (15.0 - phi * phi) / (15.0 - 6.0 * phi * phi)], -1)
        phi = phi - jnp.arctan(jnp.take_along_axis(less, order[..., None], -1)[..., 0])
        return jnp.exp(-2j * phi)

    def objective(
        energies: Any, materials: Any, _: Any, __: Any, densities: Any, background: Any, ___: Any, poles: Any, residues: Any, orders: Any,
        radii: Any, doppler: Any,
    ) -> Any:
        nuclide = jnp.asarray(members)[materials]
        window = jnp.minimum((energies * background.shape[1]).astype(int), background.shape[1] - 1)[:, None]
        pole, inside = jnp.asarray(poles_of)[nuclide, window], jnp.asarray(has_pole)[nuclide, window]
        own, e = nuclide[..., None], energies[:, None, None]
        z = ((e - poles[own, pole, 0]) + 1j * poles[own, pole, 1]) * doppler
        shape = jnp.where(inside, faddeeva(z), 0.0)
        order = orders[own, pole]
        turned = shape * phase(radii[own, order], e, order)
        residue = residues[own, pole, :, 0] + 1j * residues[own, pole, :, 1]
        three = jnp.sum((residue * jnp.stack([turned, shape, shape], -1)).real, 2) + energies[:, None, None] * background[nuclide, window]
        density = jnp.where(there, densities[entries], 0.0)[materials][..., None]
        found = jnp.sum(density * jnp.concatenate([three, three[..., :1] - three[..., 1:2]], -1), 1)
        return jnp.mean(jnp.max(found, 1))

    return objective


def hand_simple(_theta: Any, hand: Any, *_: Any) -> Any:
    parents, side = hand["parents"], -1.0 if hand["mirrored"] else 1.0

    def euler(a: Any) -> Any:
        (sx, sy, sz), (cx, cy, cz) = jnp.sin(a), jnp.cos(a)
        zero, one = jnp.zeros(()), jnp.ones(())
        return jnp.stack([
            jnp.stack([cy * cz, -cx * sz + sx * sy * cz, sx * sz + cx * sy * cz, zero]),
            jnp.stack([cy * sz, cx * cz + sx * sy * sz, -sx * cz + cx * sy * sz, zero]),
            jnp.stack([-sy, sx * cy, cx * cy, zero]), jnp.stack([zero, zero, zero, one]),
        ])

    def turn(a: Any) -> Any:
        angle = jnp.sqrt(jnp.sum(a * a))
        x, y, z = a / angle
        s, c = jnp.sin(angle), jnp.cos(angle)
        return jnp.stack([
            jnp.stack([x * x + (1.0 - x * x) * c, x * y * (1.0 - c) - z * s, x * z * (1.0 - c) + y * s]),
            jnp.stack([x * y * (1.0 - c) + z * s, y * y + (1.0 - y * y) * c, y * z * (1.0 - c) - x * s]),
            jnp.stack([x * z * (1.0 - c) - y * s, y * z * (1.0 - c) + x * s, z * z + (1.0 - z * z) * c]),
        ])

    def objective(theta: Any, hand: Any, vertex_of: Any, points: Any) -> Any:
        fingers = theta[6:].reshape(5, 4)
        bent = jnp.zeros((22, 3))
        bones = 2 + 4 * np.arange(5)
        bent = bent.at[bones, 0].set(fingers[:, 0]).at[bones, 1].set(fingers[:, 1]).at[bones + 1, 0].set(fingers[:, 2]).at[bones + 2, 0].set(fingers[:, 3])
        own = jnp.einsum("irc,icq->irq", hand["relatives"], jax.vmap(euler)(bent))
        placed: list[Any] = []
        for i, parent in enumerate(parents):
            placed.append(own[i] if parent < 0 else placed[parent] @ own[i])
        moves = jnp.stack(placed) @ hand["inverses"]
        x = jnp.einsum("vi,irq,vq->vr", hand["weights"], moves[:, :3], hand["vertices"]) * np.array([side, 1.0, 1.0])
        skin = x @ turn(theta[:3]).T + theta[3:6]
        return jnp.sum((points - skin[vertex_of]) ** 2)

    return objective


def transformer(*_: Any) -> Any:
    def norm(x: Any, scale: Any) -> Any:
        middle = jnp.mean(x, -1, keepdims=True)
        return scale * (x - middle) / jnp.sqrt(jnp.mean((x - middle) ** 2, -1, keepdims=True) + 1e-5)

    def objective(embedding: Any, position: Any, wq: Any, wk: Any, wv: Any, wo: Any, scale: Any, w1: Any, w2: Any, words: Any) -> Any:
        length = position.shape[0]
        x = embedding[words[:, :-1]] + position
        seen = norm(x, scale[0])
        q, k, u = (jnp.einsum("bij,sej->bsie", seen, w) for w in (wq, wk, wv))
        score = jnp.einsum("bsie,bsje->bsij", q, k) / np.sqrt(wq.shape[1])
        score = jnp.where(np.tril(np.ones((length, length), bool)), score, -jnp.inf)
        x = x + jnp.einsum("jse,bsie->bij", wo, jax.nn.softmax(score) @ u)
        x = x + jnp.tanh(norm(x, scale[1]) @ w1) @ w2
        logits = x @ embedding.T
        picked = jnp.take_along_axis(logits, words[:, 1:, None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)

    return objective
