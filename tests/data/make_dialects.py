#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small models in the dialects of exporters, builders and optimizers, with their truth.

    make_dialects.py [FOLDER]      default: dialects, beside this file

Every node is made inside of a module that this script knows, so the truth needs no reading of what
is written. The bytes are put together here, as metadata of nodes are newer than most installed
libraries.
"""
import json
import struct
import sys
from contextlib import contextmanager
from pathlib import Path

FLOAT, INT64, BOOL = 1, 7, 9


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def entries(field, pairs):
    return b"".join(text(field, text(1, k) + text(2, v)) for k, v in pairs.items())


def tensor(name, dims, kind=FLOAT, data=None):
    count = 1
    for d in dims:
        count *= d
    if data is None:
        data = [0.01 * (i + 1) for i in range(count)] if kind == FLOAT else list(range(count))
    raw = struct.pack("<%d%s" % (count, {FLOAT: "f", INT64: "q", BOOL: "?"}[kind]), *data)
    return b"".join(number(1, d) for d in dims) + number(2, kind) + text(8, name) + text(9, raw)


def value_info(name, dims=(2, 4), kind=FLOAT):
    shape = b"".join(text(1, number(1, d)) for d in dims)
    return text(1, name) + text(2, text(1, number(1, kind) + text(2, shape)))


def opset(domain, version):
    return (text(1, domain) if domain else b"") + number(2, version)


def int_attribute(name, value):
    return text(1, name) + number(3, value) + number(20, 2)


def tensor_attribute(name, value):
    return text(1, name) + text(5, value) + number(20, 4)


def graph_attribute(name, value):
    return text(1, name) + text(6, value) + number(20, 5)


def call(op, inputs, outputs, name, domain="", attributes=(), metadata=None, overload=""):
    return (b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs) +
            text(3, name) + text(4, op) + b"".join(text(5, a) for a in attributes) +
            (text(7, domain) if domain else b"") +
            (text(8, overload) if overload else b"") + entries(9, metadata or {}))


def function(domain, name, inputs, outputs, nodes, overload="", imports=()):
    return (text(1, name) + b"".join(text(4, i) for i in inputs) +
            b"".join(text(5, o) for o in outputs) + b"".join(text(7, n) for n in nodes) +
            b"".join(text(9, opset(d, v)) for d, v in (("", 18),) + tuple(imports)) +
            text(10, domain) + (text(13, overload) if overload else b""))


class Net:
    """A graph being written, with the modules that are running."""

    def __init__(self, dialect, ir=10, version=18, strict=False):
        self.dialect, self.ir, self.version, self.strict = dialect, ir, version, strict
        self.stack, self.truth, self.counts = [], [], {}
        self.nodes, self.initializers, self.sparse, self.infos = [], [], [], []
        self.functions, self.domains, self.annotations = [], {}, []
        self.where = None   # the list of nodes of a body that is being written

    @contextmanager
    def module(self, name, cls):
        """Runs the module `name` (a path below the one that runs) of a class."""
        path = ".".join(p for p in (self.stack[-1][0] if self.stack else "", name) if p)
        self.stack.append((path, cls, name))
        yield self
        self.stack.pop()

    @property
    def path(self):
        return self.stack[-1][0]

    def weight(self, name, dims):
        full = ".".join(p for p in (self.path, name) if p)
        if not any(full == known for known, _ in self.initializers):
            self.initializers.append((full, tensor(full, dims)))
        return full

    def fresh(self, stem):
        count = self.counts.get(stem, 0)
        self.counts[stem] = count + 1
        return stem if count == 0 else "%s_%d" % (stem, count)

    def expression(self, path):
        if not self.strict or not path:
            return path
        made = "L['self']"
        for part in path.split("."):
            made = "getattr(%s, '%s')" % (made, part) if part.isdigit() else made + "." + part
        return made

    def metadata(self, fx, target, levels=None):
        levels = self.stack if levels is None else levels
        if self.dialect == "dynamo":
            scopes = [self.expression(p) for p, _, _ in levels] + [fx]
            classes = [c for _, c, _ in levels] + [target]
            return {"namespace": "/".join("%s: %s" % pair for pair in zip(scopes, classes)),
                    "pkg.torch.onnx.class_hierarchy": repr(classes),
                    "pkg.torch.onnx.name_scopes": repr(scopes),
                    "pkg.torch.onnx.fx_node": "%%%s : [num_users=1] = call_function[target=%s]" % (fx, target),
                    "pkg.torch.onnx.stack_trace": 'File "net.py", line 1, in forward\n    return x'}
        if self.dialect == "builder":
            scopes, classes = [n for _, _, n in levels], [c for _, c, _ in levels]
            return {"namespace": "/".join("%s: %s" % pair for pair in zip(scopes, classes)),
                    "pkg.onnxscript.class_hierarchy": repr(classes),
                    "pkg.onnxscript.name_scopes": repr(scopes)}
        return {}

    def node_name(self, op, value):
        if self.dialect == "dynamo":
            return "node_" + value
        if self.dialect == "builder":
            scope = "/".join(n for _, _, n in self.stack if n)
            return "%s%s_node_%d" % (scope + "/" if scope else "", op, len(self.truth))
        if self.dialect == "typed":
            return self.fresh("/".join("%s::%s" % (c, n) for _, c, n in self.stack) + "/" + op)
        raise ValueError(self.dialect)

    def op(self, op, inputs, target=None, module=None, name=None, metadata=None, known=True,
           **more):
        """Adds a node; its true module is the one that runs unless `module` says otherwise.

        What is not `known` has nothing written about it."""
        fx = self.fresh(op.lower())
        value = "val_%d" % len(self.truth)
        name = self.node_name(op, value) if name is None else name
        metadata = (self.metadata(fx, target or "aten.%s.default" % op.lower())
                    if metadata is None else metadata)
        made = call(op, inputs, [value], name, metadata=metadata, **more)
        (self.nodes if self.where is None else self.where).append(made)
        if self.where is None:
            self.infos.append(value_info(value))
        proven = "module" if known else "known_module"
        self.truth.append((name, self.path if module is None else module, proven))
        return value

    def linear(self, name, x, cls="torch.nn.modules.linear.Linear"):
        with self.module(name, cls):
            y = self.op("MatMul", [x, self.weight("weight", [4, 4])], "aten.linear.default")
            return self.op("Add", [y, self.weight("bias", [4])], "aten.linear.default")

    def write(self, folder, name, y, inputs=(("x", (2, 4), FLOAT),), extra_truth=()):
        graph = (b"".join(text(1, n) for n in self.nodes) + text(2, name) +
                 b"".join(text(5, t) for _, t in self.initializers) +
                 b"".join(text(15, s) for s in self.sparse) +
                 b"".join(text(11, value_info(*i)) for i in inputs) +
                 text(12, value_info(y)) +
                 b"".join(text(13, i) for i in self.infos) +
                 b"".join(text(14, a) for a in self.annotations))
        model = (number(1, self.ir) + text(2, "make_dialects") + text(7, graph) +
                 b"".join(text(8, opset(d, v)) for d, v in
                          {"": self.version, **self.domains}.items()) +
                 b"".join(text(25, f) for f in self.functions))
        (folder / (name + ".onnx")).write_bytes(model)
        nodes = [{"original": n, key: m} for n, m, key in list(self.truth) + list(extra_truth)]
        assert len({n["original"] for n in nodes}) == len(nodes), name
        truth = {"format": "fixture-truth/1", "nodes": nodes}
        (folder / (name + ".truth.json")).write_text(json.dumps(truth, indent=0) + "\n")


def block(net, x):
    """The children and the own operations of a block: residual, gate, norm."""
    h = net.linear("fc1", x)
    with net.module("act", "torch.nn.modules.activation.GELU"):
        h = net.op("Tanh", [h], "aten.gelu.default")
    h = net.linear("fc2", h)
    h = net.op("Add", [h, x], "aten.add.Tensor")
    with net.module("norm", "app.RMSNorm"):
        square = net.op("Mul", [h, h], "aten.pow.Tensor_Scalar")
        h = net.op("Sub", [h, square], "aten.sub.Tensor")
        return net.op("Mul", [h, net.weight("weight", [4])], "aten.mul.Tensor")


def dynamo(folder, name, strict, ir, version):
    net = Net("dynamo", ir, version, strict)
    with net.module("", "app.Net" if not strict else "pkg.make.<locals>.Net"):
        x = "x"
        shape = net.op("Shape", ["x"], "aten.sym_size.int", known=False, metadata=net.metadata(
            "sym_size_int", "aten.sym_size.int", net.stack +
            [("_empty_nn_module_stack_from_metadata_hook",) * 3]))
        with net.module("embed", "torch.nn.modules.linear.Identity"):
            x = net.op("Reshape", [x, shape], "aten.view.default")
        for i in range(3):
            with net.module("blocks.%d" % i, "app.Block"):
                x = block(net, x)
        # A block that runs twice: the metadata of both calls are the same.
        with net.module("tied", "app.Block"):
            x = block(net, x)
        with net.module("tied", "app.Block"):
            x = block(net, x)
        scale = net.op("Constant", [], metadata={}, known=False, attributes=[tensor_attribute(
            "value", tensor("", []))])
        x = net.op("Mul", [x, scale], "aten.mul.Tensor")
        # The branches of torch.cond have neither the root nor the module around them.
        with net.module("gate", "app.Gate"):
            flag = net.weight("flag", [])
            net.initializers[-1] = (flag, tensor(flag, [], BOOL, [True]))
            bodies = []
            for op in ("Relu", "Neg"):
                net.where = []
                y = net.op(op, [x], metadata=net.metadata(op.lower(), "aten." + op.lower(), []))
                bodies.append(b"".join(text(1, n) for n in net.where) + text(2, op + "_graph") +
                              text(12, value_info(y)))
                net.where = None
            x = net.op("If", [flag], "cond", attributes=[
                graph_attribute(b, g) for b, g in zip(("then_branch", "else_branch"), bodies)])
        with net.module("head", "app.Head"):
            sparse = net.path + ".mask"
            net.sparse.append(text(1, tensor(sparse, [1])) + text(2, tensor("", [1], INT64)) +
                              number(3, 4))
            x = net.op("Mul", [x, sparse], "aten.mul.Tensor")
            net.annotations.append(text(1, x) + text(2, text(1, "SCALE_TENSOR") +
                                                     text(2, "head.scale")))
            net.weight("scale", [])
            net.domains["pkg.lib"] = 1
            for overload in ("", "second"):
                x = net.op("Twice", [x], "lib.twice", domain="pkg.lib", overload=overload)
                net.functions.append(function(
                    "pkg.lib", "Twice", ["a"], ["b"],
                    [call("Add", ["a", "a"], ["b"], "twice_" + (overload or "first"))], overload))
    net.write(folder, name, x, extra_truth=[("twice_first", "head", "module"),
                                             ("twice_second", "head", "module")])


def builder(folder):
    net = Net("builder", 11, 21)
    with net.module("", "llm.CausalLM"):
        x = "x"
        with net.module("model", "llm.Model"):
            for i in range(3):
                with net.module("layers.%d" % i, "llm.Layer"):
                    with net.module("self_attn", "llm.Attention"):
                        q = net.linear("q_proj", x, "llm.Linear")
                        k = net.linear("k_proj", x, "llm.Linear")
                        h = net.op("Mul", [q, k])
                        h = net.linear("o_proj", h, "llm.Linear")
                    x = net.op("Add", [x, h])
                    with net.module("mlp", "llm.MLP"):
                        x = net.op("Sigmoid", [net.linear("up", x, "llm.Linear")])
            with net.module("norm", "llm.RMSNorm"):
                x = net.op("Mul", [x, net.weight("weight", [4])])
        x = net.linear("lm_head", x, "llm.Linear")
        x = net.op("Neg", [x])
    net.write(folder, "builder", x)


def rewritten(folder):
    """What rewriters and constant folders leave: the first module's metadata, or the origins."""
    net = Net("dynamo", 12, 22)
    with net.module("", "app.Net"):
        x = "x"
        for i in range(2):
            with net.module("stages.%d" % i, "app.Stage"):
                with net.module("fc", "torch.nn.modules.linear.Linear"):
                    weight = net.weight("weight", [4, 4])
                    first = net.metadata("linear", "aten.linear.default")
                with net.module("bn", "torch.nn.modules.batchnorm.BatchNorm1d"):
                    bias = net.weight("bias", [4])
                rule = {"pkg.onnxscript.rewriter.rule_name": "FuseLinearBatchNorm"}
                x = net.op("Gemm", [x, weight, bias], metadata={**first, **rule})
                x = net.op("Relu", [x], "aten.relu.default")
    net.write(folder, "rewritten", x)


def typed(folder):
    """The scope strings that PyTorch keeps inside."""
    net = Net("typed", 10, 18)
    with net.module("", "app.Net"):
        x = "x"
        for i in range(2):
            with net.module("blocks.%d" % i, "app.Block"):
                x = block(net, x)
        x = net.op("Neg", [x])
    net.write(folder, "typed", x)


def shared_embedding(folder):
    """One embedding that belongs to two parents, named below the one that calls it."""
    net = Net("none", 10, 18)
    with net.module("", "app.Pair"):
        for parent in ("encoder", "decoder"):
            ids = parent + "_ids"
            with net.module(parent, "app.Stack"):
                table = "encoder.embed.weight"
                if parent == "encoder":
                    net.initializers.append((table, tensor(table, [8, 4])))
                h = net.op("Gather", [table, ids], module="encoder.embed",
                           name="/%s/embed/Gather" % parent)
                with net.module("fc", "torch.nn.modules.linear.Linear"):
                    h = net.op("MatMul", [h, net.weight("weight", [4, 4])],
                               name="/%s/fc/MatMul" % parent)
                h = net.op("Tanh", [h], name="/%s/Tanh" % parent)
            net.counts[parent] = h
        y = net.op("Add", [net.counts["encoder"], net.counts["decoder"]], name="/Add")
    net.write(folder, "shared_embedding", y,
              inputs=[("encoder_ids", (2,), INT64), ("decoder_ids", (2,), INT64)])
    def module(name, cls, parent, children, parameters=(), calls=1):
        return {"name": name, "class_name": cls.rsplit(".", 1)[-1], "qualified_class": cls,
                "parent": parent, "aliases": ["decoder.embed"] if name == "encoder.embed" else [],
                "calls": calls, "children": [{"attr": c, "name": n, "class_name": k}
                                             for c, n, k in children],
                "own_parameters": [{"name": n, "shape": s, "dtype": "float32", "trainable": True}
                                   for n, s in parameters], "own_buffers": []}
    embed = ("embed", "encoder.embed", "Embedding")
    linear = "torch.nn.modules.linear.Linear"
    modules = [module("", "app.Pair", None, [("encoder", "encoder", "Stack"),
                                             ("decoder", "decoder", "Stack")]),
               module("encoder", "app.Stack", "", [embed, ("fc", "encoder.fc", "Linear")]),
               module("encoder.embed", "torch.nn.modules.sparse.Embedding", "encoder", [],
                      [("weight", [8, 4])], 2),
               module("encoder.fc", linear, "encoder", [], [("weight", [4, 4])]),
               module("decoder", "app.Stack", "", [embed, ("fc", "decoder.fc", "Linear")]),
               module("decoder.fc", linear, "decoder", [], [("weight", [4, 4])])]
    capture = {"schema": "stemma.capture/1", "root_class": "Pair", "modules": modules}
    (folder / "shared_embedding.capture.json").write_text(json.dumps(capture, indent=0) + "\n")


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "dialects")
    folder.mkdir(exist_ok=True)
    dynamo(folder, "dynamo", False, 10, 18)
    dynamo(folder, "dynamo_strict", True, 13, 23)
    builder(folder)
    rewritten(folder)
    typed(folder)
    shared_embedding(folder)


if __name__ == "__main__":
    main()
