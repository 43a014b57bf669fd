"""The objectives of rows.py for PyTorch, as one would write them: functions of tensors, differentiated by autograd.

Each is made for its arguments, as NumPy arrays, like those for JAX (with_jax.py). Records are dictionaries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from bench.ad import tables


def log_sum_exp(*_: Any) -> Any:
    return lambda x: torch.logsumexp(x, 0)


def dot(*_: Any) -> Any:
    return lambda x, y: torch.sum(x * y)


def elementwise(*_: Any) -> Any:
    return lambda x: torch.sum(x * x / (1 + x * x))


def kmeans(*_: Any) -> Any:
    def objective(points: Any, centers: Any) -> Any:
        distances = torch.sum((points[:, None, :] - centers[None, :, :]) ** 2, 2)
        return torch.sum(torch.min(distances, 1).values)

    return objective


def kmeans_sparse(_values: Any, _columns: Any, rows: Any, _centers: Any) -> Any:
    owner, count = torch.from_numpy(tables.owners(rows)), len(rows) - 1

    def objective(values: Any, columns: Any, _: Any, centers: Any) -> Any:
        products = values[:, None] * centers.T[columns]
        dots = torch.zeros((count, centers.shape[0]), dtype=torch.float64).index_add(0, owner, products)
        return torch.sum(values * values) + torch.sum(torch.min(torch.sum(centers * centers, 1) - 2.0 * dots, 1).values)

    return objective


def mlp(*_: Any) -> Any:
    def objective(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, labels: Any) -> Any:
        return torch.nn.functional.cross_entropy(torch.tanh(x @ w1 + b1) @ w2 + b2, labels)

    return objective


def gmm(*_: Any) -> Any:
    def objective(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, wishart_m: Any) -> Any:
        count, d = x.shape
        k = alphas.shape[0]
        diagonal, packed = torch.exp(icf[:, :d]), icf[:, d:]
        sum_log = torch.sum(icf[:, :d], 1)
        rows, columns = tables.lower_triangle(d)
        lower = torch.zeros((k, d, d), dtype=torch.float64)
        lower[:, rows, columns] = packed
        centred = x[:, None, :] - means[None]
        q = diagonal[None] * centred + torch.einsum("kba,nka->nkb", lower, centred)
        terms = alphas + sum_log - 0.5 * torch.sum(q * q, 2)
        likelihood = torch.sum(torch.logsumexp(terms, 1)) - count * torch.logsumexp(alphas, 0) - 0.5 * count * d * np.log(2 * np.pi)
        n = d + wishart_m + 1
        a = torch.tensor(0.5 * n, dtype=torch.float64)
        log_gamma = 0.25 * d * (d - 1) * np.log(np.pi) + sum(torch.lgamma(a - 0.5 * j) for j in range(d))
        constant = n * d * (np.log(gamma) - 0.5 * np.log(2.0)) - log_gamma
        squares = torch.sum(diagonal**2) + torch.sum(packed**2)
        return likelihood + 0.5 * gamma * gamma * squares - wishart_m * torch.sum(sum_log) - k * constant

    return objective


def lstm(*_: Any) -> Any:
    def objective(weights: Any, biases: Any, extra: Any, hidden: Any, cell: Any, sequence: Any) -> Any:
        hs, cs = list(hidden), list(cell)
        predictions = []
        for now in sequence[:-1]:
            x = now * extra[0]
            for i, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
                forget, ingate = torch.sigmoid(x * weight[0] + bias[0]), torch.sigmoid(hs[i] * weight[1] + bias[1])
                outgate, change = torch.sigmoid(x * weight[2] + bias[2]), torch.tanh(hs[i] * weight[3] + bias[3])
                cs[i] = cs[i] * forget + ingate * change
                x = hs[i] = outgate * torch.tanh(cs[i])
            predictions.append(x)
        predicted = torch.stack(predictions) * extra[1] + extra[2]
        norm = torch.log(torch.sum(torch.exp(predicted), 1, keepdim=True) + 2.0)
        return -torch.sum(sequence[1:] * (predicted - norm)) / predicted.numel()

    return objective


def lstm_batch(*_: Any) -> Any:
    def objective(w_input: Any, w_hidden: Any, bias: Any, hidden: Any, cell: Any, x: Any, target: Any) -> Any:
        for now in x:
            gates = torch.einsum("sd,gdh->gsh", now, w_input) + torch.einsum("sk,gkh->gsh", hidden, w_hidden) + bias[:, None, :]
            cell = torch.sigmoid(gates[0]) * cell + torch.sigmoid(gates[1]) * torch.tanh(gates[3])
            hidden = torch.sigmoid(gates[2]) * torch.tanh(cell)
        return torch.mean((hidden - target) ** 2)

    return objective


def lbm(f: Any, _lid: Any, _rate: Any, steps: int) -> Any:
    dx, dy, weight = (torch.from_numpy(t).double() for t in (tables.FLUID.DX, tables.FLUID.DY, tables.FLUID.WEIGHT))
    opposite = [int(q) for q in tables.FLUID.OPPOSITE]
    directions = [(a, b, torch.from_numpy(inside), torch.from_numpy(push)) for a, b, inside, push in tables.moves(*f.shape[:2])]

    def step(f: Any, lid: Any, rate: Any) -> Any:
        rho = torch.sum(f, 2)
        ux, uy = f @ dx / rho, f @ dy / rho
        along = dx * ux[..., None] + dy * uy[..., None]
        square = (ux * ux + uy * uy)[..., None]
        after = f + rate * (weight * rho[..., None] * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square) - f)
        moved = []
        for q, (down, right, inside, push) in enumerate(directions):
            back = after[..., opposite[q]] + push * lid
            moved.append(torch.where(inside, torch.roll(after[..., q], (down, right), (0, 1)), back))
        return torch.stack(moved, 2)

    def objective(f: Any, lid: Any, rate: Any, _: Any) -> Any:
        for _ in range(steps):
            f = step(f, lid, rate)
        px, py = f @ dx, f @ dy
        return torch.sum(px * px + py * py) / (f.shape[0] * f.shape[1])

    return objective


def lotka_volterra(*_: Any) -> Any:
    def change(grow: Any, meet: Any, y: Any) -> Any:
        return grow * y + meet * (y[0] * y[1])

    def objective(rates: Any, start: Any, h: float, measured: Any) -> Any:
        grow, meet = rates[[0, 2]] * torch.tensor([1.0, -1.0]), rates[[1, 3]] * torch.tensor([-1.0, 1.0])
        y, found = start, []
        for _ in range(len(measured)):
            k1 = change(grow, meet, y)
            k2 = change(grow, meet, torch.add(y, k1, alpha=0.5 * h))
            k3 = change(grow, meet, torch.add(y, k2, alpha=0.5 * h))
            k4 = change(grow, meet, torch.add(y, k3, alpha=h))
            y = y + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
            found.append(y)
        return torch.sum((torch.stack(found) - measured) ** 2) / len(measured)

    return objective


def ba_jacobian(*_: Any) -> Any:
    def turned(rotation: Any, x: Any) -> Any:
        square = torch.sum(rotation * rotation)
        angle = torch.sqrt(torch.where(square != 0.0, square, 1.0))
        axis = rotation / angle
        along = torch.sum(axis * x) * (1.0 - torch.cos(angle))
        about = x * torch.cos(angle) + torch.linalg.cross(axis, x) * torch.sin(angle) + axis * along
        return torch.where(square != 0.0, about, x + torch.linalg.cross(rotation, x))

    def error(camera: Any, x: Any, weight: Any, feature: Any) -> Any:
        seen = turned(camera[:3], x - camera[3:6])
        flat = seen[:2] / seen[2]
        square = torch.sum(flat * flat)
        bent = (1.0 + camera[9] * square + camera[10] * square * square) * camera[6]
        return weight * (flat * bent + camera[7:9] - feature)

    rows = torch.func.vmap(torch.func.jacrev(error, argnums=(0, 1, 2)))

    def jacobian(cameras: Any, points: Any, weights: Any, camera_of: Any, point_of: Any, features: Any) -> Any:
        return (*rows(cameras[camera_of], points[point_of], weights, features), -2.0 * weights)

    return jacobian


def xsbench(_energies: Any, _materials: Any, starts: Any, nuclides: Any, *_: Any) -> Any:
    entries, there = map(torch.from_numpy, tables.ragged(starts))
    members = torch.from_numpy(nuclides)[entries]

    def objective(energies: Any, materials: Any, _: Any, __: Any, densities: Any, union: Any, rows: Any, grid: Any, sections: Any) -> Any:
        place = torch.clip(torch.searchsorted(union, energies, side="right") - 1, 0, len(union) - 2)
        nuclide = members[materials]
        row = torch.clip(rows[place[:, None], nuclide], max=grid.shape[1] - 2)
        above, below = grid[nuclide, row + 1], grid[nuclide, row]
        f = ((above - energies[:, None]) / (above - below))[..., None]
        high, low = sections[nuclide, row + 1], sections[nuclide, row]
        density = torch.where(there, densities[entries], 0.0)[materials][..., None]
        return torch.mean(torch.max(torch.sum(density * (high - f * (high - low)), 1), 1).values)

    return objective


def rsbench(_energies: Any, _materials: Any, starts: Any, nuclides: Any, _densities: Any, _background: Any, first: Any, *_: Any) -> Any:
    entries, there = map(torch.from_numpy, tables.ragged(starts))
    poles_of, has_pole = map(torch.from_numpy, tables.ragged(first))
    members = torch.from_numpy(nuclides)[entries]
    signs, weights, centers = (torch.from_numpy(t) for t in (tables.SERIES.SIGNS, tables.SERIES.WEIGHTS, tables.SERIES.CENTERS))

    def faddeeva(z: Any) -> Any:
        turn = torch.exp(12j * z)
        terms = weights * (signs * turn[..., None] - 1.0) / (centers - 144.0 * (z * z)[..., None])
        near = 1j * (1.0 - turn) / (12.0 * z) + 144.0 / np.sqrt(np.pi) * 1j * z * torch.sum(terms, -1)
        far = 1j * z * (0.5124242247547685 / (z * z - 0.27525512860841095) + 0.05176535879298782 / (z * z - 2.724744871391589))
        return torch.where(z.real**2 + z.imag**2 < 36.0, near, far)

    def phase(k: Any, e: Any, order: Any) -> Any:
        phi = k * torch.sqrt(e)
        less = torch.stack([0.0 * phi, phi, 3.0 * phi / (3.0 - phi * phi), phi * (15.0 - phi * phi) / (15.0 - 6.0 * phi * phi)], -1)
        phi = phi - torch.arctan(torch.take_along_dim(less, order[..., None], -1)[..., 0])
        return torch.exp(-2j * phi)

    def objective(
        energies: Any, materials: Any, _: Any, __: Any, densities: Any, background: Any, ___: Any, poles: Any, residues: Any, orders: Any,
        radii: Any, doppler: Any,
    ) -> Any:
        nuclide = members[materials]
        window = torch.clip((energies * background.shape[1]).long(), max=background.shape[1] - 1)[:, None]
        pole, inside = poles_of[nuclide, window], has_pole[nuclide, window]
        own, e = nuclide[..., None], energies[:, None, None]
        z = torch.complex(e - poles[own, pole, 0], poles[own, pole, 1]) * doppler
        shape = torch.where(inside, faddeeva(z), 0.0)
        order = orders[own, pole]
        turned = shape * phase(radii[own, order], e, order)
        here = residues[own, pole]
        residue = torch.complex(here[..., 0], here[..., 1])
        three = torch.sum((residue * torch.stack([turned, shape, shape], -1)).real, 2) + e * background[nuclide, window]
        density = torch.where(there, densities[entries], 0.0)[materials][..., None]
        found = torch.sum(density * torch.cat([three, three[..., :1] - three[..., 1:2]], -1), 1)
        return torch.mean(torch.max(found, 1).values)

    return objective


def hand_simple(_theta: Any, hand: Any, *_: Any) -> Any:
    parents = [int(p) for p in hand["parents"]]
    side = torch.tensor([-1.0 if hand["mirrored"] else 1.0, 1.0, 1.0])
    bones = 2 + 4 * torch.arange(5)

    def euler(a: Any) -> Any:
        (sx, sy, sz), (cx, cy, cz) = torch.sin(a).T, torch.cos(a).T
        zero, one = torch.zeros_like(sx), torch.ones_like(sx)
        rows = [
            cy * cz, -cx * sz + sx * sy * cz, sx * sz + cx * sy * cz, zero, cy * sz, cx * cz + sx * sy * sz, -sx * cz + cx * sy * sz, zero,
            -sy, sx * cy, cx * cy, zero, zero, zero, zero, one,
        ]
        return torch.stack(rows, 1).reshape(-1, 4, 4)

    def turn(a: Any) -> Any:
        angle = torch.sqrt(torch.sum(a * a))
        x, y, z = a / angle
        s, c = torch.sin(angle), torch.cos(angle)
        rows = [
            x * x + (1.0 - x * x) * c, x * y * (1.0 - c) - z * s, x * z * (1.0 - c) + y * s,
            x * y * (1.0 - c) + z * s, y * y + (1.0 - y * y) * c, y * z * (1.0 - c) - x * s,
            x * z * (1.0 - c) - y * s, y * z * (1.0 - c) + x * s, z * z + (1.0 - z * z) * c,
        ]
        return torch.stack(rows).reshape(3, 3)

    def objective(theta: Any, hand: Any, vertex_of: Any, points: Any) -> Any:
        fingers = theta[6:].reshape(5, 4)
        bent = torch.zeros((22, 3), dtype=torch.float64)
        bent[bones, 0], bent[bones, 1], bent[bones + 1, 0], bent[bones + 2, 0] = fingers.T
        own = hand["relatives"] @ euler(bent)
        placed: list[Any] = []
        for i, parent in enumerate(parents):
            placed.append(own[i] if parent < 0 else placed[parent] @ own[i])
        moves = torch.stack(placed) @ hand["inverses"]
        x = torch.einsum("vi,irq,vq->vr", hand["weights"], moves[:, :3], hand["vertices"]) * side
        skin = x @ turn(theta[:3]).T + theta[3:6]
        return torch.sum((points - skin[vertex_of]) ** 2)

    return objective


def transformer(*_: Any) -> Any:
    def norm(x: Any, scale: Any) -> Any:
        return torch.nn.functional.layer_norm(x, x.shape[-1:], scale, eps=1e-5)

    def objective(embedding: Any, position: Any, wq: Any, wk: Any, wv: Any, wo: Any, scale: Any, w1: Any, w2: Any, words: Any) -> Any:
        x = embedding[words[:, :-1]] + position
        seen = norm(x, scale[0])
        q, k, u = (torch.einsum("bij,sej->bsie", seen, w) for w in (wq, wk, wv))
        found = torch.nn.functional.scaled_dot_product_attention(q, k, u, is_causal=True)
        x = x + torch.einsum("jse,bsie->bij", wo, found)
        x = x + torch.tanh(norm(x, scale[1]) @ w1) @ w2
        logits = x @ embedding.T
        return torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), words[:, 1:].reshape(-1))

    return objective
