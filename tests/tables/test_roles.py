"""Errors name arguments as their reader writes them."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from calibrant.cli.options import COLUMNS, READING, as_option
from calibrant.tables.detection import ROLES, Asked, find_columns
from calibrant.tables.reading import Reading
from calibrant.tables.roles import InputError, Role, RoleError, SpelledError, in_python
from calibrant.tables.sources import open_table
from calibrant.tables.writing import check_output


def test_both_spellings():
    error = RoleError("`{x}` is {y:.2f}: say {quantile:0.1={x}}, {given} or {class_prefix}.", x="{a}", y=1 / 3,
                      given=Role("probability", "'no'"))  # fmt: skip
    assert str(error) == "`{a}` is 0.33: say quantile=['0.1={a}'], probability=['no'] or class_prefix=."
    assert error.spelled(as_option) == "`{a}` is 0.33: say --quantile 0.1={a}, --probability 'no' or --class-prefix."
    assert isinstance(error, ValueError) and isinstance(error, SpelledError)


def test_copies_say_the_same():
    for error in (RoleError("{a} {target}", a="{b}"), InputError("{path}: {overwrite:True}", path="x")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)


@pytest.mark.parametrize(
    ("names", "asked", "python", "options"),
    [
        ("mu sigma y", Asked(mean="mu"), "mean= needs std= beside it", "--mean needs --std beside it"),
        ("a y", Asked(), "Say mean= and std=, quantile=, sample_prefix=, point=, class_prefix= or probability=.",
         "Say --mean and --std, --quantile, --sample-prefix, --point, --class-prefix or --probability."),
        ("mu sigma z", Asked(), "Say target=; it has", "Say --target; it has"),
        ("a{0} y", Asked(quantile=["a{0}"]),
         "quantile=['a{0}'] must tell a level between 0 and 1, like quantile=['0.1=a{0}'].",
         "--quantile 'a{0}' must tell a level between 0 and 1, like --quantile 0.1=a{0}."),
        ("a y", Asked(quantile=["0.5="]), "must be like quantile=['0.1=q10'].", "must be like --quantile 0.1=q10."),
        ("a y", Asked(sample_prefix="s"), "sample_prefix='s': no column", "--sample-prefix 's': no column"),
        ("a y", Asked(probability=["a"]), "like probability=['spam=p_spam'].", "like --probability spam=p_spam."),
    ],
)  # fmt: skip
def test_what_is_said_to_whom(names, asked, python, options):
    table = open_table(pa.table({name: [0.5, 0.25] for name in names.split()}))
    with pytest.raises(RoleError) as caught:
        find_columns(table, asked)
    assert python in str(caught.value) and options in caught.value.spelled(as_option)


def test_files(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    with pytest.raises(InputError, match="or say overwrite=True") as caught:
        check_output(path, path)
    assert caught.value.spelled(as_option) == f"`{path}` is an input; give another output, or say --overwrite."


def test_every_role_is_an_argument():
    known = {*vars(Asked()), *vars(Reading())} - {"reading"}
    assert {*COLUMNS, *READING} == known
    roles = [field for text in ROLES.values() for field in text.replace("}", "{").split("{")[1::2]]
    assert set(roles) <= known
    lists = {name for name, value in vars(Asked()).items() if isinstance(value, list)}
    assert {name for name in known if in_python(name, "x").endswith("]")} == lists
