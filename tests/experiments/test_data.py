from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from experiments.data import (
    classification_sets,
    data_folder,
    frame_of,
    load,
    regression_sets,
    splits,
    time_folds,
    unsplit_time_series,
)

CAUTIONS = {
    "plain": "",
    "fires": "2 zero targets; model log(1+area)",
    "panel": "panel of daily series; split by time",
    "prices": "rows in time order",
    "labels": "",
}
TABLES = {
    "plain": "size,colour,price\n1.5,red,10\n2.5,blue,20\n3.5,red,30\n4.5,blue,40\n",
    "fires": "wind,area\n1,0\n2,0\n3,1.718281828459045\n",
    "panel": "date,rain,demand\n2024-01-01,1,5\n2024-01-03,3,7\n2024-01-01,2,6\n2024-01-02,4,8\n",
    "prices": "a,b\n1,5\n2,7\n3,6\n",
    "labels": "x,class\n1,b\n2,a\n3,b\n",
}
CATEGORICAL = {"plain": ["colour"], "panel": ["date"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    entries = []
    for name, text in TABLES.items():
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt", encoding="utf8") as file:
            file.write(text)
        target = text.split("\n", 1)[0].split(",")[-1]
        task = "classification" if name == "labels" else "regression"
        entry = {"name": name, "file": f"{name}.csv.gz", "task": task, "target": target}
        entries.append({**entry, "categorical_features": CATEGORICAL.get(name, [])})
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"datasets": entries}), encoding="utf8")
    head = "| name | task | rows | features | target | caution |\n| --- | --- | --- | --- | --- | --- |\n"
    rows = "".join(f"| {name} | regression | 4 | 2 | t | {caution} |\n" for name, caution in CAUTIONS.items())
    (tmp_path / "README.md").write_text(head + rows, encoding="utf8")
    return tmp_path


def test_sets_are_listed_by_task_and_diabetes_counts(folder: Path) -> None:
    assert regression_sets(folder) == ["plain", "fires", "panel", "prices", "diabetes"]
    assert classification_sets(folder) == ["labels"]
    assert load("diabetes", folder).X.shape == (442, 10)


def test_categories_become_indicators_and_numbers_stay(folder: Path) -> None:
    data = load("plain", folder)
    assert data.features == ("size", "colour_blue", "colour_red")
    np.testing.assert_array_equal(data.X, [[1.5, 0, 1], [2.5, 1, 0], [3.5, 0, 1], [4.5, 1, 0]])
    np.testing.assert_array_equal(data.y, [10, 20, 30, 40])
    assert not data.time_ordered and data.groups is None and len(data) == 4


def test_frames_keep_categories(folder: Path) -> None:
    frame = frame_of("plain", folder)
    assert list(frame) == ["size", "colour"] and str(frame["colour"].dtype) == "category"
    assert frame["size"].tolist() == [1.5, 2.5, 3.5, 4.5] and frame["colour"].tolist() == ["red", "blue"] * 2


def test_rows_in_time_order_are_split_by_time_on_request(folder: Path) -> None:
    assert unsplit_time_series(folder) == ["prices"]
    assert load("prices", folder).time is None
    assert load("prices", folder, by_time=True).time_ordered and not load("plain", folder, by_time=True).time_ordered


def test_caution_asks_for_the_logarithm(folder: Path) -> None:
    np.testing.assert_allclose(load("fires", folder).y, [0, 0, 1], rtol=1e-15)


def test_time_ordered_rows_are_sorted_by_date_with_calendar_features(folder: Path) -> None:
    data = load("panel", folder)
    assert data.time_ordered and data.time is not None
    np.testing.assert_array_equal(data.time, [0, 0, 1, 2])
    np.testing.assert_array_equal(data.y, [5, 6, 8, 7])
    weekdays = [i for i, name in enumerate(data.features) if name.startswith("weekday_")]
    assert [data.features[i] for i in weekdays] == [
        "weekday_0",
        "weekday_1",
        "weekday_2",
    ]  # 1 January 2024 was a Monday
    np.testing.assert_array_equal(data.X[:, weekdays], [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(data.X[:, data.features.index("day")], [0, 0, 1, 2])


def test_labels_become_codes(folder: Path) -> None:
    np.testing.assert_array_equal(load("labels", folder).y, [1, 0, 1])


def test_random_splits_part_the_rows_and_repeat_with_the_seed(folder: Path) -> None:
    data = load("diabetes", folder)
    first, again = list(splits(data, 3, seed=1)), list(splits(data, 3, seed=1))
    for (train, test), (train_again, test_again) in zip(first, again, strict=True):
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(442))
        assert len(test) == 110
        np.testing.assert_array_equal(train, train_again)
        np.testing.assert_array_equal(test, test_again)
    assert not np.array_equal(first[0].test, first[1].test)
    assert np.any(np.diff(first[0].train) < 0), "shuffled, so that unshuffled folds are random"


def test_rolling_splits_train_on_the_past_and_test_on_the_next_block(tmp_path: Path, folder: Path) -> None:
    days = np.repeat(np.arange(40), 2)
    lines = "".join(f"2024-{1 + d // 28:02d}-{1 + d % 28:02d},{i},{i}\n" for i, d in enumerate(days))
    with gzip.open(folder / "panel.csv.gz", "wt", encoding="utf8") as file:
        file.write("date,rain,demand\n" + lines)
    data = load("panel", folder)
    assert data.time is not None
    origins = []
    for train, test in splits(data, 5):
        assert data.time[train].max() < data.time[test].min()
        assert len(train) + len(test) <= 80 and len(test) == 8  # a tenth of 40 days, two series
        np.testing.assert_array_equal(test, len(train) + np.arange(8))  # the whole next block, nothing between
        origins.append(len(train) // 2)
    assert origins == [20, 24, 28, 32, 36]


def test_time_folds_predict_each_block_from_the_rows_before_it() -> None:
    time = np.repeat(np.arange(20.0), 3)
    folds = time_folds(time, 5)
    assert [len(fold.test) for fold in folds] == [6] * 5
    assert [len(fold.train) for fold in folds] == [30, 36, 42, 48, 54]
    assert all(time[fold.train].max() < time[fold.test].min() for fold in folds)


def test_a_missing_folder_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"Pass --data FOLDER or set CALIBRANT_DATA"):
        data_folder()
    with pytest.raises(FileNotFoundError, match=r"nowhere` is not a data folder: it has no MANIFEST.json"):
        data_folder(tmp_path / "nowhere")
    monkeypatch.setenv("CALIBRANT_DATA", str(folder))
    assert data_folder() == folder


def test_an_unknown_set_names_the_known_ones(folder: Path) -> None:
    with pytest.raises(
        ValueError, match=r"`name` must be one of plain, fires, panel, prices, labels, diabetes; got 'plane'"
    ):
        load("plane", folder)
