#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands about numerics: probe, numerics, plan.

usage: numerics_test.py PROGRAM FIXTURES [unittest arguments]
"""
import json
import math
import struct
import sys
import unittest
import zipfile

from program_test import FIXTURES, Case, run

MICRO = FIXTURES / "bert_micro" if FIXTURES else None


def save(path, values, method=zipfile.ZIP_STORED):
    """An .npz file of lists of numbers, like that of numpy.savez."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, numbers in values.items():
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(numbers)},), }}\n".encode()
            content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
            with archive.open(name + ".npy", "w", force_zip64=True) as member:
                member.write(content + struct.pack(f"<{len(numbers)}f", *numbers))


class NumbersCase(Case):
    def setUp(self):
        super().setUp()
        self.model = [MICRO / "model.onnx", "-m", MICRO / "modules.json"]
        self.probed = self.folder / "probed.onnx"

    def probe(self, *options):
        self.succeed("probe", *self.model, "-o", self.probed, "--no-sync", "--force", *options)
        return json.loads((self.folder / "probed.onnx.json").read_text())


class Probe(NumbersCase):
    def test_fewer_modules_are_fewer_values(self):
        counts = [sum(value["added"] for value in self.probe(*options)["values"])
                  for options in ([], ["--depth", "2"], ["--module", "pooler"], ["--depth", "0"])]
        self.assertGreater(counts[0], counts[1])
        self.assertGreater(counts[1], counts[3])
        self.assertGreater(counts[0], counts[2])
        self.assertEqual(counts[3], 0)
        self.assertEqual(self.probed.read_bytes(), (MICRO / "model.onnx").read_bytes())

    def test_values_of_another_list_are_shown_as_well(self):
        everything = self.probe()
        (self.folder / "all.json").write_text(json.dumps(everything))
        again = self.probe("--depth", "0", "--like", self.folder / "all.json")
        self.assertEqual({value["name"] for value in again["values"]},
                         {value["name"] for value in everything["values"]})

    def test_a_tagged_model_stays_tagged(self):
        tagged = self.folder / "tagged.onnx"
        self.succeed("tag", *self.model, "-o", tagged, "-q")
        self.succeed("probe", tagged, "-o", self.probed, "-q")
        self.succeed("validate", self.probed, "--no-checker", "-q")
        trees = [json.loads(run("tree", path, "--format", "json").stdout)["modules"]
                 for path in (tagged, self.probed)]
        self.assertEqual(trees[0], trees[1])

    def test_a_list_beside_is_replaced_with_force_only(self):
        self.probe()
        self.fail_with(4, "probe", *self.model, "-o", self.probed, saying="already exists")
        self.succeed("probe", *self.model, "-o", self.probed, "--manifest", self.folder / "probed.onnx.json")

    def test_what_no_output_shows_is_said(self):
        done = self.succeed("probe", FIXTURES / "control_flow/model.onnx", "-o", self.probed)
        self.assertIn("cannot be exposed", done.stderr)

    def test_what_is_no_list_is_refused(self):
        self.fail_with(3, "probe", *self.model, "-o", self.probed, "--like", MICRO / "modules.json",
                       saying="stemma.probe/1")
        self.assertFalse(self.probed.exists())


class Numerics(NumbersCase):
    def setUp(self):
        super().setUp()
        names = [value["name"] for value in self.probe()["values"]]
        self.values = {name: [math.sin(i + j) for j in range(8)] for i, name in enumerate(names)}
        self.a, self.b = self.folder / "a.npz", self.folder / "b.npz"
        save(self.a, self.values)

    def numerics(self, other, *options):
        save(self.b, other)
        return run("numerics", *self.model, MICRO / "model.onnx", "--values", self.a, "--values", self.b, *options)

    def spoiled(self, module):
        """The values, with a difference in an output of a module."""
        manifest = json.loads((self.folder / "probed.onnx.json").read_text())
        outputs = next(one for one in manifest["modules"] if one["module"] == module)["outputs"]
        return {name: [n + 0.1 for n in numbers] if name in outputs else numbers
                for name, numbers in self.values.items()}

    def test_equal_values_are_within_the_bounds(self):
        done = self.numerics(self.values)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("none: all values are within the bounds", done.stdout)

    def test_the_first_module_is_said(self):
        query = "encoder.layer.1.attention.self.query"
        done = self.numerics(self.spoiled(query), "--format", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["first"]["module"], query)
        self.assertIn(query, self.numerics(self.spoiled(query)).stdout)

    def test_a_bound_says_what_is_too_much(self):
        other = self.spoiled("encoder.layer.1.attention.self.query")
        self.assertEqual(self.numerics(other, "--max-abs", "0.2").returncode, 0)
        self.assertEqual(self.numerics(other, "--max-abs", "0.05").returncode, 1)
        self.assertEqual(self.numerics(other, "--min-sqnr", "5").returncode, 0)
        refused = self.numerics(other, "--max-abs", "nan")
        self.assertEqual(refused.returncode, 2)
        self.assertEqual(refused.stderr, "stemma: max_abs: nan is not a finite number from 0\n")

    def test_what_is_beyond_a_bound_is_said_in_its_measure(self):
        other = self.spoiled("encoder.layer.1.attention.self.query")
        first = lambda *options: next(line for line in self.numerics(other, *options).stdout.splitlines()
                                      if line.startswith("             at "))
        self.assertTrue(first("--max-abs", "0.05").endswith(", max abs 0.1"), first("--max-abs", "0.05"))
        self.assertRegex(first("--max-rel", "0.01"), ", max rel [0-9.]+$")
        self.assertRegex(first("--min-cosine", "0.9999"), ", cosine 0[.][0-9]+$")
        self.assertRegex(first("--max-abs", "0.05", "--min-sqnr", "60"), ", SQNR [0-9.]+ dB, max abs 0.1$")
        save(self.a, {name: [0.0] * 8 for name in self.values})
        self.assertTrue(first().endswith(", all zeros in the first run only"), first())

    def test_outputs_of_other_shapes_are_told_apart_from_wrong_numbers(self):
        query = "encoder.layer.1.attention.self.query"
        other = {name: numbers if numbers == self.values[name] else numbers[1:]
                 for name, numbers in self.spoiled(query).items()}
        self.assertRegex(self.numerics(other).stdout, rf"\nadds +shapes .*  {query}\n")

    def test_the_first_module_has_a_row_even_if_only_a_part_of_it_deviates(self):
        done = self.numerics(self.spoiled("encoder.layer.1.attention.self.query"), "--depth", "1")
        lines = done.stdout.splitlines()
        self.assertIn("first        encoder", lines)
        self.assertTrue(any(line.endswith("  encoder") and line.startswith("within") for line in lines), done.stdout)

    def test_values_of_another_model_are_noticed(self):
        self.assertNotIn("another model", self.numerics(self.values).stderr)
        save(self.b, self.values)
        done = run("numerics", *self.model, FIXTURES / "mlp" / "model.onnx", "--values", self.a, "--values", self.b)
        self.assertIn("model.onnx has none of the ", done.stderr)
        self.assertIn("seem to be of another model", done.stderr)

    def test_isolated_parts_wait_for_a_runner(self):
        other = self.spoiled("encoder.layer.1.attention.self.query")
        apart = self.folder / "apart"
        self.assertEqual(self.numerics(other, "--isolate", apart, "--no-sync").returncode, 1)
        parts = json.loads((apart / "isolate.json").read_text())["parts"]
        self.assertTrue(all((apart / part["file"]).exists() for part in parts if part["file"]))
        self.assertTrue((apart / "inputs.npz").exists())
        self.fail_with(3, "numerics", *self.model, MICRO / "model.onnx", "--values", self.a, "--values", self.b,
                       "--isolated", apart, saying="results.npz")

    def test_isolated_parts_replace_nothing_that_is_read(self):
        other = self.spoiled("encoder.layer.1.attention.self.query")
        self.a = self.folder / "inputs.npz"
        save(self.a, self.values)
        before = self.a.read_bytes()
        done = self.numerics(other, "--isolate", self.folder, "--no-sync")
        self.assertEqual(done.returncode, 2, done.stderr)
        done = self.numerics(other, "--isolate", self.folder, "--no-sync", "--force")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("inputs.npz: is an input", done.stderr)
        self.assertEqual(self.a.read_bytes(), before)
        self.assertFalse((self.folder / "index.json").exists())

    def test_isolated_parts_do_not_have_results_of_others(self):
        other = self.spoiled("encoder.layer.1.attention.self.query")
        apart = self.folder / "apart"
        self.assertEqual(self.numerics(other, "--isolate", apart, "--no-sync").returncode, 1)
        save(apart / "results.npz", {})
        self.assertEqual(self.numerics(other, "--isolate", apart, "--no-sync").returncode, 4)
        self.assertTrue((apart / "results.npz").exists())
        self.assertEqual(self.numerics(other, "--isolate", apart, "--no-sync", "--force").returncode, 1)
        self.assertFalse((apart / "results.npz").exists())

    def test_bad_input(self):
        base = ["numerics", *self.model, MICRO / "model.onnx", "--values", self.a, "--values"]
        packed = self.folder / "packed.npz"
        save(packed, self.values, zipfile.ZIP_DEFLATED)
        self.fail_with(3, *base, packed, saying="numpy.savez")
        packed.write_bytes(self.a.read_bytes()[:-30])
        self.fail_with(3, *base, packed, saying="damaged")
        self.fail_with(3, *base, self.folder / "missing.npz", saying="missing.npz")
        self.fail_with(3, *base, self.folder / "..", saying="no .npz")
        self.fail_with(2, *base[:-1], saying="--values twice")
        save(self.b, {"something else": [1.0]})
        self.fail_with(1, *base, self.b, saying="has no counterpart")


class Plan(NumbersCase):
    def plan(self, *options):
        return self.succeed("plan", *self.model, *options).stdout

    def test_nodes_of_a_query_are_excluded(self):
        names = json.loads(self.plan("--exclude", "pooler"))["nodes_to_exclude"]
        listed = self.succeed("query", *self.model, "pooler and not op:Constant").stdout.split()
        self.assertEqual(names, listed)
        self.assertEqual(json.loads(self.plan("--exclude", "pooler", "--to", "nncf"))["names"], listed)

    def test_modules_of_a_report_are_excluded(self):
        report = self.folder / "numerics.json"
        difference = {"sqnr": 10.5}
        report.write_text(json.dumps({"schema": "stemma.numerics/1", "modules": [
            {"module": "pooler", "verdict": "adds", "outgoing": difference},
            {"module": "pooler.dense", "verdict": "adds", "outgoing": difference},
            {"module": "encoder.layer.0", "verdict": "within", "outgoing": difference}]}))
        wanted = self.succeed("query", *self.model, "pooler.dense and not op:Constant").stdout.split()
        output = self.folder / "plan.json"
        self.plan("--from", report, "--top", "3", "--to", "aimet", "-o", output)
        self.assertEqual(json.loads(output.read_text()), {name: 10.5 for name in wanted})
        self.fail_with(3, "plan", *self.model, "--from", MICRO / "modules.json", saying="stemma.numerics/1")
        report.write_text('{"schema": "stemma.numerics/1", "modules": []}')
        self.assertIn("no module is known to exceed a bound", self.succeed("plan", *self.model, "--from", report, "--to", "nncf").stderr)

    def test_an_annotated_model_has_the_same_nodes(self):
        annotated = self.folder / "annotated.onnx"
        self.plan("--exclude", "pooler", "--to", "layer-ann", "-o", annotated, "--annotation", "late", "--no-sync")
        self.assertIn(b"layer_ann\x12\x04late", annotated.read_bytes())
        self.succeed("compare", MICRO / "model.onnx", annotated, "--only", "structure,initializers")
        self.fail_with(2, "plan", *self.model, "--exclude", "pooler", "--to", "layer-ann", saying="-o OUT")

    def test_placement_is_told_by_module(self):
        names = self.succeed("query", *self.model, "pooler and not op:Constant").stdout.split()
        log = self.folder / "ort.log"
        log.write_text("Node(s) placed on [CPUExecutionProvider]. Number of nodes: 1\n"
                       + "".join(f"   Op ({name})\n" for name in names))
        text = self.plan("--placement", log)
        self.assertIn(f"(root)  CPUExecutionProvider {len(names)}", text)
        placed = json.loads(self.plan("--placement", log, "--format", "json"))
        modules = {one["module"]: one["providers"] for one in placed["modules"]}
        self.assertEqual(modules["pooler"], {"CPUExecutionProvider": len(names)})
        self.assertNotIn("encoder", modules)
        self.fail_with(3, "plan", *self.model, "--placement", MICRO / "modules.json", saying="Node placements")

    def test_usage(self):
        self.fail_with(2, "plan", *self.model, saying="one of")
        self.fail_with(2, "plan", *self.model, "--exclude", "pooler", "--placement", "x", saying="one of")
        self.fail_with(1, "plan", *self.model, "--exclude", "poler", saying="poler")


if __name__ == "__main__":
    sys.argv[1:] = sys.argv[3:]
    unittest.main()
