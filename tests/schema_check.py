#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates the output of the stemma program and captures against the schemas in docs/.

usage: schema_check.py PROGRAM DOCS FIXTURES

Accepting real output proves little, so broken copies of the output must be rejected, and every
property of a schema must occur somewhere.
"""
import copy
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

PROGRAM, DOCS, FIXTURES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])

# Fixtures and their files: named and unnamed nodes, functions, conflicts, bodies, shared modules,
# tied weights, many modules.
MODELS = [("bert_mlm", "model"), ("bert_micro", "anonymous"), ("bert_micro", "model.functions"),
          ("bert_micro", "model.nofold"), ("bert_micro_fresh", "model"),
          ("control_flow", "model"), ("mlp", "model"), ("quirks", "model"), ("scale_1000", "model"), ("scripted_children", "model"),
          ("shared_twice", "model"), ("two_tower", "unnamed")]

# Properties that no fixture has.
UNSEEN = {
    ("split", "file_order"): "the nodes of every fixture are in order",
    ("sidecar", "caller"): "no fixture calls a module from one that is not above it",
}

SCHEMAS = {path.name: json.loads(path.read_text()) for path in sorted(DOCS.glob("*.schema.json"))}
failures = []
seen = set()  # ids of the property schemas used


class noting_validator:
    """A validator that also records which properties of the schema occur."""

    def __init__(self, name):
        schema = SCHEMAS[f"{name}.schema.json"]
        base = jsonschema.Draft202012Validator
        base.check_schema(schema)

        def properties(validator, declared, instance, schema):
            if isinstance(instance, dict):
                seen.update(id(declared[key]) for key in declared if key in instance)
            yield from base.VALIDATORS["properties"](validator, declared, instance, schema)

        kind = jsonschema.validators.extend(base, {"properties": properties})
        resolver = jsonschema.RefResolver("", schema, store=SCHEMAS)
        self.validator = kind(schema, resolver=resolver)

    def first_error(self, document):
        error = next(self.validator.iter_errors(document), None)
        return error and f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"


VALIDATORS = {name: noting_validator(name)
              for name in ("capture", "compare", "cost", "cuts", "dag", "diff", "explain", "folds", "isolate", "lines", "module_diff", "numerics",
                           "operations", "overlay", "placement", "probe", "profile", "profiles", "query", "sidecar", "split", "summary",
                           "tree", "validate", "weights")}


def check(name, document, what):
    error = VALIDATORS[name].first_error(document)
    if error:
        failures.append(f"{what}: not as docs/{name}.schema.json says: {error}")


def run(*arguments):
    """The JSON output of the program; some commands report findings by status 1."""
    done = subprocess.run([PROGRAM, *map(str, arguments), "--format", "json", "--quiet"],
                          capture_output=True, text=True, timeout=300)
    if done.returncode not in ((0, 1) if arguments[0] in ("compare", "cut", "diff", "explain", "numerics", "validate") else (0,)):
        failures.append(f"{arguments}: status {done.returncode}: {done.stderr.strip()}")
        return None
    return json.loads(done.stdout)


def reports_of(model, capture, truth, folder):
    """Yields (schema, document) for all output about a model."""
    with_capture = ["-m", capture] if capture else []
    oracle = ["--oracle", truth] if truth.exists() else []
    sidecar = folder / "sidecar.json"
    yield "summary", run("tag", model, *with_capture, "--sidecar", sidecar, *oracle)
    everything = json.loads(sidecar.read_text())
    yield "sidecar", everything
    yield "summary", run("analyze", model, *with_capture)
    yield "cost", run("analyze", model, *with_capture, "--cost")
    yield "lines", run("analyze", model, *with_capture, "--by", "line", "--cost")
    times = folder / "times.csv"
    times.write_text("name,time\nno such node,1\n" +
                     "".join(f"{node['name']},2\n" for node in everything["nodes"] if node["name"]))
    yield "profile", run("profile", model, times, *with_capture)
    yield "lines", run("profile", model, times, *with_capture, "--by", "line")
    if model.name == "model.onnx":
        yield "profiles", run("profile", model, times, *with_capture, "--against", times)
        yield "profiles", run("profile", model, times, "--against", times, "--against-model", FIXTURES / "mlp" / "model.onnx")
    yield "query", run("query", model, "", *with_capture)
    yield "query", run("query", model, "op:*", *with_capture)
    yield "validate", run("validate", model)
    tagged = folder / "tagged.onnx"
    yield "summary", run("tag", model, *with_capture, "-o", tagged)
    yield "validate", run("validate", tagged)
    yield "compare", run("compare", model, tagged)
    yield "weights", run("weights", model, *with_capture)
    if (model.parent / "model.pt").exists():
        yield "weights", run("weights", model, "--checkpoint", model.parent / "model.pt")
    carried = tagged.with_name("carried.json")
    yield "summary", run("carry", tagged, model, "--sidecar", carried)
    yield "sidecar", json.loads(carried.read_text(encoding="utf-8"))
    yield "explain", run("explain", model, "#0", "-m", tagged)
    written = FIXTURES.parent / "dialects" / "recurrence_dynamo.onnx"
    yield "explain", run("explain", written, "#0")
    yield "summary", run("tag", written, "--with", "source", "--sidecar", sidecar)
    yield "sidecar", json.loads(sidecar.read_text())
    begun = folder / "begun.json"
    begun.write_text(json.dumps({"schema": "stemma.capture/1", "modules": [
        {"name": "", "class_name": "Net", "source": 'File "net.py", line 3, in forward'}, {"name": "cell"},
        {"name": "cell.input"}, {"name": "cell.hidden"}]}))
    yield "explain", run("explain", written, "''", "-m", begun)
    yield "explain", run("explain", FIXTURES.parent / "dialects" / "nested_functions.onnx", "app_Block_blocks_0_1")
    yield "compare", run("compare", tagged, FIXTURES / "mlp" / "unnamed.onnx")
    yield "compare", run("compare", FIXTURES / "mlp" / "anonymous.onnx", model, "--only", "initializers")
    yield "diff", run("diff", model, FIXTURES / "mlp" / "model.onnx", "--nodes")
    yield "diff", run("diff", model, tagged)
    yield "module_diff", run("diff", model, FIXTURES / "mlp" / "model.onnx", "--nodes", "--module", "''")
    yield "tree", run("tree", model, *with_capture)
    yield "tree", run("tree", model, *with_capture, "--depth", "1")
    asked = [f"{node['graph']}#{node['index']}" for node in everything["nodes"][::29]]
    asked += [value["name"] for value in everything["values"][::29]]
    asked += [module["path"] for module in everything["modules"][1::7]]
    yield "explain", run("explain", model, *with_capture, "no such name", *asked)
    parts = folder / "parts"
    yield "cuts", run("cut", model, *with_capture, "--all", "-d", parts, "--data", "keep", "--force")
    yield "cuts", json.loads((parts / "index.json").read_text())
    if model.parent.name == "quirks":  # with modules that are not convex
        yield "cuts", run("cut", model, *with_capture, "--all", "-d", parts, "--data", "keep",
                          "--force", "--non-convex", "refuse")
        yield "explain", run("explain", model, "layer")
    yield "split", run("split", model, *with_capture, "--depth", "1", "-d", parts, "--data", "keep",
                       "--force")
    if model.name == "model.onnx" and model.parent.name in ("bert_mlm", "quirks", "shared_twice"):
        yield "folds", run("fold", model, *with_capture, "--select", "all", "-o", folder / "folded.onnx")
    yield from reports_of_numbers(model, with_capture, folder)
    dag, operations = folder / "dag.json", folder / "operations.json"
    for options in ([], ["--select", "all", "--level", "direct", "--multi"]):
        subprocess.run([PROGRAM, "dag", model, *with_capture, *options, "-o", dag, "--operations",
                        operations], check=True, timeout=300)
        yield "dag", json.loads(dag.read_text())
        yield "operations", json.loads(operations.read_text())


def reports_of_numbers(model, with_capture, folder):
    """Yields the output for two runs, the second with different numbers for every other value."""
    probed = run("probe", model, *with_capture, "-o", folder / "probed.onnx", "--force", "--no-sync")
    yield "probe", probed
    for path, change in ((folder / "a.npz", 0.0), (folder / "b.npz", 0.5)):
        with zipfile.ZipFile(path, "w") as archive:
            for i, value in enumerate(probed["values"]):
                header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n"
                number = struct.pack("<f", 1 + (change if i % 2 and value["module"] is not None else 0))
                archive.writestr(value["name"] + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
                                 + header + number)
    apart = folder / "apart"
    compared = ["numerics", model, model, *with_capture, "--values", folder / "a.npz", "--values", folder / "b.npz"]
    if any(value["module"] is not None for value in probed["values"]):
        yield "numerics", run(*compared, "--isolate", apart, "--data", "keep", "--force", "--no-sync")
        yield "isolate", json.loads((apart / "isolate.json").read_text())
        with zipfile.ZipFile(apart / "results.npz", "w"):
            pass
        yield "numerics", run(*compared, "--isolated", apart)
    log = folder / "ort.log"
    log.write_text("All nodes placed on [CPUExecutionProvider]. Number of nodes: 1\n")
    yield "placement", run("plan", model, *with_capture, "--placement", log)


def broken_copies(document):
    """Yields (what, document) with one defect at every place where a kind of object occurs first.

    The outermost keys of a document without "schema" are arbitrary names.
    """
    def places(value, path):
        if isinstance(value, dict):
            yield path
            for key in value:
                counts = ("tags", "provenance", "dialects", "oracle_modules", "operators", "providers")
                if key not in counts or isinstance(value[key], list) or "equal" in value[key]:
                    yield from places(value[key], path + [key])
        elif isinstance(value, list) and value:
            yield from places(value[0], path + [0])

    def at(value, path):
        for key in path:
            value = value[key]
        return value

    for path in places(document, []):
        if not path and "schema" not in document:
            continue
        compares = document.get("schema") == "stemma.compare/1"
        parts = {"structure", "initializers", "tags"} if compares else set()
        optional = {"caller", "analysis", "list", "origins", "origin_modules", "origin_kind"} | parts
        optional |= {"macs", "flops", "microseconds"} if document.get("schema") == "stemma.lines/1" else set()
        for key in [key for key in at(document, path) if key not in optional]:
            broken = copy.deepcopy(document)
            del at(broken, path)[key]
            yield f"without {path + [key]}", broken
            broken = copy.deepcopy(document)
            at(broken, path)[key] = {"unexpected": []}
            yield f"with another type for {path + [key]}", broken
        if path[-1:] == ["unlisted"]:  # a table by names of operators
            continue
        broken = copy.deepcopy(document)
        at(broken, path)["unexpected"] = 1
        yield f"with one more member in {path}", broken


def properties_of(schema, place=""):
    if isinstance(schema, dict):
        for key, declared in schema.get("properties", {}).items():
            if isinstance(declared, dict):
                yield f"{place}/{key}".lstrip("/"), declared
        for key, part in schema.items():
            inner = place if key in ("properties", "items", "$defs", "oneOf") else f"{place}/{key}"
            yield from properties_of(part, inner)
    elif isinstance(schema, list):
        for part in schema:
            yield from properties_of(part, place)


def check_reports():
    small = {}  # the smallest complete document of each kind
    with tempfile.TemporaryDirectory() as temporary:
        for fixture, stem in MODELS:
            folder = FIXTURES / fixture
            for capture in (folder / "modules.json", None):
                for name, document in reports_of(folder / f"{stem}.onnx", capture,
                                                 folder / "truth.json", pathlib.Path(temporary)):
                    if document is None:
                        continue
                    what = f"{name} of {fixture}/{stem}" + (" with capture" if capture else "")
                    check(name, document, what)
                    if fixture == "mlp":
                        small.setdefault((name, "analysis" in document), document)
    for (name, _), document in small.items():
        for what, broken in broken_copies(document):
            if VALIDATORS[name].first_error(broken) is None:
                failures.append(f"docs/{name}.schema.json accepts a document {what}")


def check_empty():
    """A model of IR version 8, opset 17 and a graph called `net` without nodes."""
    with tempfile.TemporaryDirectory() as temporary:
        model = pathlib.Path(temporary) / "empty.onnx"
        model.write_bytes(b"\x08\x08\x42\x02\x10\x11\x3a\x05\x12\x03net")
        for name, command in (("summary", ["tag"]), ("summary", ["analyze"]), ("tree", ["tree"]),
                              ("split", ["split", "--depth", "1", "-d", f"{temporary}/parts"])):
            check(name, run(command[0], model, *command[1:]), f"{command[0]} of a model without nodes")


def check_captures():
    captures = sorted(path for part in ("modules", "trace", "fx") for path in FIXTURES.glob(f"*/{part}.json"))
    for path in captures:
        check("capture", json.loads(path.read_text()), path.relative_to(FIXTURES))
    root = {"name": "", "class_name": "Net"}
    block = {"name": "block", "parent": "", "aliases": ["again"], "calls": 2}
    stack = 'File "net.py", line 3, in forward'
    check("capture", {"schema": "stemma.capture/1", "modules": [{**root, "source": stack}],
                      "export": {"nodes": [{"graph": "", "index": 0, "op_type": "Relu", "scope": None, "stack": 0}],
                                 "stacks": [stack]}}, "a capture with lines")
    check("capture", {"schema": "stemma.capture/1", "modules": [root, block]}, "a small capture")
    weight = {"name": "w", "op": "placeholder", "target": "w", "parameter": "block.weight",
              "tracer": "torch.export"}
    check("capture", {"trace": {"events": [], "unhooked": ["block"]},
                      "fx": {"tracer": "both", "nodes": [weight]},
                      "torchscript": {"operations": [{"op": "aten::relu", "module": "block", "call": 0,
                                                      "in_ids": ["a"], "out_ids": ["b"],
                                                      "input_shapes": [[1]]}]},
                      "export": {"nodes": [{"graph": "", "index": 0, "op_type": "Relu",
                                            "scope": "app.Net::"}]},
                      "missing": {"fx.shapes": "it cannot be run"}}, "a capture of operations")
    for what, broken in [("a module without name", {"modules": [{"class_name": "Net"}]}),
                         ("no modules", {"modules": []}),
                         ("a name that is no text", {"modules": [{"name": 1}]}),
                         ("a shape of texts",
                          {"modules": [{"name": "", "own_parameters":
                                        [{"name": "w", "shape": ["n"]}]}]}),
                         ("a short compact module", {"modules": [["", "Net"]]}),
                         ("an event without kind", {"events": [{"op": "add"}]}),
                         ("an FX node of no known kind",
                          {"nodes": [{"name": "a", "op": "jump", "target": "b"}]}),
                         ("nothing of a capture", {"graphs": []})]:
        if VALIDATORS["capture"].first_error(broken) is None:
            failures.append(f"docs/capture.schema.json accepts {what}")
    return len(captures)


def check_overlays():
    """The program accepts what the schema accepts, and rejects what it rejects."""
    model = FIXTURES / "mlp" / "model.onnx"
    good = {"schema": "stemma.overlay/1", "title": "a run",
            "columns": [{"name": "heat", "unit": "K", "direction": "lower", "additive": True}, {"name": "chip"}],
            "modules": [{"path": "fc1", "values": [1.5, "A"]}], "nodes": [{"name": "/fc1/Gemm", "values": [None, "B"]}]}
    check("overlay", good, "an overlay")
    changed = lambda **members: {**good, **members}
    for accepted, document in [(True, good), (True, changed(more=1)), (False, changed(schema="stemma.overlay/2")),
                               (False, changed(columns=[])), (False, changed(columns=[{"unit": "K"}])),
                               (False, changed(columns=[{"name": "a", "direction": "up"}, {"name": "b"}])),
                               (False, changed(modules=[{"path": "fc1"}])), (False, changed(nodes=[{"values": [1, 2]}])),
                               (False, changed(modules=[{"path": "fc1", "values": [1, True]}]))]:
        if (VALIDATORS["overlay"].first_error(document) is None) != accepted:
            failures.append(f"docs/overlay.schema.json {'refuses' if accepted else 'accepts'} {document}")
        with tempfile.TemporaryDirectory() as folder:
            overlay = pathlib.Path(folder) / "overlay.json"
            overlay.write_text(json.dumps(document))
            done = subprocess.run([PROGRAM, "export", model, "--to", "html", "--overlay", overlay], capture_output=True)
        if (done.returncode == 0) != accepted:
            failures.append(f"the program {'refuses' if accepted else 'takes'} the overlay {document}")


def check_seen():
    for name in VALIDATORS:
        for place, part in properties_of(SCHEMAS[f"{name}.schema.json"]):
            leaf = place.split("/")[-1]
            if ((name, leaf) in UNSEEN) == (id(part) in seen):
                failures.append(f"docs/{name}.schema.json: '{place}' "
                                + ("occurs, so it need not be in UNSEEN" if id(part) in seen
                                   else "occurs in no document"))


def main():
    check_reports()
    check_empty()
    captures = check_captures()
    check_overlays()
    check_seen()
    print("\n".join(failures) or f"{len(MODELS)} models and {captures} captures are as the schemas say")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
