#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs examples/stemma_export.py: forms of TARGET, inputs, options, error messages.

usage: export_test.py PROGRAM own|torchvision|families [unittest arguments]

`own` tests models of this file, `torchvision` two small ones of that package, `families` one of each family. Functions
that torch 1.13 lacks are stubs with the signatures of newer versions.
"""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve() if __name__ == "__main__" else None
CHOSEN = sys.argv.pop(1) if __name__ == "__main__" else None

import capture_test  # skips without torch
import stemma_export
import torch
from capture_test import true_modules
from torch import nn

FIXTURES = ROOT / "tests" / "data" / "dialects"
STUBS = ROOT / "tests" / "stubs"
SMALL = ["mobilenet_v3_small", "squeezenet1_1"]
FAMILIES = ["alexnet", "convnext_tiny", "deeplabv3_mobilenet_v3_large", "densenet121", "efficientnet_b0", "googlenet",
            "inception_v3", "mnasnet0_5", "mobilenet_v2", "r3d_18", "regnet_y_400mf", "resnet18", "shufflenet_v2_x0_5",
            "swin_t", "vgg11", "vit_b_32"]

NET = '''
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, width)

    def forward(self, x, mask=None):
        x = x + self.fc(self.norm(x))
        return x if mask is None else x * mask

class Net(nn.Module):
    def __init__(self, layers=2, width=8):
        super().__init__()
        self.words = nn.Embedding(10, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))

    def forward(self, tokens, mask=None):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x, mask)
        return x

class Framed(Net):
    example_input_array = torch.zeros(1, 3, dtype=torch.int64)

ready = Framed()

def make():
    return Net(), (torch.zeros(1, 4, dtype=torch.int64),)

def masked():
    return Net(), (), {"tokens": torch.zeros(1, 4, dtype=torch.int64), "mask": torch.ones(1, 4, 1)}

def by_name():
    return Net(), {"mask": torch.ones(1, 4, 1), "tokens": torch.zeros(1, 4, dtype=torch.int64)}

def number():
    return 3

def lacking():
    import no_such_package

def failing():
    raise ArithmeticError("first line\\nsecond line")

class Fft(nn.Module):
    def forward(self, x):
        return torch.fft.fft(x).real
'''


class Case(unittest.TestCase):
    setUp = capture_test.Case.setUp

    def export(self, target, *options, status=0):
        """Its standard error; `out.onnx` and `capture.json` are in the folder."""
        said = io.StringIO()
        arguments = [target, "-o", str(self.folder / "out.onnx"), "--keep-capture", str(self.folder / "capture.json"),
                     "--stemma", str(PROGRAM), *map(str, options), *([] if "--" in options else ["--"]), "-q"]
        with contextlib.redirect_stderr(said):
            done = stemma_export.main(arguments)
        self.assertEqual((done, status), (status, status), said.getvalue())
        return said.getvalue()

    def refused(self, line, target, *options):
        """Prints one line, with `line`, and writes nothing."""
        said = self.export(target, *options, status=1)
        self.assertEqual(said, f"stemma_export.py: {line}\n")
        self.assertFalse((self.folder / "out.onnx").exists())

    def net(self, what):
        path = self.folder / "net.py"
        path.write_text(NET)
        return f"{path}:{what}"

    def told(self, command, *arguments):
        done = subprocess.run([PROGRAM, command, self.folder / "out.onnx", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def modules(self):
        return [one["path"] for one in self.told("tree", "--format", "json")["modules"]]

    def typed(self, *names):
        """{input: type}"""
        return {value["name"]: value["type"] for answer in self.told("explain", *names, "--format", "json")["answers"]
                for value in answer["values"] if value["kind"] == "input"}


class Checked(Case):
    def check_tags(self, model, args, kwargs):
        """The file is the exporter's, and each node has the module that it was traced in."""
        stripped = self.folder / "stripped.onnx"
        subprocess.run([PROGRAM, "strip", self.folder / "out.onnx", "-q", "-o", stripped], check=True)
        document = json.loads((self.folder / "capture.json").read_text())
        names = list(stemma_export.named_inputs(model, args, kwargs))
        options = {"input_names": names, "opset_version": None} if names else {"opset_version": None}
        args = (*args, kwargs) if kwargs else args
        model.eval()
        self.assertEqual(stripped.read_bytes(), capture_test.plain_export(model, args, **options))
        truth = true_modules(model, args, **options)
        exported = capture_test.nodes_in_order(document["export"]["nodes"])
        self.assertEqual([(n["op_type"], n["scope"].rpartition("::")[2] if n["scope"] else None) for n in exported],
                         truth)
        self.assertNotIn("trace", document)
        self.assertNotIn("fx", document)
        report = self.told("analyze", "--format", "json")
        self.assertEqual(report["tagged"], report["nodes"])
        self.assertGreater(report["provenance"]["export"], 0)
        self.assertEqual(set(self.modules()), {path for path, _ in model.named_modules()})

    def made(self, target, shapes=()):
        torch.manual_seed(0)
        chosen = mock.Mock(model_class=None)
        model, args, kwargs = stemma_export.make_model(target, chosen)
        args, kwargs = stemma_export.example_inputs(model, args, kwargs, [stemma_export.Shape(one) for one in shapes])
        return model, args, kwargs

    def check(self, target, *options):
        self.assertNotIn("stemma_export.py:", self.export(target, *options))  # the exporter may warn
        self.check_tags(*self.made(target, [value for name, value in zip(options, options[1:]) if name == "--shape"]))


class Torchvision(Checked):
    def test_models(self):
        for name in FAMILIES if CHOSEN == "families" else SMALL:
            with self.subTest(name):
                self.check(f"torchvision:{name}")

    def test_arguments(self):
        self.export("torchvision:squeezenet1_1(num_classes=7)", "--shape", "x=2,3,64,64")
        self.assertEqual(self.typed("x"), {"x": "float32[2,3,64,64]"})

    def test_names(self):
        said = self.export("torchvision:squeezenet1_9", status=1)
        self.assertRegex(said, r"^stemma_export.py: torchvision \S+ has no model 'squeezenet1_9'; did you mean squeezenet1")
        self.assertEqual(said.count("\n"), 1)


class Targets(Checked):
    def test_files(self):
        for what in ("make", "masked", "by_name", "Framed", "ready", "Framed(1, width=4)"):
            with self.subTest(what):
                self.check(self.net(what))
        self.check(self.net("Net(3, width=16)"), "--shape", "tokens=2,5:int64")
        self.check(self.net("make"), "--shape", "mask=1,4,1")

    def test_packages(self):
        self.check("torch.nn:Linear(3, 4)", "--shape", "input=2,3")
        self.check("torch.nn:modules.linear.Linear(3, 4, bias=False)", "--shape", "input=2,3")

    def test_archives(self):
        self.net("make")
        scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
        scripted.save(str(self.folder / "net.pt"))
        self.export(str(self.folder / "net.pt"), "--shape", "input=2,4")
        self.assertEqual(self.modules(), ["", "0", "1"])
        (self.folder / "out.onnx").unlink()
        self.refused("the input 'input' of RecursiveScriptModule is unknown: specify it, such as --shape "
                     "input=1,3,224,224:float32", str(self.folder / "net.pt"))
        torch.save(nn.Linear(2, 2).state_dict(), self.folder / "weights.pt")
        said = self.export(str(self.folder / "weights.pt"), status=1)
        self.assertIn("not a TorchScript archive", said)
        self.assertEqual(said.count("\n"), 1)


class Transformers(Case):
    def setUp(self):
        super().setUp()
        path = mock.patch.object(sys, "path", [str(STUBS), *sys.path])
        path.start()
        self.addCleanup(path.stop)
        self.addCleanup(sys.modules.pop, "transformers", None)

    def folder_of(self, **config):
        values = {"hidden_size": 8, "num_hidden_layers": 2, "vocab_size": 11, "num_channels": 1, "image_size": 8, **config}
        (self.folder / "model").mkdir(exist_ok=True)
        (self.folder / "model" / "config.json").write_text(json.dumps(values))
        return str(self.folder / "model")

    def test_the_class_is_that_of_the_config(self):
        self.export(self.folder_of(model_type="bert", architectures=["BertForTokenClassification"]))
        self.assertIn("bert.layer.1.query", self.modules())
        self.assertEqual(self.typed("input_ids"), {"input_ids": "int64[3,5]"})
        self.export(self.folder_of(model_type="bert"))
        self.assertIn("layer.1.query", self.modules())
        self.export(self.folder_of(model_type="bert"), "--class", "BertForTokenClassification")
        self.assertIn("classifier", self.modules())

    def test_what_is_remembered_is_left_out(self):
        self.export(self.folder_of(model_type="bert"))
        document = json.loads((self.folder / "capture.json").read_text())
        self.assertEqual(document["root_class"], "BertModel")
        import transformers
        model = transformers.AutoModel.from_pretrained(str(self.folder / "model"))
        self.assertIn("past_key_values", model(**model.dummy_inputs))
        loaded, _, _ = stemma_export.from_transformers(str(self.folder / "model"), None)
        self.assertNotIn("past_key_values", loaded(**loaded.dummy_inputs))

    def test_inputs(self):
        self.export(self.folder_of(model_type="vit", architectures=["ViTModel"]))
        self.assertEqual(self.typed("pixel_values"), {"pixel_values": "float32[1,1,8,8]"})
        self.export(self.folder_of(model_type="t5", architectures=["T5Model"], is_encoder_decoder=True))
        self.assertEqual(self.typed("input_ids", "decoder_input_ids", "decoder_attention_mask"),
                         {"input_ids": "int64[3,5]", "decoder_input_ids": "int64[3,5]",
                          "decoder_attention_mask": "bool[3,5]"})
        self.export(self.folder_of(model_type="bert"), "--shape", "input_ids=1,6:int64", "--shape",
                    "attention_mask=1,6", "--dynamic", "input_ids=0:batch,1:sequence")
        self.assertEqual(self.typed("input_ids", "attention_mask"),
                         {"input_ids": "int64[batch,sequence]", "attention_mask": "float32[1,6]"})

    def test_what_is_wrong(self):
        (self.folder / "empty").mkdir()
        self.refused(f"{self.folder}/empty: transformers cannot load it without a config.json", f"{self.folder}/empty")
        said = self.export("nobody/nothing", status=1)
        self.assertIn("If this is a private repository", said)  # all of it
        self.assertTrue(said.splitlines()[-1].startswith("stemma_export.py: nobody/nothing: OSError: nobody/nothing is not"))
        self.refused("transformers has no class 'BertModul'; did you mean BertModel?",
                     self.folder_of(model_type="bert"), "--class", "BertModul")


class Refusals(Case):
    def test_targets(self):
        for target, line in (
                ("no_such_file.py:make", "no_such_file.py: no such file"),
                ("./nothing.pt", "./nothing.pt: no such file or folder"),
                ("a b", "'a b' is not a TARGET; see --help"),
                ("no_such_package.net:Net", "no_such_package.net: needs the package no_such_package"),
                ("torch.nn:Liner(2, 2)", "torch.nn has no 'Liner'; did you mean Linear, "),
                ("torch.nn:Linear(open('x'))", "'Linear(open('x'))' is neither a NAME nor a NAME(...) with literal arguments"),
                ("torch.nn:Linear(2, 2)[0]", "'Linear(2, 2)[0]' is neither a NAME"),
                ("torch:__version__", "torch:__version__ is a TorchVersion, not a function or a class"),
                (self.net("number"), f"{self.folder}/net.py:number returns int, not a model, (model, args) or "
                                     "(model, args, kwargs)"),
                (self.net("lacking"), f"{self.folder}/net.py:lacking: needs the package no_such_package"),
                (self.net("mask"), f"{self.folder}/net.py has no 'mask'; did you mean masked, make?"),
                (self.net("make").partition(":")[0], f"{self.folder}/net.py: specify a function or class, "
                                                     f"{self.folder}/net.py:NAME; it defines Block, Net, Framed, make")):
            with self.subTest(target):
                said = self.export(target, status=1)
                self.assertTrue(said.startswith("stemma_export.py: " + line), said)
                self.assertEqual(said.count("\n"), 1, said)
        if stemma_export.importlib.util.find_spec("transformers") is None:
            self.refused("'bert-base-uncased' is neither a file nor a folder, and loading a model by name needs the package "
                         "transformers; other forms of TARGET are torchvision:NAME and FILE.py:FUNCTION", "bert-base-uncased")

    def test_inputs(self):
        net = self.net("Net")
        self.refused("the input 'tokens' of Net is unknown: specify it, such as --shape tokens=1,3,224,224:float32", net)
        self.refused("--shape token: Net.forward has no such input; it takes tokens, mask", net,
                     "--shape", "token=1,2")
        self.refused("--shape tokens=1,x: not of the form NAME=1,128 or NAME=1,128:int64", net, "--shape", "tokens=1,x")
        self.refused("--shape tokens: unknown type 'int65'; did you mean int64, int16, int, int8?", net, "--shape",
                     "tokens=1,2:int65")

    def test_options(self):
        net = self.net("make")
        self.refused("--dynamic tokens=0:batch,5:x: '5:x' is not DIMENSION:NAME with a dimension below 2", net,
                     "--dynamic", "tokens=0:batch,5:x")
        self.refused("--dynamic mask: no such tensor among the inputs; these are tokens", net, "--dynamic", "mask=0:batch")
        self.refused(f"--option fold: unknown to torch.onnx.export of torch {torch.__version__}", net, "--option", "fold=1")
        self.refused("--option fold: not of the form NAME=VALUE", net, "--option", "fold")
        if "dynamo" not in stemma_export.inspect.signature(torch.onnx.export).parameters:
            self.refused(f"--dynamo requires torch 2.1 or later; this is {torch.__version__}", net, "--dynamo")
        for output, line in ((self.folder, "is a folder"), (self.folder / "none" / "x.onnx", "no such folder")):
            self.refused(f"{output}: {line}", net, "-o", output)
        self.refused("no_such_program: no such program; --no-tags exports without it", net, "--stemma", "no_such_program")

    def test_the_errors_of_others_are_shown_whole(self):
        said = self.export(self.net("failing"), status=1)
        self.assertIn("ArithmeticError: first line\nsecond line\n", said)
        self.assertEqual(said.splitlines()[-1],
                         f"stemma_export.py: {self.folder}/net.py:failing: ArithmeticError: first line")
        said = self.export(self.net("Fft"), "--shape", "x=2,4", status=1)
        self.assertIn("Traceback", said)
        self.assertTrue(said.splitlines()[-1].startswith("stemma_export.py: torch.onnx.export of Fft: "), said)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.name != "__pycache__"), ["net.py"])

    def test_what_the_program_says_stays(self):
        said = self.export(self.net("make"), "--", "--naming", "nothing", status=1)
        self.assertEqual(said, f"stemma_export.py: {self.folder}/out.onnx: exported, but not tagged\n")


class Options(Case):
    def test_options_of_the_exporter(self):
        self.export(self.net("masked"), "--opset", 12, "--dynamic", "batch", "--option", "do_constant_folding=False",
                    "--option", "output_names=['y']", "--trace")
        self.assertEqual(self.typed("tokens", "mask"), {"tokens": "int64[batch,4]", "mask": "float32[batch,4,1]"})
        document = json.loads((self.folder / "capture.json").read_text())
        self.assertTrue({"trace", "fx", "export"} <= set(document))
        self.assertTrue(any(value["name"] == "y" for value in self.told("query", "", "--format", "json")["values"]))

    def test_no_capture_is_left(self):
        out = self.folder / "out.onnx"
        self.assertEqual(stemma_export.main([self.net("make"), "-o", str(out), "--stemma", str(PROGRAM), "--", "-q"]), 0)
        self.assertEqual(stemma_export.main([self.net("make"), "-o", str(self.folder / "b.onnx"), "--no-tags"]), 0)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.name != "__pycache__"),
                         ["b.onnx", "net.py", "out.onnx"])
        self.assertLess((self.folder / "b.onnx").stat().st_size, out.stat().st_size)

    def test_training(self):
        self.export("torch.nn:Dropout()", "--shape", "input=2,3", "--training", "--opset", 12)
        self.assertEqual(self.told("analyze", "--format", "json")["nodes"], 3)

    def test_as_a_program(self):
        (self.folder / "stemma").symlink_to(PROGRAM)
        for name in ("capture.py", "stemma_export.py"):
            (self.folder / name).write_text((ROOT / "examples" / name).read_text())
        self.net("make")
        for words in (["stemma_export.py", "net.py:make", "-o", "a.onnx"],
                      ["capture.py", "net.py:make", "-o", "c.json", "--fx", "none", "--export", "b.onnx", "--tag", "b.tagged.onnx"]):
            done = subprocess.run([sys.executable, *words], cwd=self.folder, capture_output=True, text=True,
                                  env={"PATH": "/nowhere"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("tagged", done.stdout)
        done = subprocess.run([sys.executable, "capture.py", "net.py:make", "-o", "c.json", "--tag", "x.onnx"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (2, "capture.py: error: --tag needs --export"))
        (self.folder / "stemma").unlink()
        done = subprocess.run([sys.executable, "stemma_export.py", "net.py:make", "-o", "d.onnx"], cwd=self.folder,
                              capture_output=True, text=True, env={"PATH": "/nowhere"})
        self.assertEqual((done.returncode, done.stderr),
                         (1, "stemma_export.py: stemma is not on the PATH, beside capture.py or in a build folder; specify it "
                             "with --stemma PROGRAM; --no-tags exports without it\n"))

    def test_the_help_needs_no_torch(self):
        done = subprocess.run([sys.executable, "-S", ROOT / "examples" / "stemma_export.py", "--help"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("FILE.py:FUNCTION", done.stdout)
        done = subprocess.run([sys.executable, "-S", ROOT / "examples" / "stemma_export.py", "torch.nn:ReLU", "-o", "x"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "stemma_export.py: an export needs the package torch\n"))


class Newer(Case):
    """The exporters of newer torch, with their signatures."""

    def setUp(self):
        super().setUp()
        self.calls = []

    def written(self, path):
        pathlib.Path(path).write_bytes((FIXTURES / "dynamo.onnx").read_bytes())

    def test_export_with_dynamo(self):
        """torch 2.6"""
        def export(model, args=(), f=None, *, kwargs=None, export_params=True, verbose=None, input_names=None,
                   output_names=None, opset_version=None, dynamic_axes=None, keep_initializers_as_inputs=False,
                   dynamo=False, external_data=True, dynamic_shapes=None, custom_translation_table=None, report=False,
                   optimize=True, verify=False, profile=False, dump_exported_program=False, artifacts_dir=".",
                   fallback=False, training=None, operator_export_type=None, do_constant_folding=True,
                   custom_opsets=None, export_modules_as_functions=False, autograd_inlining=True):
            self.calls.append((args, kwargs, dynamo, opset_version, dynamic_shapes, report))
            self.assertFalse(model.training)
            self.written(f)

        with mock.patch.object(torch.onnx, "export", export), mock.patch.object(
                torch, "export", mock.Mock(Dim=lambda name: ("Dim", name)), create=True):
            self.export(self.net("masked"), "--dynamo", "--opset", 18, "--option", "report=True", "--dynamic",
                        "mask=0:batch", "--dynamic", "tokens=0:batch")
        ((args, kwargs, dynamo, opset, shapes, report),) = self.calls
        self.assertEqual((len(args), kwargs, dynamo, opset, report), (2, None, True, 18, True))
        self.assertEqual(shapes, {"tokens": {0: ("Dim", "batch")}, "mask": {0: ("Dim", "batch")}})
        self.assertIn("blocks.0.norm", (self.folder / "capture.json").read_text())
        self.assertNotIn('"export"', (self.folder / "capture.json").read_text())

    def test_export_with_dynamo_that_returns_a_program(self):
        """torch 2.4: no `kwargs`; without `f`, the caller saves"""
        def export(model, args, f=None, export_params=True, verbose=False, training=None, input_names=None,
                   output_names=None, operator_export_type=None, opset_version=None, do_constant_folding=True,
                   dynamic_axes=None, keep_initializers_as_inputs=None, custom_opsets=None,
                   export_modules_as_functions=False, autograd_inlining=True, dynamo=False):
            self.calls.append((args, dynamo, dynamic_axes))
            return mock.Mock(save=self.written)

        with mock.patch.object(torch.onnx, "export", export):
            self.export(self.net("make"), "--dynamo", "--dynamic", "batch")
        ((args, dynamo, axes),) = self.calls
        self.assertEqual((len(args), dynamo, axes), (1, True, {"tokens": {0: "batch"}}))

    def test_dynamo_export(self):
        """torch 2.1"""
        def dynamo_export(model, /, *model_args, export_options=None, **model_kwargs):
            self.calls.append((len(model_args), export_options, sorted(model_kwargs)))
            return mock.Mock(save=self.written)

        def options(*, dynamic_shapes=None, op_level_debug=None, fake_context=None, onnx_registry=None,
                    diagnostic_options=None):
            return {"dynamic_shapes": dynamic_shapes}

        with mock.patch.object(torch.onnx, "dynamo_export", dynamo_export, create=True), mock.patch.object(
                torch.onnx, "ExportOptions", options, create=True):
            self.export(self.net("masked"), "--dynamo")
            self.export(self.net("make"), "--dynamo", "--dynamic", "batch")
            said = self.export(self.net("make"), "--dynamo", "--opset", 17, status=1)
        self.assertEqual(self.calls, [(2, None, []), (1, {"dynamic_shapes": True}, [])])
        self.assertIn("opset_version: unknown to the dynamo exporter of torch", said)

    def test_a_package_of_the_exporter_that_is_missing(self):
        def export(model, args=(), f=None, *, kwargs=None, dynamo=False, dynamic_shapes=None):
            raise ModuleNotFoundError("No module named 'onnxscript'", name="onnxscript")

        with mock.patch.object(torch.onnx, "export", export):
            self.refused("torch.onnx.export of Net: needs the package onnxscript", self.net("make"), "--dynamo")

    def test_the_default_of_newer_torch(self):
        """torch 2.9, where `dynamo` is on by default"""
        def export(model, args=(), f=None, *, kwargs=None, input_names=None, dynamo=True):
            self.calls.append(dynamo)
            return torch_export(model, args, f, input_names=input_names)

        torch_export = torch.onnx.export
        with mock.patch.object(torch.onnx, "export", export):
            self.export(self.net("make"))
        self.assertEqual(self.calls, [False])


if __name__ == "__main__":
    capture_test.PROGRAM = PROGRAM
    if CHOSEN != "own" and stemma_export.importlib.util.find_spec("torchvision") is None:
        print("skipped: no torchvision here (Debian: python3-torchvision)")
        sys.exit(77)
    own = ["Targets", "Transformers", "Refusals", "Options", "Newer"]
    unittest.main(argv=[sys.argv[0], *(sys.argv[1:] or (own if CHOSEN == "own" else ["Torchvision"]))])
