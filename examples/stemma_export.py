#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a PyTorch model to an ONNX file whose nodes are tagged with their modules.

    python3 stemma_export.py torchvision:resnet18 -o resnet18.onnx

TARGET is one of

    torchvision:NAME            a torchvision model without weights
    FILE.py:FUNCTION            returns a model, (model, args) or (model, args, kwargs)
    FILE.py:Class(2, width=64)  a class or function with literal arguments
    package.module:Class(...)   the same from a package
    FOLDER, NAME                a model that transformers can load
    FILE.pt                     a TorchScript archive

Requires torch 1.13 or later, capture.py beside it, and the program stemma. Arguments after `--` are
passed to `stemma tag`.
"""
import argparse
import ast
import contextlib
import difflib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import tempfile
import traceback

torch = capture = None  # imported after parsing the command line


class Refusal(Exception):
    """An error of the user, with a remedy, in one line."""


def one_line(problem):
    return f"{type(problem).__name__}: {problem}".splitlines()[0][:300]


@contextlib.contextmanager
def shown_whole(what):
    """Runs others' code: exceptions are printed in full, then summarized in one line."""
    try:
        yield
    except Refusal:
        raise
    except ModuleNotFoundError as problem:
        if problem.name is None:
            traceback.print_exc()
        raise Refusal(f"{what}: needs the package {problem.name or problem}") from None
    except Exception as problem:
        traceback.print_exc()
        raise Refusal(f"{what}: {one_line(problem)}") from None


def like(name, names):
    matches = difflib.get_close_matches(name, list(names), 4)
    return f"; did you mean {', '.join(matches)}?" if matches else ""


def package(name, wanted):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        raise Refusal(f"{wanted} needs the package {problem.name}") from None


# Models -------------------------------------------------------------------------------------------

def make_model(target, chosen):
    """Returns (model, args, kwargs); args is None if the inputs are unknown."""
    source, colon, what = target.partition(":")
    if colon:
        if source == "torchvision":
            return from_torchvision(what)
        return made_by(source, what)
    if os.path.isdir(target):
        return from_transformers(target, chosen.model_class)
    if target.endswith(".py"):
        raise Refusal(f"{target}: specify a function or class, {target}:NAME" + names_in_file(target))
    if os.path.isfile(target):
        return from_archive(target)
    if target.endswith((".pt", ".pth", ".ts")) or target.startswith((".", "/")):
        raise Refusal(f"{target}: no such file or folder")
    return from_transformers(target, chosen.model_class)


def names_in_file(path):
    """Candidate names, read without running the file."""
    try:
        with open(path, encoding="utf-8") as file:
            body = ast.parse(file.read()).body
    except (OSError, ValueError, SyntaxError):
        return ""
    names = [one.name for one in body if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
    return f"; it defines {', '.join(names[:8])}" if names else ""


def read_call(text):
    """(name, args, kwargs) of `name` or `name(literals)`."""
    wrong = Refusal(f"'{text}' is neither a NAME nor a NAME(...) with literal arguments, such as Net(2, width=64)")
    try:
        tree = ast.parse(text, mode="eval").body
        if not isinstance(tree, ast.Call):
            return dotted(tree, wrong), None, {}
        if any(keyword.arg is None for keyword in tree.keywords):
            raise wrong
        return (dotted(tree.func, wrong), [ast.literal_eval(one) for one in tree.args],
                {keyword.arg: ast.literal_eval(keyword.value) for keyword in tree.keywords})
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise wrong from None


def dotted(tree, wrong):
    if isinstance(tree, ast.Attribute):
        return f"{dotted(tree.value, wrong)}.{tree.attr}"
    if not isinstance(tree, ast.Name):
        raise wrong
    return tree.id


def made_by(source, text):
    """Calls a function or class."""
    name, args, kwargs = read_call(text)
    with shown_whole(source):
        if source.endswith(".py") and not os.path.isfile(source):
            raise Refusal(f"{source}: no such file")
        module = capture.import_source(source)
    maker = module
    for part in name.split("."):
        if not hasattr(maker, part):
            names = [each for each in vars(maker) if not each.startswith("_")]
            raise Refusal(f"{source} has no '{name}'{like(part, names)}")
        maker = getattr(maker, part)
    if isinstance(maker, torch.nn.Module) and args is None:
        return maker, None, {}
    if not callable(maker):
        raise Refusal(f"{source}:{name} is a {type(maker).__name__}, not a function or a class")
    with shown_whole(f"{source}:{text}"):
        instance = maker(*(args or []), **kwargs)
    if isinstance(instance, torch.nn.Module):
        return instance, None, {}
    if not isinstance(instance, (tuple, list)) or not 2 <= len(instance) <= 3 or not isinstance(instance[0], torch.nn.Module):
        raise Refusal(f"{source}:{name} returns {type(instance).__name__}, not a model, (model, args) or "
                      "(model, args, kwargs)")
    model, args, *rest = instance
    if isinstance(args, dict) and not rest:
        return model, (), args
    return model, tuple(args) if isinstance(args, (tuple, list)) else (args,), dict(*rest)


def from_torchvision(text):
    name, args, kwargs = read_call(text)
    models = package("torchvision", "torchvision:NAME").models
    names = models.list_models() if hasattr(models, "list_models") else [
        one for one, value in vars(models).items() if inspect.isfunction(value)]
    if hasattr(models, "get_model_builder") and name in names:
        maker = models.get_model_builder(name)
    else:
        maker = models
        for part in name.split("."):
            maker = getattr(maker, part, None)
    if not callable(maker) or isinstance(maker, type) or inspect.ismodule(maker):
        raise Refusal(f"torchvision {sys.modules['torchvision'].__version__} has no model '{name}'{like(name, names)}")
    # No downloads, and no slow initialization.
    parameters = inspect.signature(maker).parameters
    for option, value in (("weights", None), ("weights_backbone", None), ("pretrained", False),
                          ("pretrained_backbone", False), ("init_weights", False)):
        if option in parameters or (option == "init_weights" and name in ("googlenet", "inception_v3")):
            kwargs.setdefault(option, value)
    with shown_whole(f"torchvision:{text}"):
        model = maker(*(args or []), **kwargs)
    size = 299 if name == "inception_v3" else getattr(model, "image_size", 224)
    group = type(model).__module__.split(".")[2:-1]
    shape = (1, 3, 16, 112, 112) if "video" in group else (1, 3, 128, 128) if "optical_flow" in group else (
        1, 3, size, size)
    if "detection" in group:
        return model, ([torch.rand(3, 320, 320)],), {}
    return model, (torch.rand(shape),) * (2 if "optical_flow" in group else 1), {}


def from_archive(path):
    try:
        return torch.jit.load(path, map_location="cpu"), None, {}
    except (RuntimeError, ValueError) as problem:
        raise Refusal(f"{path}: not a TorchScript archive that this torch can load ({one_line(problem)}); a checkpoint "
                      "has only weights: specify FILE.py:FUNCTION") from None


def from_transformers(name, model_class):
    if not os.path.isdir(name) and not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        raise Refusal(f"'{name}' is not a TARGET; see --help")
    if os.path.isdir(name) and not os.path.isfile(os.path.join(name, "config.json")):
        raise Refusal(f"{name}: transformers cannot load it without a config.json")
    if not os.path.isdir(name) and importlib.util.find_spec("transformers") is None:
        raise Refusal(f"'{name}' is neither a file nor a folder, and loading a model by name needs the package "
                      "transformers; other forms of TARGET are torchvision:NAME and FILE.py:FUNCTION")
    transformers = package("transformers", f"loading '{name}'")
    with shown_whole(name):
        config = transformers.AutoConfig.from_pretrained(name)
        wanted = model_class or next(iter(getattr(config, "architectures", None) or []), "AutoModel")
        kind = getattr(transformers, wanted, None)
        if kind is None and model_class:
            raise Refusal(f"transformers has no class '{wanted}'{like(wanted, dir(transformers))}")
        model = (kind or transformers.AutoModel).from_pretrained(name)
    # Caches would be further outputs.
    if getattr(model.config, "use_cache", False):
        model.config.use_cache = False
    return model, None, {}


# Inputs -------------------------------------------------------------------------------------------

class Shape:
    """NAME=1,128:int64"""

    def __init__(self, text):
        match = re.fullmatch(r"([A-Za-z_]\w*)=((?:\d+(?:,\d+)*)?)(?::(\w+))?", text)
        if not match:
            raise Refusal(f"--shape {text}: not of the form NAME=1,128 or NAME=1,128:int64")
        self.name, extents, self.type = match.groups()
        self.extents = [int(extent) for extent in extents.split(",") if extent]

    def tensor(self, bound):
        """Random values; integers are below `bound`, as they may be indices."""
        type_name = self.type or "float32"
        dtype = getattr(torch, type_name, None)
        if not isinstance(dtype, torch.dtype):
            types = [name for name in vars(torch) if isinstance(getattr(torch, name), torch.dtype)]
            raise Refusal(f"--shape {self.name}: unknown type '{type_name}'{like(type_name, types)}")
        if dtype == torch.bool:
            return torch.ones(self.extents, dtype=dtype)
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(self.extents).to(dtype)
        return torch.randint(0, bound, self.extents).to(dtype)


def forward_parameters(model):
    """([(name, required)], whether it takes **kwargs)"""
    if isinstance(model, torch.jit.ScriptModule):
        return [(one.name, not one.has_default_value()) for one in model.forward.schema.arguments[1:]], False
    parameters = inspect.signature(model.forward).parameters.values()
    named = [(one.name, one.default is one.empty) for one in parameters
             if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    return named, any(one.kind == one.VAR_KEYWORD for one in parameters)


def by_keyword(model):
    """The parameters of forward that are passed by keyword only."""
    if isinstance(model, torch.jit.ScriptModule):
        return set()
    parameters = inspect.signature(model.forward).parameters.values()
    return {one.name for one in parameters if one.kind == one.KEYWORD_ONLY}


def index_bound(model):
    """The bound of indices that are valid for all embeddings of the model."""
    sizes = [one.num_embeddings for one in model.modules() if isinstance(one, torch.nn.Embedding)]
    return max(1, min(sizes, default=2))


def by_config(config, names, main, bound):
    """{name: input} with the shapes that transformers uses for these names."""
    def of(*options, default):
        for part in (config, getattr(config, "vision_config", None), getattr(config, "text_config", None)):
            for option in options:
                value = getattr(part, option, None)
                if value is not None:
                    return value
        return default

    size = of("image_size", default=224)
    height, width = size if isinstance(size, (tuple, list)) else (size, size)
    ids = (1, min(16, of("max_position_embeddings", "n_positions", default=16)))
    makers = {"input_ids": lambda: torch.randint(0, bound, ids),
              "decoder_input_ids": lambda: torch.randint(0, bound, ids),
              "pixel_values": lambda: torch.rand(1, of("num_channels", default=3), height, width),
              "input_values": lambda: torch.rand(1, 16000),
              "input_features": lambda: torch.rand(1, of("num_mel_bins", "input_feat_per_channel", default=80),
                                                   2 * of("max_source_positions", default=1500))}
    wanted = {main, *(["decoder_input_ids"] if getattr(config, "is_encoder_decoder", False) else [])}
    if hasattr(config, "text_config") and hasattr(config, "vision_config"):
        wanted |= {"input_ids", "pixel_values"}
    return {name: makers[name]() for name in names if name in wanted and name in makers}


def example_inputs(model, args, kwargs, shapes):
    """Returns (args, kwargs) in the order of forward's parameters."""
    parameters, takes_others = forward_parameters(model)
    names = [name for name, _ in parameters]
    values = dict(kwargs)
    if args is not None and len(args) > len(names):
        return args, kwargs  # *args
    values.update(zip(names, args or ()))
    bound = index_bound(model)
    if args is None and not kwargs:
        values.update(suggested_inputs(model, names, bound))
    for shape in shapes:
        if shape.name not in names and not takes_others:
            raise Refusal(f"--shape {shape.name}: {type(model).__name__}.forward has no such input; it takes "
                          f"{', '.join(names)}")
        values[shape.name] = shape.tensor(bound)
    lacking = [name for name, needed in parameters if needed and name not in values]
    if lacking:
        raise Refusal(f"the input '{lacking[0]}' of {type(model).__name__} is unknown: specify it, such as --shape "
                      f"{lacking[0]}=1,3,224,224:float32" +
                      (f", and likewise {', '.join(lacking[1:])}" if lacking[1:] else ""))
    if not values and parameters:
        raise Refusal(f"the inputs of {type(model).__name__} are unknown: specify them, such as --shape "
                      f"{names[0]}=1,16:int64; it takes {', '.join(names)}")
    leading = []
    keywords = by_keyword(model)
    for name in names:
        if name not in values or name in keywords:
            break
        leading.append(values.pop(name))
    return tuple(leading), values


def suggested_inputs(model, names, bound):
    """{name: input} as provided by the model itself."""
    given = getattr(model, "example_input_array", None)
    if given is not None:
        if isinstance(given, dict):
            return given
        return dict(zip(names, given if isinstance(given, (tuple, list)) else (given,)))
    inputs = {}
    with contextlib.suppress(Exception):  # the default one may not fit the model
        dummy = model.dummy_inputs
        inputs = {name: value for name, value in dummy.items() if name in names}
    config = getattr(model, "config", None)
    main = getattr(model, "main_input_name", "input_ids")
    if config is not None and main not in inputs:
        inputs.update(by_config(config, names, main, bound))
    return inputs


# Export -------------------------------------------------------------------------------------------

def read_dynamic(texts, inputs):
    """{input: {dimension: name}}; a mere name is that of the first dimension of all inputs."""
    axes = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        if not equals:
            if not name.isidentifier():
                raise Refusal(f"--dynamic {text}: neither a NAME nor INPUT=0:batch,1:sequence")
            for one, value in inputs.items():
                if isinstance(value, torch.Tensor) and value.dim() > 0:
                    axes.setdefault(one, {})[0] = name
            continue
        if not isinstance(inputs.get(name), torch.Tensor):
            raise Refusal(f"--dynamic {name}: no such tensor among the inputs; these are "
                          f"{', '.join(inputs)}")
        for part in rest.split(","):
            match = re.fullmatch(r"(\d+):([A-Za-z_]\w*)", part)
            if not match or int(match[1]) >= inputs[name].dim():
                raise Refusal(f"--dynamic {text}: '{part}' is not DIMENSION:NAME with a dimension below "
                              f"{inputs[name].dim()}")
            axes.setdefault(name, {})[int(match[1])] = match[2]
    return axes


def read_options(texts):
    parameters = inspect.signature(torch.onnx.export).parameters
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise Refusal(f"--option {text}: not of the form NAME=VALUE")
        if name not in parameters:
            raise Refusal(f"--option {name}: unknown to torch.onnx.export of torch {torch.__version__}{like(name, parameters)}")
        try:
            options[name] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            options[name] = value
    return options


def named_inputs(model, args, kwargs):
    """{parameter of forward: value} of the inputs, in the order of the parameters."""
    names = [name for name, _ in forward_parameters(model)[0]]
    given = {**dict(zip(names, args)), **kwargs}
    ordered = {name: given[name] for name in names if name in given}
    return {**ordered, **given} if len(args) <= len(names) else {}


def export_options(chosen, model, args, kwargs):
    options = read_options(chosen.option)
    if chosen.opset is not None:
        options["opset_version"] = chosen.opset
    inputs = {name: value for name, value in named_inputs(model, args, kwargs).items() if value is not None}
    axes = read_dynamic(chosen.dynamic, inputs)
    flat = inputs and all(isinstance(value, torch.Tensor) for value in inputs.values())
    if chosen.dynamo:
        if axes and "dynamic_shapes" in inspect.signature(torch.onnx.export).parameters:
            labels = {label: torch.export.Dim(label) for names in axes.values() for label in names.values()}
            options.setdefault("dynamic_shapes", {name: {number: labels[label] for number, label in axes[name].items()}
                                                  if name in axes else None for name in inputs})
        elif axes:
            options.setdefault("dynamic_axes", axes)
        return options
    if flat:  # the names of forward's parameters, not the exporter's
        options.setdefault("input_names", list(inputs))
    elif axes:
        raise Refusal("--dynamic requires all inputs to be tensors")
    if axes:
        options.setdefault("dynamic_axes", axes)
    return options


def export_dynamo(model, args, kwargs, path, options):
    """Exports by torch.export, which writes the modules into the file itself."""
    parameters = inspect.signature(torch.onnx.export).parameters
    if "dynamo" in parameters:
        if "kwargs" in parameters:
            options = {**options, "kwargs": kwargs or None}
        elif kwargs:
            args = (*args, kwargs)
        program = torch.onnx.export(model, args, path, dynamo=True, **options)
    elif hasattr(torch.onnx, "dynamo_export"):
        more = {"export_options": torch.onnx.ExportOptions(dynamic_shapes=True)} if "dynamic_axes" in options else {}
        unknown = sorted(set(options) - {"dynamic_axes"})
        if unknown:
            raise Refusal(f"{unknown[0]}: unknown to the dynamo exporter of torch {torch.__version__}")
        program = torch.onnx.dynamo_export(model, *args, **kwargs, **more)
    else:
        raise Refusal(f"--dynamo requires torch 2.1 or later; this is {torch.__version__}")
    if not os.path.exists(path) and hasattr(program, "save"):
        program.save(path)


def run(chosen, tag_options):
    global torch, capture
    beside = os.path.dirname(os.path.abspath(__file__))
    if not os.path.isfile(os.path.join(beside, "capture.py")):
        raise Refusal(f"capture.py is missing in {beside}")
    sys.path.insert(0, beside)
    torch = package("torch", "an export")
    if not hasattr(torch, "onnx"):  # a folder named torch
        raise Refusal("an export needs the package torch")
    capture = importlib.import_module("capture")
    program = None
    if chosen.tags:
        try:
            program = capture.find_stemma(chosen.stemma)
        except FileNotFoundError as problem:
            raise Refusal(f"{problem}; --no-tags exports without it") from None
    wrong = capture.why_not_written({"--output": chosen.output, "--keep-capture": chosen.keep_capture})
    if wrong is not None:
        raise Refusal(wrong)
    shapes = [Shape(text) for text in chosen.shape]

    torch.manual_seed(0)
    model, args, kwargs = make_model(chosen.target, chosen)
    args, kwargs = example_inputs(model, args, kwargs, shapes)
    options = export_options(chosen, model, args, kwargs)
    with contextlib.ExitStack() as cleaned:
        copy = chosen.keep_capture
        if copy is None:
            copy = os.path.join(cleaned.enter_context(tempfile.TemporaryDirectory(prefix="stemma-")), "capture.json")
        how = {"path": copy, "trace": chosen.trace, "fx": "auto" if chosen.trace else None,
               "training": chosen.training}
        if not chosen.dynamo:
            how.update(export=chosen.output, export_options=options)
        with shown_whole(f"torch.onnx.export of {type(model).__name__}"):
            if chosen.dynamo:
                with capture.left_as_it_was(model, chosen.training):
                    export_dynamo(model, args, kwargs, chosen.output, options)
            done = capture.capture(model, args, kwargs, **how)
        for part, why in done.missing.items():
            print(f"stemma_export.py: no {part}: {why}", file=sys.stderr)
        if chosen.tags and capture.tag(program, chosen.output, copy, chosen.output, tag_options) != 0:
            raise Refusal(f"{chosen.output}: exported, but not tagged")


def main(arguments=None):
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    split = arguments.index("--") if "--" in arguments else len(arguments)
    description, _, forms = __doc__.partition("\n\n")
    options = argparse.ArgumentParser(prog="stemma_export.py", description=description, epilog=forms,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("target", metavar="TARGET")
    options.add_argument("-o", "--output", metavar="MODEL", required=True, help="the ONNX file")
    options.add_argument("--shape", metavar="NAME=1,128:int64", action="append", default=[],
                         help="an input of forward; float32 without a type; may repeat")
    options.add_argument("--opset", type=int, help="opset of the ONNX file; default: the exporter's")
    options.add_argument("--dynamo", action="store_true", help="export by torch.export")
    options.add_argument("--dynamic", metavar="AXES", action="append", default=[],
                         help="INPUT=0:batch,1:sequence, or batch for the first dimension of all inputs; may repeat")
    options.add_argument("--option", metavar="NAME=VALUE", action="append", default=[],
                         help="a further argument of torch.onnx.export; may repeat")
    options.add_argument("--training", action="store_true", help="export in training mode")
    options.add_argument("--class", dest="model_class", metavar="CLASS",
                         help="class of transformers; default: the one in the config")
    options.add_argument("--keep-capture", metavar="FILE", help="keep the capture")
    options.add_argument("--trace", action="store_true", help="also capture a run and an FX graph")
    options.add_argument("--stemma", metavar="PROGRAM",
                         help="default: the one on the PATH, beside this file, or in a build folder above it")
    options.add_argument("--no-tags", dest="tags", action="store_false", help="only export")
    chosen = options.parse_args(arguments[:split])
    try:
        run(chosen, arguments[split + 1:])
    except Refusal as problem:
        print(f"stemma_export.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
