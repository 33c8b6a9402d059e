"""Docstrings and documents: every example prints what it says."""
import doctest
import os
import pathlib
import subprocess
import sys

import pytest

import tamis

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("module", [tamis], ids=lambda m: m.__name__)
def test_the_examples_of_the_docstrings_are_true(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(module, extraglobs={"tamis": tamis})
    assert result.failed == 0 and result.attempted > 50


def test_the_examples_of_the_document_are_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = SOURCE / "docs" / "python.md"
    result = doctest.testfile(str(document), module_relative=False)
    assert result.failed == 0 and result.attempted > 40


def test_the_block_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = (SOURCE / "python" / "README.md").read_text(encoding="utf-8")
    names = {}
    exec(readme.split("```python\n")[1].split("```")[0], names)
    assert "some" not in names["seen"] and 499_999 in names["seen"]
    assert 7 in tamis.open("seen.tamis", map=True)


@pytest.mark.parametrize("name", sorted(p.name for p in (SOURCE / "python" / "examples").glob("*.py")))
def test_the_examples_run(name, tmp_path):
    script = SOURCE / "python" / "examples" / name
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_everything_public_is_documented():
    for cls in (tamis.Set, tamis.Counter, tamis.States, tamis.Machine):
        assert cls.__doc__
        for name in vars(cls):
            if not name.startswith("_"):
                assert getattr(cls, name).__doc__, f"{cls.__name__}.{name}"
    for name in tamis.__all__:
        assert getattr(tamis, name).__doc__ or isinstance(getattr(tamis, name), (int, str)), name


def test_the_types_pass_mypy_strict(tmp_path):
    """The package, a program that uses all of it, and the stub against the module."""
    mypy = pytest.importorskip("mypy.api")
    folder = SOURCE / "python"
    out, err, status = mypy.run(["--strict", "--cache-dir", str(tmp_path), str(folder / "tamis"),
                                 str(folder / "examples")])
    assert status == 0, out + err


def test_the_stub_names_what_the_module_has():
    import ast

    stub = ast.parse((SOURCE / "python" / "tamis" / "_core.pyi").read_text(encoding="utf-8"))
    classes = {c.name: c for c in stub.body if isinstance(c, ast.ClassDef) and not c.name.startswith("_")}
    for name, definition in classes.items():
        in_stub = {f.name for f in definition.body if isinstance(f, ast.FunctionDef)}
        in_module = {n for n in vars(getattr(tamis, name)) if not n.startswith("__")}
        assert {n for n in in_stub if not n.startswith("__")} == in_module, name
