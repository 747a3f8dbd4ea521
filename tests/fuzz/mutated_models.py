#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the program on real models, some of them tagged or folded, with random changes: valid protobuf,
but odd or invalid graphs.

usage: mutated_models.py PROGRAM MODELS SECONDS [SEED]

MODELS is a folder with .onnx files at any depth. A finding is a command that is killed, that a sanitizer stops, that
ends with an unknown status, or that takes longer than two minutes. Its command is printed, and its model is kept as
found/SEED-NUMBER.onnx, beside SEED-NUMBER.original.onnx if that was tagged or folded; the status is 1 then. Without
SEED, another one each time.
"""
import collections
import copy
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import onnx
from onnx import helper

STATUSES = range(0, 5)
LARGEST_MODEL = 600_000
NUMBERS = (0, -1, 1, 2, 7, 64, -2, 10**6, 2**31, 2**32, 2**63 - 1, -2**63)
TEXTS = ("", "a", "0", "x.y.z", "/", "//", "/a/b", "layers.0", "\n", "\x00", "\u00e9", "\u202e", "a;b", "::", "[0]",
         "<b>", '"', "'", "." * 50, "/".join("abcdefgh"), "a" * 300, "main_graph", "pkg.stemma.model", "stemma:1",
         "stemma:99999999999")
OPERATORS = ("Add Attention BatchNormalization Cast Concat Constant ConstantOfShape Conv ConvTranspose "
             "DequantizeLinear Dropout Einsum Expand Flatten FusedConv GRU Gather Gemm Identity If LSTM "
             "LayerNormalization Loop MatMul MatMulNBits MaxPool NonZero OneHot Pad QuantizeLinear Range "
             "ReduceMean Reshape Resize Scan ScatterND SequenceAt Shape Slice Softmax Split SplitToSequence "
             "Squeeze Tile TopK Transpose Unknown Unsqueeze Where").split()
ATTRIBUTES = ("axis", "axes", "perm", "value", "to", "then_branch", "body", "dilations", "")


class Mutator:
    """Changes one thing of a model at a time."""

    def __init__(self, model, pick):
        self.model = model
        self.pick = pick

    def graphs(self):
        open_graphs = [self.model.graph]
        for graph in open_graphs:
            for node in graph.node:
                for attribute in node.attribute:
                    open_graphs += [attribute.g] if attribute.HasField("g") else []
                    open_graphs += attribute.graphs
        return open_graphs

    def value_names(self):
        names = {one.name for graph in self.graphs() for one in graph.initializer}
        for nodes in self.node_lists():
            for node in nodes:
                names.update(node.input)
                names.update(node.output)
        return sorted(names) or ["x"]

    def node_lists(self):
        lists = [graph.node for graph in self.graphs()] + [function.node for function in self.model.functions]
        return [nodes for nodes in lists if len(nodes)]

    def change(self):
        getattr(self, self.pick.choice([name for name in dir(self) if name.startswith("change_")]))()

    def a_node(self):
        lists = self.node_lists()
        return self.pick.choice(self.pick.choice(lists)) if lists else onnx.NodeProto()

    def a_text(self):
        return self.pick.choice(TEXTS + tuple(self.value_names()))

    def replace_one(self, values):
        if values:
            values[self.pick.randrange(len(values))] = self.a_text()

    def remove_one(self, values):
        if values:
            del values[self.pick.randrange(len(values))]

    def change_input(self):
        self.replace_one(self.a_node().input)

    def change_output(self):
        self.replace_one(self.a_node().output)

    def change_arity(self):
        node = self.a_node()
        values = self.pick.choice((node.input, node.output))
        self.remove_one(values) if self.pick.random() < 0.5 else values.append(self.a_text())

    def change_loop(self):
        node = self.a_node()
        if node.input and node.output:
            node.input[0] = node.output[0]

    def change_type(self):
        self.a_node().op_type = self.pick.choice(OPERATORS)

    def change_texts(self):
        node = self.a_node()
        setattr(node, self.pick.choice(("name", "domain", "doc_string")), self.a_text())

    def change_nodes(self):
        lists = self.node_lists()
        if lists:
            nodes = self.pick.choice(lists)
            node = copy.deepcopy(self.pick.choice(nodes))
            if self.pick.random() < 0.6:
                self.remove_one(nodes)
            if self.pick.random() < 0.6:
                nodes.insert(self.pick.randrange(len(nodes) + 1), node)

    def change_into_body(self):
        lists = self.node_lists()
        if lists:
            nodes = self.pick.choice(lists)
            at = self.pick.randrange(len(nodes))
            node = copy.deepcopy(nodes[at])
            results = [helper.make_tensor_value_info(name, 1, None) for name in node.output if name]
            body = helper.make_graph([node], self.a_text(), [], results)
            del nodes[at]
            nodes.insert(at, helper.make_node("If", [self.a_text()], list(node.output), then_branch=body,
                                              else_branch=body))

    def change_attribute(self):
        attributes = self.a_node().attribute
        if not attributes:
            return
        one = self.pick.choice(attributes)
        what = self.pick.randrange(5)
        if what == 0:
            self.remove_one(attributes)
        elif what == 1:
            one.name = self.pick.choice(ATTRIBUTES)
        elif what == 2:
            one.type = self.pick.choice([number for _, number in onnx.AttributeProto.AttributeType.items()])
        elif one.HasField("t"):
            self.change_tensor(one.t)
        elif one.ints and self.pick.random() < 0.7:
            one.ints[self.pick.randrange(len(one.ints))] = self.pick.choice(NUMBERS)
        else:
            one.i = self.pick.choice(NUMBERS)
            one.ints.append(self.pick.choice(NUMBERS))

    def change_tensor(self, tensor=None):
        if tensor is None:
            tensors = [one for graph in self.graphs() for one in graph.initializer]
            if not tensors:
                return
            tensor = self.pick.choice(tensors)
        what = self.pick.randrange(6)
        if what == 0:
            tensor.data_type = self.pick.choice((0, 1, 2, 6, 7, 8, 9, 10, 11, 16, 17, 21, 22, 23, 99))
        elif what == 1:
            tensor.dims.append(self.pick.choice(NUMBERS))
        elif what == 2 and tensor.dims:
            tensor.dims[self.pick.randrange(len(tensor.dims))] = self.pick.choice(NUMBERS)
        elif what == 3:
            del tensor.dims[:]
        elif what == 4 and tensor.raw_data:
            tensor.raw_data = tensor.raw_data[:self.pick.randrange(len(tensor.raw_data))]
        elif tensor.data_type == onnx.TensorProto.INT64 and tensor.raw_data:
            tensor.raw_data = self.pick.choice(NUMBERS).to_bytes(8, "little", signed=True) + tensor.raw_data[8:]
        else:
            tensor.name = self.a_text()

    def change_declaration(self):
        graph = self.pick.choice(self.graphs())
        declared = self.pick.choice((graph.input, graph.output, graph.value_info, graph.initializer))
        if not declared:
            return
        one = self.pick.choice(declared)
        if self.pick.random() < 0.3:
            self.remove_one(declared)
        elif self.pick.random() < 0.3 or isinstance(one, onnx.TensorProto):
            one.name = self.a_text()
        elif self.pick.random() < 0.2:
            one.ClearField("type")
        elif self.pick.random() < 0.3:
            one.type.tensor_type.elem_type = self.pick.choice((0, 1, 7, 8, 16, 22, 99))
        else:
            dim = one.type.tensor_type.shape.dim.add()
            dim.dim_param = self.pick.choice(TEXTS + ("N", "floor(N/2)", "a + b", "(((", "2*N-1"))
            if self.pick.random() < 0.5:
                dim.dim_value = self.pick.choice(NUMBERS)

    def change_function(self):
        if self.model.functions:
            function = self.pick.choice(self.model.functions)
            what = self.pick.randrange(5)
            if what == 0:
                function.name = self.pick.choice(TEXTS + tuple(one.name for one in self.model.functions))
            elif what == 1:
                self.replace_one(function.input)
            elif what == 2:
                self.remove_one(self.pick.choice((function.input, function.output)))
            elif what == 3:
                function.output.append(self.a_text())
            else:
                node = self.a_node()
                node.op_type, node.domain = function.name, function.domain

    def change_metadata(self):
        props = list(self.model.metadata_props) + list(getattr(self.a_node(), "metadata_props", []))
        if props:
            one = self.pick.choice(props)
            at = self.pick.randrange(len(one.value) + 1)
            text = self.pick.choice(('{', '"', "]", ",", "0", "", one.value[:at]))
            one.value = one.value[:at] + text + one.value[at + 1:]

    def change_versions(self):
        self.model.ir_version = self.pick.choice((0, 3, 7, 8, 10, 99))
        if self.model.opset_import:
            self.pick.choice(self.model.opset_import).version = self.pick.choice((0, -1, 1, 11, 13, 18, 21, 99, 2**40))


def commands(model, original, out, query):
    written, parts = str(out / "out.onnx"), str(out / "parts")
    return [["tag", model, "-o", written],
            ["tag", model, "-o", written, "--recompute", "--with", "source,parameters"],
            ["strip", model, "-o", written], ["tree", model], ["analyze", model, "--format", "json"],
            ["analyze", model, "--cost"], ["analyze", model, "--by", "line"], ["explain", model, query],
            ["query", model, query, "--format", "json"], ["dag", model], ["validate", model], ["weights", model],
            ["compare", model, original], ["diff", original, model], ["diff", model, original],
            ["carry", original, model, "-o", written], ["carry", model, original, "-o", written],
            ["cut", model, "--all", "-d", parts], ["split", model, "--parts", "3", "-d", parts],
            ["fold", model, "-o", written], ["fold", model, "-o", written, "--select", "all", "--least", "1"],
            ["unfold", model, "-o", written], ["probe", model, "-o", written, "--force"],
            ["plan", model, "--exclude", query],
            *(["export", model, "--to", viewer, "-o", str(out / "exported")]
              for viewer in ("dot", "graphml", "html", "model-explorer", "tree"))]


def problem_of(command):
    """Returns: what is wrong with the way a command ends, "" if nothing."""
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    try:
        result = subprocess.run(command, capture_output=True, env=environment, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "takes too long"
    said = result.stderr.decode(errors="replace")
    if result.returncode not in STATUSES or "Sanitizer" in said or "runtime error" in said:
        return f"ends with status {result.returncode}:\n{said[:4000]}"
    return ""


def main():
    program, models, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else time.time_ns() % 10**9
    pick = random.Random(seed)
    sources = sorted(path for path in models.rglob("*.onnx") if path.stat().st_size < LARGEST_MODEL)
    statuses = collections.Counter()
    runs = findings = 0
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="stemma-mutated-") as folder:
        file = pathlib.Path(folder) / "model.onnx"
        while time.monotonic() < until:
            source = pick.choice(sources)
            prepared = pathlib.Path(folder) / "prepared.onnx"
            prepare = pick.choice((["tag"], ["fold", "--select", "all", "--least", "1"], None))
            if prepare and subprocess.run([program, *prepare, source, "-o", prepared, "-q"], capture_output=True,
                                          check=False).returncode == 0:
                source = prepared
            model = onnx.load(source, load_external_data=False)
            mutator = Mutator(model, pick)
            for _ in range(pick.choice((1, 1, 2, 3, 5, 10))):
                mutator.change()
            file.write_bytes(model.SerializeToString())
            out = pathlib.Path(folder) / "out"
            query = pick.choice(("op:Add", "**", "in:*"))
            for words in pick.sample(commands(str(file), str(source), out, query), 8):
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir()
                problem = problem_of([program, *words])
                runs += 1
                statuses[words[0]] += 1
                if problem:
                    copy = pathlib.Path("found") / f"{seed}-{findings}.onnx"
                    copy.parent.mkdir(exist_ok=True)
                    shutil.copy(file, copy)
                    if source == prepared:
                        shutil.copy(source, copy.with_suffix(".original.onnx"))
                    findings += 1
                    print(f"{copy}, from {source}: {' '.join(words)}\n{problem}", flush=True)
    print(f"seed {seed}: {runs} commands, {findings} findings;",
          ", ".join(f"{command} {count}" for command, count in sorted(statuses.items())))
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
