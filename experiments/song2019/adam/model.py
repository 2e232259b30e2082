r"""GP-Beta with the paper's parameters and optimiser, many problems at once (Song et al. 2019, §4.3).

Every problem has its own rows, and all have as many inducing points; Adam works on each number by itself, so problems
that are laid side by side do not touch one another. Latents are whitened: :math:`u = L v`, :math:`q(v) = N(m, SS^T)`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_ndtr

BATCH, DRAWS, RATE = 128, 64, 0.001  # the paper's
CHECK, MOST, LEAST_GAIN = 1000, 10_000, 1e-3  # steps between looks, steps at most, nats a row between two looks
NARROW = 5.0  # γ at the start: latents of variance 1 then hardly move the identity
JITTER = 1e-4
NODES = 512  # draws in predictions
Tensor = Any


class Rows(NamedTuple):
    """Forecasts and outcomes of one problem: standardised mean, log standard deviation, ln F(y), ln(1 - F(y))."""

    mean: NDArray[np.float64]
    log_std: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class Unit(NamedTuple):
    """What forecasts are measured in: the centre and spread of the means of those that are learned from."""

    centre: float
    size: float

    @classmethod
    def of(cls, mean: NDArray[np.float64], std: NDArray[np.float64]) -> Unit:
        """At least a tenth of the forecasts' own spread."""
        return cls(float(mean.mean()), float(max(mean.std(), 0.1 * np.exp(np.log(std).mean()))))

    def rows(self, mean: NDArray[np.float64], std: NDArray[np.float64], y: NDArray[np.float64]) -> Rows:
        """In these units."""
        z = np.clip((y - mean) / std, -100.0, 100.0)
        return Rows((mean - self.centre) / self.size, np.log(std / self.size), log_ndtr(z), log_ndtr(-z))


def learned(problems: list[Rows], points: int, device: str, seed: int, most: int = MOST) -> dict[str, Tensor]:
    """Parameters of all problems, each as it was when its bound no longer rose."""
    torch.manual_seed(seed)
    size = max(len(rows.mean) for rows in problems)
    data = torch.stack([_padded(rows, size) for rows in problems]).to(device)  # (P, 4, N)
    n = torch.tensor([len(rows.mean) for rows in problems], device=device, dtype=torch.float32)
    now = _start(data, n, points)
    adam = torch.optim.Adam(list(now.values()), lr=RATE)
    end = {name: value.detach().clone() for name, value in now.items()}
    open_, before, total = torch.ones_like(n, dtype=torch.bool), torch.full_like(n, -torch.inf), torch.zeros_like(n)
    for step in range(1, most + 1):
        bound = _bound(now, _minibatch(data, n), n)
        adam.zero_grad(set_to_none=True)
        (-bound.sum()).backward()
        adam.step()
        total += bound.detach() / n
        if step % CHECK == 0 or step == most:
            for name, value in now.items():
                end[name][open_] = value.detach()[open_]
            open_ &= total / CHECK - before > LEAST_GAIN
            before, total = total / CHECK, torch.zeros_like(n)
            if not bool(open_.any()):
                break
    return end


def _padded(rows: Rows, size: int) -> Tensor:
    return torch.tensor(np.stack([np.pad(each, (0, size - len(each)), mode="edge") for each in rows])).float()


def _start(data: Tensor, n: Tensor, points: int) -> dict[str, Tensor]:
    """The identity map: q is the prior, inducing points are forecasts drawn at random."""
    p, device = len(n), data.device
    rows = (torch.rand(p, points, device=device) * n[:, None]).long()
    at = torch.gather(data[:, :2], 2, rows[:, None].expand(-1, 2, -1))  # (P, 2, m)
    wide = 3 * points
    start = {
        "points": at,
        "log_theta": torch.zeros(p, device=device),
        "root": torch.eye(3, device=device).expand(p, 3, 3),
        "log_gamma": torch.full((p, 3), float(np.log(NARROW)), device=device),
        "shift": torch.zeros(p, 3, device=device),
        "mean": torch.zeros(p, 3, points, device=device),
        "cover": torch.eye(wide, device=device).expand(p, wide, wide),
    }
    return {name: value.clone().contiguous().requires_grad_() for name, value in start.items()}


def _minibatch(data: Tensor, n: Tensor) -> Tensor:
    rows = (torch.rand(len(n), BATCH, device=data.device) * n[:, None]).long()
    return torch.gather(data, 2, rows[:, None].expand(-1, data.shape[1], -1))


def _kernel(a: Tensor, b: Tensor, log_theta: Tensor) -> Tensor:
    """Eq. 9 with variances; a and b are means and log standard deviations, (P, 2, .)."""
    theta = torch.exp(log_theta)[:, None, None]
    total = torch.exp(2 * a[:, 1])[:, :, None] + torch.exp(2 * b[:, 1])[:, None, :] + theta**2
    away = a[:, 0][:, :, None] - b[:, 0][:, None, :]
    return theta / torch.sqrt(total) * torch.exp(-0.5 * away**2 / total)


def latents(now: dict[str, Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    """Means (P, k, 3) and roots of covariances (P, k, 3, 3) of ln a, ln b, c at forecasts (P, 2, k)."""
    points, theta = now["points"], now["log_theta"]
    m = points.shape[2]
    eye = torch.eye(m, device=x.device, dtype=x.dtype)
    factor = torch.linalg.cholesky_ex(_kernel(points, points, theta) + JITTER * eye)[0]
    phi = torch.linalg.solve_triangular(factor, _kernel(points, x, theta), upper=False).transpose(1, 2)  # (P, k, m)
    own = torch.exp(theta)[:, None] / torch.sqrt(2 * torch.exp(2 * x[:, 1]) + torch.exp(2 * theta)[:, None])
    rest = torch.clamp(own - (phi**2).sum(2), min=1e-6)
    half = torch.tril(now["cover"]).view(len(x), 3, m, 3 * m)
    spread = torch.einsum("pkm,pimj->pkij", phi, half)  # (P, k, 3, 3 m)
    inner = spread @ spread.transpose(2, 3) + rest[..., None, None] * torch.eye(3, device=x.device, dtype=x.dtype)
    link = torch.exp(-now["log_gamma"])[:, :, None] * torch.tril(now["root"])  # (P, 3, 3)
    mean = torch.einsum("pij,pjm,pkm->pki", link, now["mean"], phi) + now["shift"][:, None]
    return mean, link[:, None] @ torch.linalg.cholesky_ex(inner)[0]


def log_ratio(w: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Logarithm of eq. 7 at (ln a, ln b, c), finite in both tails."""
    log_a, log_b, c = w.unbind(-1)
    h = torch.abs(torch.exp(log_a) * low - torch.exp(log_b) * high + c)
    return torch.logaddexp(log_a - low, log_b - high) - h - 2 * torch.log1p(torch.exp(-h))


def _drawn(now: dict[str, Tensor], rows: Tensor, noise: Tensor) -> Tensor:
    """Log ratios at draws of the latents, (P, k, draws)."""
    mean, root = latents(now, rows[:, :2])
    w = mean[:, :, None] + torch.einsum("pkij,pksj->pksi", root, noise)
    return log_ratio(w, rows[:, 2, :, None], rows[:, 3, :, None])


def _bound(now: dict[str, Tensor], rows: Tensor, n: Tensor) -> Tensor:
    """Evidence lower bound of each problem, from a minibatch and random draws."""
    noise = torch.randn(len(n), rows.shape[2], DRAWS, 3, device=rows.device, dtype=rows.dtype)
    fit = n * _drawn(now, rows, noise).mean(dim=(1, 2))
    cover, mean = torch.tril(now["cover"]), now["mean"]
    diagonal = torch.abs(torch.diagonal(cover, dim1=1, dim2=2)) + 1e-12
    size = cover.shape[1]
    kl = 0.5 * ((cover**2).sum((1, 2)) + (mean**2).sum((1, 2)) - size) - torch.log(diagonal).sum(1)
    return fit - kl


def gains(end: dict[str, Tensor], at: int, rows: Rows, seed: int) -> NDArray[np.float64]:
    """Log of the averaged density ratio of new rows of one problem: what a row gains in log likelihood."""
    one = {name: value[at : at + 1].double().cpu() for name, value in end.items()}
    draw = torch.Generator().manual_seed(seed)
    noise = torch.randn(NODES, 3, generator=draw, dtype=torch.float64)
    out = []
    for start in range(0, len(rows.mean), 1000):
        part = torch.tensor(np.stack([each[start : start + 1000] for each in rows]))[None]
        log = _drawn(one, part, noise.expand(1, part.shape[2], -1, -1))
        out.append(torch.logsumexp(log, dim=2)[0] - np.log(NODES))
    return torch.cat(out).numpy()
