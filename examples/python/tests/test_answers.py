# SPDX-License-Identifier: Apache-2.0
"""Every answer is that of the program."""
import json

import numpy
import onnx
import pytest
import stemma
from conftest import MICRO, program, refusal, timeless, told

QUERIES = ["op:MatMul", "nodes>3 and leaf", "not op:Constant", "root", "class:*Layer*", "/[a-z", "", "op:Nothing",
           "weights:float32", "above:op:Softmax and"]


def ask(question):
    """What Python says: an answer, or the line of the error."""
    try:
        return question()
    except stemma.Error as problem:
        assert "\n" not in str(problem) and problem.code
        return str(problem)


def test_explain(case):
    model = case.model
    names = [m.path for m in model.modules if m.path][:12] + [node.name for node in model.nodes if node.name][::17]
    names += [value.name for value in model.values if value.name][::29] + ["#0"]
    assert model.explain(*names) == told("explain", case.path, *case.capture, *names)
    assert model.explain(model.nodes[0]) == told("explain", case.path, *case.capture, "#0")
    assert ask(lambda: model.explain("nothing.of.the.kind")) == \
        refusal("explain", case.path, *case.capture, "nothing.of.the.kind")


@pytest.mark.parametrize("query", QUERIES)
def test_query(case, query):
    command = ("query", case.path, *case.capture, query, "--format", "json")
    result = ask(lambda: case.model.query(query))
    if isinstance(result, str):
        assert result == refusal(*command)
        return
    answer = result.to_dict()
    assert answer == json.loads(program(*command))
    assert [m.path for m in result.modules] == [entry["path"] for entry in answer["modules"]]
    assert [node.name for node in result.nodes] == [entry["name"] for entry in answer["nodes"]]
    assert len(result.values) == len(answer["values"]) and len(result.initializers) == len(answer["initializers"])


def test_sorted_query(micro):
    model = ("query", MICRO / "model.onnx", "-m", MICRO / "modules.json")
    assert micro.query("leaf", sort="parameters", top=3).to_dict() == \
        told(*model, "leaf", "--sort", "parameters", "--top", 3)
    dims = {"batch_size": 2, "sequence": 16}
    assert micro.query("op:MatMul", sort="macs", top=4, dims=dims).to_dict() == \
        told(*model, "op:MatMul", "--sort", "macs", "--top", 4, "--dim", "batch_size=2", "--dim", "sequence=16")
    with pytest.raises(stemma.Error, match="known: nodes, parameters, bytes, name, macs, flops, activations"):
        micro.query("leaf", sort="weight")
    with pytest.raises(ValueError, match="top is not a positive number"):
        micro.query("leaf", top=0)
    with pytest.raises(ValueError, match="dims need sort"):
        micro.query("leaf", sort="nodes", dims=dims)


def test_tree(case):
    assert case.model.tree() == told("tree", case.path, *case.capture)
    assert case.model.tree(depth=1) == told("tree", case.path, *case.capture, "--depth", 1)


def test_analyze(case):
    shown = told("analyze", case.path, *case.capture)
    assert timeless(case.model.analyze()) == timeless(shown)
    assert timeless(case.model.analyze("not op:Add", oracle="scope")) == \
        timeless(told("analyze", case.path, *case.capture, "--filter", "not op:Add", "--oracle", "scope"))
    assert timeless(case.model.summary()) == timeless(told("tag", case.path, *case.capture))


def test_cost(case):
    assert case.model.cost() == told("analyze", case.path, *case.capture, "--cost")
    arguments = ("analyze", case.path, *case.capture, "--cost", "--format", "json", "--dim", "batch=3")
    cost = ask(lambda: case.model.cost({"batch": 3}))
    assert cost == (refusal(*arguments) if isinstance(cost, str) else json.loads(program(*arguments)))


def test_diff(case, micro):
    arguments = ("diff", case.path, MICRO / "model.onnx", *case.capture)
    other = stemma.open(MICRO / "model.onnx", capture=case.capture[1:])
    assert case.model.diff(other, nodes=True) == told(*arguments, "--nodes", status=(0, 1))
    assert case.model.diff(case.model)["equal"]


def test_profile(micro, tmp_path):
    times = tmp_path / "profile.csv"
    times.write_text("run,name,time (ms)\n1,/pooler/dense/Gemm,9\n2,/pooler/dense/Gemm,2\n3,/pooler/dense/Gemm,3\n")
    arguments = ("profile", MICRO / "model.onnx", times, "-m", MICRO / "modules.json")
    assert micro.profile(times) == told(*arguments)
    assert micro.profile(times, times, divide=True, warm_up=0) == \
        told(*arguments, times, "--divide", "--warm-up", 0)
    assert ask(lambda: micro.profile(MICRO / "modules.json")) == \
        refusal("profile", MICRO / "model.onnx", MICRO / "modules.json")


def test_numerics(micro, tmp_path):
    names = [node.outputs[0].name for node in micro.nodes if node.op_type in ("MatMul", "Gemm", "Add")]
    values = {name: numpy.sin(numpy.arange(8, dtype=numpy.float32) + i) for i, name in enumerate(names)}
    numpy.savez(tmp_path / "a.npz", **values)
    values[names[5]] = values[names[5]] + 1
    numpy.savez(tmp_path / "b.npz", **values)
    a, b = tmp_path / "a.npz", tmp_path / "b.npz"
    arguments = ("numerics", MICRO / "model.onnx", MICRO / "model.onnx", "-m", MICRO / "modules.json",
                 "--values", a, "--values", b)
    report = micro.numerics(micro, a, b)
    assert report == told(*arguments, status=(0, 1)) and report["first"]
    assert micro.numerics(micro, a, b, module="encoder", max_abs=2) == \
        told(*arguments, "--module", "encoder", "--max-abs", 2, status=(0, 1))
    (tmp_path / "numerics.json").write_text(json.dumps(report))
    for tool in ("ort", "nncf", "tensorrt"):
        assert micro.plan(report=tmp_path / "numerics.json", to=tool) == \
            program("plan", MICRO / "model.onnx", "-m", MICRO / "modules.json", "-q", "--from",
                    tmp_path / "numerics.json", "--to", tool)


def test_plan(micro, tmp_path):
    assert micro.plan(exclude="class:LayerNorm", to="olive") == \
        program("plan", MICRO / "model.onnx", "-m", MICRO / "modules.json", "-q", "--exclude", "class:LayerNorm",
                "--to", "olive")
    assert ask(micro.plan) == "plan: takes one of exclude and report"
    proto = onnx.load(MICRO / "model.onnx")
    for node in proto.graph.node:
        node.ClearField("name")
    onnx.save(proto, tmp_path / "unnamed.onnx")
    with pytest.warns(UserWarning, match="nodes without a name left out"):
        stemma.open(tmp_path / "unnamed.onnx").plan(exclude="op:Add", to="ort")


def test_placement(micro, tmp_path):
    log = tmp_path / "ort.log"
    log.write_text("Node(s) placed on [CPUExecutionProvider]. Number of nodes: 1\n  Gemm (/pooler/dense/Gemm)\n")
    arguments = ("plan", MICRO / "model.onnx", "-m", MICRO / "modules.json", "--placement", log)
    assert micro.placement(log) == told(*arguments)


def test_validate(case):
    assert stemma.validate(case.path) == told("validate", case.path, "--no-checker", status=(0, 1))


def test_what_is_opened(case):
    """Paths, bytes and messages of protobuf are one model."""
    proto = onnx.load(str(case.path))
    for source in (case.path, str(case.path), case.path.read_bytes(), bytearray(case.path.read_bytes()), proto):
        model = stemma.open(source, name=str(case.path), capture=case.capture[1:])
        assert model.tree() == case.model.tree()
        assert [node.tag for node in model.nodes] == [node.tag for node in case.model.nodes]
    assert onnx.load_model_from_string(stemma.open(proto).to_bytes()).graph.node == onnx.load_model_from_string(
        stemma.open(proto.SerializeToString()).to_bytes()).graph.node


def test_policies_by_name():
    path = MICRO / "model.onnx"
    for option, value in (("select", "all"), ("naming", "numbers"), ("resolve", "majority"), ("propagate", "none"),
                          ("sources", ["scope"]), ("keep", ["LayerNorm"]), ("min_confidence", 0.9)):
        text = ",".join(value) if isinstance(value, list) else str(value)
        arguments = ("tag", path, "-m", MICRO / "modules.json", f"--{option.replace('_', '-')}", text)
        summary = ask(lambda: timeless(stemma.open(path, capture=MICRO / "modules.json", **{option: value}).summary()))
        assert summary == (refusal(*arguments) if isinstance(summary, str) else timeless(told(*arguments))), option
    assert ask(lambda: stemma.open(path, naming="x")) == refusal("tag", path, "--naming", "x")


def test_bad_files(tmp_path):
    for name, content in (("empty.onnx", b""), ("text.onnx", b"hello, world\n"), ("cut.onnx", (
            MICRO / "model.onnx").read_bytes()[:5000]), ("long.onnx", b"\x3a\xff\xff\xff\xff\x7f" + b"x" * 99)):
        path = tmp_path / name
        path.write_bytes(content)
        line = refusal("tag", path)
        assert ask(lambda: stemma.open(path)) == line
        with pytest.raises(stemma.Error):
            stemma.open(content)
    assert ask(lambda: stemma.open(tmp_path / "missing.onnx")) == refusal("tag", tmp_path / "missing.onnx")
    capture = tmp_path / "capture.json"
    capture.write_text("{")
    assert ask(lambda: stemma.open(MICRO / "model.onnx", capture=capture)) == \
        refusal("tag", MICRO / "model.onnx", "-m", capture)
    for wrong in (None, 7, [], object()):
        with pytest.raises(TypeError):
            stemma.open(wrong)
    for wrong in ({"keep": "LayerNorm"}, {"sources": "scope"}, {"selekt": "all"}):
        with pytest.raises(TypeError):
            stemma.open(MICRO / "model.onnx", **wrong)


def test_carry(tmp_path):
    original = stemma.open(MICRO / "model.onnx", capture=MICRO / "modules.json")
    for name in ("anonymous", "model.nofold", "unnamed"):
        changed = MICRO / f"{name}.onnx"
        carried = stemma.carry(original, changed)
        arguments = ("carry", MICRO / "model.onnx", changed, "-m", MICRO / "modules.json")
        assert timeless(carried.summary()) == timeless(told(*arguments))
        program(*arguments, "-q", "-o", tmp_path / "carried.onnx")
        assert carried.to_bytes() == (tmp_path / "carried.onnx").read_bytes()
        assert carried.nodes[3].tag == stemma.carry(original, changed.read_bytes()).nodes[3].tag
    with pytest.raises(TypeError):
        stemma.open(changed, original=original, capture=MICRO / "modules.json")
    with pytest.raises(TypeError):
        stemma.carry(None, changed)
    with pytest.raises(stemma.Error, match="is not the original of this model"):
        stemma.carry(original, MICRO.parent / "mlp/model.onnx")


def test_arguments_are_checked():
    model, other = stemma.open(MICRO / "model.onnx"), stemma.open(MICRO / "model.onnx")
    assert model.explain(model.values[5]) == model.explain(model.values[5].name)
    assert model.explain(model.root)["answers"][0]["modules"][0]["path"] == ""
    assert model.explain(model.root.children[0]) == model.explain(model.root.children[0].path)
    assert model.explain(model.parameters[5]) == model.explain(model.parameters[5].name)
    nan, path = float("nan"), str(MICRO / "model.onnx")
    for ask in (lambda: model.explain(other.nodes[0]), lambda: stemma.open(path, min_confidence=2),
                lambda: stemma.open(path, min_confidence=nan), lambda: stemma.open(path + "\0"),
                lambda: stemma.open(path, capture=path + "\0")):
        with pytest.raises(ValueError):
            ask()
    for bad in (-1, nan):
        with pytest.raises(stemma.Error, match="tolerance: .* is not a number from 0"):
            model.diff(other, tolerance=bad)
    for ask in (lambda: model.explain(None), lambda: model.diff(None), lambda: model.numerics(None, "a", "b"),
                lambda: model.profile(3)):
        with pytest.raises(TypeError):
            ask()
