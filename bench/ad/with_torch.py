"""The objectives of rows.py for PyTorch, as one would write them: functions of tensors, differentiated by autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def log_sum_exp(x: Any) -> Any:
    return torch.logsumexp(x, 0)


def dot(x: Any, y: Any) -> Any:
    return torch.sum(x * y)


def elementwise(x: Any) -> Any:
    return torch.sum(x * x / (1 + x * x))


def kmeans(points: Any, centers: Any) -> Any:
    distances = torch.sum((points[:, None, :] - centers[None, :, :]) ** 2, 2)
    return torch.sum(torch.min(distances, 1).values)


def mlp(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, labels: Any) -> Any:
    return torch.nn.functional.cross_entropy(torch.tanh(x @ w1 + b1) @ w2 + b2, labels)


def gmm(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, wishart_m: Any) -> Any:
    count, d = x.shape
    k = alphas.shape[0]
    diagonal, packed = torch.exp(icf[:, :d]), icf[:, d:]
    sum_log = torch.sum(icf[:, :d], 1)
    rows, columns = np.tril_indices(d, -1)
    order = np.lexsort((rows, columns))
    lower = torch.zeros((k, d, d), dtype=torch.float64)
    lower[:, rows[order], columns[order]] = packed
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


def lstm_batch(w_input: Any, w_hidden: Any, bias: Any, hidden: Any, cell: Any, x: Any, target: Any) -> Any:
    for now in x:
        gates = torch.einsum("sd,gdh->gsh", now, w_input) + torch.einsum("sk,gkh->gsh", hidden, w_hidden) + bias[:, None, :]
        cell = torch.sigmoid(gates[0]) * cell + torch.sigmoid(gates[1]) * torch.tanh(gates[3])
        hidden = torch.sigmoid(gates[2]) * torch.tanh(cell)
    return torch.mean((hidden - target) ** 2)
