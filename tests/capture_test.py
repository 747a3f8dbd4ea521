#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs examples/capture.py on small models and compares stemma's answers with the truth.

usage: capture_test.py PROGRAM [unittest arguments]

The truth comes from a second export, in which the exporter's scope map has full paths of modules in
place of names.
"""
import contextlib
import gc
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import tracemalloc
import types
import unittest
import warnings
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "examples"))
try:
    import torch
    import torch.onnx.utils  # noqa: F401
except ImportError:
    print("skipped: no torch here (Debian: python3-torch)")
    sys.exit(77)
try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema here (Debian: python3-jsonschema)")
    sys.exit(77)

import capture as capture_py
from capture import capture
from torch import nn

PROGRAM = None
SCHEMA = json.loads((ROOT / "docs" / "capture.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
warnings.simplefilter("ignore")


# Models -------------------------------------------------------------------------------------------

class block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, 2 * width)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.fc2(self.act(self.fc1(self.norm(x))))


class shared_block(nn.Module):
    """A block that runs twice, and again under another name."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(8, 8)
        self.block = block()
        self.again = self.block
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = self.block(self.block(self.stem(x)))
        return self.head(torch.tanh(self.again(x)))


class towers(nn.Module):
    """Two identical towers, and one that both sides run through."""

    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        self.right = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        self.siamese = block()

    def forward(self, a, b):
        a, b = self.siamese(self.left(a)), self.siamese(self.right(b))
        return torch.cosine_similarity(a, b, dim=1)


class listed(nn.Module):
    """Modules in lists, dicts and a Sequential."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(block() for _ in range(3))
        self.grid = nn.ModuleList(nn.ModuleList(nn.Linear(8, 8) for _ in range(2)) for _ in range(2))
        self.named = nn.ModuleDict({"a": nn.Sequential(block(), nn.Dropout(0.5)), "b": nn.Linear(8, 4)})

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        for row in self.grid:
            for cell in row:
                x = torch.relu(cell(x))
        return self.named["b"](self.named["a"](x))


class functional(nn.Module):
    """Operations outside of modules, own parameters and buffers, arithmetic on shapes."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(8))
        self.register_buffer("shift", torch.rand(1, 8))
        self.inner = nn.Linear(8, 8)

    def forward(self, x, flip=True):
        x = nn.functional.softmax(self.inner(x) * self.scale + self.shift, dim=-1)
        x = x.reshape(x.shape[0], 2, -1).transpose(1, 2)
        return torch.flip(x, [1]) if flip else x


class tied(nn.Module):
    """A language model whose output layer shares the weights of its embedding."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.register_buffer("positions", torch.arange(16).reshape(1, 16))
        self.place = nn.Embedding(16, 8)
        self.body = block()
        self.out = nn.Linear(8, 11, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens) + self.place(self.positions[:, :tokens.shape[1]])
        return self.out(self.body(x))


class convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True),
                                      nn.MaxPool2d(2))
        self.again = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True))
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = self.features(x)
        x = self.again(x) + x
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


@torch.jit.script
def clipped(x):
    if bool(x.sum() > 0):
        x = x * 2
    else:
        x = x - 1
    return x


class branching(nn.Module):
    """A scripted function in a traced model: an If whose nodes have no scope."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def forward(self, x):
        return self.b(clipped(self.a(x)))


class failing(nn.Module):
    def __init__(self):
        super().__init__()
        self.fine = nn.Linear(8, 8)
        self.bad = nn.Identity()
        self.bad.forward = self.fail
        self.drop = nn.Dropout(0.5).eval()

    def fail(self, x):
        raise ArithmeticError("no")

    def forward(self, x):
        return self.bad(self.drop(self.fine(x)))


class forgiving(failing):
    """Catches an exception of a submodule, and continues."""

    def forward(self, x):
        x = self.fine(x)
        with contextlib.suppress(ArithmeticError):
            self.bad(x)
        return torch.relu(self.drop(x))


MODELS = {
    "shared_block": (shared_block, lambda: (torch.rand(2, 8),)),
    "towers": (towers, lambda: (torch.rand(2, 8), torch.rand(2, 8))),
    "listed": (listed, lambda: (torch.rand(2, 8),)),
    "functional": (functional, lambda: (torch.rand(2, 8),)),
    "tied": (tied, lambda: (torch.randint(0, 11, (2, 5)),)),
    "convolutional": (convolutional, lambda: (torch.rand(1, 3, 8, 8),)),
}
OPTIONS = {"opset_version": 14}


def make(name):
    torch.manual_seed(0)
    kind, inputs = MODELS[name]
    model = kind().eval()
    with torch.no_grad():
        for tensor in model.parameters():  # the exporter merges equal ones
            tensor.add_(0.1 * torch.rand(tensor.shape))
    return model, inputs()


def plain_export(model, args, **options):
    written = io.BytesIO()
    torch.onnx.export(model, args, written, **{**OPTIONS, **options})
    return written.getvalue()


def true_modules(model, args, **options):
    """[(operator, module path or None)] of the nodes of an export, bodies before owners."""
    exporter = capture_py.exporter_internals()
    setup = exporter._setup_trace_module_map
    assign = torch._C._jit_pass_onnx_assign_scoped_names_for_node_and_value
    nodes = []

    def full(*arguments):
        result = setup(*arguments)
        module_map = torch.jit._trace._trace_module_map
        for path, module in model.named_modules():
            module_map[module] = "m::" + path.replace(".", "|")
        return result

    def note(block):
        for node in block.nodes():
            for inner in node.blocks():
                note(inner)
            if not node.mustBeNone():
                scope = node.scopeName()
                path = scope.rpartition("::")[2].replace("|", ".") if "m::" in scope else None
                nodes.append((node.kind().rpartition(":")[2], path))

    def assign_and_note(graph):
        result = assign(graph)
        note(graph)
        return result

    with mock.patch.object(exporter, "_setup_trace_module_map", full), mock.patch.object(
            torch._C, assign.__name__, assign_and_note):
        plain_export(model, args, **options)
    return nodes


def nodes_in_order(part):
    """The nodes of an `export` part, bodies before owners."""
    def key(node):
        place = [int(step.split("[")[0]) if step.split("[")[0].isdigit() else step
                 for step in (node["graph"].split("/") if node["graph"] else [])]
        # A body sorts before its owner; else_branch comes after then_branch.
        order = []
        for at, label in zip(place[::2], place[1::2]):
            order += [at, 0, {"then_branch": 0, "else_branch": 1}.get(label, 0)]
        return order + [node["index"], 1]
    return sorted(part, key=key)


@contextlib.contextmanager
def in_folder(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def capture(self, model, args, kwargs=None, **options):
        """Captures to a file and returns (document, path, missing)."""
        path = self.folder / "capture.json"
        done = capture(model, args, kwargs, path=str(path), **options)
        document = done.document()
        self.assertIsNone(next((error.message[:300] for error in VALIDATOR.iter_errors(document)), None))
        return document, path, done.missing

    def stemma(self, *arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def modules_by_place(self, model, capture_file, sources):
        sidecar = self.folder / "sidecar.json"
        self.stemma("tag", model, "-m", capture_file, "--sources", sources, "--sidecar", sidecar)
        return {(n["graph"], n["index"]): (n["op_type"], n["scope_module"], n["provenance"])
                for n in json.loads(sidecar.read_text())["nodes"]}


class Captures(Case):
    """Every model, from PyTorch to tags."""

    def check(self, name, **options):
        model, args = make(name)
        before = plain_export(model, args)
        file = self.folder / "model.onnx"
        document, path, missing = self.capture(model, args, export=str(file), export_options=OPTIONS,
                                               torchscript=True, **options)
        self.assertEqual(file.read_bytes(), before)
        self.assertEqual(plain_export(model, args), before)
        truth = true_modules(model, args)
        exported = nodes_in_order(document["export"]["nodes"])
        self.assertEqual([(n["op_type"], n["scope"].rpartition("::")[2] if n["scope"] else None)
                          for n in exported], truth)
        self.check_tags(file, path, document, missing)
        return document, missing

    def check_tags(self, file, path, document, missing):
        truth = {(n["graph"], n["index"]): n["scope"] and n["scope"].rpartition("::")[2]
                 for n in document["export"]["nodes"]}
        for source in ("export", "trace", "fx", "torchscript"):
            if source not in document:
                self.assertTrue(any(part.startswith(source) for part in missing), source)
                continue
            modules = self.modules_by_place(file, path, source)
            self.assertEqual(set(modules), set(truth))
            wrong = {place: (modules[place], module) for place, module in truth.items()
                     if module is not None and modules[place][1] != module}
            self.assertEqual(wrong, {}, f"from {source}")
            if source == "export":
                self.assertTrue(all(modules[place][2] == "export"
                                    for place, module in truth.items() if module is not None))

    def test_a_block_that_runs_several_times(self):
        document, _ = self.check("shared_block")
        modules = {module["name"]: module for module in document["modules"]}
        self.assertEqual(modules["block"]["calls"], 3)
        self.assertEqual(modules["block"]["aliases"], ["again"])
        self.assertEqual(modules["block.fc1"]["aliases"], ["again.fc1"])
        self.assertNotIn("again", modules)
        self.assertIn(["block.fc1.weight", "again.fc1.weight"], document["shared_parameters"])

    def test_towers_that_are_alike(self):
        self.check("towers")

    def test_lists_and_sequentials(self):
        document, _ = self.check("listed")
        calls = {module["name"]: module["calls"] for module in document["modules"]}
        self.assertEqual((calls["layers"], calls["layers.1"], calls["named.a"]), (0, 1, 1))

    def test_operations_without_a_module(self):
        document, _ = self.check("functional")
        root = document["modules"][0]
        self.assertEqual(root["own_parameters"],
                         [{"name": "scale", "shape": [8], "dtype": "float32", "trainable": True}])
        self.assertEqual([buffer["name"] for buffer in root["own_buffers"]], ["shift"])

    def test_tied_weights(self):
        document, _ = self.check("tied")
        self.assertEqual(document["shared_parameters"], [["embed.weight", "out.weight"]])

    def test_convolutions_with_what_is_folded_into_them(self):
        self.check("convolutional")

    def test_a_model_that_symbolic_trace_cannot_follow(self):
        model, args = branching().eval(), (torch.rand(2, 8),)
        file = self.folder / "model.onnx"
        document, path, missing = self.capture(model, args, export=str(file), export_options=OPTIONS)
        self.assertEqual(file.read_bytes(), plain_export(model, args))
        self.assertNotIn("fx", document)
        self.assertIn("fx.symbolic_trace", missing)
        bodies = {n["graph"] for n in document["export"]["nodes"]}
        self.assertTrue(any(graph.endswith("/then_branch") for graph in bodies), bodies)
        self.assertEqual([(n["op_type"], n["scope"] and n["scope"].rpartition("::")[2])
                          for n in nodes_in_order(document["export"]["nodes"])], true_modules(model, args))
        modules = self.modules_by_place(file, path, "export,trace")
        self.assertEqual({module for op, module, _ in modules.values() if op in ("Gemm", "MatMul")}, {"a", "b"})

    def test_what_is_sure_of_scripted_modules_is_right(self):
        class gate(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc, self.seq = nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU())

            def forward(self, x):
                return torch.tanh(self.seq(self.fc(x)))

        class outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b, self.c = nn.Linear(8, 8), gate(), gate()

            def forward(self, x):
                return self.c(self.b(self.a(x)))

        def parts():
            # The exporter changes scripted classes: script everything again.
            torch.jit._recursive.concrete_type_store = torch.jit._recursive.ConcreteTypeStore()
            torch.manual_seed(1)
            return outer().eval()

        def scripted():
            return torch.jit.script(parts())

        def traced():
            model = parts()
            model.b, model.c = torch.jit.script(model.b), torch.jit.script(model.c)
            return torch.jit.trace(model, args)

        args = (torch.rand(2, 8),)
        inside = ["fc", "seq.0", "seq.1", ""]
        truth = ["a", *(f"{m}.{name}".rstrip(".") for m in "bc" for name in inside)]
        for make_model in (scripted, traced):
            file = self.folder / "model.onnx"
            document, path, _ = self.capture(make_model(), args, export=str(file), export_options=OPTIONS)
            self.assertEqual(file.read_bytes(), plain_export(make_model(), args))
            self.assertEqual({module["calls"] for module in document["modules"][1:]}, {None})
            scopes = [node["scope"] for node in document["export"]["nodes"]]
            self.assertEqual([(truth[index], scope.rpartition("::")[2]) for index, scope in enumerate(scopes)
                              if scope and scope.rpartition("::")[2] != truth[index]], [])
            self.assertGreaterEqual(len(scopes) - scopes.count(None), 3)
            modules = self.modules_by_place(file, path, "export,scope,parameter")
            for (_, index), (_, module, _) in modules.items():
                self.assertTrue((truth[index] + ".").startswith(module + "." if module else ""),
                                f"{index}: {module} is not above {truth[index]}")

    def test_keyword_arguments(self):
        model, args = make("functional")
        file = self.folder / "model.onnx"
        document, path, missing = self.capture(model, args, {"flip": False}, export=str(file),
                                               export_options=OPTIONS, torchscript=True)
        self.assertNotIn("Reverse", file.read_bytes().decode("latin-1"))
        self.assertNotIn("torch.flip", [event.get("op") for event in document["trace"]["events"]])
        self.check_tags(file, path, document, missing)

    def test_without_a_path_it_stays_in_memory(self):
        model, args = make("towers")
        done = capture(model, args)
        self.assertIsNone(done.path)
        self.assertEqual(VALIDATOR.is_valid(done.document()), True)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_was_not_asked_for_is_not_there(self):
        model, args = make("towers")
        document, _, missing = self.capture(model, args, trace=False, fx=None)
        self.assertFalse({"trace", "fx", "torchscript", "export"} & set(document))
        self.assertEqual(missing, {})
        self.assertTrue(all(module["calls"] is None for module in document["modules"]))

    def test_training_mode(self):
        model, args = make("convolutional")
        model.train()
        model.again.eval()
        buffers = [buffer.clone() for buffer in model.buffers()]
        file = self.folder / "model.onnx"
        document, path, missing = self.capture(model, args, export=str(file), training=True,
                                               export_options={**OPTIONS, "do_constant_folding": False})
        ops = [node["op_type"] for node in document["export"]["nodes"]]
        self.assertEqual(ops.count("BatchNormalization"), 2)
        self.assertEqual([module.training for module in (model.features, model.again)], [True, False])
        self.assertTrue(all(map(torch.equal, buffers, model.buffers())))

    def test_models_with_state_are_exported_as_they_were(self):
        class counting(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 8)
                self.register_buffer("position", torch.zeros(1))

            def forward(self, x):
                self.position.add_(1)
                return self.fc(x) * self.position

        class caching(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 8)
                self.past = []

            def forward(self, x):
                self.past.append(self.fc(x))
                return torch.cat(self.past, 1)

        class recurrent(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 8)
                self.last = None

            def forward(self, x):
                self.last = self.fc(x) if self.last is None else self.fc(x) + self.last
                return self.last

        args = (torch.rand(2, 8),)
        for kind in (counting, caching, recurrent):
            torch.manual_seed(0)
            before = plain_export(kind().eval(), args)
            torch.manual_seed(0)
            file = self.folder / "model.onnx"
            document, _, _ = self.capture(kind().eval(), args, export=str(file), export_options=OPTIONS, torchscript=True)
            self.assertEqual(file.read_bytes(), before)
            if kind is recurrent:
                self.assertFalse([e for e in document["trace"]["events"] if "aten.add." in e.get("op", "")])

    def test_lazy_models_run_first(self):
        class lazy(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.LazyLinear(3)
                self.norm = nn.LazyBatchNorm1d()

            def forward(self, x):
                return self.norm(self.fc(x))

        for training in (False, True):
            model = lazy()
            file = self.folder / "model.onnx"
            document, _, missing = self.capture(model, (torch.rand(2, 4),), export=str(file), training=training,
                                                export_options=OPTIONS)
            self.assertEqual(missing, {})
            self.assertEqual([(module["class_name"], module["calls"]) for module in document["modules"]],
                             [("lazy", 1), ("Linear", 1), ("BatchNorm1d", 1)])
            self.assertTrue(model.training)
            self.assertEqual(model.norm.running_mean.tolist(), [0, 0, 0])
        document, _, _ = self.capture(lazy(), (torch.rand(2, 4),), trace=False, fx=None, training=True)
        self.assertEqual([module["class_name"] for module in document["modules"]],
                         ["lazy", "LazyLinear", "LazyBatchNorm1d"])

    def test_parametrized_modules_keep_their_classes(self):
        class normed(nn.Module):
            def forward(self, weight):
                return weight / weight.norm()

        class attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.rand(8, 8))

            def forward(self, x):
                return x @ self.weight

        model = nn.Sequential(attention(), attention()).eval()
        nn.utils.parametrize.register_parametrization(model[0], "weight", normed())
        file = self.folder / "model.onnx"
        document, path, _ = self.capture(model, (torch.rand(2, 8),), export=str(file), export_options=OPTIONS)
        classes = {module["name"]: module["qualified_class"] for module in document["modules"]}
        self.assertEqual(classes["0"], classes["1"])
        self.assertTrue(classes["0"].endswith(".attention"), classes["0"])
        self.stemma("tag", file, "-m", path, "--sidecar", self.folder / "sidecar.json")
        nodes = json.loads((self.folder / "sidecar.json").read_text())["nodes"]
        self.assertEqual([node["tag"] for node in nodes if node["op_type"] == "MatMul"], ["/Sequential/attention.0", "/Sequential/attention.1"])

    def test_paths_through_what_is_shared_itself(self):
        class around(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, x):
                return self.inner(x)

        shared = nn.Sequential(nn.Linear(8, 8))
        model = nn.ModuleDict({"x": around(shared), "y": around(shared)})
        model["z"] = model["y"]
        document, _, _ = self.capture(model, (), trace=False, fx=None)
        aliases = {module["name"]: module["aliases"] for module in document["modules"]}
        self.assertEqual(aliases, {"": [], "x": [], "x.inner": ["y.inner", "z.inner"],
                                   "x.inner.0": ["y.inner.0", "z.inner.0"], "y": ["z"]})
        self.assertEqual(document["shared_parameters"], [[f"{path}.inner.0.{name}" for path in "xyz"]
                                                         for name in ("weight", "bias")])

    def test_torchscript_of_names_with_slashes(self):
        class heads(nn.Module):
            def __init__(self):
                super().__init__()
                self.all = nn.ModuleDict({"a/b": nn.Sequential(nn.Linear(8, 8)), "c": nn.Linear(8, 8)})

            def forward(self, x):
                return torch.relu(self.all["c"](self.all["a/b"](x)))

        document, _, _ = self.capture(heads().eval(), (torch.rand(2, 8),), torchscript=True)
        self.assertEqual([(one["op"], one["module"]) for one in document["torchscript"]["operations"]],
                         [("aten::linear", "all.a/b.0"), ("aten::linear", "all.c"), ("aten::relu", "")])

    def test_what_the_document_shows(self):
        document = (ROOT / "docs/capture.md").read_text()
        blocks = re.findall(r"^```(python|sh)\n(.*?)^```$", document, re.M | re.S)
        python = [block for kind, block in blocks if kind == "python"]
        commands = [line for kind, block in blocks if kind == "sh" for line in block.splitlines()
                    if line.startswith(("python3 capture.py ", "stemma "))]
        self.assertTrue(python and commands)
        (self.folder / "capture.py").symlink_to(ROOT / "examples" / "capture.py")
        (self.folder / "net.py").write_text(
            "import torch\n\ndef make():\n    return torch.nn.Linear(4, 4), (torch.rand(1, 4),)\n")

        class masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)

            def forward(self, tokens, mask=None):
                return self.fc(tokens) * mask

        with in_folder(self.folder):
            for block in python:
                exec(block, {"model": masked(), "tokens": torch.rand(2, 4), "mask": torch.ones(2, 4)})
        programs = {"python3": [sys.executable], "stemma": [PROGRAM]}
        for line in commands:
            program, *words = shlex.split(line)
            done = subprocess.run([*programs[program], *words], cwd=self.folder, capture_output=True,
                                  text=True, timeout=120)
            self.assertEqual((line, done.returncode, done.stderr), (line, 0, ""))

    def test_as_a_program(self):
        (self.folder / "net.py").write_text(
            "import torch\n\ndef make():\n    return torch.nn.Linear(4, 4), (torch.rand(1, 4),)\n")
        done = subprocess.run([sys.executable, ROOT / "examples" / "capture.py",
                               f"{self.folder}/net.py:make", "-o", self.folder / "out.json", "--export",
                               self.folder / "out.onnx", "--opset", "13", "--torchscript"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        document = json.loads((self.folder / "out.json").read_text())
        self.assertTrue({"trace", "fx", "torchscript", "export", "modules"} <= set(document))
        self.stemma("analyze", self.folder / "out.onnx", "-m", self.folder / "out.json")

    def test_a_file_has_any_name_and_errors_are_one_line(self):
        source = "import torch\n\ndef make():\n    return torch.nn.Linear(4, 4), (torch.rand(1, 4),)\n"
        for name in ("queue.py", "2.net.py"):
            (self.folder / name).write_text(source)

        def run(*words):
            return subprocess.run([sys.executable, ROOT / "examples" / "capture.py", *words], cwd=self.folder,
                                  capture_output=True, text=True, timeout=120)

        (self.folder / "link.json").symlink_to("real.json")
        self.assertEqual(run("queue.py:make", "-o", "link.json").returncode, 0)
        self.assertTrue((self.folder / "link.json").is_symlink())
        os.mkfifo(self.folder / "pipe")
        with subprocess.Popen(["cat", self.folder / "pipe"], stdout=subprocess.PIPE) as reader:
            self.assertEqual(run("2.net.py:make", "-o", "pipe").returncode, 0)
            sent = json.loads(reader.stdout.read())
        self.assertEqual(sent["modules"], json.loads((self.folder / "real.json").read_text())["modules"])
        for words, why in ((["no.py:make", "-o", "x"], "no.py: no such file"),
                           (["queue.py:no", "-o", "x"], "queue.py has no function 'no'"),
                           (["queue.py", "-o", "x"], "queue.py: neither FILE.py:FUNCTION nor MODULE:FUNCTION"),
                           (["queue.py:make", "-o", "."], ".: is a folder"),
                           (["queue.py:make", "-o", "no/x"], "no/x: no such folder"),
                           (["queue.py:make", "-o", "x", "--export", "./x"], "--output and --export both name x")):
            done = run(*words)
            self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (2, f"capture.py: error: {why}"))
        self.assertFalse((self.folder / "x").exists())


class Events(Case):
    def events(self, model, args):
        return self.capture(model, args, fx=None)[0]["trace"]["events"]

    def test_modules_are_left_as_they_are_entered(self):
        for name in MODELS:
            stack = []
            for event in self.events(*make(name)):
                if event["kind"] == "exit":
                    self.assertEqual(stack.pop(), event["module"])
                self.assertEqual(event["stack"], stack)
                if event["kind"] == "enter":
                    stack.append(event["module"])
            self.assertEqual(stack, [])

    def test_numbers_rise_and_operators_name_their_call(self):
        events = self.events(*make("listed"))
        self.assertEqual([event["seq"] for event in events], list(range(len(events))))
        calls = {event["seq"]: event for event in events if event["kind"] == "func"}
        below = [event for event in events if event["kind"] == "op" and event["func"] is not None]
        self.assertGreater(len(below), 10)
        for event in below:
            self.assertEqual(calls[event["func"]]["stack"], event["stack"])
            self.assertLess(event["func"], event["seq"])

    def test_tensors_keep_their_names_from_maker_to_reader(self):
        names = {"i0"}
        for event in self.events(*make("shared_block")):
            if event["kind"] == "op":
                self.assertTrue(all(name in names or name.startswith("p:") for name in event["in_ids"]), event)
                names.update(event["out_ids"])

    def test_looking_at_tensors_is_no_event(self):
        events = self.events(nn.ReLU(), (torch.rand(2),))
        self.assertEqual([(event["kind"], event.get("op")) for event in events],
                         [("enter", None), ("func", "torch.nn.functional.relu"), ("op", "aten.relu.default"),
                          ("exit", None)])

    def test_a_module_that_raised_is_left(self):
        document, _, _ = self.capture(forgiving().eval(), (torch.rand(2, 8),), fx=None)
        events = document["trace"]["events"]
        self.assertEqual([e["module"] for e in events if e["kind"] == "exit"], ["fine", "bad", "drop", ""])
        self.assertEqual([e["stack"] for e in events if e.get("op") == "torch.relu"], [[""]])

    def test_other_hooks_run_in_the_caller_as_in_an_export(self):
        model, args = make("towers")
        model.left.register_forward_hook(lambda _, inputs, output: torch.neg(output))
        model.right.register_forward_pre_hook(lambda _, inputs: (torch.exp(inputs[0]),))
        file = self.folder / "model.onnx"
        document, path, _ = self.capture(model, args, export=str(file), export_options=OPTIONS)
        modules = self.modules_by_place(file, path, "trace")
        for op in ("Neg", "Exp"):
            self.assertEqual([module for kind, module, _ in modules.values() if kind == op], [""])
            self.assertEqual([node["scope"].rpartition("::")[2] for node in document["export"]["nodes"]
                              if node["op_type"] == op], [""])

    def test_scripted_modules_are_listed_as_not_watched(self):
        class outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.jit.script(nn.Sequential(nn.Linear(8, 8), nn.ReLU()))

            def forward(self, x):
                return self.inner(x)

        document, _, missing = self.capture(outer().eval(), (torch.rand(2, 8),), torchscript=True)
        self.assertEqual({path for path, _ in document["trace"]["unhooked"]},
                         {"inner", "inner.0", "inner.1"})
        self.assertEqual(document["modules"][1]["class_name"], "Sequential")
        self.assertEqual(document["modules"][2]["qualified_class"], "torch.nn.modules.linear.Linear")
        self.assertIn("torchscript", missing)

    def test_memory_does_not_grow_with_the_run(self):
        class loop(nn.Module):
            def __init__(self, steps):
                super().__init__()
                self.steps, self.fc = steps, nn.Linear(4, 4)

            def forward(self, x):
                for _ in range(self.steps):
                    x = self.fc(x)
                return x

        def peak(steps):
            model, args = loop(steps).eval(), (torch.rand(1, 4),)
            capture(model, args, path=str(self.folder / "warm.json"), fx=None)
            gc.collect()
            tracemalloc.start()
            capture(model, args, path=str(self.folder / "long.json"), fx=None)
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return most, (self.folder / "long.json").stat().st_size

        (small, _), (large, size) = peak(50), peak(1000)
        self.assertGreater(size, 500_000)
        self.assertLess(large - small, 100_000)

    def test_a_call_with_very_many_operators_is_not_kept(self):
        model, args = nn.LSTM(4, 4).eval(), (torch.rand(200, 1, 4),)
        events = self.capture(model, args, fx=None)[0]["trace"]["events"]
        calls = [event for event in events if event.get("op") == "torch.lstm"]
        below = [event for event in events if event.get("func") == calls[0]["seq"]]
        self.assertEqual(len(calls), 1)
        self.assertGreater(len(below), 2 * capture_py.MOST_WAITING)
        self.assertNotIn("out_ids", calls[0])  # written before they were known


class Fx(Case):
    def test_tensors_have_shapes_and_nodes_their_modules(self):
        model, args = make("listed")
        part = self.capture(model, args, trace=False)[0]["fx"]
        self.assertEqual(part["tracer"], "symbolic_trace")
        for node in part["nodes"]:
            self.assertIn("shape", node)
            if node["op"] == "call_module":
                self.assertEqual(node["module_stack"][-1], node["target"])
                self.assertEqual(node["class"], capture_py.class_name(model.get_submodule(node["target"]))[1])
        add = next(node for node in part["nodes"] if node["target"] == "_operator.add")
        self.assertEqual(add["module_stack"], ["", "layers.0"])
        self.assertEqual(add["shape"], [2, 8])

    def test_what_is_no_tensor_has_no_shape(self):
        model, args = make("functional")
        nodes = {n["name"]: n for n in self.capture(model, args, trace=False)[0]["fx"]["nodes"]}
        numbers = [n for n in nodes.values() if n["target"] == "builtins.getattr"]
        self.assertTrue(numbers)
        self.assertTrue(all("shape" not in node for node in numbers))
        self.assertEqual({n["target"] for n in nodes.values() if n["op"] == "get_attr"}, {"scale", "shift"})

    def test_fixed_arguments_leave_no_checks(self):
        class optional(nn.Module):
            def forward(self, x, mask=None, times=2, name="a"):
                x = x if mask is None else x * mask
                return x * times if name == "a" else x

        nodes = self.capture(optional(), (torch.rand(2),), trace=False)[0]["fx"]["nodes"]
        self.assertEqual([node["target"] for node in nodes if node["op"].startswith("call_")], ["_operator.mul"])

    def test_a_tracer_may_be_asked_for(self):
        model, args = make("towers")
        self.assertEqual(self.capture(model, args, trace=False, fx="symbolic_trace")[0]["fx"]["tracer"],
                         "symbolic_trace")
        document, _, missing = self.capture(model, args, trace=False, fx="torch.export")
        if hasattr(torch, "export"):
            self.assertEqual(document["fx"]["tracer"], "torch.export")
        else:
            self.assertIn("torch.export", missing["fx.torch.export"])
        with self.assertRaises(ValueError):
            capture(model, args, fx="no such tracer")

    def test_both_tracers_may_be_asked_for(self):
        model, args = make("towers")
        document, _, missing = self.capture(model, args, trace=False, fx="both")
        one = self.capture(model, args, trace=False, fx="symbolic_trace")[0]["fx"]["nodes"]
        if not hasattr(torch, "export"):
            self.assertIn("torch.export", missing["fx.torch.export"])
            self.assertEqual(document["fx"], {"tracer": "symbolic_trace", "nodes": one})
            return
        self.assertEqual(document["fx"]["tracer"], "both")
        by_tracer = {"symbolic_trace": [], "torch.export": []}
        for node in document["fx"]["nodes"]:
            by_tracer[node.pop("tracer")].append(node)
        self.assertEqual(by_tracer["symbolic_trace"], one)
        self.assertTrue(by_tracer["torch.export"])

    def test_sizes_of_buffers_may_be_followed(self):
        class sliced(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("rows", torch.rand(1, 16))

            def forward(self, x):
                return x + self.rows[:, :x.shape[1]]

        part = self.capture(sliced(), (torch.rand(2, 8),), trace=False)[0]["fx"]
        self.assertEqual(part["tracer"], "symbolic_trace")
        self.assertEqual([n["target"] for n in part["nodes"] if n["op"] == "get_attr"], ["rows"])

    def test_the_reason_is_that_of_the_model(self):
        class deciding(nn.Module):
            def forward(self, x):
                return x if x.sum() > 0 else -x

        _, _, missing = self.capture(deciding(), (torch.rand(2),), trace=False)
        self.assertIn("control flow", missing["fx.symbolic_trace"])


class Restored(Case):
    def state(self, model):
        from torch.utils import _python_dispatch
        exporter = capture_py.exporter_internals()
        return {
            "hooks": [(dict(m._forward_hooks), dict(m._forward_pre_hooks)) for m in model.modules()],
            "modes": [m.training for m in model.modules()],
            "attributes": [sorted(vars(m)) for m in model.modules()],
            "random": torch.get_rng_state().tolist(),
            "gradients": torch.is_grad_enabled(),
            "dispatch": _python_dispatch._get_current_dispatch_mode(),
            "scope map": torch.jit._trace._trace_module_map,
            "setup": exporter._setup_trace_module_map,
            "naming": torch._C._jit_pass_onnx_assign_scoped_names_for_node_and_value,
            "files": sorted(path.name for path in self.folder.iterdir()),
            "weights": {name: value.tolist() for name, value in model.state_dict().items()},
        }

    def check(self, model, args, problem=None, **options):
        before = self.state(model)
        path = self.folder / "capture.json"
        if problem is None:
            capture(model, args, path=str(path), **options)
            path.unlink()
        else:
            with self.assertRaises(problem):
                capture(model, args, path=str(path), **options)
        self.assertEqual(self.state(model), before)

    def test_after_success(self):
        for name in MODELS:
            model, args = make(name)
            model.train()
            next(model.children()).eval()
            model.register_forward_hook(lambda *_: None)
            self.check(model, args, torchscript=True)

    def test_random_numbers(self):
        class noisy(nn.Module):
            def forward(self, x):
                return x + torch.rand(x.shape)

        self.check(noisy(), (torch.rand(4),))

    def test_what_forward_stores(self):
        class remembering(nn.Module):
            def __init__(self):
                super().__init__()
                self.last = None
                self.register_buffer("mean", torch.zeros(4))

            def forward(self, x):
                if self.last is not None:
                    x = x + self.last
                self.last = x
                self.mean = 0.9 * self.mean + 0.1 * x
                return x * self.mean

        model = remembering()
        for training in (False, True):
            mean = model.mean
            with tempfile.TemporaryDirectory() as folder:
                self.check(model, (torch.rand(4),), training=training, export=folder + "/model.onnx")
            self.assertIsNone(model.last)
            self.assertIs(model.mean, mean)
            self.assertEqual(mean.tolist(), [0, 0, 0, 0])

    def test_modes_with_effects(self):
        class merging(nn.Module):
            merged = False

            def train(self, mode=True):
                self.merged = not mode
                return super().train(mode)

            def forward(self, x):
                return -x

        model = merging()
        self.check(model, (torch.rand(4),))
        self.assertFalse(model.merged)

    def test_after_an_exception_in_forward(self):
        self.check(failing(), (torch.rand(2, 8),), ArithmeticError)

    def test_after_an_exception_in_the_export(self):
        class unexportable(nn.Module):
            def forward(self, x):
                return torch.fft.fft(x).real

        self.check(unexportable(), (torch.rand(4),), Exception, fx=None,
                   export=str(self.folder / "model.onnx"))

    def test_after_an_exception_while_writing(self):
        with mock.patch.object(capture_py.json, "dumps", side_effect=OSError("disk full")):
            self.check(*make("towers"), OSError)

    def test_an_old_file_stays_when_the_model_raises(self):
        path = self.folder / "capture.json"
        path.write_text("old")
        with self.assertRaises(ArithmeticError):
            capture(failing(), (torch.rand(2, 8),), path=str(path))
        self.assertEqual([(file.name, file.read_text()) for file in self.folder.iterdir()],
                         [("capture.json", "old")])


@contextlib.contextmanager
def hidden(owner, name):
    """Simulates a torch that lacks something."""
    before = getattr(owner, name)
    delattr(owner, name)
    try:
        yield
    finally:
        setattr(owner, name, before)


class Degradations(Case):
    """The rows of the table in docs/capture.md: the capture has the other parts, and the reason."""

    def setUp(self):
        super().setUp()
        self.model, self.args = make("listed")
        self.file = self.folder / "model.onnx"

    def check(self, part, kinds=("enter", "exit", "func", "op"), parts=("trace", "fx", "torchscript", "export"),
              sources=(), **options):
        before = plain_export(self.model, self.args)
        document, path, missing = self.capture(self.model, self.args, torchscript=True,
                                               export=str(self.file), export_options=OPTIONS, **options)
        self.assertIn(part, missing)
        self.assertEqual(missing, document["missing"])
        self.assertEqual({event["kind"] for event in document["trace"]["events"]}, set(kinds))
        self.assertEqual({"trace", "fx", "torchscript", "export"} & set(document), set(parts))
        self.assertEqual(self.file.read_bytes(), before)
        truth = dict(enumerate(path for _, path in true_modules(self.model, self.args)))
        for source in sources:
            modules = self.modules_by_place(self.file, path, source)
            self.assertEqual({index: module for (_, index), (_, module, _) in modules.items()}, truth)
        return missing[part]

    def test_no_function_mode(self):
        with hidden(torch.overrides, "TorchFunctionMode"):
            self.assertIn("TorchFunctionMode", self.check("trace.func", kinds=("enter", "exit", "op"),
                                                          sources=["trace"]))

    def test_no_dispatch_mode(self):
        from torch.utils import _python_dispatch
        with hidden(_python_dispatch, "TorchDispatchMode"):
            self.assertIn("TorchDispatchMode", self.check("trace.op", kinds=("enter", "exit", "func"),
                                                          sources=["trace"]))

    def test_no_modes_at_all(self):
        from torch.utils import _python_dispatch
        with hidden(torch.overrides, "TorchFunctionMode"), hidden(_python_dispatch, "TorchDispatchMode"):
            self.check("trace.op", kinds=("enter", "exit"))

    def test_no_fx(self):
        with mock.patch.dict(sys.modules, {"torch.fx": None}):
            self.check("fx.symbolic_trace", parts=("trace", "torchscript", "export"))

    def test_no_shapes(self):
        import torch.fx
        with hidden(torch.fx, "Interpreter"):
            self.check("fx.shapes", sources=["fx"])

    def test_no_torch_export(self):
        with mock.patch.dict(sys.modules, {"torch.export": None}):
            document, _, missing = self.capture(self.model, self.args, fx="torch.export")
        self.assertIn("no torch.export", missing["fx.torch.export"])
        self.assertNotIn("fx", document)

    def test_no_torchscript(self):
        with hidden(torch.jit, "trace"):
            self.check("torchscript", parts=("trace", "fx", "export"))

    def check_without_scopes(self, owner, name, part):
        """Hides a part of the exporter, which the exporter still finds under another name."""
        exporter = capture_py.exporter_internals()
        before = plain_export(self.model, self.args)
        code = exporter._export.__code__
        self.assertIn(name, code.co_names)
        owner.kept_for_export = getattr(owner, name)
        exporter._export.__code__ = code.replace(co_names=tuple(
            "kept_for_export" if each == name else each for each in code.co_names))
        try:
            with hidden(owner, name):
                document, path, missing = self.capture(self.model, self.args, export=str(self.file),
                                                       export_options=OPTIONS)
        finally:
            exporter._export.__code__ = code
            del owner.kept_for_export
        self.assertIn(part, missing["export"])
        self.assertNotIn("export", document)
        self.assertEqual(self.file.read_bytes(), before)
        modules = self.modules_by_place(self.file, path, "trace")
        self.assertEqual({index: module for (_, index), (_, module, _) in modules.items()},
                         dict(enumerate(module for _, module in true_modules(self.model, self.args))))

    def test_no_way_to_the_scope_map_of_the_exporter(self):
        self.check_without_scopes(capture_py.exporter_internals(), "_setup_trace_module_map",
                                  "_setup_trace_module_map")

    def test_no_scope_map_in_the_tracer(self):
        with hidden(torch.jit._trace, "_trace_module_map"):
            document, _, missing = self.capture(self.model, self.args, fx=None, trace=False,
                                                export=str(self.file), export_options=OPTIONS)
        self.assertIn("_trace_module_map", missing["export"])
        self.assertNotIn("export", document)
        self.assertEqual(self.file.read_bytes(), plain_export(self.model, self.args))

    def test_no_pass_that_names_nodes(self):
        name = "_jit_pass_onnx_assign_scoped_names_for_node_and_value"
        self.check_without_scopes(torch._C, name, name)

    def test_modules_exported_as_functions(self):
        options = {"opset_version": 15, "export_modules_as_functions": {block}}
        document, _, missing = self.capture(self.model, self.args, export=str(self.file),
                                            export_options=options)
        self.assertIn("functions", missing["export"])
        self.assertNotIn("export", document)
        self.assertTrue(self.file.exists())

    def test_the_dynamo_exporter(self):
        given = {}

        def export(model, args, f, *, dynamo=True, **options):
            given.update(options, dynamo=dynamo)
            pathlib.Path(f).write_bytes(b"")

        with mock.patch.object(torch.onnx, "export", export):
            document, _, missing = self.capture(self.model, self.args, export=str(self.file),
                                                export_options={"dynamo": True})
        self.assertTrue(given["dynamo"])
        self.assertIn("dynamo", missing["export"])
        self.assertNotIn("export", document)


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
