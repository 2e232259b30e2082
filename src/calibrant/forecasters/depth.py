"""Depth, or any other number, of each pixel of an image."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from .._checks import Array, complain, count, number, plain_array, sample_weights, to_array
from ..distributions import Distribution, Normal
from .backend import Tensor, check_device, generator_of, need_torch
from .base import NetRegressor
from .dense_blocks import PLACE, Sizes, dense_forward, dense_shapes
from .likelihood import mean_losses, variance
from .mlp import start_mlp
from .scaling import Scaling, scaling_of_known
from .training import Parameters

_Float32 = NDArray[np.float32]


class DenseDepthNet(NetRegressor):
    r"""State a mean and a variance of each pixel by a fully convolutional net of dense blocks.

    The net goes down to coarser images and up again, each layer seeing all that came before it in its block, with
    skips across (after Jégou et al. 2017), and makes small the mean over pixels of

    .. math:: \tfrac12 e^{-s}(y - m)^2 + \tfrac12 s

    with m and :math:`s = \log\sigma^2` its outputs (Kendall & Gal 2017). Dropout stays on in forecasts: of S passes

    .. math:: N\Big(\bar m,\ \tfrac1S\sum_t \sigma_t^2 + \tfrac1S\sum_t (m_t - \bar m)^2\Big)

    Rows of the forecast are pixels: the first image row by row, each from left to right, then the next, as
    ``depth.ravel()`` has them. Forecasts and calibrators work through millions of pixels a few images at a time:
    ``for part in parts: calibrator.partial_fit(net.predict_dist(images[part]), depth[part].ravel())``.

    Parameters
    ----------
    stem, growth, layers, halvings : int, default 24, 12, 3 and 3
        Channels at first, channels that a layer adds, layers a block, and how often the image is halved.
    dropout : float in [0, 1), default 0.2
        Share of the new channels of a layer that is left out, by image.
    n_passes : int, default 10
        Passes S, all made at once; 1 is without dropout.
    max_epochs, batch_size : int, default 60 and 8
        Rows are images.
    learning_rate, validation_fraction, patience, random_state, device, verbose
        As in `DropoutMLP`.

    Attributes
    ----------
    parameters_ : dict of ndarray
    loss_curve_ : ndarray (epochs, 1)
        Held-out loss after each epoch; in training, where no image was held out.
    inputs_, target_ : Scaling
        How channels and the target are standardised.
    n_channels_ : int
    n_rows_ : int
        Images that were learned from.
    n_train_ : float
        Those that were not held out, by weight.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> images = rng.random((4, 8, 12, 3), dtype=np.float32)
    >>> net = DenseDepthNet(stem=4, growth=2, layers=1, halvings=1, max_epochs=1).fit(images, images.sum(axis=3))
    >>> net.predict_dist(images), net.moments(images)[0].shape
    (Normal(n=384), (4, 8, 12))

    Differs from the paper in: a smaller net, with channels normalised by image and not by batch, whole channels
    dropped, nearest pixels in place of transposed convolutions, and two channels that tell where a pixel is; early
    stopping; a normal law of each pixel, where Kendall & Gal train on absolute errors; missing depth (NaN) is left out.
    """

    n_channels_: int

    def __init__(
        self,
        *,
        stem: int = 24,
        growth: int = 12,
        layers: int = 3,
        halvings: int = 3,
        dropout: float = 0.2,
        n_passes: int = 10,
        max_epochs: int = 60,
        batch_size: int = 8,
        learning_rate: float = 2e-3,
        validation_fraction: float = 0.1,
        patience: int = 10,
        random_state: Any = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        super().__init__(
            max_epochs=max_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            validation_fraction=validation_fraction,
            patience=patience,
            random_state=random_state,
            device=device,
            verbose=verbose,
        )
        self.stem = stem
        self.growth = growth
        self.layers = layers
        self.halvings = halvings
        self.dropout = dropout
        self.n_passes = n_passes

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like (n, h, w, channels)
            Images, of any size and number type.
        y : array-like (n, h, w)
            Depth of each pixel; NaN where it is not known.
        sample_weight : array-like (n,), optional
            Frequencies of images.
        """
        return super().fit(X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        """Means (n, h, w) of the forecasts of images (n, h, w, channels)."""
        return self.predict_dist(X).mean().reshape(np.shape(X)[:3])

    def moments(self, X: Any) -> tuple[_Float32, _Float32]:
        """Means and deviations (n, h, w) of the forecasts, in single precision."""
        law: Any = self.predict_dist(X)
        mean, deviation = (part.astype(np.float32).reshape(np.shape(X)[:3]) for part in (law.loc, law.scale))
        return mean, deviation

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the variance of the known pixels that the means explain; 1 is perfect."""
        truth, weights = self._depth(y), sample_weights(sample_weight, len(y))
        each = None if weights is None else np.repeat(weights, truth[0].size)[np.isfinite(truth).ravel()]
        known = np.isfinite(truth)
        return float(r2_score(truth[known], self.predict(X)[known], sample_weight=each))

    # ---- what a net gives ----
    def _read(self, X: Any, y: Any = None) -> Any:
        images = plain_array(X)
        images = (images if images.dtype.kind in "biuf" else to_array(X, "X")).astype(np.float32, copy=False)
        if images.ndim != 4 or images.size == 0:
            raise ValueError(f"`X` must be images (n, h, w, channels); got shape {images.shape}.")
        complain("X", "finite", images, ~np.isfinite(images))
        if y is None:
            if images.shape[3] != self.n_channels_:
                raise ValueError(f"`X` must have {self.n_channels_} channels, as in fit; got {images.shape[3]}.")
            return images
        depth = self._depth(y)
        if depth.shape != images.shape[:3]:
            raise ValueError(f"`y` must be {images.shape[:3]}, a number a pixel; got shape {depth.shape}.")
        self.n_channels_ = images.shape[3]
        return images, depth

    def _depth(self, y: Any) -> Array:
        depth = to_array(y, "y")
        complain("y", "finite, or NaN where not known", depth, np.isinf(depth))
        if not np.isfinite(depth).any():
            raise ValueError("`y` must be known in some pixel; it is missing in all.")
        return depth

    def _scales(self, X: Array, y: Array, weights: Array) -> tuple[Scaling, Scaling]:
        inputs = Scaling.of(X, weights)
        return Scaling(inputs.mean.astype(float), inputs.scale.astype(float)), scaling_of_known(y[..., None], weights)

    @property
    def _shares_training(self) -> bool:
        return False

    def _sizes(self) -> Sizes:
        return Sizes(self.stem, self.growth, self.layers, self.halvings)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return dense_shapes(self._sizes(), self.n_channels_ + PLACE)

    def _start(self, generator: Any) -> Parameters:
        return start_mlp(self._shapes(), generator)

    def _work(self, X: Array) -> float:
        return super()._work(X) * X[0, ..., 0].size

    def _row_losses(self, parameters: Parameters, x: Tensor, y: Tensor, generator: Any) -> Tensor:
        torch = need_torch()
        dropout = None if generator is None else (self.dropout, generator)
        parts = zip(x[0].split(self.batch_size), y[0].split(self.batch_size), strict=True)
        return torch.cat([self._image_losses(parameters, *part, dropout) for part in parts])[None]

    def _image_losses(self, parameters: Parameters, images: Tensor, depth: Tensor, dropout: Any) -> Tensor:
        outputs = dense_forward(parameters, images, self._sizes(), dropout)
        flat = depth.flatten(1)
        return mean_losses(outputs.flatten(1, 2), flat.nan_to_num(), flat.isfinite())

    def _law(self, X: Array) -> Distribution:
        widest = max(shape[-2] for shape in self._shapes().values()) // 9 + self.growth
        generator = generator_of(self.seed_, check_device(self.device))

        def moments(parameters: Parameters, x: Tensor) -> Tensor:
            return passed(parameters, x[0], self._sizes(), (self.dropout, generator), self.n_passes).flatten(0, 2)

        mean, var = self._outputs(X, moments, X[0, ..., 0].size * self.n_passes * widest).T
        return Normal(self.target_.mean + self.target_.scale * mean, self.target_.scale * np.sqrt(var))

    def _check(self) -> None:
        super()._check()
        for name in ("stem", "growth", "layers", "n_passes"):
            count(getattr(self, name), name)
        count(self.halvings, "halvings", 0)
        number(self.dropout, "dropout", least=0.0, below=1.0)

    def _check_sound(self) -> None:
        self._check()
        super()._check_sound()
        if self.inputs_.mean.shape != (self.n_channels_,) or self.target_.mean.shape != (1,):
            raise ValueError("DenseDepthNet must have a scaling of each channel and of the target.")


def passed(parameters: Parameters, images: Tensor, sizes: Sizes, dropout: tuple[float, Any], passes: int) -> Tensor:
    """Means and variances (b, h, w, 2) over passes of images (b, h, w, channels), all at once; 1 is without dropout."""
    torch = need_torch()
    if passes == 1:
        outputs = dense_forward(parameters, images, sizes)
        return torch.stack([outputs[..., 0], variance(outputs)], dim=-1)
    outputs = dense_forward(parameters, images.repeat(passes, 1, 1, 1), sizes, dropout)
    outputs = outputs.reshape(passes, *images.shape[:3], 2)
    mean, noise = outputs[..., 0], variance(outputs)
    return torch.stack([mean.mean(dim=0), noise.mean(dim=0) + mean.var(dim=0, correction=0)], dim=-1)
