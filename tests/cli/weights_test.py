#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries the entries of initializers, and patches models exported by PyTorch with new weights: the
result must equal an export with the new weights, byte for byte.

usage: weights_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import re
import struct
import sys
import unittest
import warnings

from onnx_edits import Message, Model
from program_test import FIXTURES, Case

try:
    import torch
except ImportError:
    torch = None

TRANSFORMS = {"identity": "as is", "transpose": "transposed", "conv-bn-fold weight": "folded",
              "conv-bn-fold bias": "folded", "rnn gates reordered and stacked": "gates"}
WITH_CHECKPOINT = ["bert_micro", "bert_micro_fresh", "bert_mlm", "control_flow", "gpt2_tiny", "lstm_classifier",
                   "mlp", "quirks", "scripted_children", "shared_twice", "two_tower", "unet_tiny"]


def model_of(fixture):
    whole = FIXTURES / fixture / "model.onnx"
    return whole if whole.exists() else FIXTURES / fixture / "model.structure.onnx"


def right_answers(fixture, answers, key):
    """How many initializers of a fixture have the entries and the transform according to PyTorch."""
    by_name = {one["name"]: one for one in answers["initializers"]}
    truth = json.loads((FIXTURES / fixture / "initializers.json").read_text())["initializers"]
    truth = [one for one in truth if one["kind"] != "constant"]
    right = 0
    for one in truth:
        answer = by_name[one[key]]
        possible = set(one["sources"]) | set(one.get("equal_valued", []))
        named = set(answer["entries"]) | set(answer["shared"])
        right += (bool(answer["entries"]) and set(answer["entries"]) <= possible and
                  named >= set(one["sources"]) and answer["transform"] == TRANSFORMS[one["transform"]])
    return right, len(truth)


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        piece = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def as_lists(tensors):
    return {name: (list(tensor.shape), tensor.flatten().tolist()) for name, tensor in tensors.items()}


class Entries(Case):
    def ask(self, model, *more):
        return json.loads(self.succeed("weights", model, "--format", "json", "-q", *more).stdout)

    def share_of(self, fixtures, key, arguments):
        right = count = 0
        for fixture in fixtures:
            one, of = right_answers(fixture, self.ask(*arguments(FIXTURES / fixture)), key)
            right, count = right + one, count + of
        return right / count

    def test_names_and_readers_tell_most(self):
        fixtures = [path.parent.name for path in FIXTURES.glob("*/initializers.json")]
        share = self.share_of(fixtures, "name", lambda folder: [model_of(folder.name)])
        self.assertGreater(share, 0.97)

    def test_what_modules_declare_tells_more(self):
        fixtures = [path.parent.name for path in FIXTURES.glob("*/initializers.json")]
        share = self.share_of(fixtures, "name", lambda folder: [model_of(folder.name), "-m", folder / "modules.json"])
        self.assertGreater(share, 0.995)

    def test_a_checkpoint_tells_all_without_any_name(self):
        share = self.share_of(WITH_CHECKPOINT, "opaque", lambda folder: [
            folder / "anonymous.onnx", "--checkpoint", folder / "model.pt"])
        self.assertEqual(share, 1)

    def test_text_says_the_same(self):
        text = self.succeed("weights", model_of("lstm_classifier")).stdout
        self.assertIn(["onnx::MatMul_450", "pool.score.weight", "transposed", "usage, 0.90"],
                      [re.split(" {2,}", line) for line in text.splitlines()])
        self.assertRegex(text, "lstm.weight_ih_l1, lstm.weight_ih_l1_reverse +gates")

    def test_explain_says_it_too(self):
        text = self.succeed("explain", model_of("bert_micro"), "onnx::MatMul_360").stdout
        self.assertIn("encoder.layer.0.attention.self.query.weight, transposed", text)

    def test_a_tagged_file_carries_it_and_loses_it_again(self):
        tagged = self.folder / "tagged.onnx"
        self.succeed("tag", model_of("bert_micro"), "-o", tagged, "--with", "parameters")
        self.assertIn(b'{"entries": ["encoder.layer.0.attention.self.query.weight"], "transform": "transposed"',
                      tagged.read_bytes())
        self.succeed("strip", tagged, "-o", self.folder / "plain.onnx")
        self.assertEqual((self.folder / "plain.onnx").read_bytes(), model_of("bert_micro").read_bytes())
        self.fail_with(2, "tag", model_of("mlp"), "-o", self.folder / "x.onnx", "--with", "everything",
                       saying="everything")


class Patch(Case):
    def patch(self, model, *arguments):
        output = self.folder / "patched.onnx"
        output.unlink(missing_ok=True)
        self.succeed("patch", model, "-o", output, *arguments)
        return output

    def test_a_model_with_its_own_weights_is_the_same(self):
        for fixture in WITH_CHECKPOINT:
            model, weights = model_of(fixture), FIXTURES / fixture / "model.pt"
            patched = self.patch(model, "--weights", weights, "--checkpoint", weights)
            self.assertEqual(patched.read_bytes(), model.read_bytes(), fixture)

    def test_what_does_not_fit_is_refused_and_nothing_written(self):
        mlp, other = model_of("mlp"), FIXTURES / "lstm_classifier" / "model.pt"
        output = self.folder / "out.onnx"
        self.fail_with(3, "patch", mlp, "--weights", other, "-o", output, saying="fc1.weight: has no entry")
        self.fail_with(2, "patch", mlp, "-o", output, saying="--weights NEW, --lora ADAPTER, or both")
        self.fail_with(3, "patch", mlp, "--weights", mlp, "-o", output)
        self.fail_with(1, "patch", mlp, "--weights", FIXTURES / "mlp" / "model.pt", "--module", "nothing", "-o",
                       output, saying="nothing")
        write_safetensors(self.folder / "wide.safetensors", {
            "fc1.weight": ([8, 5], [0.0] * 40), "fc1.bias": ([8], [0.0] * 8),
            "fc2.weight": ([3, 8], [0.0] * 24), "fc2.bias": ([3], [0.0] * 3)})
        self.fail_with(3, "patch", mlp, "--weights", self.folder / "wide.safetensors", "-o", output)
        write_safetensors(self.folder / "few.safetensors", {
            "fc1.weight": ([8, 4], [0.0] * 32), "fc1.bias": ([8], [0.0] * 8)})
        few = ["patch", mlp, "--weights", self.folder / "few.safetensors", "-o", output]
        self.fail_with(3, *few, saying="fc2.weight: has no entry")
        self.assertFalse(output.exists())
        self.assertIn("2 initializers not in the new weights", self.succeed(*few, "--partial").stderr)

    def test_data_in_another_file_are_written_beside_the_result(self):
        split, data = self.with_data_in([("w.bin", None)] * 4)
        weights = FIXTURES / "mlp" / "model.pt"
        there = self.folder / "there"
        there.mkdir()
        self.succeed("patch", split, "--weights", weights, "-o", there / "out.onnx")
        self.assertEqual((there / "out.onnx").read_bytes(), split.read_bytes())
        self.assertEqual((there / "w.bin").read_bytes(), data)
        (self.folder / "w.bin").write_bytes(bytes(len(data)))
        for more in ([], ["--force"]):
            self.fail_with(2, "patch", split, "--weights", weights, "-o", self.folder / "out.onnx", *more,
                           saying="has weights of")
        self.assertEqual((self.folder / "w.bin").read_bytes(), bytes(len(data)))
        self.fail_with(4, "patch", split, "--weights", weights, "-o", there / "out.onnx", saying="w.bin")
        self.assertFalse((self.folder / "out.onnx").exists())
        self.succeed("patch", split, "--weights", weights, "-o", there / "out.onnx", "--force")
        self.assertEqual((there / "w.bin").read_bytes()[:128], data[:128])
        split.write_bytes(split.read_bytes().replace(b"w.bin", b"../ab"))
        self.fail_with(3, "patch", split, "--weights", weights, "-o", there / "two.onnx")

    def with_data_in(self, places):
        """mlp with its data in the file w.bin: for each initializer, how the file is called, and where in it: at None,
        behind the others, aligned."""
        model, data = Model(model_of("mlp")), b""
        self.assertEqual(len(model.tensors), len(places))
        for tensor, (location, offset) in zip(model.tensors, places):
            raw = tensor.all(9)[0]
            tensor.drop(9)
            offset = len(data) + -len(data) % 64 if offset is None else offset
            for key, value in (("location", location), ("offset", offset), ("length", len(raw))):
                tensor.add(13, Message().add(1, key).add(2, str(value)))
            tensor.add(14, 1)
            data = data.ljust(offset, b"\0")
            data = data[:offset] + raw + data[offset + len(raw):]
        (self.folder / "w.bin").write_bytes(data)
        return model.write(self.folder / "split.onnx"), data

    def test_a_file_with_data_may_be_spelled_differently(self):
        split, data = self.with_data_in([("w.bin", None), ("./w.bin", None), ("././w.bin", None), ("w.bin", None)])
        (self.folder / "w.bin").write_bytes(bytes(len(data)))
        there = self.folder / "there"
        there.mkdir()
        self.succeed("patch", split, "--weights", FIXTURES / "mlp" / "model.pt", "-o", there / "out.onnx")
        self.assertEqual((there / "w.bin").read_bytes(), data)
        self.assertEqual(sorted(one.name for one in there.iterdir()), ["out.onnx", "w.bin"])

    def test_what_shares_bytes_with_other_initializers_stays(self):
        split, _ = self.with_data_in([("w.bin", 0), ("w.bin", 0), ("./w.bin", 0), ("w.bin", 0)])
        before = (self.folder / "w.bin").read_bytes()
        self.fail_with(3, "patch", split, "--weights", FIXTURES / "mlp" / "model.pt", "--module", "fc2", "-o", split,
                       "--force", saying="shares bytes of its data with another initializer")
        self.assertEqual((self.folder / "w.bin").read_bytes(), before)

    def numbers_of(self, model, name):
        tensor = Model(model).tensor(name).all(9)[0]
        return struct.unpack(f"<{len(tensor) // 4}f", tensor)

    def test_an_adapter_is_added_to_what_the_model_has(self):
        adapter = self.folder / "adapter"
        adapter.mkdir()
        down = [0.5, -1, 0.25, 2, 1, 0, -0.5, 0.125]
        up = [0.5 * i - 3 for i in range(16)]
        write_safetensors(adapter / "adapter_model.safetensors", {
            "base_model.model.fc1.lora_A.weight": ([2, 4], down),
            "base_model.model.fc1.lora_B.weight": ([8, 2], up)})
        for config, scale in (({"r": 2, "lora_alpha": 4}, 2.0), ({"r": 4, "lora_alpha": 4, "use_rslora": True}, 2.0)):
            (adapter / "adapter_config.json").write_text(json.dumps(config))
            patched = self.patch(model_of("mlp"), "--lora", adapter)
            before, after = (self.numbers_of(model, "fc1.weight") for model in (model_of("mlp"), patched))
            for i in range(8):
                for j in range(4):
                    change = scale * sum(up[2 * i + k] * down[4 * k + j] for k in range(2))
                    self.assertAlmostEqual(after[4 * i + j], before[4 * i + j] + change, places=5)
            self.assertEqual(self.numbers_of(patched, "fc2.weight"), self.numbers_of(model_of("mlp"), "fc2.weight"))
            both = self.patch(model_of("mlp"), "--lora", adapter, "--weights", FIXTURES / "mlp" / "model.pt")
            self.assertEqual(both.read_bytes(), patched.read_bytes())
        (adapter / "adapter_config.json").write_text('{"use_dora": true}')
        self.fail_with(3, "patch", model_of("mlp"), "--lora", adapter, "-o", self.folder / "no.onnx", saying="use_dora")
        write_safetensors(self.folder / "other.safetensors", {
            "base_model.model.fc9.lora_A.weight": ([2, 4], down), "base_model.model.fc9.lora_B.weight": ([8, 2], up)})
        self.fail_with(3, "patch", model_of("mlp"), "--lora", self.folder / "other.safetensors", "-o",
                       self.folder / "no.onnx", saying="fc9")
        self.assertFalse((self.folder / "no.onnx").exists())


@unittest.skipIf(torch is None, "python3-torch is not installed")
class FileAlone(Case):
    """What exports tell of their initializers without capture and checkpoint."""

    def renamed(self, module, *inputs, trained=True):
        """{entries: (transform, confidence)} of the initializers that are not called like an entry."""
        path = self.folder / "model.onnx"
        for tensor in module.state_dict().values() if trained else ():
            if tensor.is_floating_point():
                tensor.copy_(torch.rand(tensor.shape) + 0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module.eval(), inputs, str(path), opset_version=16)
        rows = json.loads(self.succeed("weights", path, "--format", "json", "-q").stdout)["initializers"]
        return {" ".join(one["entries"]): (one["transform"], round(one["confidence"], 2)) for one in rows
                if one["name"] not in module.state_dict()}

    def test_folded_norms_are_called_like_those_that_left_nodes(self):
        from torch import nn

        class Block(nn.Module):
            def __init__(self, norm):
                super().__init__()
                self.add_module(norm + "1", nn.BatchNorm2d(4))
                self.conv1 = nn.Conv2d(4, 4, 1, bias=False)
                self.add_module(norm + "2", nn.BatchNorm2d(4))
                self.norm = norm

            def forward(self, x):
                x = self.conv1(torch.relu(self.get_submodule(self.norm + "1")(x)))
                return torch.relu(self.get_submodule(self.norm + "2")(x))

        for norm in ("bn", "norm", "n"):
            model = nn.Sequential(nn.Conv2d(3, 4, 1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), Block(norm))
            # Equal biases of untrained norms are one initializer, which has the name of an entry.
            weights = {"0.weight 1.weight 1.running_var": ("folded", 0.9),
                       f"3.conv1.weight 3.{norm}2.weight 3.{norm}2.running_var": ("folded", 0.9)}
            self.assertEqual(self.renamed(model, torch.zeros(1, 3, 4, 4), trained=False), weights)
            self.assertEqual(self.renamed(model, torch.zeros(1, 3, 4, 4)), {
                **weights,
                "1.weight 1.bias 1.running_mean 1.running_var": ("folded", 0.9),
                f"3.{norm}2.weight 3.{norm}2.bias 3.{norm}2.running_mean 3.{norm}2.running_var": ("folded", 0.9)})

    def test_members_of_dictionaries_in_a_list_are_told_apart(self):
        from torch import nn

        class Blocks(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList(nn.ModuleDict({
                    "norm": nn.LayerNorm(4), "up": nn.Linear(4, 8, bias=False),
                    "down": nn.Linear(8, 4, bias=False)}) for _ in range(2))
                self.head = nn.Linear(4, 2, bias=False)

            def forward(self, x):
                for block in self.blocks:
                    x = x + block["down"](torch.tanh(block["up"](block["norm"](x))))
                return self.head(x)

        names = [f"blocks.{i}.{name}.weight" for i in range(2) for name in ("up", "down")]
        self.assertEqual(set(self.renamed(Blocks(), torch.zeros(1, 3, 4))), {*names, "head.weight"})

    def test_computed_weights_are_not_taken_for_weight_norm(self):
        from torch import nn
        from torch.nn.utils import prune, weight_norm

        class Scaled(nn.Conv2d):
            def forward(self, x):
                return nn.functional.conv2d(x, self.weight * 0.5, self.bias)

        image = torch.zeros(1, 3, 8, 8)
        self.assertEqual(self.renamed(nn.Sequential(Scaled(3, 4, 1), Scaled(4, 4, 1)), image), {"": ("none", 0)})
        pruned = nn.Sequential(nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 1))
        for layer in pruned:
            prune.l1_unstructured(layer, "weight", 0.3)
        self.assertEqual(self.renamed(pruned, image), {"": ("none", 0)})
        normed = nn.Sequential(weight_norm(nn.Conv2d(3, 4, 1)), nn.Conv2d(4, 4, 1), weight_norm(nn.Conv2d(4, 4, 1)))
        self.assertEqual(self.renamed(normed, image), {
            "0.weight_v 0.weight_g": ("normed", 0.5), "2.weight_v 2.weight_g": ("normed", 0.5)})

    def test_parameters_with_names_of_their_own_are_not_called_weight(self):
        from torch import nn

        class Own(nn.Module):
            def __init__(self):
                super().__init__()
                self.W1, self.b1 = nn.Parameter(torch.rand(4, 3)), nn.Parameter(torch.rand(4))
                self.W2 = nn.Parameter(torch.rand(2, 4))
                self.W3 = nn.Parameter(torch.rand(2, 2))

            def forward(self, x):
                x = nn.functional.linear(nn.functional.linear(x, self.W1, self.b1), self.W2)
                return x @ self.W3

        self.assertEqual(self.renamed(Own(), torch.zeros(1, 5, 3)), {
            "W1": ("transposed", 0.5), "": ("none", 0)})

    def test_biases_of_folded_convolutions_are_counted_or_guessed(self):
        from torch import nn

        class Speech(nn.Module):
            def __init__(self):
                super().__init__()
                self.front = nn.Sequential(nn.Conv1d(3, 4, 1), nn.BatchNorm1d(4))
                self.head = nn.Linear(4, 2)

            def forward(self, x):
                return self.head(self.front(x).transpose(1, 2))

        counted = self.renamed(Speech(), torch.zeros(1, 3, 5))
        bias = "front.0.bias front.1.weight front.1.bias front.1.running_mean front.1.running_var"
        self.assertEqual(counted[bias], ("folded", 0.9))
        guess = Speech()
        guess.head = nn.GRU(4, 2)
        self.assertEqual(self.renamed(guess, torch.zeros(1, 3, 5))[bias], ("folded", 0.5))


@unittest.skipIf(torch is None, "python3-torch is not installed")
class FreshExport(Case):
    """A patched model must equal PyTorch's export with the new weights."""

    def change(self, module, seed):
        torch.manual_seed(seed)
        with torch.no_grad():
            for name, tensor in module.state_dict(keep_vars=True).items():
                if tensor.is_floating_point():
                    tensor.copy_(torch.rand_like(tensor) + 0.5 if "var" in name else torch.randn_like(tensor))

    def export(self, module, inputs, name):
        path = self.folder / name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, inputs, str(path), opset_version=16)
        torch.save(module.state_dict(), path.with_suffix(".pt"))
        return path

    def compare(self, module, inputs, *more):
        module.eval()
        self.change(module, 1)
        old = self.export(module, inputs, "old.onnx")
        self.change(module, 2)
        new = self.export(module, inputs, "new.onnx")
        for options in ([], ["--checkpoint", old.with_suffix(".pt")]):
            output = self.folder / "patched.onnx"
            self.succeed("patch", old, "--weights", new.with_suffix(".pt"), "-o", output, *options, *more)
            self.assertEqual(output.read_bytes(), new.read_bytes(), (type(module), options))

    def test_products_with_biases_and_normalizations(self):
        from torch import nn
        self.compare(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2), torch.randn(5, 2, 8))

    def test_recurrent_layers(self):
        from torch import nn

        class Recurrent(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(20, 6)
                self.lstm = nn.LSTM(6, 5, 2, bidirectional=True)
                self.gru = nn.GRU(10, 4)
                self.plain = nn.RNN(4, 3)

            def forward(self, x):
                return self.plain(self.gru(self.lstm(self.table(x))[0])[0])[0]

        self.compare(Recurrent(), torch.randint(0, 20, (7, 2)))

    def test_convolutions_with_what_follows_them(self):
        from torch import nn
        for epsilon in (1e-5, 1e-3):
            module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8, eps=epsilon), nn.PReLU(8),
                                   nn.Conv2d(8, 4, 1, bias=False), nn.BatchNorm2d(4, eps=epsilon),
                                   nn.GroupNorm(2, 4), nn.ConvTranspose2d(4, 2, 2))
            self.compare(module, torch.randn(1, 3, 8, 8), "--epsilon", epsilon)

    def test_modules_of_one_name_beside_and_inside_each_other(self):
        from torch import nn

        class Gate(nn.Module):
            def __init__(self):
                super().__init__()
                self.down, self.up = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)

            def forward(self, x):
                return x * self.up(self.down(x)).sigmoid()

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.down, self.norm, self.gate = nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), Gate()

            def forward(self, x):
                return self.gate(self.norm(self.down(x)).relu())

        self.compare(Block(), torch.randn(1, 3, 8, 8))

    def test_a_norm_of_several_convolutions(self):
        from torch import nn

        class Shared(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Conv2d(3, 4, 3, bias=False), nn.Conv2d(4, 4, 3, bias=False)
                self.norm = nn.BatchNorm2d(4)

            def forward(self, x):
                return self.norm(self.second(self.norm(self.first(x)).relu()))

        self.compare(Shared(), torch.randn(1, 3, 8, 8))

    def test_functions(self):
        from torch import nn

        class Block(nn.Module):
            def __init__(self, channels):
                super().__init__()
                self.conv, self.bn = nn.Conv2d(channels, channels + 1, 3, bias=False), nn.BatchNorm2d(channels + 1)

            def forward(self, x):
                return self.bn(self.conv(x)).relu()

        class Recurrent(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.fc = nn.LSTM(6, 6), nn.Linear(6, 6)

            def forward(self, x):
                return self.fc(self.lstm(x)[0]).tanh()

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.Sequential(Block(3), Block(4), Block(5))
                self.layers = nn.Sequential(Recurrent(), Recurrent())

            def forward(self, x):
                return self.layers(self.blocks(x).mean(3).permute(2, 0, 1))

        module = Net().eval()
        files = {}
        for seed, name in ((1, "old"), (2, "new")):
            self.change(module, seed)
            files[name] = self.export(module, torch.randn(1, 3, 9, 9), f"{name}.onnx")
            self.succeed("fold", files[name], "--select", "all", "-o", self.folder / f"{name}.folded.onnx", "-q")
        old, checkpoint, folded = files["old"], files["old"].with_suffix(".pt"), self.folder / "old.folded.onnx"
        output = self.folder / "patched.onnx"
        for more in ([], ["--checkpoint", checkpoint], ["-m", checkpoint]):
            rows = [json.loads(self.succeed("weights", one, "--format", "json", "-q", *more).stdout)["initializers"]
                    for one in (old, folded)]
            self.assertEqual(*rows)
        for more in ([], ["--checkpoint", checkpoint]):
            self.succeed("patch", folded, "--weights", files["new"].with_suffix(".pt"), "-o", output, *more)
            self.assertEqual(output.read_bytes(), (self.folder / "new.folded.onnx").read_bytes(), more)

    @unittest.skipIf(torch and "CPU capability usage: AVX2" not in torch.__config__.show(),
                     "torch sums squares in another order here")
    def test_weight_norm(self):
        from torch import nn
        norm = nn.utils.weight_norm
        for module, inputs in (
                (nn.Sequential(norm(nn.Conv1d(3, 13, 7)), nn.ReLU(), norm(nn.Conv1d(13, 5, 1)),
                               norm(nn.ConvTranspose1d(5, 9, 4)), norm(nn.Conv1d(9, 4, 3), dim=2),
                               norm(nn.ConvTranspose1d(4, 6, 3), dim=1)), torch.randn(1, 3, 20)),
                (nn.Sequential(norm(nn.Linear(37, 21)), norm(nn.Linear(21, 19), dim=1),
                               norm(nn.Linear(19, 8), dim=None)),
                 torch.randn(2, 5, 37)),
                (nn.Sequential(norm(nn.Linear(11, 6)), nn.ReLU(), norm(nn.Linear(6, 3))), torch.randn(2, 11)),
                (nn.Sequential(norm(nn.Conv2d(3, 8, 5)), nn.BatchNorm2d(8), norm(nn.Conv2d(8, 4, 3))),
                 torch.randn(1, 3, 12, 12))):
            self.compare(module, inputs)

    def test_what_is_computed_from_several_entries_is_refused(self):
        from torch import nn
        from torch.nn.utils import prune
        module = nn.Sequential(prune.random_unstructured(nn.Linear(3, 4), "weight", 0.5), nn.Linear(4, 2))
        self.change(module, 1)
        old = self.export(module, torch.randn(2, 5, 3), "old.onnx")
        self.change(module, 2)
        torch.save(module.state_dict(), self.folder / "new.pt")
        patch = ["patch", old, "--weights", self.folder / "new.pt", "-o", self.folder / "patched.onnx"]
        for options in ([], ["--checkpoint", old.with_suffix(".pt")]):
            self.fail_with(3, *patch, *options, saying="may be derived from 0.weight_orig")
            self.assertFalse((self.folder / "patched.onnx").exists())
        self.assertIn("1 weight of unknown origin stays as it is", self.succeed(*patch, "--partial").stderr)

    def test_permuted_parameters(self):
        from torch import nn

        class Permuted(nn.Module):
            def __init__(self):
                super().__init__()
                self.w, self.stem = nn.Parameter(torch.rand(8, 8, 3, 3)), nn.Conv2d(3, 8, 3)
                self.table, self.head = nn.Parameter(torch.rand(3, 3, 3)), nn.Linear(3, 3)

            def forward(self, x):
                y = nn.functional.conv2d(self.stem(x), self.w.transpose(0, 1))
                return self.head(y.flatten(2)[:, :3, :3]) @ self.table.permute(2, 0, 1)

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner, self.out = Permuted(), nn.Linear(3, 2)

            def forward(self, x):
                return self.out(self.inner(x))

        module = Outer().eval()
        self.change(module, 1)
        old = self.export(module, torch.randn(1, 3, 9, 9), "old.onnx")
        self.change(module, 2)
        new = self.export(module, torch.randn(1, 3, 9, 9), "new.onnx")
        output = self.folder / "patched.onnx"
        patch = ["patch", old, "--weights", new.with_suffix(".pt"), "-o", output]
        self.fail_with(3, *patch, saying="which is uncertain")
        self.succeed(*patch, "--checkpoint", old.with_suffix(".pt"))
        self.assertEqual(output.read_bytes(), new.read_bytes())

    def test_equal_biases_that_were_merged_do_not_change_alike(self):
        from torch import nn
        module = nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.Linear(6, 6), nn.LayerNorm(6))
        self.change(module, 1)
        with torch.no_grad():
            for layer in module:
                layer.bias.zero_()
        old = self.export(module, torch.randn(2, 3, 6), "old.onnx")
        checkpoint = old.with_suffix(".pt")
        output = self.folder / "patched.onnx"
        self.change(module, 2)
        new = self.export(module, torch.randn(2, 3, 6), "new.onnx")
        for more in ([], ["--checkpoint", checkpoint]):
            self.fail_with(3, "patch", old, "--weights", new.with_suffix(".pt"), "-o", output, *more,
                           saying="which differ")
        self.assertFalse(output.exists())

    def test_of_several_models_in_a_checkpoint_one_is_chosen(self):
        from torch import nn
        module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        inputs = torch.randn(2, 3)
        self.change(module, 1)
        old = self.export(module, inputs, "old.onnx")
        self.change(module, 3)
        other = {name: one.clone() for name, one in module.state_dict().items()}
        self.change(module, 2)
        new = self.export(module, inputs, "new.onnx")
        mine = module.state_dict()

        def below(prefix, values):
            return {f"{prefix}.{name}": one for name, one in values.items()}

        weights, output = self.folder / "weights.pt", self.folder / "patched.onnx"
        patch = ["patch", old, "--weights", weights, "-o", output]
        for options in ([], ["--checkpoint", old.with_suffix(".pt")]):
            for entries in ({**below("ema", other), **mine}, {**mine, **below("ema", other)},
                            {**{name: one for name, one in below("ema", other).items() if "weight" in name}, **mine},
                            {"loss.part.weight": torch.ones(3), **below("model", mine)}):
                torch.save({"state_dict": entries}, weights)
                self.succeed(*patch, *options)
                self.assertEqual(output.read_bytes(), new.read_bytes())
            torch.save(below("module", mine), weights)
            self.assertEqual(self.succeed(*patch, *options).stderr, "")
            torch.save({"teacher": other, "student": mine}, weights)
            self.fail_with(3, *patch, *options, saying="below teacher and below student")
            self.succeed(*patch, *options, "--prefix", "student")
            self.assertEqual(output.read_bytes(), new.read_bytes())

    def test_parts_of_an_entry_do_not_stay_silently(self):
        from torch import nn

        class Experts(nn.Module):
            def __init__(self):
                super().__init__()
                self.w, self.out = nn.Parameter(torch.rand(3, 6, 6)), nn.Linear(6, 6)

            def forward(self, x):
                return self.out(sum(x @ self.w[i] for i in range(3)))

        module = Experts()
        self.change(module, 1)
        old = self.export(module, torch.randn(2, 6), "old.onnx")
        checkpoint = old.with_suffix(".pt")
        self.fail_with(3, "patch", old, "--weights", checkpoint, "--checkpoint", checkpoint, "-o", self.folder / "patched.onnx",
                       saying="may be derived from w")

    def test_merged_projections_at_the_root(self):
        from torch import nn

        class Gated(nn.Module):
            def __init__(self):
                super().__init__()
                self.gate, self.up = nn.Linear(4, 8, bias=False), nn.Linear(4, 8, bias=False)
                self.down = nn.Linear(8, 4, bias=False)

            def forward(self, x):
                both = x @ torch.cat([self.gate.weight, self.up.weight]).t()
                gate, up = both.chunk(2, -1)
                return self.down(gate.sigmoid() * up)

        module = Gated()
        self.change(module, 1)
        old = self.export(module, torch.randn(2, 3, 4), "old.onnx")
        checkpoint = old.with_suffix(".pt")
        self.assertRegex(self.succeed("weights", old, "--checkpoint", checkpoint).stdout,
                         "gate.weight, up.weight +concatenated")
        self.change(module, 2)
        new = self.export(module, torch.randn(2, 3, 4), "new.onnx")
        output = self.folder / "patched.onnx"
        self.succeed("patch", old, "--weights", new.with_suffix(".pt"), "--checkpoint", checkpoint, "-o", output)
        self.assertEqual(output.read_bytes(), new.read_bytes())

    def test_tied_entries_change_together(self):
        from torch import nn

        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.out = nn.Embedding(9, 4), nn.Linear(4, 9, bias=False)
                self.out.weight = self.table.weight

            def forward(self, x):
                return self.out(self.table(x).relu())

        module = Tied()
        inputs = torch.randint(0, 9, (2, 3))
        old = self.export(module, inputs, "old.onnx")
        down, up = torch.randn(2, 9), torch.randn(4, 2)
        adapter = self.folder / "adapter.safetensors"
        prefix = "base_model.model.table.lora_embedding_"
        write_safetensors(adapter, as_lists({f"{prefix}A": down, f"{prefix}B": up}))
        with torch.no_grad():
            module.table.weight += (up @ down).T
        new = self.export(module, inputs, "new.onnx")
        wanted = Model(new)
        weights = old.with_suffix(".pt")
        for more in (["--checkpoint", weights], ["--weights", weights]):
            output = self.folder / "patched.onnx"
            self.succeed("patch", old, "--lora", adapter, "-o", output, *more)
            patched = Model(output)
            for tensor in wanted.tensors:
                values, numbers = (torch.frombuffer(bytearray(one.all(9)[0]), dtype=torch.float32)
                                   for one in (tensor, patched.tensor(tensor.text(8))))
                self.assertTrue(torch.allclose(values, numbers, atol=1e-6), (tensor.text(8), more))
        # Some formats keep only one name of a tied tensor.
        torch.save({"table.weight": module.table.weight.detach()}, self.folder / "one.pt")
        patch = ["patch", old, "--weights", self.folder / "one.pt", "-o", output]
        self.fail_with(3, *patch, saying="may be derived from table.weight")
        self.succeed(*patch, "--checkpoint", weights)
        self.assertEqual(output.read_bytes(), new.read_bytes())

    def test_equal_entries_with_one_initializer_change_alike_or_not_at_all(self):
        from torch import nn
        module = nn.Sequential(nn.Linear(4, 4, bias=False), nn.ReLU(), nn.Linear(4, 4, bias=False))
        self.change(module, 1)
        module[2].weight.data = module[0].weight.data.clone()
        old = self.export(module, torch.randn(2, 4), "old.onnx")
        self.assertEqual(len(Model(old).tensors), 1)
        checkpoint = old.with_suffix(".pt")
        down, up = torch.randn(2, 4), torch.randn(4, 2)

        def adapter(*modules):
            tensors = {}
            for k, name in enumerate(modules):
                tensors[f"{name}.lora_A.weight"] = (k + 1) * down
                tensors[f"{name}.lora_B.weight"] = up
            path = self.folder / "adapter.safetensors"
            write_safetensors(path, as_lists(tensors))
            return path

        output = self.folder / "patched.onnx"
        for modules in (["0"], ["2"], ["0", "2"]):
            for more in (["--checkpoint", checkpoint], ["--weights", checkpoint], ["--weights", checkpoint, "--checkpoint", checkpoint]):
                self.fail_with(3, "patch", old, "--lora", adapter(*modules), *more, "-o", output, saying="which differ")
                self.assertFalse(output.exists())
        wanted = module[0].weight.detach() + up @ down
        for name in ("0", "2"):  # tied, for all that is known
            self.succeed("patch", old, "--lora", adapter(name), "-o", output)
            numbers = torch.frombuffer(bytearray(Model(output).tensors[0].all(9)[0]), dtype=torch.float32)
            self.assertTrue(any(torch.allclose(numbers, one.flatten(), atol=1e-6) for one in (wanted, wanted.T)))

    def test_some_modules_alone(self):
        from torch import nn
        module = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
        self.change(module, 1)
        old = self.export(module, torch.randn(2, 3), "old.onnx")
        self.change(module, 2)
        torch.save(module.state_dict(), self.folder / "all.pt")
        output = self.folder / "patched.onnx"
        self.succeed("patch", old, "--weights", self.folder / "all.pt", "--module", "1", "-o", output)
        before = torch.load(old.with_suffix(".pt"))
        module[0].load_state_dict({name: before[f"0.{name}"] for name in ("weight", "bias")})
        self.assertEqual(output.read_bytes(), self.export(module, torch.randn(2, 3), "new.onnx").read_bytes())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
