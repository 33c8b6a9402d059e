"""Files: saved, opened, mapped, damaged, of the wrong type."""
import errno
import os
import pathlib
import subprocess
import sys

import pytest

import tamis
from conftest import SEED


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "saved.tamis"
    tamis.Set(range(1000), capacity=1000, seed=SEED).save(path)
    return path


@pytest.mark.parametrize("make_path", [pathlib.Path, str, os.fsencode])
def test_a_saved_set_opens_under_every_sort_of_path(tmp_path, make_path):
    path = make_path(tmp_path / "s\xe9.tamis")
    s = tamis.Set(range(1000), capacity=1000, seed=SEED)
    s.save(path)
    assert bytes(tamis.open(path)) == bytes(s) == open(path, "rb").read()
    assert type(tamis.open(path)) is tamis.Set


def test_a_mapped_set_is_read_only(saved):
    with tamis.open(saved, map=True) as s:
        assert s.is_mapped and s.contains(range(1000)).all() and s.info.is_mapped
        for change in (lambda: s.add(1), lambda: s.update([1]), lambda: s.remove(1), s.clear):
            with pytest.raises(tamis.ReadOnlyError, match="copy"):
                change()
        changeable = s.copy()
    changeable.add("more")
    assert "more" in changeable
    assert not tamis.open(saved, trust=True).is_mapped


def test_a_file_that_is_not_trusted_has_a_limit(tmp_path):
    path = tmp_path / "grows.tamis"
    tamis.Set(capacity=1000, grow_to=100_000).save(path)
    with pytest.raises(MemoryError, match="too large"):
        tamis.open(path, max_bytes=100)
    limited = tamis.Set.open(path, max_bytes=20_000)
    with pytest.raises(MemoryError):
        limited.update(range(100_000))


def test_bytes_that_are_not_trusted_have_a_limit():
    for made in (tamis.Set(capacity=1000, grow_to=100_000), tamis.Counter(capacity=1000, grow_to=100_000)):
        with pytest.raises(MemoryError, match="too large"):
            type(made).from_bytes(bytes(made), max_bytes=100)
        limited = type(made).from_bytes(bytes(made), max_bytes=20e3)
        with pytest.raises(MemoryError):
            limited.update(range(100_000))
    states = tamis.States(values=4, capacity=1000, grow_to=100_000)
    with pytest.raises(MemoryError, match="too large"):
        tamis.States.from_bytes(bytes(states), max_bytes=100)


def test_a_limit_is_a_whole_number(tmp_path):
    path = tmp_path / "some.tamis"
    made = tamis.Set(capacity=100)
    made.save(path)
    for wrong in (-1, 2**64, 2**64 + 100, 10**30, 0.5, float("nan"), float("inf"), "1", b"1", [1]):
        for read in (lambda: tamis.open(path, max_bytes=wrong), lambda: tamis.Set.open(path, max_bytes=wrong),
                     lambda: tamis.Set.from_bytes(bytes(made), max_bytes=wrong)):
            with pytest.raises(tamis.ArgumentError, match="max_bytes"):
                read()
    for right in (0, None, 1e6, 2**64 - 1):
        assert tamis.open(path, max_bytes=right).capacity == tamis.Set.from_bytes(bytes(made), max_bytes=right).capacity


def test_missing_and_forbidden_files_are_the_os_errors_of_python(tmp_path, saved):
    with pytest.raises(FileNotFoundError) as caught:
        tamis.open(tmp_path / "nobody.tamis")
    assert isinstance(caught.value, tamis.Error) and caught.value.errno == errno.ENOENT
    assert "nobody.tamis" in str(caught.value) and "nobody.tamis" in str(caught.value.filename)
    with pytest.raises(OSError):
        tamis.open(saved).save(tmp_path / "no" / "such" / "folder")
    with pytest.raises(OSError):
        tamis.open(tmp_path)


def test_damaged_files_are_refused(saved):
    whole = saved.read_bytes()
    for damaged in (b"", b"nonsense" * 100, whole[:-1], whole[:100], whole[:-9] + b"x" + whole[-8:]):
        with pytest.raises(tamis.FormatError):
            tamis.Set.from_bytes(damaged)
        saved.write_bytes(damaged)
        with pytest.raises(ValueError):
            tamis.open(saved)


def test_open_finds_the_class_of_a_file(tmp_path):
    path = tmp_path / "some.tamis"
    for made in (tamis.Set(capacity=100), tamis.Counter(capacity=100),
                 tamis.States(values=4, capacity=100)):
        made.save(path)
        assert type(tamis.open(path)) is type(made) is type(tamis.open(path, map=True))
        assert type(type(made).open(path)) is type(made)
    with pytest.raises(tamis.Error, match="holds states"):
        tamis.Set.open(path)
    tamis.Set(capacity=100).save(path)
    with pytest.raises(tamis.Error, match="is a set"):
        tamis.States.open(path)


def test_damaged_states_say_what_is_wrong_with_states(tmp_path):
    path = tmp_path / "states.tamis"
    tamis.States(values=4, capacity=1000, seed=SEED).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(tamis.FormatError) as caught:
        tamis.open(path)
    assert "tamis_states_open" not in str(caught.value)


def test_other_processes_read_the_file(saved):
    code = "import sys, tamis; s = tamis.open(sys.argv[1], map=True); print(999 in s, 'x' in s)"
    out = subprocess.run([sys.executable, "-c", code, saved], capture_output=True, text=True, check=True)
    assert out.stdout == "True False\n"


TOOL = os.environ.get("TAMIS_TOOL", "")


@pytest.mark.skipif(not TOOL, reason="the tool tamis was not built")
def test_the_tool_and_python_read_each_others_files(tmp_path):
    path = tmp_path / "words.tamis"
    tamis.Set(["apple", "plum"], capacity=100, seed=SEED).save(path)
    out = subprocess.run([TOOL, "has", path], input="apple\npear\n", capture_output=True, text=True)
    assert out.stdout == "apple\n"
    subprocess.run([TOOL, "add", path], input="pear\n", capture_output=True, text=True, check=True)
    assert tamis.open(path).contains(["apple", "pear", "fig"]).tolist() == [True, True, False]
