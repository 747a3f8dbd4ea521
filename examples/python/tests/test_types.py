# SPDX-License-Identifier: Apache-2.0
"""The stubs fit the module, and the code of README.md runs and fits them."""
import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest
import stemma
from conftest import DATA

HERE = pathlib.Path(__file__).resolve().parent.parent
README = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.DOTALL)


def run_mypy(*arguments, folder):
    pytest.importorskip("mypy", reason="no mypy here (Debian: python3-mypy)")
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "MYPYPATH": str(pathlib.Path(stemma.__file__).parent.parent)})
    assert done.returncode == 0, done.stdout + done.stderr


def arguments(function):
    """(name, whether it has a default) of all but self."""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    have = [False] * (len(positional) - len(spec.defaults)) + [True] * len(spec.defaults)
    named = [*zip(positional, have), *zip(spec.kwonlyargs, (one is not None for one in spec.kw_defaults))]
    return [(one.arg, has) for one, has in named if one.arg != "self"] + ([("*", False)] if spec.vararg else [])


def declared(function):
    """The same of a function of the compiled part, whose help begins with its signature."""
    line = function.__doc__.strip().splitlines()[0].partition(" -> ")[0]
    return arguments(ast.parse(f"def {line}: ...").body[0])


def test_stubs_say_what_there_is():
    stub = ast.parse((pathlib.Path(stemma.__file__).parent / "_stemma.pyi").read_text())
    classes = {one.name: one for one in stub.body if isinstance(one, ast.ClassDef)}
    compiled = {name: one for name, one in vars(stemma._stemma).items() if not name.startswith("__")}
    functions = {one.name: one for one in stub.body if isinstance(one, ast.FunctionDef)}
    assert {name for name, one in compiled.items() if not isinstance(one, type)} == set(functions)
    for name, function in functions.items():
        assert arguments(function) == declared(compiled[name]), name
    types = {name: one for name, one in compiled.items() if isinstance(one, type) and name != "Error"}
    assert set(types) == set(classes) - {"Error", "Joined", "Unfolded"}
    for name, kind in types.items():
        members = {one.name: one for one in classes[name].body if isinstance(one, ast.FunctionDef)}
        there = {key for key in vars(kind) if not key.startswith("__") or key in ("__len__", "__contains__")}
        assert {one for one in members if one not in ("__eq__", "__hash__")} == there, name
        for key in there:
            member = vars(kind)[key]
            assert isinstance(member, property) == bool(members[key].decorator_list), (name, key)
            if not isinstance(member, property) and not key.startswith("__"):
                assert arguments(members[key]) == declared(member), (name, key)


def test_the_package_is_typed(tmp_path):
    source = tmp_path / "readme.py"
    source.write_text("\n".join(README))
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nstrict = True\n[mypy-onnx.*]\nfollow_imports = skip\nignore_missing_imports = True\n")
    run_mypy("mypy", "--config-file", str(config), "--cache-dir", str(tmp_path), "readme.py", folder=tmp_path)


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    micro = DATA / "fixtures" / "bert_micro"
    for name, source in (("model.onnx", "model.onnx"), ("int8.onnx", "model.nofold.onnx"),
                         ("model.capture.json", "modules.json")):
        (tmp_path / name).write_bytes((micro / source).read_bytes())
    assert README
    names = {}
    for block in README:
        exec(block, names)
