#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rebuilds three small models for which published taggers have figures, with capture and truth.

    make_baselines.py [FOLDER]      default: baselines, beside this file

Needs PyTorch 1.13 and onnx (Debian 12: python3-torch, python3-onnx). Every model is exported twice:
as torch does it, and with the full path of the module in every scope. Both graphs have the same
nodes in the same order, so the truth is independent of names. Large weights become references to
missing external data, as only the structure matters.
"""
import json
import sys
import tempfile
from pathlib import Path

import onnx
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

KEPT_BYTES = 1024


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.activation = nn.ReLU()

    def forward(self, x):
        return self.activation(self.dense(x))


class TwoLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(8), Layer(8)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x):
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = query @ key.transpose(-1, -2) / (query.size(-1) ** 0.5)
        context = (torch.softmax(scores, dim=-1) @ value).permute(0, 2, 1, 3).contiguous()
        return context.view(context.size(0), context.size(1), -1)


class Output(nn.Module):
    def __init__(self, inner, width):
        super().__init__()
        self.dense = nn.Linear(inner, width)
        self.LayerNorm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, residual):
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.self = SelfAttention(width, heads)
        self.output = Output(width, width)

    def forward(self, x):
        return self.output(self.self(x), x)


class Intermediate(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.dense = nn.Linear(width, inner)
        self.activation = nn.GELU()

    def forward(self, x):
        return self.activation(self.dense(x))


class EncoderLayer(nn.Module):
    def __init__(self, width, inner, heads):
        super().__init__()
        self.attention = Attention(width, heads)
        self.intermediate = Intermediate(width, inner)
        self.output = Output(inner, width)

    def forward(self, x):
        x = self.attention(x)
        return self.output(self.intermediate(x), x)


class Encoder(nn.Module):
    def __init__(self, width, inner, heads, layers):
        super().__init__()
        self.layer = nn.ModuleList(EncoderLayer(width, inner, heads) for _ in range(layers))

    def forward(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class EncoderModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(16, 32, 2, 2)

    def forward(self, x):
        return self.encoder(x)


class Embeddings(nn.Module):
    def __init__(self, vocabulary, positions, width):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, width)
        self.position_embeddings = nn.Embedding(positions, width)
        self.token_type_embeddings = nn.Embedding(2, width)
        self.LayerNorm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("position_ids", torch.arange(positions).unsqueeze(0))

    def forward(self, ids, types):
        positions = self.position_ids[:, :ids.size(1)]
        total = self.word_embeddings(ids) + self.token_type_embeddings(types)
        return self.dropout(self.LayerNorm(total + self.position_embeddings(positions)))


class Pooler(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.activation = nn.Tanh()

    def forward(self, x):
        return self.activation(self.dense(x[:, 0]))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings(1000, 64, 128)
        self.encoder = Encoder(128, 256, 2, 2)
        self.pooler = Pooler(128)

    def forward(self, ids, types):
        x = self.encoder(self.embeddings(ids, types))
        return x, self.pooler(x)


def export(model, arguments, path, full_scopes, **more):
    """Exports; with `full_scopes`, names contain the full path of the running module."""
    setup = torch.onnx.utils._setup_trace_module_map

    def with_paths(module, functions):
        result = setup(module, functions)
        torch.jit._trace._trace_module_map = {
            m: torch._C._jit_onnx_create_full_scope_name(torch.typename(type(m)),
                                                         n.replace(".", "@") if n else "")
            for n, m in module.named_modules()}
        return result

    torch.onnx.utils._setup_trace_module_map = with_paths if full_scopes else setup
    try:
        torch.onnx.export(model, arguments, str(path), opset_version=16, **more)
    finally:
        torch.onnx.utils._setup_trace_module_map = setup
    return onnx.load(str(path))


def truth_of(named, full):
    """The module of every node whose name has a scope."""
    assert [n.op_type for n in named.graph.node] == [n.op_type for n in full.graph.node]
    nodes = []
    for i, (a, b) in enumerate(zip(named.graph.node, full.graph.node)):
        module = b.name.split("/")[-2].replace("@", ".") if b.name.startswith("/") else None
        if module is not None:
            # A second call would append a counter; none of these models calls a module twice.
            nodes.append({"original": a.name, "opaque": "n%d" % i, "module": module})
    return {"format": "fixture-truth/1", "nodes": nodes}


def captured_modules(model):
    modules = []
    for name, module in model.named_modules():
        kind = type(module)
        modules.append({
            "name": name, "class_name": kind.__name__, "qualified_class": torch.typename(kind),
            "parent": name.rpartition(".")[0] if name else None, "calls": module.calls,
            "children": [{"attr": a, "name": (name + "." if name else "") + a,
                          "class_name": type(m).__name__} for a, m in module.named_children()],
            "own_parameters": [{"name": n, "shape": list(p.shape), "dtype": str(p.dtype)[6:],
                                "trainable": p.requires_grad}
                               for n, p in module.named_parameters(recurse=False)],
            "own_buffers": [{"name": n, "shape": list(b.shape), "dtype": str(b.dtype)[6:]}
                            for n, b in module.named_buffers(recurse=False)]})
    return modules


class Recorder:
    """Records operations with their modules and tensors."""

    def __init__(self, model):
        self.events, self.stack, self.kept = [], [], []
        self.ids = {id(p): "p:" + n for n, p in
                    list(model.named_parameters()) + list(model.named_buffers())}
        self.inside = None
        for name, module in model.named_modules():
            module.calls = 0
            module.register_forward_pre_hook(lambda m, x, n=name: self.enter(m, n))
            module.register_forward_hook(lambda m, x, y, n=name: self.leave(n))

    def enter(self, module, name):
        self.events.append({"kind": "enter", "module": name, "call": module.calls,
                            "stack": list(self.stack)})
        self.stack.append(name)
        module.calls += 1

    def leave(self, name):
        self.stack.pop()
        self.events.append({"kind": "exit", "module": name, "stack": list(self.stack)})

    def tensors(self, value):
        if isinstance(value, torch.Tensor):
            self.kept.append(value)   # keeps its id from being reused
            return [(self.ids.setdefault(id(value), "t%d" % len(self.ids)), list(value.shape))]
        if isinstance(value, dict):
            value = list(value.values())
        return [t for v in value for t in self.tensors(v)] if isinstance(value, (list, tuple)) else []

    def note(self, kind, name, arguments, result, func=None):
        event = {"kind": kind, "op": name, "stack": list(self.stack)}
        for where, shapes, value in (("in_ids", "input_shapes", arguments),
                                     ("out_ids", "output_shapes", result)):
            tensors = self.tensors(value)
            event[where], event[shapes] = [n for n, _ in tensors], [s for _, s in tensors]
        if func is not None:
            event["func"] = func
        return event

    def run(self, model, arguments):
        recorder = self

        class Functions(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                outer, place = recorder.inside, len(recorder.events)
                name = "%s.%s" % (getattr(func, "__module__", None) or "Tensor",
                                  getattr(func, "__name__", str(func)))
                if outer is None:
                    recorder.events.append({})
                    recorder.inside = place
                try:
                    result = func(*args, **(kwargs or {}))
                finally:
                    recorder.inside = outer
                if outer is None:
                    recorder.events[place] = recorder.note("func", name, [args, kwargs or {}], result)
                return result

        class Operators(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                result = func(*args, **(kwargs or {}))
                recorder.events.append(recorder.note("op", str(func), [args, kwargs or {}], result,
                                                     recorder.inside))
                return result

        with torch.no_grad(), Operators(), Functions():
            model(*arguments)
        for i, event in enumerate(self.events):
            event["seq"] = i
        return self.events


def write(folder, name, model, arguments, **more):
    torch.manual_seed(0)
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.01 * torch.randn_like(parameter))   # torch merges equal weights
    with tempfile.TemporaryDirectory() as scratch:
        named = export(model, arguments, Path(scratch) / "named.onnx", False, **more)
        full = export(model, arguments, Path(scratch) / "full.onnx", True, **more)
    (folder / (name + ".truth.json")).write_text(json.dumps(truth_of(named, full), indent=0) + "\n")
    trace = Recorder(model).run(model, arguments)
    capture = {"schema": "stemma.capture/1", "root_class": type(model).__name__,
               "modules": captured_modules(model), "trace": {"events": trace, "unhooked": []}}
    (folder / (name + ".capture.json")).write_text(json.dumps(capture, separators=(",", ":")) + "\n")
    offset = 0
    for tensor in named.graph.initializer:
        size = len(tensor.raw_data)
        if size >= KEPT_BYTES:
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", "weights.bin"), ("offset", offset), ("length", size)):
                tensor.external_data.add(key=key, value=str(value))
            offset += size
    onnx.save(named, str(folder / (name + ".onnx")))
    values = {}
    for node in named.graph.node:
        for value in list(node.input) + list(node.output):
            if value and "::" in value or value.startswith("/"):
                values.setdefault(value, "v%d" % len(values))
    for tensor in named.graph.initializer:
        values.pop(tensor.name, None)
    for value in list(named.graph.input) + list(named.graph.output):
        values.pop(value.name, None)
    for i, node in enumerate(named.graph.node):
        node.name = "n%d" % i
        node.input[:] = [values.get(v, v) for v in node.input]
        node.output[:] = [values.get(v, v) for v in node.output]
    onnx.save(named, str(folder / (name + ".unnamed.onnx")))


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "baselines"
    folder.mkdir(exist_ok=True)
    write(folder, "two_layers", TwoLayers(), (torch.randn(2, 8),), input_names=["x"],
          output_names=["y"])
    write(folder, "encoder", EncoderModel(), (torch.randn(2, 5, 16),), input_names=["x"],
          output_names=["y"], dynamic_axes={"x": {0: "batch", 1: "sequence"}})
    ids = torch.randint(0, 1000, (1, 20))
    write(folder, "bert", Bert(), (ids, torch.zeros_like(ids)), input_names=["ids", "types"],
          output_names=["hidden", "pooled"],
          dynamic_axes={n: {0: "batch", 1: "sequence"} for n in ("ids", "types")})


if __name__ == "__main__":
    main()
