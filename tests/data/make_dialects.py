#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small models in the dialects of exporters, builders and optimizers, with their truth.

    make_dialects.py [FOLDER]      default: dialects, beside this file

Every node is created in a module known to this script, so the truth is independent of the written
files. They are serialized here, as metadata of nodes is newer than most installed libraries.
"""
import json
import struct
import sys
from contextlib import contextmanager, nullcontext
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


def reference_attribute(name, of, kind):
    """An attribute with the value of one of the enclosing call."""
    return text(1, name) + number(20, kind) + text(21, of)


def function(domain, name, inputs, outputs, nodes, overload="", imports=(), attributes=()):
    return (text(1, name) + b"".join(text(4, i) for i in inputs) +
            b"".join(text(5, o) for o in outputs) + b"".join(text(6, a) for a in attributes) +
            b"".join(text(7, n) for n in nodes) +
            b"".join(text(9, opset(d, v)) for d, v in (("", 18),) + tuple(imports)) +
            text(10, domain) + (text(13, overload) if overload else b""))


class Net:
    """A graph being written, and the running modules."""

    def __init__(self, dialect, ir=10, version=18, strict=False):
        self.dialect, self.ir, self.version, self.strict = dialect, ir, version, strict
        self.stack, self.truth, self.counts, self.calls = [], [], {}, {}
        self.nodes, self.initializers, self.sparse, self.infos = [], [], [], []
        self.functions, self.domains, self.annotations = [], {}, []
        self.calls_known = True
        self.where = None   # nodes of the body being written

    @contextmanager
    def module(self, name, cls):
        """Runs the module `name` (a path below the running one) of a class."""
        path = ".".join(p for p in (self.stack[-1][0] if self.stack else "", name) if p)
        call = self.calls.get(path, 0)
        self.calls[path] = call + 1
        self.stack.append((path, cls, name, call))
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
            made = (made + "." + part if part.isidentifier() else
                    "getattr(%s, %r)" % (made, part))
        return made

    def metadata(self, fx, target, levels=None):
        levels = self.stack if levels is None else levels
        if self.dialect == "dynamo":
            scopes = [self.expression(level[0]) for level in levels] + [fx]
            classes = [level[1] for level in levels] + [target]
            return {"namespace": "/".join("%s: %s" % pair for pair in zip(scopes, classes)),
                    "pkg.torch.onnx.class_hierarchy": repr(classes),
                    "pkg.torch.onnx.name_scopes": repr(scopes),
                    "pkg.torch.onnx.fx_node": "%%%s : [num_users=1] = call_function[target=%s]" % (fx, target),
                    "pkg.torch.onnx.stack_trace": 'File "net.py", line 1, in forward\n    return x'}
        if self.dialect == "builder":
            scopes, classes = [level[2] for level in levels], [level[1] for level in levels]
            return {"namespace": "/".join("%s: %s" % pair for pair in zip(scopes, classes)),
                    "pkg.onnxscript.class_hierarchy": repr(classes),
                    "pkg.onnxscript.name_scopes": repr(scopes)}
        return {}

    def called(self, op):
        """The name that the TorchScript exporter gives: repetitions are counted by scope."""
        def atom(path):
            parts = path.split(".")
            named = [k for k, part in enumerate(parts) if not part.isdigit()]
            return ".".join(parts[named[-1] if named else 0:])

        atoms = [atom(level[0]) for level in self.stack[1:]]
        call = self.stack[-1][3]
        if atoms and call > 0:
            atoms[-1] += "_%d" % call
        return self.fresh("/" + "/".join(atoms + [op]))

    def node_name(self, op, value):
        if self.dialect == "dynamo":
            return "node_" + value
        if self.dialect == "builder":
            scope = "/".join(level[2] for level in self.stack if level[2])
            return "%s%s_node_%d" % (scope + "/" if scope else "", op, len(self.truth))
        if self.dialect == "typed":
            return self.fresh("/".join("%s::%s" % level[1:3] for level in self.stack) + "/" + op)
        if self.dialect == "called":
            return self.called(op)
        return "n_" + value

    def op(self, op, inputs, target=None, module=None, name=None, metadata=None, known=True,
           kind=FLOAT, dims=(2, 4), fx=None, value=None, known_call=None, **more):
        """Adds a node; its true module is the running one unless `module` is given.

        Without `known`, no evidence is written; with `module` False, the truth is unknown too."""
        fx = self.fresh(op.lower()) if fx is None else fx
        value = "val_%d" % (len(self.nodes) + len(self.truth)) if value is None else value
        name = self.node_name(op, value) if name is None else name
        metadata = (self.metadata(fx, target or "aten.%s.default" % op.lower())
                    if metadata is None else metadata)
        made = call(op, inputs, [value], name, metadata=metadata, **more)
        (self.nodes if self.where is None else self.where).append(made)
        if self.where is None:
            kept = {}
            if self.dialect == "dynamo":
                kept = {"pkg.torch.onnx.original_node_name": fx}
            self.infos.append(value_info(value, dims, kind) + entries(4, kept))
        proven = "module" if known else "known_module"
        if module is not False:
            entry = {"original": name, proven: self.path if module is None else module}
            if known_call is not None or (module is None and self.calls_known):
                entry["call"] = self.stack[-1][3] if known_call is None else known_call
            self.truth.append(entry)
        return value

    def constant(self, value, metadata=None, **more):
        return self.op("Constant", [], metadata=metadata, dims=[], attributes=[
            tensor_attribute("value", tensor("", [], data=[value]))], **more)

    def linear(self, name, x, cls="torch.nn.modules.linear.Linear"):
        """One operation as two operators."""
        with self.module(name, cls):
            fx = self.fresh("linear")
            y = self.op("MatMul", [x, self.weight("weight", [4, 4])], "aten.linear.default", fx=fx)
            return self.op("Add", [y, self.weight("bias", [4])], "aten.linear.default", fx=fx)

    def branches(self, flag, bodies, **more):
        """An If with branches written by the functions in `bodies`."""
        graphs = []
        for attribute, body in bodies:
            self.where = []
            y = body()
            graphs.append(graph_attribute(attribute, b"".join(text(1, n) for n in self.where) +
                                          text(2, attribute) + text(12, value_info(y))))
            self.where = None
        return self.op("If", [flag], "cond", attributes=graphs, **more)

    def flag(self):
        name = self.weight("flag", [])
        self.initializers[-1] = (name, tensor(name, [], BOOL, [True]))
        return name

    def write(self, folder, name, y, inputs=(("x", (2, 4), FLOAT),)):
        signature = {}
        if self.dialect == "dynamo":
            signature = {"pkg.torch.export.ExportedProgram.graph_signature": "\n".join(
                ["# inputs"] + ["p_%s: PARAMETER target=%r" % (n.replace(".", "_"), n)
                                for n, _ in self.initializers])}
        graph = (b"".join(text(1, n) for n in self.nodes) + text(2, name) +
                 b"".join(text(5, t) for _, t in self.initializers) +
                 b"".join(text(15, s) for s in self.sparse) +
                 b"".join(text(11, value_info(*i)) for i in inputs) +
                 text(12, value_info(y)) +
                 b"".join(text(13, i) for i in self.infos) +
                 b"".join(text(14, a) for a in self.annotations) + entries(16, signature))
        model = (number(1, self.ir) + text(2, "make_dialects") + text(7, graph) +
                 b"".join(text(8, opset(d, v)) for d, v in
                          {"": self.version, **self.domains}.items()) +
                 b"".join(text(25, f) for f in self.functions))
        (folder / (name + ".onnx")).write_bytes(model)
        assert len({n["original"] for n in self.truth}) == len(self.truth), name
        truth = {"format": "fixture-truth/1", "nodes": self.truth}
        (folder / (name + ".truth.json")).write_text(json.dumps(truth, indent=0) + "\n")


def block(net, x):
    """The children of a block and its own operations: residual, gate, norm."""
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
        # A fake level for no module.
        shape = net.op("Shape", ["x"], module=False, kind=INT64, dims=[2], metadata=net.metadata(
            "sym_size_int", "aten.sym_size.int", net.stack +
            [("_empty_nn_module_stack_from_metadata_hook",) * 2]))
        with net.module("embed", "torch.nn.modules.linear.Identity"):
            x = net.op("Reshape", ["x", shape], "aten.view.default")
        for i in range(3):
            with net.module("blocks.%d" % i, "app.Block"):
                x = block(net, x)
                # Shapes and constants computed once have the first user's modules.
                if i == 0:
                    shared = net.op("Shape", [x], "aten.sym_size.int", module="blocks", kind=INT64, dims=[2])
                    half = net.constant(0.5, module="blocks")
                x = net.op("Reshape", [x, shared], "aten.view.default")
                x = net.op("Mul", [x, half], "aten.mul.Tensor")
        # A block that runs twice: both calls have the same metadata.
        for _ in range(2):
            with net.module("tied", "app.Block"):
                x = block(net, x)
        x = net.op("Mul", [x, net.constant(2.0, {}, known=False)], "aten.mul.Tensor")
        # The branches of torch.cond lack the root and the enclosing module, and a branch may be a
        # separate function.
        with net.module("gate", "app.Gate"):
            def plain():
                return net.op("Relu", [x], metadata=net.metadata("relu", "aten.relu.default", []))

            def called():
                return net.op("false_graph_0", [x], domain="pkg.torch.__subgraph__", metadata={})

            net.domains["pkg.torch.__subgraph__"] = 1
            net.functions.append(function("pkg.torch.__subgraph__", "false_graph_0", ["a"], ["b"],
                                          [call("Neg", ["a"], ["b"], "node_neg",
                                                metadata=net.metadata("neg", "aten.neg.default", []))]))
            net.truth.append({"original": "node_neg", "module": net.path})
            x = net.branches(net.flag(), (("then_branch", plain), ("else_branch", called)))
        # Keys of a ModuleDict may contain quotes.
        for key in ("it's", 'say "hi"', """bo'th" """):
            with net.module("heads." + key, "app.Head"):
                x = net.linear("fc", x)
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
                body = "twice_" + (overload or "first")
                x = net.op("Twice", [x], "lib.twice", domain="pkg.lib", overload=overload)
                net.functions.append(function("pkg.lib", "Twice", ["a"], ["b"],
                                              [call("Add", ["a", "a"], ["b"], body)], overload))
                net.truth.append({"original": body, "module": "head"})
    net.write(folder, name, x)


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
                        # Library functions stay calls.
                        net.domains["pkg.lib"] = 1
                        x = net.op("Swish", [x], domain="pkg.lib")
            net.functions.append(function(
                "pkg.lib", "Swish", ["a"], ["b"],
                [call("Sigmoid", ["a"], ["s"], "Sigmoid_node_0"),
                 call("Mul", ["a", "s"], ["b"], "Mul_node_1")]))
            with net.module("norm", "llm.RMSNorm"):
                x = net.op("Mul", [x, net.weight("weight", [4])])
        x = net.linear("lm_head", x, "llm.Linear")
        x = net.op("Neg", [x])
    net.write(folder, "builder", x)


def rewritten(folder):
    """After rewriting and constant folding: the first module's metadata, or the origins."""
    net = Net("dynamo", 12, 22)
    net.calls_known = False
    with net.module("", "app.Net"):
        x = "x"
        for i in range(3):
            with net.module("stages.%d" % i, "app.Stage"):
                with net.module("fc", "torch.nn.modules.linear.Linear"):
                    weight = net.weight("weight", [4, 4])
                    first = net.metadata("linear", "aten.linear.default")
                with net.module("bn", "torch.nn.modules.batchnorm.BatchNorm1d"):
                    bias = net.weight("bias", [4])
                rule = {"pkg.onnxscript.rewriter.rule_name": "FuseLinearBatchNorm"}
                x = net.op("Gemm", [x, weight, bias], metadata={**first, **rule})
                x = net.op("Relu", [x], "aten.relu.default")
                # Folded from nodes of two modules, and of one: without metadata.
                for origins, owner in ((["fc.weight", "bn.bias"], ""), (["bn.bias", "bn.bias"], "bn")):
                    names = sorted(net.path + "." + o for o in origins)
                    path = net.path + ("." + owner if owner else "")
                    folded = net.constant(1.5, {}, known=False, module=path)
                    net.infos[-1] += entries(4, {"pkg.onnxscript.optimizer.folded_from": repr(names)})
                    with net.module(owner, "torch.nn.modules.batchnorm.BatchNorm1d") if owner else \
                            nullcontext():
                        x = net.op("Mul", [x, folded], "aten.mul.Tensor")
                for origin in ("fc.scale",):
                    made = "folded_%d" % i
                    net.initializers.append((made, tensor(made, [4])))
                    net.infos.append(value_info(made, [4]) + entries(4, {
                        "pkg.onnxscript.optimizer.folded_from": repr([net.path + "." + origin])}))
                    with net.module("fc", "torch.nn.modules.linear.Linear"):
                        x = net.op("Add", [x, made], "aten.add.Tensor")
        # A rule that leaves only its name.
        x = net.op("Cast", [x], metadata={"pkg.onnxscript.rewriter.rule_name": "CastCast"},
                   known=False, attributes=[int_attribute("to", FLOAT)])
    net.write(folder, "rewritten", x)


def typed(folder):
    """PyTorch's internal scope strings."""
    net = Net("typed", 10, 18)
    with net.module("", "app.Net"):
        x = "x"
        for i in range(2):
            with net.module("blocks.%d" % i, "app.Block"):
                x = block(net, x)
        x = net.op("Neg", [x])
    net.write(folder, "typed", x)


def recurrence(folder):
    """A cell that is called once per step, and two towers that share an encoder, as the
    TorchScript exporter names them; and the same with metadata, equal for all calls."""
    for dialect in ("called", "dynamo"):
        net = Net(dialect, 10, 18)
        with net.module("", "app.Net"):
            h = "x"
            for _ in range(4):
                with net.module("cell", "app.Cell"):
                    a = net.linear("input", "x")
                    b = net.linear("hidden", h)
                    h = net.op("Tanh", [net.op("Add", [a, b])])
            towers = []
            for start in (h, "x"):
                with net.module("tower", "app.Tower"):
                    y = start
                    for i in range(2):
                        with net.module("layers.%d" % i, "app.Layer"):
                            y = net.op("Relu", [net.linear("fc", y)])
                    with net.module("pool", "app.Pool"):
                        y = net.op("Neg", [net.op("Sigmoid", [y])])
                towers.append(y)
            y = net.op("Sub", towers)
        net.write(folder, "recurrence" if dialect == "called" else "recurrence_dynamo", y)


def nested_functions(folder):
    """torch 2.2 with torch.export: every module is a local function, nested like the tree."""
    net = Net("none", 8, 18)
    domain = "pkg.app.1.0"

    def body(path, cls, parameters, nodes, result):
        name = "app_%s_%s_1" % (cls, path.replace(".", "_")) if path else "main"
        inner = [n for n in nodes]
        net.functions.append(function(domain, name, ["a"] + parameters, [result], inner,
                                      imports=((domain, 1),)))
        return name

    net.domains[domain] = 1
    weights = []
    with net.module("", "app.Net"):
        x = "x"
        for i in range(2):
            with net.module("blocks.%d" % i, "app.Block"):
                calls, h, formal = [], "a", []
                for fc in ("fc1", "fc2"):
                    with net.module(fc, "app.FC"):
                        net.weight("weight", [4, 4])
                        name = body(net.path, "FC", ["w"],
                                    [call("MatMul", ["a", "w"], ["b"], "matmul_" + net.path)], "b")
                        net.truth.append({"original": "matmul_" + net.path, "module": net.path})
                        formal.append(fc + "_w")
                        calls.append(call(name, [h, fc + "_w"], [fc + "_y"], "call_" + net.path, domain))
                        net.truth.append({"original": "call_" + net.path, "module": net.path})
                        h = fc + "_y"
                calls.append(call("Relu", [h], ["r"], "relu_" + net.path))
                net.truth.append({"original": "relu_" + net.path, "module": net.path})
                name = body(net.path, "Block", formal, calls, "r")
                x = net.op(name, [x] + [net.path + "." + fc + ".weight" for fc in ("fc1", "fc2")],
                           name="call_" + net.path, domain=domain)
    net.write(folder, "nested_functions", x)


class Modular:
    """A model of torch 2.2 with dynamo: each call of a module is a separate function, nested like
    modules, in the domain of the class's package and version; operators are library functions shared
    by modules."""

    LIBRARY, COMMON = "pkg.onnxscript.torch_lib", "pkg.onnxscript.torch_lib.common"

    def __init__(self):
        self.net = Net("none", 8, 18)
        self.frames = [{"path": "", "nodes": [], "made": set(), "read": []}]
        self.called, self.count = {}, 0
        for domain in (self.LIBRARY, self.COMMON):
            self.net.domains[domain] = 1
        self.library()

    def library(self):
        common = ((self.COMMON, 1),)

        def add(name, inputs, nodes, domain=self.LIBRARY, attributes=(), imports=()):
            nodes = [call(op, i, [o], "n%d" % k, *more) for k, (op, i, o, *more) in enumerate(nodes)]
            self.net.functions.append(function(domain, name, inputs, ["result"], nodes, "", imports,
                                               attributes))

        def branch(op, *attributes):
            node = call(op, ["self"], ["chosen"], "n0", "", attributes)
            return text(1, node) + text(2, "branch") + text(12, text(1, "chosen"))

        def ints(name, values):
            return text(1, name) + b"".join(number(8, v) for v in values) + number(20, 7)

        def scalar(value, kind=FLOAT):
            return [tensor_attribute("value", tensor("", [], kind, [value]))]

        add("Rank", ["self"], [("Shape", ["self"], "shape"), ("Size", ["shape"], "result")],
            self.COMMON)
        add("aten_t", ["self"],
            [("Rank", ["self"], "rank", self.COMMON), ("Constant", [], "two", "", scalar(2, INT64)),
             ("Equal", ["rank", "two"], "flat"),
             ("If", ["flat"], "result", "",
              [graph_attribute("then_branch", branch("Transpose", ints("perm", (1, 0)))),
               graph_attribute("else_branch", branch("Identity"))])], imports=common)
        add("aten_addmm", ["self", "mat1", "mat2"],
            [("Gemm", ["mat1", "mat2", "self"], "result", "",
              [reference_attribute("alpha", "alpha", 1)])], attributes=["alpha"])
        add("aten_matmul", ["self", "other"], [("MatMul", ["self", "other"], "result")])
        add("aten_add", ["self", "other"],
            [("Constant", [], "factor", "", [reference_attribute("value_float", "alpha", 1)]),
             ("Mul", ["other", "factor"], "scaled"), ("Add", ["self", "scaled"], "result")],
            attributes=["alpha"])
        add("aten_mul", ["self", "other"], [("Mul", ["self", "other"], "result")])
        add("aten_softmax_no_dtype", ["self"],
            [("Softmax", ["self"], "result", "", [reference_attribute("axis", "dim", 2)])],
            attributes=["dim"])
        add("aten_gelu", ["self"],
            [("Constant", [], "root", "", scalar(1.4142135)), ("Div", ["self", "root"], "part"),
             ("Erf", ["part"], "erf"), ("Constant", [], "one", "", scalar(1.0)),
             ("Add", ["erf", "one"], "sum"), ("Mul", ["self", "sum"], "result")])
        add("aten_relu", ["self"], [("Relu", ["self"], "result")])
        add("aten_layer_norm", ["input", "weight", "bias"],
            [("LayerNormalization", ["input", "weight", "bias"], "result", "",
              [reference_attribute("axis", "axis", 2)])], attributes=["axis"])

    def put(self, node, inputs, results, name):
        frame = self.frames[-1]
        frame["nodes"].append(node)
        frame["read"] += [i for i in inputs if i not in frame["made"] and i not in frame["read"]]
        frame["made"].update(results)
        self.net.truth.append({"original": name, "module": frame["path"]})

    def op(self, name, inputs, attributes=(), domain=LIBRARY):
        self.count += 1
        result, title = "%s_%d" % (name.lower(), self.count), "%s_%d" % (name, self.count)
        self.put(call(name, inputs, [result], title, domain, attributes), inputs, [result], title)
        return result

    def weight(self, name, dims):
        full = ".".join(p for p in (self.frames[-1]["path"], name) if p)
        if all(full != known for known, _ in self.net.initializers):
            self.net.initializers.append((full, tensor(full, dims)))
        return full

    @contextmanager
    def module(self, attribute, cls, package, shown=None):
        """The `results` that the user puts into the frame are those of the call."""
        path = ".".join(p for p in (self.frames[-1]["path"], attribute) if p)
        frame = {"path": path, "nodes": [], "made": set(), "read": []}
        self.frames.append(frame)
        yield frame
        self.frames.pop()
        shown = path.replace(".", "_") if shown is None else shown
        self.called[shown] = self.called.get(shown, 0) + 1
        name = "%s_%s_%d" % (cls.replace(".", "_"), shown, self.called[shown])
        domain = "pkg." + package
        self.net.domains[domain] = 1
        imports = [(d, 1) for d in sorted(self.net.domains) if d]
        self.net.functions.append(function(domain, name, frame["read"], frame["results"],
                                           frame["nodes"], imports=imports))
        self.count += 1
        title = "%s_%d" % (name, self.count)
        self.put(call(name, frame["read"], frame["results"], title, domain), frame["read"],
                 frame["results"], title)
        self.net.truth[-1]["module"] = path

    def linear(self, attribute, x, shown=None):
        with self.module(attribute, "torch.nn.modules.linear.Linear", "torch.2.2.0+cu121", shown) as m:
            weight = self.op("aten_t", [self.weight("weight", [4, 4])])
            m["results"] = [self.op("aten_addmm", [self.weight("bias", [4]), x, weight],
                                    [text(1, "alpha") + b"\x15" + struct.pack("<f", 1.0) +
                                     number(20, 1)])]
        return m["results"][0]

    def norm(self, attribute, x):
        with self.module(attribute, "torch.nn.modules.normalization.LayerNorm",
                         "torch.2.2.0+cu121") as m:
            m["results"] = [self.op("aten_layer_norm",
                                    [x, self.weight("weight", [4]), self.weight("bias", [4])],
                                    [text(1, "axis") + number(3, 2 ** 64 - 1) + number(20, 2)])]
        return m["results"][0]

    def add(self, a, b):
        return self.op("aten_add", [a, b], [text(1, "alpha") + b"\x15" + struct.pack("<f", 0.5) +
                                            number(20, 1)])

    def write(self, folder, name, y):
        self.net.nodes = self.frames[0]["nodes"]
        self.net.write(folder, name, y)


def modular(folder):
    """Layers of nested modules, a list and a sequence, an operator shared by modules, a module
    without parameters, one with two results, and one called twice."""
    net = Modular()
    package, file = "tinylib.4.37.0", "tinylib.models.tiny.modeling_tiny."

    def dense_and_norm(attribute, cls, x, rest):
        with net.module(attribute, file + cls, package) as m:
            m["results"] = [net.norm("LayerNorm", net.add(net.linear("dense", x), rest))]
        return m["results"][0]

    x = net.linear("embeddings", "x")
    with net.module("encoder", file + "TinyEncoder", package) as encoder:
        for i in range(2):
            with net.module("layer.%d" % i, file + "TinyLayer", package) as layer:
                with net.module("attention", file + "TinyAttention", package) as attention:
                    with net.module("self", file + "TinySelfAttention", package) as inner:
                        query, key = net.linear("query", x), net.linear("key", x)
                        scores = net.op("aten_matmul", [query, net.op("aten_t", [key])])
                        weights = net.op("aten_softmax_no_dtype", [scores],
                                         [text(1, "dim") + number(3, 2 ** 64 - 1) + number(20, 2)])
                        inner["results"] = [net.op("aten_matmul", [weights, net.linear("value", x)]),
                                            weights]
                    h, weights = inner["results"]
                    attention["results"] = [dense_and_norm("output", "TinySelfOutput", h, x), weights]
                h, weights = attention["results"]
                with net.module("intermediate", file + "TinyIntermediate", package) as m:
                    y = net.linear("dense", h)
                    with net.module("intermediate_act_fn", "tinylib.activations.Gelu", package) as act:
                        act["results"] = [net.op("aten_gelu", [y])]
                    m["results"] = act["results"]
                x = dense_and_norm("output", "TinyOutput", m["results"][0], h)
                # A standard operator, without a function.
                x = net.op("Mul", [x, x], domain="")
                layer["results"] = [x]
        encoder["results"] = [x]
    # Children of a sequence are written as in Python.
    with net.module("head", "torch.nn.modules.container.Sequential", "torch.2.2.0+cu121") as head:
        y = net.linear("0", x, "getattr_L__self___head___0__")
        with net.module("1", "torch.nn.modules.activation.ReLU", "torch.2.2.0+cu121",
                        "getattr_L__self___head___1__") as relu:
            relu["results"] = [net.op("aten_relu", [y])]
        head["results"] = [net.linear("2", relu["results"][0], "getattr_L__self___head___2__")]
    y = head["results"][0]
    for _ in range(2):
        y = net.norm("shared", y)
        y = net.add(y, x)
    net.write(folder, "modular_functions", y)


def optimized(folder):
    """Names as a runtime saves them after optimization, in a model with scopes."""
    net = Net("called", 10, 20)
    net.domains["com.microsoft"] = 1
    with net.module("", "app.Net"):
        x = "x"
        for i in range(2):
            with net.module("layers.%d" % i, "app.Layer"):
                with net.module("fc", "torch.nn.modules.linear.Linear"):
                    scope = net.called("MatMul")
                    x = net.op("Gemm", [x, net.weight("weight", [4, 4]), net.weight("bias", [4])],
                               name=scope + "/MatMulAddFusion")
                    x = net.op("Relu", [x])
                with net.module("act", "app.Gelu"):
                    x = net.op("Tanh", [x])
                    x = net.op("Gelu", [x], name="_inlfunc_Gelu_" + net.called("Mul"))
                with net.module("norm", "torch.nn.modules.normalization.LayerNorm"):
                    x = net.op("LayerNormalization", [x, net.weight("weight", [4])],
                               name=net.called("Pow") + "/LayerNormFusion/")
                    x = net.op("Neg", [x])
                x = net.op("Add", [x, x])
    net.write(folder, "optimized", x)


def merged(folder):
    """Untrained copies of a layer, after an optimizer merged equal initializers."""
    net = Net("called", 10, 20)

    def norm(name, x):
        with net.module(name, "torch.nn.modules.normalization.LayerNorm"):
            kept = "embed.norm.weight"
            if not net.initializers:
                net.initializers.append((kept, tensor(kept, [4], data=[1.0] * 4)))
            return net.op("LayerNormalization", [x, kept])

    def linear(name, x):
        with net.module(name, "torch.nn.modules.linear.Linear"):
            kept = net.path.replace("layers.1", "layers.0").replace("layers.2", "layers.0") + ".bias"
            if all(kept != known for known, _ in net.initializers):
                net.initializers.append((kept, tensor(kept, [4])))
            return net.op("Add", [x, kept])

    with net.module("", "app.Net"):
        with net.module("embed", "app.Embed"):
            x = norm("norm", "x")
        for i in range(3):
            with net.module("layers.%d" % i, "app.Layer"):
                h = net.op("Relu", [linear("fc1", x)])
                x = norm("norm", net.op("Add", [x, linear("fc2", h)]))
        x = net.linear("head", x)
    net.write(folder, "merged", x)


def shared_embedding(folder):
    """An embedding with two parents, named below the calling one."""
    net = Net("none", 10, 18)
    results = []
    with net.module("", "app.Pair"):
        for parent in ("encoder", "decoder"):
            ids = parent + "_ids"
            with net.module(parent, "app.Stack"):
                table = "encoder.embed.weight"
                if parent == "encoder":
                    net.initializers.append((table, tensor(table, [8, 4])))
                h = net.op("Gather", [table, ids], module="encoder.embed",
                           name="/%s/embed/Gather" % parent, known_call=len(results))
                with net.module("fc", "torch.nn.modules.linear.Linear"):
                    h = net.op("MatMul", [h, net.weight("weight", [4, 4])],
                               name="/%s/fc/MatMul" % parent)
                h = net.op("Tanh", [h], name="/%s/Tanh" % parent)
            results.append(h)
        y = net.op("Add", results, name="/Add")
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


def training(folder):
    """A step of training: the gradient of every operator, named after it, and where it is added up."""
    net = Net("called", 10, 18)
    with net.module("", "app.Net"):
        x, tape = "x", []
        for i in range(2):
            with net.module("layers.%d" % i, "app.Layer"):
                with net.module("fc", "torch.nn.modules.linear.Linear"):
                    y = net.op("MatMul", [x, net.weight("weight", [4, 4])], known=False)
                    y = net.op("Add", [y, net.weight("bias", [4])], known=False)
                y = net.op("Tanh", [y], known=False)
            tape.append((net.path + "layers.%d" % i, x, y))
            x = y
        gradient = x
        for path, before, after in reversed(tape):
            scope = "/" + path
            for op, name, inputs in (("Mul", scope + "/Tanh_Grad/Mul_0", [gradient, after]),
                                     ("Sub", scope + "/Tanh_Grad/Sub_1", [None, gradient])):
                gradient = net.op(op, [i or gradient for i in inputs], known=False, name=name,
                                  module=path, value=name[1:].replace("/", "_"))
            name = scope + "/fc/MatMul_Grad/"
            turned = net.op("Transpose", [path + ".fc.weight"], known=False, name=name + "Transpose_0",
                            module=path + ".fc", value="onnx::" + path + "::4_Grad", dims=(4, 4))
            gradient = net.op("MatMul", [gradient, turned], known=False, name=name + "MatMul_1",
                              module=path + ".fc", value=path + "_Grad/input")
            buffer = path + ".fc.bias_grad.accumulation.buffer"
            net.initializers.append((buffer, tensor(buffer, [4])))
            gradient = net.op("Add", [gradient, buffer], known=False, module=path + ".fc",
                              name="AccumulateGrad_" + buffer, value=buffer + ".out")
        net.write(folder, "training", gradient)


def constants(folder):
    """Names with numbers that are no modules: of values, and of the second call of a cell whose
    weights are constants."""
    net = Net("called", 10, 18)

    def read(op, y, name, dims):
        if all(name != known for known, _ in net.initializers):
            net.initializers.append((name, tensor(name, dims)))
        return net.op(op, [y, name], known=False)

    def constant(dims):
        return net.op("Constant", [], known=False, dims=dims, attributes=[
            tensor_attribute("value", tensor("", dims))])

    with net.module("", "app.Net"):
        x = "x"
        with net.module("mask", "app.Mask"):
            x = read("Max", x, "const_-3.4028e+38_f32", [1])
            x = read("Mul", x, "const_0.5_f32", [1])
        for _ in range(2):
            with net.module("rnn", "app.Cell"):
                h = net.op("MatMul", [x, constant([4, 4])], known=False)
                x = net.op("Tanh", [net.op("Add", [h, constant([4])], known=False)], known=False)
        with net.module("head", "torch.nn.modules.linear.Linear"):
            x = net.op("MatMul", [x, net.weight("weight", [4, 4])], known=False)
        net.write(folder, "constants", x)


def frameworks(folder):
    """The names of other frameworks: scopes that end in a word for the operator, names of several
    operators joined by what converted them, and layers of which only results are named."""
    for name, layers in (
            ("tensorflow", (
                ("Cos", "bert/embeddings/range_range"), ("Add", "bert/embeddings/add", 4),
                ("MatMul", "bert/encoder/layer_0/query/MatMul", 4, 4),
                ("Add", "bert/encoder/layer_0/query/BiasAdd", 4),
                ("Tanh", "bert/encoder/layer_0/Tanh"),
                ("ReduceMean", "bert/encoder/layer_0/norm/mean"),
                ("Sub", "bert/encoder/layer_0/norm/sub__12", 4),
                ("Reciprocal", "bert/encoder/layer_0/norm/Rsqrt__77"),
                ("MatMul", "bert/pooler/dense/MatMul;bert/pooler/dense/BiasAdd", 4, 4))),
            ("caffe2", (
                ("Mul", "conv2_1/x1/bn", 4), ("Relu", "conv2_1/x1/relu"),
                ("MatMul", "conv2_1/x1/conv", 4, 4), ("Mul", "conv2_1/x2/bn", 4),
                ("Relu", "conv2_1/x2/relu")))):
        net = Net("none", 10, 17)
        with net.module("", "app.Net"):
            x = "x"
            for op, layer, *dims in layers:
                named, inputs = layer.split(";")[0], [x]
                if dims:
                    weight = "w%d" % len(net.initializers)
                    net.initializers.append((weight, tensor(weight, dims)))
                    inputs.append(weight)
                module = ";" not in layer and named.rsplit("/", 1)[0].replace("/", ".")
                x = net.op(op, inputs, known=False, name=layer, module=module, value=named + "_1",
                           **({"attributes": [int_attribute("keepdims", 1)]}
                              if op == "ReduceMean" else {}))
            net.write(folder, name, x)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "dialects")
    folder.mkdir(exist_ok=True)
    dynamo(folder, "dynamo", False, 10, 18)
    dynamo(folder, "dynamo_strict", True, 13, 23)
    builder(folder)
    rewritten(folder)
    typed(folder)
    recurrence(folder)
    nested_functions(folder)
    modular(folder)
    optimized(folder)
    merged(folder)
    shared_embedding(folder)
    training(folder)
    constants(folder)
    frameworks(folder)


if __name__ == "__main__":
    main()
