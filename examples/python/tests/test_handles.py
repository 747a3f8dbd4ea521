# SPDX-License-Identifier: Apache-2.0
"""Nodes, values, modules and parameters as Python has them."""
import collections.abc
import faulthandler
import gc
import json
import os
import threading
import tracemalloc

import onnx
import pytest
import stemma
from conftest import DATA, FIXTURES, MICRO, program


def test_nodes_are_those_of_the_sidecar(case, tmp_path):
    program("tag", case.path, *case.capture, "-q", "--sidecar", tmp_path / "tags.json")
    sidecar = json.loads((tmp_path / "tags.json").read_text())
    nodes = sidecar["nodes"]
    assert len(case.model.nodes) == len(nodes)
    by_place = {(node["graph"], node["index"]): node for node in nodes}
    for node in case.model.nodes:
        entry = by_place[node.graph, node.position]
        assert (node.name, node.op_type, node.tag) == (entry["name"], entry["op_type"], entry["tag"])
        assert node.provenance == entry["provenance"]
        assert node.module.path == entry["scope_module"]
        assert node.confidence == pytest.approx(entry["confidence"], abs=1e-6)


def test_modules_are_those_of_the_tree(case):
    listed = case.model.tree()["modules"]
    assert [(m.path, m.class_name or None, m.tag if m.is_selected else None, len(m.nodes)) for m in case.model.modules] \
        == [(entry["path"], entry["class"], entry["tag"], entry["nodes"]) for entry in listed]
    for module in case.model.modules:
        assert case.model.find_module(module.path) == module
        assert all(child.parent == module for child in module.children)
        assert module.parent is None or (module.ancestors[0] == module.parent and module in module.parent)
        assert list(module.descendants) == [other for other in case.model.modules
                                            if module in other.ancestors]
        assert all(node.module == module for node in module.own_nodes)
        assert all(node.module in module for node in module.nodes)
        assert all(parameter.module in module for parameter in module.parameters)


def test_edges_lead_both_ways(case):
    for node in case.model.nodes:
        assert all(value.producer == node for value in node.outputs)
        assert all(node in value.readers for value in node.inputs)
        assert all(node in reader.producers for reader in node.readers)


def test_the_graph_is_that_of_onnx():
    path = MICRO / "model.onnx"
    proto, model = onnx.load(str(path)), stemma.open(path)
    assert [node.name for node in model.nodes] == [node.name for node in proto.graph.node]
    for node, original in zip(model.nodes, proto.graph.node):
        assert [value.name for value in node.inputs] == [name for name in original.input if name]
        assert [value.name for value in node.outputs] == list(original.output)
    assert {value.name for value in model.initializers} == {tensor.name for tensor in proto.graph.initializer}
    assert all(value.is_initializer and value.kind == "initializer" for value in model.initializers)


@pytest.mark.parametrize("name", ["bert_micro", "unet_tiny", "control_flow"])
def test_attributes_are_those_of_onnx(name):
    path = FIXTURES / name / "model.onnx"
    proto, model = onnx.load(str(path)), stemma.open(path)
    types = onnx.AttributeProto.AttributeType
    by_name = {node.name: node for node in model.nodes if not node.graph}
    compared = 0
    for node in proto.graph.node:
        given = by_name[node.name].attributes
        assert [one.name for one in given] == [one.name for one in node.attribute]
        for one, original in zip(given, node.attribute):
            assert one.type == types.Name(original.type).lower() and one.reference == ""
            assert by_name[node.name].attribute(one.name) == one
            value = onnx.helper.get_attribute_value(original)
            if one.type in ("int", "float", "ints", "floats"):
                assert one.value == (list(value) if one.type.endswith("s") else value)
                compared += 1
            elif one.type in ("string", "strings"):
                assert one.value == (value.decode() if one.type == "string" else [each.decode() for each in value])
            else:
                assert one.value is None
    assert compared and model.nodes[0].attribute("none of these") is None


def test_types_are_those_of_onnx(micro):
    proto = onnx.load(str(MICRO / "model.onnx"))
    for tensor in proto.graph.initializer:
        value = micro.find_value(tensor.name)
        assert value.shape == tuple(tensor.dims) and value.type in ("float32", "int64")
    for given in proto.graph.input:
        value = micro.find_value(given.name)
        dims = given.type.tensor_type.shape.dim
        assert value.shape == tuple(dim.dim_param or dim.dim_value for dim in dims) and value.type == "int64"
    scores = micro.find_node("/encoder/layer.1/attention/self/Add").outputs[0]
    assert (scores.type, scores.shape) == ("float32", (None, 2, None, None))


def test_lines_are_those_of_the_program():
    model = stemma.open(DATA / "source" / "traced.onnx")
    node = model.find_node("/blocks.0/Softmax")
    assert node.source == node.frames[0] == ("net.py", 9, "scaled")
    assert ("net.py", 33, "forward") in node.frames and model.root.source is None
    micro = stemma.open(MICRO / "model.onnx")
    assert micro.nodes[0].source is None and micro.nodes[0].frames == ()


def test_sequences_are_lazy_and_complete(micro):
    nodes = micro.nodes
    assert isinstance(nodes, collections.abc.Sequence)
    everything = list(nodes)
    assert nodes[0] == everything[0] and nodes[-1] == everything[-1]
    assert list(nodes[3:40:7]) == everything[3:40:7] and list(reversed(nodes)) == everything[::-1]
    assert nodes.index(everything[5]) == 5 and everything[5] in nodes
    for outside in (len(nodes), -len(nodes) - 1):
        with pytest.raises(IndexError):
            nodes[outside]
    with pytest.raises(TypeError):
        nodes["0"]
    assert repr(nodes).startswith(f"<{len(nodes)}: [<stemma.Node")


def test_a_sequence_holds_no_copy(micro):
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        sequences = [micro.nodes for _ in range(10)]
        assert len(sequences) * len(micro.nodes) > 1000
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()


def test_a_handle_keeps_its_model_alive():
    def one():
        return stemma.open((MICRO / "model.onnx").read_bytes()).nodes[7]

    node, again = one(), one()
    nodes = stemma.open(MICRO / "model.onnx").nodes
    part = stemma.open(MICRO / "model.onnx").cut("encoder.layer.0")
    gc.collect()
    assert node.name == again.name == nodes[7].name
    assert node != again and node != nodes[7]
    assert node == node.model.nodes[7] and hash(node) == hash(node.model.nodes[7])
    assert node != node.index and len({node, node.model.nodes[7], again}) == 2
    assert len(part.to_bytes()) > 1000


def test_attributes_and_claims_of_the_same_object_are_equal(micro):
    node = micro.find_node("/encoder/layer.0/attention/self/Softmax")
    assert node.attributes and node.claims
    assert {*node.attributes, *node.claims} == {*node.attributes, *node.claims}
    assert node.claims[0] != micro.find_node("/pooler/dense/Gemm").claims[0]
    assert isinstance(node.attributes[0], stemma.Attribute) and stemma.Attribute.__module__ == "stemma"


def test_text_says_what_it_is(micro):
    for what, words in ((micro, "281 nodes"), (micro.nodes[0], "Constant"), (micro.root, "(root)"),
                        (micro.values[0], "intermediate"), (micro.parameters[0], "float32"),
                        (micro.nodes[9].claims[0], "Claim"),
                        (micro.find_node("/encoder/layer.0/attention/self/Softmax").attributes[0], "axis"), (micro.query("encoder"), "1 modules"),
                        (micro.cut("pooler"), "1 out")):
        assert repr(what).startswith("<stemma.") and words in repr(what), what


def test_names_that_are_no_text():
    node = onnx.helper.make_node("Relu", ["x"], ["y"], name="a_b")
    proto = onnx.helper.make_model(onnx.helper.make_graph(
        [node], "g", [onnx.helper.make_tensor_value_info("x", 1, [1])],
        [onnx.helper.make_tensor_value_info("y", 1, [1])]))
    model = stemma.open(proto.SerializeToString().replace(b"a_b", b"a\xffb"))
    assert model.nodes[0].name == "a\ufffdb"
    assert model.explain(model.nodes[0])["answers"][0]["nodes"][0]["name"]


def test_other_threads_run_while_a_model_is_read(tmp_path):
    """The file is a pipe, which this thread fills once the other one has begun to read it."""
    faulthandler.dump_traceback_later(100, exit=True)
    try:
        pipe, opened = tmp_path / "pipe.onnx", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: opened.append(stemma.open(pipe)))
        reader.start()
        pipe.write_bytes((MICRO / "model.onnx").read_bytes())
        reader.join()
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert len(opened[0].nodes) == len(stemma.open(MICRO / "model.onnx").nodes)


def test_threads_may_ask_one_model(micro):
    other = stemma.open(MICRO / "model.onnx")

    def everything():
        return ([claim.source for node in micro.nodes[::9] for claim in node.claims],
                [value.tags for value in micro.values[::9]], micro.explain("encoder.layer.0"), micro.to_bytes(),
                micro.diff(other), other.diff(micro), micro.cost())

    expected, answers = everything(), []
    threads = [threading.Thread(target=lambda: answers.append(everything())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 4
