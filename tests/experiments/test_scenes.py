import math

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from experiments.kuleshov2018.scenes import FIELD, draw_scene, photograph, scenes


def nearest(scene, x, y):
    """Depth of one pixel in double precision, trying each face and each ball in turn."""
    right, up, forward = (axis.astype(float) for axis in scene.axes)
    ray, eye, found = forward + x * right + y * up, scene.eye.astype(float), []
    for s in range(len(scene.solids.centre)):
        centre, half = scene.solids.centre[s].astype(float), scene.solids.half[s].astype(float)
        if s >= scene.solids.boxes:
            a, b = ray @ ray, ray @ (eye - centre)
            inside = b * b - a * ((eye - centre) @ (eye - centre) - half[0] ** 2)
            found += [(-b - math.sqrt(inside)) / a] if inside > 0 else []
            continue
        cosine, sine = scene.solids.turn[s].astype(float)
        sides = np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])
        for axis in range(3):
            for sign in (-1, 1):
                t = (sign * half[axis] - sides[axis] @ (eye - centre)) / (sides[axis] @ ray)
                on_face = np.abs(sides @ (eye + t * ray - centre)) <= half + 1e-6
                found += [t] if t > 0 and on_face.all() else []
    return min(found)


def test_depth_is_that_of_the_nearest_face_or_ball_along_the_optical_axis():
    size = (8, 12)
    for seed in range(4):
        scene = draw_scene(np.random.default_rng(seed))
        _, depth = photograph(scene, size, np.random.default_rng(0))
        literal = [
            [nearest(scene, (j + 0.5 - 6) * FIELD / 12, -(i + 0.5 - 4) * FIELD / 12) for j in range(12)]
            for i in range(8)
        ]
        assert_allclose(depth, literal, rtol=2e-4)


def test_axes_of_the_camera_stand_upright_at_right_angles():
    scene = draw_scene(np.random.default_rng(1))
    assert_allclose(scene.axes @ scene.axes.T, np.eye(3), atol=1e-6)
    assert_allclose(np.cross(scene.axes[0], scene.axes[1]), -scene.axes[2], atol=1e-6)
    assert scene.axes[1, 2] > 0.9


def test_a_picture_depends_on_its_seed_and_number_alone():
    images, depth = scenes(3, (16, 24), seed=5)
    fewer, _ = scenes(2, (16, 24), seed=5)
    assert images.shape == (3, 16, 24, 3) and depth.shape == (3, 16, 24)
    assert images.dtype == depth.dtype == np.float32
    assert_array_equal(images[:2], fewer)
    assert not np.array_equal(images[0], images[1])
    assert not np.array_equal(images[0], scenes(1, (16, 24), seed=6)[0][0])
    assert images.min() >= 0 and images.max() <= 1 and depth.min() > 0


def test_noise_has_the_stated_spread():
    scene = draw_scene(np.random.default_rng(3))
    shots = np.stack([photograph(scene, (16, 24), np.random.default_rng(i))[0] for i in range(200)])
    mean = shots.mean(axis=0)
    seen = (mean > 0.1) & (mean < 0.9)
    assert_allclose(np.mean(shots.var(axis=0)[seen]), np.mean(4e-5 + 4e-4 * mean[seen]), rtol=0.03)


def test_the_floor_before_the_eye_is_nearer_than_what_is_above_it():
    _, depth = scenes(60, (32, 48), seed=0)
    assert np.mean(depth[:, -8:].mean(axis=(1, 2)) < depth[:, 8:16].mean(axis=(1, 2))) > 0.9


def test_things_between_lamp_and_floor_cast_shadows():
    scene = draw_scene(np.random.default_rng(3))
    solids, materials = scene.solids, scene.materials
    bare = scene._replace(
        solids=solids._replace(centre=solids.centre[:1], half=solids.half[:1], turn=solids.turn[:1], boxes=1),
        materials=type(materials)(*(part[[0, -2, -1]] for part in materials)),
    )
    (full, near), (empty, far) = (photograph(s, (48, 72), np.random.default_rng(0)) for s in (scene, bare))
    ratio = (full.mean(axis=2) / empty.mean(axis=2))[near == far]
    assert np.mean(ratio < 0.8) > 0.02
    assert_allclose(np.median(ratio), 1, atol=1e-6)
