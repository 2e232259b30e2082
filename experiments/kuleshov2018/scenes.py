"""Furnished rooms with exact depth, made by casting a ray a pixel.

Photographs with measured depth (Make3D) cannot be had everywhere; these can. A room holds boxes and balls of several
materials with procedural textures, under one to three lamps that cast shadows; the sensor has shot and read noise.
Tiles, bricks and boards have the sizes of real ones, lamps fade with distance and the lens is always the same, so that
depth can be learned from perspective, texture and shading. Depth is metres along the optical axis, as in depth maps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
FIELD = 1.2  # width of the picture at depth 1: a lens of 62 degrees
TOUCH = 2e-3  # metres that a shadow ray starts off the surface
PLAIN, CHECKS, STRIPES, BRICKS, CLOUDS = range(5)


class Solids(NamedTuple):
    """Boxes, the room first, then balls; the room is the box that is seen from within."""

    centre: Floats
    """(s, 3)"""
    half: Floats
    """(s, 3); of a ball its radius thrice"""
    turn: Floats
    """(s, 2): cosine and sine of the turn about the vertical"""
    boxes: int
    """how many of them are boxes"""


class Materials(NamedTuple):
    """What the solids are made of, one row each, then the floor and the ceiling of the room."""

    kind: NDArray[np.intp]
    first: Floats
    """(s, 3) colour"""
    second: Floats
    """(s, 3) colour of the pattern"""
    size: Floats
    """(s,) metres of a tile, board or cloud"""
    gloss: Floats
    """(s,)"""


class Lamps(NamedTuple):
    """Points that shine."""

    place: Floats
    """(l, 3)"""
    power: Floats
    """(l, 3) by colour"""


class Scene(NamedTuple):
    """All that one picture needs."""

    solids: Solids
    materials: Materials
    lamps: Lamps
    eye: Floats
    """(3,)"""
    axes: Floats
    """(3, 3): right, up and forward, one a row"""


def scenes(n: int, size: tuple[int, int] = (64, 96), seed: int = 0) -> tuple[Floats, Floats]:
    """Pictures (n, h, w, 3) in [0, 1] and their depth in metres (n, h, w); picture i depends on seed and i alone."""
    images, depth = np.empty((n, *size, 3), np.float32), np.empty((n, *size), np.float32)
    for i in range(n):
        rng = np.random.default_rng([seed, i])
        images[i], depth[i] = photograph(draw_scene(rng), size, rng)
    return images, depth


def draw_scene(rng: np.random.Generator) -> Scene:
    """A room of 4 to 14 metres with up to nine things in it, seen from near one of its walls."""
    wide, deep, high = rng.uniform(2, 5), rng.uniform(2, 7), rng.uniform(2.4, 4)
    eye = np.array([rng.uniform(-0.5, 0.5) * wide, 0.3 - deep, rng.uniform(1, 1.8)])
    yaw, pitch = rng.uniform(-0.4, 0.4), rng.uniform(-0.3, 0.02)
    forward = np.array([np.sin(yaw) * np.cos(pitch), np.cos(yaw) * np.cos(pitch), np.sin(pitch)])
    right = np.array([np.cos(yaw), -np.sin(yaw), 0.0])
    solids = _furnish(rng, eye, yaw, np.array([wide, deep, high / 2]))
    count = rng.integers(1, 4)
    place = np.column_stack([rng.uniform(-0.8, 0.8, (count, 2)) * [wide, deep], rng.uniform(0.7, 0.97, count) * high])
    power = rng.uniform(0.7, 1.3, (count, 3)) * rng.uniform(9, 18, (count, 1)) / np.sqrt(count)
    lamps = Lamps(place.astype(np.float32), power.astype(np.float32))
    axes = np.stack([right, np.cross(right, forward), forward]).astype(np.float32)
    return Scene(solids, _paint(rng, len(solids.centre) + 2), lamps, eye.astype(np.float32), axes)


def _furnish(rng: np.random.Generator, eye: Any, yaw: float, room: Any) -> Solids:
    """Boxes on the floor and balls anywhere, ahead of the eye and within the room."""
    boxes, balls = rng.integers(2, 6), rng.integers(1, 5)
    things = boxes + balls
    angle, far = yaw + rng.uniform(-0.5, 0.5, things), 1.6 + rng.beta(1, 1.5, things) * 2 * room[1]
    half = rng.uniform(0.15, 0.6, (things, 3))
    half[boxes:] = 0.7 * half[boxes:, :1]
    reach = room[:2] - 0.2
    centre = np.column_stack([eye[0] + far * np.sin(angle), eye[1] + far * np.cos(angle), half[:, 2]])
    centre[:, :2] = np.clip(centre[:, :2], -reach, reach)
    centre[:, 1] = np.maximum(centre[:, 1], eye[1] + 1.4)
    centre[boxes:, 2] += rng.uniform(0, 1.2, balls) * rng.integers(0, 2, balls)
    turn = np.r_[0.0, rng.uniform(0, np.pi, boxes), np.zeros(balls)]
    return Solids(
        np.vstack([[0, 0, room[2]], centre]).astype(np.float32),
        np.vstack([room, half]).astype(np.float32),
        np.column_stack([np.cos(turn), np.sin(turn)]).astype(np.float32),
        1 + int(boxes),
    )


def _paint(rng: np.random.Generator, count: int) -> Materials:
    """Materials; sizes scatter by a tenth about .3 m, so that a pattern tells how far it is."""
    first = rng.uniform(0.25, 0.95, (count, 3))
    first = 0.5 * first + 0.5 * first.mean(axis=1, keepdims=True)
    second = first * rng.uniform(0.25, 0.7, (count, 1))
    kind = rng.choice(5, count, p=[0.1, 0.25, 0.2, 0.25, 0.2])
    kind[[0, -2, -1]] = rng.choice([PLAIN, BRICKS, CLOUDS]), rng.choice([CHECKS, STRIPES, BRICKS]), PLAIN
    size, gloss = 0.3 * np.exp(0.1 * rng.standard_normal(count)), rng.uniform(0, 0.6, count)
    return Materials(kind, *(part.astype(np.float32) for part in (first, second, size, gloss)))


def photograph(scene: Scene, size: tuple[int, int], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The noisy picture (h, w, 3) of a scene and its depth (h, w)."""
    rays = _rays(scene.axes, size)
    near, far = _crossings(scene.solids, scene.eye[:, None], rays)
    near[0] = far[0]
    which = near.argmin(axis=0)
    depth = near[which, np.arange(rays.shape[1])]
    point = scene.eye[:, None] + depth * rays
    normal, inner = _surface(scene.solids, which, point, rays)
    level = np.where(normal[2] > 0.5, len(near), np.where(normal[2] < -0.5, len(near) + 1, 0))
    stuff = np.where(which == 0, level, which)
    colour = _texture(scene.materials, stuff, inner, depth * np.float32(FIELD / size[1]))
    light = _shade(scene, stuff, point, normal, rays, colour)
    clean = 1 - np.exp(-light)
    noise = rng.standard_normal(clean.shape, dtype=np.float32) * np.sqrt(4e-5 + 4e-4 * clean)
    return np.clip(clean + noise, 0, 1).T.reshape(*size, 3), depth.reshape(size)


def _rays(axes: Floats, size: tuple[int, int]) -> Floats:
    """Directions (3, pixels) of length 1 along the optical axis, so that the way to a point is its depth."""
    h, w = size
    across = (np.arange(w, dtype=np.float32) + 0.5 - w / 2) * (FIELD / w)
    down = (np.arange(h, dtype=np.float32) + 0.5 - h / 2) * (FIELD / w)
    x, y = np.broadcast_arrays(across, -down[:, None])
    rays = axes.T @ np.stack([x.ravel(), y.ravel(), np.ones(h * w)]).astype(np.float32)
    return np.where(np.abs(rays) < 1e-7, np.float32(1e-7), rays)


def _crossings(solids: Solids, start: Floats, rays: Floats) -> tuple[Floats, Floats]:
    """Where rays enter and leave the solids, (s, pixels) each; what is missed or behind is at infinity."""
    b = solids.boxes
    offset, along = (_turned(solids.turn[:b], part) for part in (start - solids.centre[:b, :, None], rays[None]))
    along = np.where(np.abs(along) < 1e-7, np.float32(1e-7), along)
    ends, middle = np.abs(solids.half[:b, :, None] / along), -offset / along
    box_near, box_far = (middle - ends).max(axis=1), (middle + ends).min(axis=1)
    offset = start - solids.centre[b:, :, None]
    square, cross = (rays * rays).sum(axis=0), (offset * rays).sum(axis=1)
    inside = cross**2 - square * ((offset * offset).sum(axis=1) - solids.half[b:, :1] ** 2)
    root = np.sqrt(np.maximum(inside, 0))
    near = np.concatenate([box_near, (-cross - root) / square])
    far = np.concatenate([box_far, np.where(inside > 0, (-cross + root) / square, -np.inf)])
    missed = (far < near) | (near < 0)
    return np.where(missed, np.inf, near).astype(np.float32), far.astype(np.float32)


def _turned(turn: Floats, vectors: Floats) -> Floats:
    """Vectors (s or 1, 3, pixels) in the frames of solids."""
    cosine, sine = turn[:, :1], turn[:, 1:]
    x, y, z = (vectors[:, axis] for axis in range(3))
    turned = cosine * x + sine * y, cosine * y - sine * x
    return np.stack([*turned, np.broadcast_to(z, turned[0].shape)], axis=1)


def _surface(solids: Solids, which: Any, point: Floats, rays: Floats) -> tuple[Floats, Floats]:
    """Normals (3, pixels) that look at the eye, and the places on the surface, 0 across it."""
    turn = solids.turn[which].T
    offset = point - solids.centre[which].T
    inner = np.stack([turn[0] * offset[0] + turn[1] * offset[1], turn[0] * offset[1] - turn[1] * offset[0], offset[2]])
    face = np.abs(inner / solids.half[which].T).argmax(axis=0)
    flat = np.zeros_like(inner)
    flat[face, np.arange(face.size)] = 1
    standing = np.stack([turn[0] * flat[0] - turn[1] * flat[1], turn[1] * flat[0] + turn[0] * flat[1], flat[2]])
    ball = which >= solids.boxes
    normal = np.where(ball, offset / solids.half[which].T, standing)
    facing = np.where((normal * rays).sum(axis=0) > 0, -1, 1)
    return (normal * facing).astype(np.float32), np.where(ball, inner, inner * (1 - flat))


def _texture(materials: Materials, stuff: Any, inner: Floats, pixel: Floats) -> Floats:
    """Colours (3, pixels); a pattern fades where a pixel is as wide as it."""
    size = materials.size[stuff]
    x, y, z = inner / size
    course = 2 * np.where(z == 0, y, z)
    along = np.where(x == 0, y, x) + 0.5 * np.floor(course)
    joint = (np.abs(along % 1 - 0.5) > 0.46) | (np.abs(course % 1 - 0.5) > 0.42)
    checks = (np.floor(x) + np.floor(y) + np.floor(z)) % 2
    stripes = np.floor(3 * (x + y)) % 2
    clouds = 0.5 + 0.25 * (np.sin(5 * x + 2 * np.sin(3 * y + z)) + np.sin(4 * z + 3 * y + 2 * np.sin(2 * x)))
    pattern = np.choose(materials.kind[stuff], [np.zeros_like(x), checks, stripes, joint, clouds])
    share = pattern * np.minimum(1, size / (4 * pixel))
    first, second = materials.first[stuff].T, materials.second[stuff].T
    return (first + share * (second - first)).astype(np.float32)


def _shade(scene: Scene, stuff: Any, point: Floats, normal: Floats, rays: Floats, colour: Floats) -> Floats:
    """Light (3, pixels) that comes back: a little from everywhere, and from each lamp that is in sight."""
    light = 0.12 * colour
    start = point + TOUCH * normal
    ahead = rays / np.sqrt((rays * rays).sum(axis=0))
    for place, power in zip(scene.lamps.place, scene.lamps.power, strict=True):
        way = place[:, None] - start
        far = np.sqrt((way * way).sum(axis=0))
        blocked = (_crossings(scene.solids, start, way)[0][1:] < 1).any(axis=0)
        toward = way / far
        facing = np.maximum((toward * normal).sum(axis=0), 0)
        half = toward - ahead
        shine = np.maximum((half * normal).sum(axis=0), 0) / np.sqrt((half * half).sum(axis=0) + 1e-9)
        back = colour * facing + scene.materials.gloss[stuff] * shine**40
        light += power[:, None] * np.where(blocked, 0, 1 / (1 + far * far)) * back
    return light.astype(np.float32)
