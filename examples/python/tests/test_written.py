# SPDX-License-Identifier: Apache-2.0
"""Every file is that of the program, byte for byte."""
import json

import onnx
import pytest
import stemma
from conftest import MICRO, program, refusal, told


def test_tag(case, tmp_path):
    by_program, by_module = tmp_path / "a.onnx", tmp_path / "b.onnx"
    for carriers in ("metadata,mark", "attribute,doc-string"):
        program("tag", case.path, *case.capture, "-q", "-o", by_program, "--carrier", carriers)
        assert case.model.write(by_module, carriers=carriers) == by_program.stat().st_size
        assert by_module.read_bytes() == by_program.read_bytes() == case.model.to_bytes(carriers=carriers)
    again = stemma.open(by_program, retag=True)
    program("tag", by_program, "-q", "-o", tmp_path / "c.onnx")
    assert again.to_bytes() == (tmp_path / "c.onnx").read_bytes()
    program("strip", by_program, "-q", "-o", tmp_path / "d.onnx")
    assert again.strip() == (tmp_path / "d.onnx").read_bytes() == case.model.strip()


def test_sidecar(case, tmp_path):
    program("tag", case.path, *case.capture, "-q", "--sidecar", tmp_path / "tags.json")
    expected = json.loads((tmp_path / "tags.json").read_text())
    sidecar = case.model.sidecar()
    for one in (expected, sidecar):
        one.pop("seconds", None)
        one.get("summary", {}).pop("seconds", None)
    assert sidecar == expected


def test_cut(case, tmp_path):
    paths = [m.path for m in case.model.modules if m.path][:8]
    for path in paths:
        arguments = ("cut", case.path, *case.capture, "-q", "--module", path, "-o", tmp_path / "part.onnx")
        try:
            part = case.model.cut(path)
        except stemma.Error as problem:
            assert problem.code in ("refused", "not_found")
            refusal(*arguments)
            continue
        program(*arguments)
        assert part.to_bytes() == (tmp_path / "part.onnx").read_bytes()
        part.write(tmp_path / "written.onnx")
        assert (tmp_path / "written.onnx").read_bytes() == part.to_bytes()
        graph = onnx.load_model_from_string(part.to_bytes()).graph
        assert part.inputs == [value.name for value in graph.input]
        assert part.outputs == [value.name for value in graph.output]
        assert len(part) == len(graph.node)
        assert len(stemma.open(part.to_bytes()).nodes) >= len(part)


def test_cut_of_nodes(micro, tmp_path):
    program("cut", MICRO / "model.onnx", "-m", MICRO / "modules.json", "-q", "--module", "op:Gemm", "-o",
            tmp_path / "part.onnx")
    assert micro.cut("op:Gemm").to_bytes() == (tmp_path / "part.onnx").read_bytes()
    with pytest.raises(stemma.Error, match="unknown pull 'x'; known: none, "):
        micro.cut("pooler", pull="x")


def test_split_and_join(micro, tmp_path):
    for number, (options, how) in enumerate(((("--parts", 3), {"parts": 3}), (("--depth", 1), {"depth": 1}), (
            ("--module", "encoder.layer.0", "--module", "pooler"), {"modules": ["encoder.layer.0", "pooler"]}))):
        a, b = tmp_path / f"a{number}", tmp_path / f"b{number}"
        expected = told("split", MICRO / "model.onnx", "-m", MICRO / "modules.json", "-q", *options, "-d", a)
        assert micro.split(b, **how) == expected
        files = sorted(path.name for path in a.iterdir())
        assert files == sorted(path.name for path in b.iterdir())
        assert all((a / name).read_bytes() == (b / name).read_bytes() for name in files)
        joined = stemma.join(b, tmp_path / "joined.onnx")
        assert joined == {"source": "model.onnx", "edited": [], "missing": []}
        assert (tmp_path / "joined.onnx").read_bytes() == (MICRO / "model.onnx").read_bytes()
    with pytest.raises(stemma.Error, match="split: takes one of depth, modules and parts"):
        micro.split(tmp_path / "c")


def test_fold_and_unfold(case, tmp_path):
    a, b = tmp_path / "a.onnx", tmp_path / "b.onnx"
    arguments = ("fold", case.path, *case.capture, "-o", a)
    try:
        report = case.model.fold(b)
    except stemma.Error as problem:
        assert problem.code in ("not_found", "refused")
        assert str(problem) in refusal(*arguments)
        return
    expected = told(*arguments, "-q")
    assert {**report, "output": None} == {**expected, "output": None}
    assert b.read_bytes() == a.read_bytes()
    unfolded = stemma.unfold(b, tmp_path / "c.onnx")
    assert unfolded["is_restored"] and unfolded["bytes"] == case.path.stat().st_size
    assert (tmp_path / "c.onnx").read_bytes() == case.path.read_bytes()


def test_what_cannot_be_written(micro, tmp_path):
    for write in (micro.write, micro.cut("pooler").write, micro.fold):
        with pytest.raises(stemma.Error) as problem:
            write(tmp_path / "missing" / "out.onnx")
        assert problem.value.code == "cannot_write"
    assert list(tmp_path.iterdir()) == []
