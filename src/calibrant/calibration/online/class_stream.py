"""Probabilities of classes, calibrated as labels come: logistic maps that forget, weighed by what came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from ..._checks import Array
from ...adapters.class_labels import Codes
from ...numerics.soundness import check_finite
from .shares import Shares

TRUST = 10.0  # rows' worth of trust in the probabilities as they are
BASE, OUTER = 0.25, 0.35
CLIP = 1e-12
MOST = 4096  # last rows of a batch that are learned


@dataclass(eq=False)
class ClassStream:
    r"""Maps of log probabilities, each with its half-life h, that take a Newton step with each label.

    .. math:: q \propto \exp(a \log p + b), \qquad
        \theta \leftarrow \theta + (\Lambda_0 + \Lambda)^{-1}\big[\nabla\log q_y - (1 - \lambda)\Lambda_0(\theta -
        \theta_0)\big], \quad \Lambda \leftarrow \lambda\Lambda + I(\theta), \quad \lambda = 2^{-1/h}

    :math:`\theta = (a, b)`, I is Fisher's information of one label and :math:`\theta_0 = (1, 0)` leaves p as it is. Of
    two classes this is Platt's map of log odds; with b = 0 it is a temperature, tried beside it; a map of two classes
    whose log p and log(1 - p) have slopes of their own is the beta map.

    Parameters
    ----------
    half_lives : tuple of float
    classes : int
    shares : Shares
        Of the probabilities as they are, of all streams together where there are several, and of the maps.
    theta : array (M, D)
    information : array (M, D, D)
    """

    half_lives: tuple[float, ...]
    classes: int
    shares: Shares
    theta: Array
    information: Array
    has_outer: bool = False
    rows: int = 0

    @classmethod
    def new(cls, half_lives: tuple[float, ...], classes: int, *, has_outer: bool = False) -> ClassStream:
        """One that changes nothing."""
        maps, size = _kinds(classes) * len(half_lives), _size(classes)
        first = [BASE] + [OUTER] * has_outer
        prior = np.array([*first, *[(1 - sum(first)) / maps] * maps])
        theta = np.tile(_start(classes), (maps, 1))
        return cls(half_lives, classes, Shares.of(prior), theta, np.zeros((maps, size, size)), has_outer)

    def _check_sound(self) -> None:
        """Raise ValueError if this cannot be what was learned."""
        check_finite(self, "theta", "information")
        maps, size = _kinds(self.classes) * len(self.half_lives), _size(self.classes)
        shapes = (self.theta.shape, self.information.shape, self.shares.prior.shape)
        if shapes != ((maps, size), (maps, size, size), (1 + self.has_outer + maps,)):
            raise ValueError("a stream's parts do not belong together.")

    def learn(self, log_p: Array, codes: Codes, w: Array, step: float, outer: Array | None = None) -> Array:
        """Probabilities (n, K) that were forecast; then learn from the labels, one after another."""
        out = np.exp(log_p)
        for row in range(max(0, len(codes) - MOST), len(codes)):
            made = self._maps(log_p[row])
            parts = [np.exp(log_p[row])[None], *([] if outer is None else [outer[row][None]]), made]
            forecasts = np.concatenate(parts)
            out[row] = self.shares.weights @ forecasts
            logs = np.log(np.maximum(forecasts[:, codes[row]], CLIP))
            self.shares.learn(logs[None], w[[row]], step)
            self._step(log_p[row], made, int(codes[row]), float(w[row]), step)
        self.rows += len(codes)
        return out

    def transform(self, log_p: Array, outer: Array | None = None) -> Array:
        """Probabilities (n, K) by what is known now."""
        weights = self.shares.weights
        out = weights[0] * np.exp(log_p) + (0.0 if outer is None else weights[1] * outer)
        for share, theta in zip(weights[1 + self.has_outer :], self.theta, strict=True):
            out = out + share * softmax(_features(log_p) @ theta, axis=-1)
        return np.asarray(out / out.sum(axis=1, keepdims=True))

    def named_weights(self) -> dict[str, float]:
        """Weights of the forecasters."""
        w = self.shares.weights
        kinds = ["beta", "Platt", "temperature"][-_kinds(self.classes) :]
        names = ["base", *["common"] * self.has_outer, *(f"{kind} {h:g}" for h in self.half_lives for kind in kinds)]
        return dict(zip(names, w.tolist(), strict=True))

    def _maps(self, log_p: Array) -> Array:
        return np.asarray(softmax(np.einsum("kd,md->mk", _features(log_p), self.theta), axis=1))

    def _step(self, log_p: Array, made: Array, code: int, weight: float, step: float) -> None:
        """A Newton step of each map."""
        x = _features(log_p)
        fade = np.exp2(-step / np.repeat(self.half_lives, _kinds(self.classes)))
        centred = x[None] - (made @ x)[:, None, :]
        information = weight * np.einsum("mk,mkd,mke->mde", made, centred, centred)
        self.information = fade[:, None, None] * self.information + information
        away = self.theta - _start(self.classes)
        slope = weight * centred[:, code] - (1 - fade)[:, None] * TRUST * away
        tied = self._directions()
        whole = np.einsum("mda,mde,meb->mab", tied, self.information + TRUST * np.eye(x.shape[1]), tied)
        whole += np.eye(x.shape[1]) * (np.abs(tied).sum(axis=1) == 0)[:, None, :]
        change = np.linalg.solve(whole, np.einsum("mda,md->ma", tied, slope)[..., None])[..., 0]
        self.theta = self.theta + np.einsum("mda,ma->md", tied, np.clip(change, -1.0, 1.0))

    def _directions(self) -> Array:
        """In which each map may move, (M, D, D): two slopes and an offset; one slope and offsets; one slope alone."""
        size, slopes = _size(self.classes), _slopes(self.classes)
        ways = np.zeros((3, size, size))
        ways[0] = np.eye(size)
        ways[1:, :slopes, 0] = 1.0
        ways[1, slopes:, slopes:] = np.eye(size - slopes)
        return np.tile(ways[-_kinds(self.classes) :], (len(self.half_lives), 1, 1))


def _kinds(classes: int) -> int:
    """Kinds of maps: of more than two classes there is none with slopes apart."""
    return 3 if classes == 2 else 2


def _slopes(classes: int) -> int:
    """Slopes of a map: each class its own where there are two."""
    return 2 if classes == 2 else 1


def _size(classes: int) -> int:
    return _slopes(classes) + classes - 1


def _start(classes: int) -> Array:
    """Parameters that change nothing."""
    return np.concatenate([np.ones(_slopes(classes)), np.zeros(classes - 1)])


def _features(log_p: Array) -> Array:
    """What parameters multiply in the logits of each class, (..., K, D)."""
    classes = log_p.shape[-1]
    free = np.broadcast_to(np.eye(classes)[:, 1:], (*log_p.shape, classes - 1))
    slopes = log_p[..., :, None] * np.eye(2) if classes == 2 else log_p[..., :, None]
    return np.concatenate([slopes, free], axis=-1)
