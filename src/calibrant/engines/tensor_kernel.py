r"""Rows counted by cells of :math:`\operatorname{asinh} z` in one pass over their columns, by a kernel of a GPU."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..forecasters.backend import Tensor, need_torch
from .tensor_rows import TensorRows

HALF = 2**10  # cells on either side of 0, which a block of threads counts in the memory that it shares
_THREADS, _BLOCKS = 512, 8  # threads a block, and blocks a processor
_MOST = 2**30  # rows at a time: places are whole numbers of 32 bits
_ALIGNED = 16  # bytes: four numbers are read at once
_SOURCE = r"""
extern "C" __global__ void __launch_bounds__(THREADS)
count_cells(const float* __restrict__ y, const float* __restrict__ mean, const float* __restrict__ std,
            unsigned long long* total, double reach, int n) {
    __shared__ unsigned int cells[2 * HALF];
    for (int i = threadIdx.x; i < 2 * HALF; i += THREADS) cells[i] = 0;
    __syncthreads();
    const float limit = (float)reach, scale = (float)(HALF / reach);
    auto count = [&](float outcome, float middle, float unit) {
        const float place = asinhf((outcome - middle) / unit);
        if (fabsf(place) < limit) atomicAdd(cells + min((int)floorf(place * scale) + HALF, 2 * HALF - 1), 1u);
    };
    const float4 *ys = (const float4*)y, *means = (const float4*)mean, *stds = (const float4*)std;
    const int fours = n / 4, rest = n - 4 * fours;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < fours; i += gridDim.x * THREADS) {
        const float4 a = __ldcs(ys + i), b = __ldcs(means + i), c = __ldcs(stds + i);
        count(a.x, b.x, c.x);
        count(a.y, b.y, c.y);
        count(a.z, b.z, c.z);
        count(a.w, b.w, c.w);
    }
    if (blockIdx.x == 0 && threadIdx.x < rest) {
        const int i = 4 * fours + threadIdx.x;
        count(y[i], mean[i], std[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * HALF; i += THREADS)
        if (cells[i]) atomicAdd(total + i, (unsigned long long)cells[i]);
}
"""


def counted(rows: TensorRows, reach: float) -> Tensor | None:
    """Rows by each of 2 048 cells between -reach and reach; None where rows or machine are not made for it.

    Columns must be of single precision, on a GPU of NVIDIA's, without gaps, and lie one number after another. Kernels
    are compiled by a library that comes with torch, but with the headers of a CUDA toolkit.
    """
    columns = (rows.y, rows.mean, rows.std)
    if rows.gaps or not all(_as_wanted(column) for column in columns):
        return None
    torch, device = need_torch(), rows.mean.device
    with torch.cuda.device(device):
        kernel = _kernel(device.index)
        if kernel is None:
            return None
        total = torch.zeros(2 * HALF, dtype=torch.int64, device=device)
        grid = (_BLOCKS * torch.cuda.get_device_properties(device).multi_processor_count, 1, 1)
        for start in range(0, len(rows), _MOST):
            some = [column[start : start + _MOST] for column in columns]
            kernel(grid=grid, block=(_THREADS, 1, 1), args=[*some, total, float(reach), len(some[0])])
    return total


def _as_wanted(column: Tensor) -> bool:
    torch = need_torch()
    plain = column.is_cuda and column.dtype == torch.float32 and column.is_contiguous()
    return bool(plain and column.data_ptr() % _ALIGNED == 0)


@cache
def _kernel(device: int) -> Any:
    """Compiled once for each device, in a fifth of a second; None where that cannot be."""
    torch = need_torch()
    compiler = getattr(torch.cuda, "_compile_kernel", None)  # torch 2.9
    if compiler is None or torch.version.hip is not None:
        return None
    try:
        return compiler(f"#define THREADS {_THREADS}\n#define HALF {HALF}\n{_SOURCE}", "count_cells")
    except (OSError, RuntimeError):  # no toolkit, or one that does not fit
        return None
