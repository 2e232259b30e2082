"""Probabilities from beta laws of the scores of events and of the rest."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, digamma, log_expit, polygamma

from ..._checks import Array
from ...adapters.class_scores import ClassScores
from ...numerics.newton import newton
from ..base import CLIP, check_smoothing
from ..beta import BetaCurve
from ..binary import BinaryCalibrator, Events
from ..curves import Curve


class BetaDensitiesCalibrator(BinaryCalibrator):
    r"""Bayes' rule with beta laws: one fitted to the probabilities that events were given, one to those of the rest.

    .. math:: p^*(s) = \frac{\pi f_+(s)}{\pi f_+(s) + (1 - \pi) f_-(s)}
        = \sigma\Bigl(a \ln s - b \ln(1 - s) + m\Bigr),\quad f_c \propto s^{a_c - 1} (1 - s)^{b_c - 1}

    with :math:`a = a_+ - a_-`, :math:`b = b_- - b_+`, :math:`m = \ln\frac\pi{1 - \pi} + \ln \mathrm B(a_-, b_-) - \ln
    \mathrm B(a_+, b_+)`: the curves of `BetaCalibrator`, which fits a, b and m to the labels directly and is better
    where scores do not follow beta laws. The curve may fall where a or b is negative.

    How many rows do I need? About 50 of each class.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.013, 0.0048, 0.0016 at 100, 300 and 1 000 rows of
    two classes; 0.021, 0.0080, 0.0024 of three.

    Parameters
    ----------
    smoothing : float
        c: the laws are fitted to the scores and, with weight :math:`c/(N + c)`, to the uniform law, so that those of
        equal scores stay finite; :math:`\pi = (N_+ + c)/(N + 2c)`. 0 is maximum likelihood.
    scores_are : {"probabilities", "logits"}
    clip : float
        Probabilities stay in [clip, 1 - clip], those given and those returned.

    Attributes
    ----------
    curves_ : list of BetaCurve
        One for two classes, else one a class.

    Examples
    --------
    >>> cal = BetaDensitiesCalibrator().fit([0.1, 0.3, 0.4, 0.6, 0.9, 0.5], [0, 0, 1, 0, 1, 1])
    >>> cal.transform([0.2, 0.5, 0.8])[:, 1].round(3)
    array([0.263, 0.517, 0.781])

    Differs from the paper in: the chapter has no such method; Kull, Silva Filho & Flach (2017), retold by Song et al.
    (2018), §2.1, derive beta calibration from it and fit its curve instead.
    """

    def __init__(self, smoothing: float = 1.0, *, scores_are: str = "probabilities", clip: float = CLIP) -> None:
        super().__init__(scores_are=scores_are, clip=clip)
        self.smoothing = smoothing

    def _positions(self, scores: ClassScores) -> Array:
        if scores.kind == "margins":
            raise ValueError(
                "`scores` must be probabilities or logits for beta laws; got margins. Use KernelDensitiesCalibrator, "
                'or say scores_are="logits".'
            )
        return super()._positions(scores)

    def _fit_one(self, x: Array, events: Events, weights: Array | None) -> Curve:
        more = check_smoothing(self.smoothing)
        w = np.ones(len(x)) if weights is None else weights
        total, hits = float(w.sum()), float(w @ events)
        if not 0 < hits < total:
            share = (hits + max(more, CLIP)) / (total + 2 * max(more, CLIP))
            return BetaCurve(0.0, 0.0, float(np.log(share) - np.log1p(-share)))
        logs = np.stack([log_expit(x), log_expit(-x)])
        means = np.stack([(logs * (w * side)).sum(axis=1) / (w @ side) for side in (events, ~events)])
        means += (more / (total + more)) * (-1 - means)  # both logs have mean -1 under the uniform law
        (a1, b1), (a0, b0) = fit_beta_laws(means)
        level = np.log((hits + more) / (total - hits + more)) + betaln(a0, b0) - betaln(a1, b1)
        return BetaCurve(float(a1 - a0), float(b0 - b1), float(level))


def fit_beta_laws(means: Array) -> Array:
    r"""Likeliest a and b (k, 2) of beta laws given the means (k, 2) of :math:`\ln s` and :math:`\ln(1 - s)`.

    .. math:: \psi(a) - \psi(a + b) = \overline{\ln s},\quad \psi(b) - \psi(a + b) = \overline{\ln(1 - s)}

    >>> fit_beta_laws(np.array([[-1.0, -1.0]]))
    array([[1., 1.]])
    """

    def evaluate(theta: Array) -> tuple[Array, Array, Array]:
        shapes = np.exp(theta)
        total = shapes.sum(axis=1)
        loss = betaln(*shapes.T) - (shapes * means).sum(axis=1)
        slope = digamma(shapes) - digamma(total)[:, None] - means
        bend = -polygamma(1, total)[:, None, None] + polygamma(1, shapes)[:, :, None] * np.eye(2)
        fisher = shapes[:, :, None] * bend * shapes[:, None, :]  # in the logs of the shapes, at the solution
        return loss, shapes * slope, fisher

    start = np.zeros(means.shape)
    return np.exp(newton(evaluate, start, np.full(2, -np.inf), most=200))
