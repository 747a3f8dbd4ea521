#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures what PyTorch knows about a model as `stemma.capture/1`: its modules, one run, an FX graph,
and the exporter's scopes of an ONNX file.

    from capture import capture
    capture(model, (image,), path="model.capture.json", export="model.onnx")

or, where FUNCTION() returns (model, args) or (model, args, kwargs),

    python3 capture.py FILE.py:FUNCTION -o model.capture.json --export model.onnx

then `stemma tag model.onnx -m model.capture.json`. Requires only torch 1.13 or later. Parts that the
installed torch does not support are omitted, with the reason under `missing`.
"""
import argparse
import contextlib
import functools
import glob
import importlib
import importlib.util
import inspect
import itertools
import json
import linecache
import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
import weakref

import torch
from torch.nn.parameter import is_lazy
from torch.nn.utils import parametrize

MOST_TENSORS = 1024  # per event; further ones are omitted
MOST_WAITING = 256  # events buffered until the enclosing call returns


def capture(model, args=(), kwargs=None, *, path=None, trace=True, fx="auto", torchscript=False,
            export=None, export_options=None, training=False):
    """Captures `model(*args, **kwargs)` and returns a `captured`.

    path         output file; if None, the capture is kept in memory
    trace        run the model and record its calls
    fx           "symbolic_trace", "torch.export", "both", None, or "auto": the first that works
    torchscript  also trace the model to TorchScript and record its operators
    export       ONNX file to write with torch.onnx.export, recording its scopes
    export_options  further arguments of torch.onnx.export
    training     run and export in training mode

    The model's state is restored, even if it raises; in that case no file is written.
    """
    args = args if isinstance(args, (tuple, list)) else (args,)
    kwargs = dict(kwargs or {})
    options = dict(export_options or {})
    if training:
        options.setdefault("training", torch.onnx.TrainingMode.TRAINING)
    missing = {}
    if trace or fx is not None or torchscript or export is not None:
        initialize(model, args, kwargs)
    with json_file(path) as out, left_as_it_was(model, training):
        out.member("schema", "stemma.capture/1")
        out.member("torch", torch.__version__)
        out.member("root_class", class_name(model)[0])
        scopes = None
        if export is not None:  # before other runs, which may change what the model holds
            with attributes_kept(model):
                scopes = export_with_scopes(model, args, kwargs, export, options, missing)
        calls = None
        if trace:
            run = module_trace(model, args, kwargs, out, missing)
            with out.nested("trace"):
                with out.list("events"):
                    run.run()
                out.member("unhooked", run.unhooked)
            calls = run.calls
        out.member("modules", describe_modules(model, calls))
        out.member("shared_parameters", shared_parameters(model))
        if fx is not None:
            write_fx(model, args, kwargs, fx, out, missing)
        if torchscript:
            write_torchscript(model, args, kwargs, out, missing)
        if scopes is not None:
            stacks = {}
            with out.nested("export"):
                with out.list("nodes"):
                    for node in exported_nodes(export, scopes, stacks):
                        out.add(node)
                out.member("stacks", list(stacks))
        out.member("missing", missing)
    return captured(path, out.text, missing)


class captured:
    """The result of `capture`: the `path` of the file, and `missing`: {part: reason}."""

    def __init__(self, path, text, missing):
        self.path, self.text, self.missing = path, text, missing

    def document(self):
        """The whole capture as a dict, which may be large."""
        if self.path is None:
            return json.loads(self.text)
        with open(self.path, encoding="utf-8") as file:
            return json.load(file)


# Modules ------------------------------------------------------------------------------------------

def is_scripted(module):
    return isinstance(module, torch.jit.ScriptModule)


def class_name(module):
    """(class, qualified class)"""
    if is_scripted(module):
        with contextlib.suppress(Exception):  # the type depends on how the module was made
            full = re.sub(r"\b___torch_mangle_\d+\.", "", module._c._type().qualified_name())
            full = full[len("__torch__."):] if full.startswith("__torch__.") else full
            return full.rpartition(".")[2], full
    kind = parametrize.type_before_parametrizations(module)
    return kind.__name__, f"{kind.__module__}.{kind.__qualname__}"


def module_paths(model):
    """{module: its first path}, in named_modules order."""
    return {module: name for name, module in model.named_modules()}


def join(path, name):
    return f"{path}.{name}" if path else name


def module_aliases(model, paths):
    """{module: its other paths}."""
    aliases = {module: [] for module in paths}
    for path, module in model.named_modules(remove_duplicate=False):
        if path != paths.get(module, path):
            aliases[module].append(path)
    return aliases


def children(module):
    """(name, child) of all children, repeated ones included."""
    return [(name, child) for name, child in module._modules.items() if child is not None]


def tensors_of(module):
    """(name, tensor, is_parameter) of the module's own tensors."""
    for kind, is_parameter in ((module._parameters, True), (module._buffers, False)):
        for name, tensor in kind.items():
            if tensor is not None:
                yield name, tensor, is_parameter


def shape_of(tensor):
    """The shape, or None if uninitialized."""
    try:
        return [int(extent) for extent in tensor.shape]
    except (RuntimeError, TypeError):
        return None


def describe_tensor(name, tensor):
    entry = {"name": name, "dtype": str(tensor.dtype).replace("torch.", ""),
             "trainable": bool(tensor.requires_grad)}
    if shape_of(tensor) is not None:
        entry["shape"] = shape_of(tensor)
    return entry


def describe_modules(model, calls):
    """Yields the modules, parents first. `calls` has the number of calls by path, if the model was run."""
    paths = module_paths(model)
    aliases = module_aliases(model, paths)
    below = {}
    for module, path in paths.items():
        own = list(tensors_of(module))
        numbers = [(p.numel(), p.requires_grad) for p in parameters_below(module, below).values()
                   if shape_of(p) is not None]
        name, qualified = class_name(module)
        yield {
            "name": path, "class_name": name, "qualified_class": qualified,
            "parent": path.rpartition(".")[0] if path else None,
            "aliases": aliases[module],
            "is_leaf": not module._modules,
            "hierarchy_level": path.count(".") + 1 if path else 0,
            "calls": calls.get(path) if calls is not None else None,
            "source": forward_line(module),
            "own_parameters": [describe_tensor(n, t) for n, t, is_parameter in own if is_parameter],
            "own_buffers": [describe_tensor(n, t) for n, t, is_parameter in own if not is_parameter],
            "total_parameters": sum(count for count, _ in numbers),
            "trainable_parameters": sum(count for count, trainable in numbers if trainable),
            "children": [{"attr": n, "name": join(path, n), "class_name": class_name(c)[0]}
                         for n, c in children(module)],
        }


def parameters_below(module, below):
    """{id: parameter} of a module and those below it; `below` keeps the answers."""
    if module not in below:
        below[module] = {id(p): p for _, p, is_parameter in tensors_of(module) if is_parameter}
        for _, child in children(module):
            below[module].update(parameters_below(child, below))
    return below[module]


def forward_line(module):
    """The first line of a module's forward, as a traceback of one frame; None if it is not Python."""
    with contextlib.suppress(Exception):  # forward may be any callable
        function = inspect.unwrap(type(module).forward)
        if function.__name__ == "_forward_unimplemented":
            return None
        return stack_text([(function.__code__.co_filename, function.__code__.co_firstlineno, "forward")])
    return None


def stack_text(frames):
    """Frames `(file, line, function)`, innermost last, formatted as by Python's traceback."""
    return "\n".join(f'  File "{file}", line {line}, in {function}\n    {linecache.getline(file, line).strip()}'
                     for file, line, function in frames)


def stack_in(source_range):
    """The call stack in a source range of the exporter's graph, from the model down; None if unknown."""
    frames = []
    with contextlib.suppress(Exception):  # the format is undocumented
        for line in source_range.splitlines():
            call = re.fullmatch(r"(.+)\((\d+)\): (.+)", line)
            if call is None or call[1].replace("\\", "/").endswith("torch/jit/_trace.py"):
                break
            frames.append((call[1], int(call[2]), call[3]))
    return stack_text(reversed(frames)) if frames else None


def shared_parameters(model):
    """Groups of parameter paths that share a tensor."""
    paths = module_paths(model)
    groups = {}  # {id: (tensor, paths)}
    for module, others in module_aliases(model, paths).items():
        for name, tensor, is_parameter in tensors_of(module):
            if is_parameter:
                groups.setdefault(id(tensor), (tensor, []))[1].extend(
                    join(path, name) for path in [paths[module], *others])
    return [group for _, group in groups.values() if len(group) > 1]


def tensor_names(model):
    """(tensor, first path) of all parameters and buffers."""
    for module, path in module_paths(model).items():
        for name, tensor, _ in tensors_of(module):
            yield tensor, join(path, name)


@contextlib.contextmanager
def attributes_kept(model):
    """Restores what modules hold, as tracers and forward may put their values there."""
    parts = ("_parameters", "_buffers", "_modules")
    states = [(module, type(module), dict(vars(module)), [dict(getattr(module, part)) for part in parts])
              for module in model.modules() if not is_scripted(module)]
    try:
        yield
    finally:
        for module, kind, attributes, members in states:
            if type(module) is kind:  # lazy modules become others
                vars(module).clear()
                vars(module).update(attributes)
                for part, before in zip(parts, members):
                    getattr(module, part).clear()
                    getattr(module, part).update(before)


def initialize(model, args, kwargs):
    """Runs a model with uninitialized parameters or buffers once, which initializes them."""
    if any(is_lazy(tensor) for tensor in itertools.chain(model.parameters(), model.buffers())):
        with left_as_it_was(model, False), torch.no_grad():
            model(*args, **kwargs)


@contextlib.contextmanager
def left_as_it_was(model, training):
    """Sets the training mode; restores modes, attributes, the random state and, after training, buffers."""
    modes = [(module, module.training) for module in model.modules()]
    buffers = [(b, b.detach().clone()) for b in model.buffers() if training and not is_lazy(b)]
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())), attributes_kept(model):
        try:
            model.train(training)
            yield
        finally:
            model.train(modes[0][1])  # which may do more than to set the modes
            for module, mode in modes:
                module.training = mode
            with torch.no_grad():
                for buffer, before in buffers:
                    buffer.copy_(before)


# Trace --------------------------------------------------------------------------------------------

def tensors_in(value, depth=0):
    """Yields the tensors of nested containers."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 8 and isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item, depth + 1)
    elif depth < 8 and isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item, depth + 1)


class tensor_ids:
    """Names of live tensors: p:<path> for parameters and buffers, i<k> for inputs, t<k> for others."""

    def __init__(self, model, inputs):
        self.kept = list(tensor_names(model))
        self.names = {}
        for tensor, name in self.kept:
            self.names.setdefault(id(tensor), "p:" + name)
        self.watched = {}
        self.count = itertools.count()
        for number, tensor in enumerate(tensors_in(inputs)):
            self.names.setdefault(id(tensor), f"i{number}")

    def __getitem__(self, tensor):
        key = id(tensor)
        if key not in self.names:
            self.names[key] = f"t{next(self.count)}"
            self.watched[key] = weakref.ref(tensor, lambda _: self.forget(key))
        return self.names[key]

    def forget(self, key):
        self.names.pop(key, None)
        self.watched.pop(key, None)

    def describe(self, value, what):
        """The members of an event that list its tensors."""
        tensors = list(itertools.islice(tensors_in(value), MOST_TENSORS))
        shapes = {"in": "input_shapes", "out": "output_shapes"}[what]
        return {what + "_ids": [self[t] for t in tensors], shapes: [shape_of(t) for t in tensors]}


class module_trace:
    """Runs a model and records its events."""

    def __init__(self, model, args, kwargs, out, missing):
        self.model, self.args, self.kwargs, self.out, self.missing = model, args, kwargs, out, missing
        self.paths = module_paths(model)
        self.ids = tensor_ids(model, (args, kwargs))
        self.scripted = {path for module, path in self.paths.items() if is_scripted(module)}
        self.unhooked = []
        self.calls = {}
        self.open = []  # (path, its frame)
        self.running = None  # the current call
        self.waiting = []  # the current call and its operators, until it returns
        self.noting = False  # whether to ignore calls
        self.seq = itertools.count()

    def run(self):
        with contextlib.ExitStack() as restore:
            for module, path in self.paths.items():
                self.hook(module, path, restore)
            restore.enter_context(torch.no_grad())
            for mode in (self.function_mode(), self.dispatch_mode()):
                if mode is not None:
                    restore.enter_context(mode)
            self.model(*self.args, **self.kwargs)
        self.close(0)

    def hook(self, module, path, restore):
        above = {"", *itertools.accumulate(path.split("."), join)} - {path}
        if above & self.scripted:
            self.unhooked.append([path, "it runs inside a scripted module"])
            return

        def enter(_, inputs):
            self.enter(path, inputs, sys._getframe(1))

        def leave(_, inputs, output):
            self.leave(path, output)

        try:
            before = module.register_forward_pre_hook(enter)
            restore.callback(before.remove)
            after = module.register_forward_hook(leave)
            restore.callback(after.remove)
            self.calls[path] = 0
            # As in an export, other hooks count as the caller's.
            module._forward_hooks.move_to_end(after.id, last=False)
        except (RuntimeError, AttributeError) as problem:
            self.unhooked.append([path, str(problem)])

    def event(self, kind, **members):
        record = {"seq": next(self.seq), "kind": kind, **members}
        self.waiting.append(record)
        if self.running is None or len(self.waiting) > MOST_WAITING:
            self.flush()
        return record

    def flush(self):
        for record in self.waiting:
            self.out.add(record)
        self.waiting = []

    def describe(self, value, what):
        before, self.noting = self.noting, True
        try:
            return self.ids.describe(value, what)
        finally:
            self.noting = before

    def stack(self):
        """The paths of the open modules. One that raised is closed without its hook."""
        frame = sys._getframe(1)
        for depth in range(len(self.open), 0, -1):
            running = frame
            while running is not None and running is not self.open[depth - 1][1]:
                running = running.f_back
            if running is not None:
                self.close(depth)
                break
        else:
            self.close(0)
        return [path for path, _ in self.open]

    def close(self, depth):
        while len(self.open) > depth:
            path, _ = self.open.pop()
            self.event("exit", module=path, stack=[p for p, _ in self.open])

    def enter(self, path, inputs, frame):
        stack = self.stack()
        call = self.calls[path]
        self.calls[path] += 1
        self.event("enter", module=path, call=call, stack=stack, **self.describe(inputs, "in"))
        self.open.append((path, frame))

    def leave(self, path, output):
        self.stack()
        if self.open and self.open[-1][0] == path:
            self.open.pop()
            self.event("exit", module=path, stack=[p for p, _ in self.open],
                       **self.describe(output, "out"))

    def function_mode(self):
        """Intercepts torch functions."""
        mode = getattr(torch.overrides, "TorchFunctionMode", None)
        if mode is None:
            self.missing["trace.func"] = "this torch has no torch.overrides.TorchFunctionMode"
            return None
        trace = self

        class calls(mode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return trace.call(func, args, kwargs or {})

        return calls()

    def dispatch_mode(self):
        """Intercepts the operators they dispatch to."""
        try:
            from torch.utils._python_dispatch import TorchDispatchMode
        except ImportError:
            self.missing["trace.op"] = "this torch has no torch.utils._python_dispatch.TorchDispatchMode"
            return None
        trace = self

        class operators(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                return trace.operator(func, args, kwargs or {})

        return operators()

    def call(self, func, args, kwargs):
        if self.noting or self.running is not None:  # nested calls are part of it
            return func(*args, **kwargs)
        name = torch.overrides.resolve_name(func) or full_name(func)
        stack, inputs = self.stack(), self.describe((args, kwargs), "in")
        self.running = {"seq": next(self.seq), "kind": "func", "op": name, "stack": stack, **inputs}
        self.waiting.append(self.running)
        try:
            result = func(*args, **kwargs)
            self.running.update(self.describe(result, "out"))
            return result
        finally:
            self.running = None
            self.flush()

    def operator(self, func, args, kwargs):
        stack = self.stack()
        record = {"op": str(func), "stack": stack,
                  "func": None if self.running is None else self.running["seq"],
                  **self.describe((args, kwargs), "in")}
        before, self.noting = self.noting, True
        try:
            result = func(*args, **kwargs)
        finally:
            self.noting = before
        self.event("op", **record, **self.describe(result, "out"))
        return result


def full_name(func):
    name = getattr(func, "__qualname__", None) or getattr(func, "__name__", None)
    if name is None:
        return str(func)
    package = getattr(func, "__module__", None)
    return f"{package}.{name}" if package else name


# FX -----------------------------------------------------------------------------------------------

def write_fx(model, args, kwargs, wanted, out, missing):
    """Writes the graph of the first tracer that works, or of both."""
    tracers = {"symbolic_trace": symbolic_graph, "torch.export": exported_graph}
    if wanted not in ("auto", "both", *tracers):
        raise ValueError(f"fx: '{wanted}' is not one of {', '.join(tracers)}, both, auto")
    graphs = {}
    for name in [wanted] if wanted in tracers else tracers:
        try:
            with attributes_kept(model):
                graphs[name] = tracers[name](model, args, kwargs, missing)
        except Exception as problem:  # tracers raise all kinds
            missing[f"fx.{name}"] = reason_of(problem)
        if graphs and wanted != "both":
            break
    if not graphs:
        return
    with out.nested("fx"):
        out.member("tracer", "both" if len(graphs) > 1 else next(iter(graphs)))
        with out.list("nodes"):
            for name, nodes in graphs.items():
                for node in nodes:
                    out.add({**node, "tracer": name} if len(graphs) > 1 else node)


def reason_of(problem):
    return f"{type(problem).__name__}: {problem}".splitlines()[0][:300]


def bound_arguments(model, args, kwargs):
    """{name: argument} in signature order, defaults included."""
    signature = inspect.signature(model.forward)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def symbolic_graph(model, args, kwargs, missing):
    import torch.fx

    class tracer(torch.fx.Tracer):
        """Records the open modules of every node."""

        def __init__(self, proxy_buffers):
            super().__init__()
            self.proxy_buffer_attributes = proxy_buffers
            self.open, self.stacks = [""], {}

        def call_module(self, module, forward, args, kwargs):
            self.open.append(self.path_of_module(module))
            try:
                return super().call_module(module, forward, args, kwargs)
            finally:
                self.open.pop()

        def create_node(self, *node, **more):
            proxy = super().create_node(*node, **more)
            self.stacks[proxy] = list(self.open)
            return proxy

    arguments = bound_arguments(model, args, kwargs)
    # None, numbers and strings steer control flow, so they are fixed.
    fixed = {name: value for name, value in arguments.items()
             if value is None or isinstance(value, (bool, int, float, str))}
    try:
        followed = tracer(False)
        graph = followed.trace(model, concrete_args=fixed or None)
    except Exception as problem:
        try:  # some models index buffers by sizes, which only works on proxies
            followed = tracer(True)
            graph = followed.trace(model, concrete_args=fixed or None)
        except Exception:
            raise problem from None
    drop_checks(graph)
    shapes = shapes_by_running(model, graph, arguments, missing)
    return [describe_fx(node, followed.stacks.get(node, [""]), model, shapes.get(node.name))
            for node in graph.nodes]


def drop_checks(graph):
    """Removes the assertions that tracing adds for fixed arguments."""
    for check in reversed(list(graph.nodes)):
        if check.users or getattr(check.target, "__name__", "") not in ("_assert", "_assert_is_none"):
            continue
        unread = [check]
        while unread:
            node = unread.pop()
            inputs = node.all_input_nodes
            graph.erase_node(node)
            unread += [read for read in inputs if not read.users]


def shapes_by_running(model, graph, arguments, missing):
    """{node: (shape, dtype)} of tensor-valued nodes."""
    shape_of_node = {}
    try:
        class shapes(torch.fx.Interpreter):
            def run_node(self, node):
                result = super().run_node(node)
                if isinstance(result, torch.Tensor):
                    shape_of_node[node.name] = (shape_of(result), str(result.dtype).replace("torch.", ""))
                return result

        names = [node.target.lstrip("*") for node in graph.nodes if node.op == "placeholder"]
        with torch.no_grad():
            shapes(torch.fx.GraphModule(model, graph)).run(*(arguments[name] for name in names))
    except Exception as problem:
        missing["fx.shapes"] = reason_of(problem)
    return shape_of_node


def exported_graph(model, args, kwargs, missing):
    try:
        from torch.export import export
    except ImportError:
        raise RuntimeError("this torch has no torch.export") from None
    program = export(model, tuple(args), kwargs)
    signature = program.graph_signature
    tensors = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    described = []
    for node in program.graph.nodes:
        stack = (node.meta.get("nn_module_stack") or {}).values()
        value = node.meta.get("val")
        names = None
        if isinstance(value, torch.Tensor):
            names = (shape_of(value) or [], str(value.dtype).replace("torch.", ""))
        record = describe_fx(node, [str(path) for path, _ in stack] or [""], model, names)
        if node.op == "placeholder" and node.name in tensors:
            record["parameter"] = tensors[node.name]
        described.append(record)
    return described


def describe_fx(node, stack, model, names):
    inputs = []
    torch.fx.node.map_arg((node.args, node.kwargs), lambda read: inputs.append(read.name))
    target = node.target if isinstance(node.target, str) else fx_function_name(node.target)
    record = {"name": node.name, "op": node.op, "target": target, "args": inputs,
              "users": [user.name for user in node.users], "module_stack": stack}
    if node.op == "call_module":
        record["class"] = class_name(model.get_submodule(node.target))[1]
    if names is not None:
        record["shape"], record["dtype"] = names
    return record


def fx_function_name(target):
    if isinstance(target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return str(target)
    return full_name(target)


# TorchScript --------------------------------------------------------------------------------------

def write_torchscript(model, args, kwargs, out, missing):
    try:
        if any(is_scripted(module) for module in model.modules()):
            raise RuntimeError("operators of scripted modules have no scopes")
        options = {"check_trace": False, "strict": False}
        if kwargs:
            if "example_kwarg_inputs" not in inspect.signature(torch.jit.trace).parameters:
                raise RuntimeError("this torch.jit.trace takes no keyword arguments")
            options["example_kwarg_inputs"] = {**bound_arguments(model, args, kwargs)}
            graph = torch.jit.trace(model, **options).inlined_graph
        else:
            graph = torch.jit.trace(model, tuple(args), **options).inlined_graph
    except Exception as problem:
        missing["torchscript"] = reason_of(problem)
        return
    with out.nested("torchscript"), out.list("operations"):
        for operation in torchscript_operations(graph, {}):
            out.add(operation)


def torchscript_operations(block, names):
    """Yields the operators; `names` maps values to attributes of the model."""
    for node in block.nodes():
        if node.kind() == "prim::GetAttr":
            above = names.get(node.input().debugName(), "")
            names[node.output().debugName()] = join(above, node.s("name"))
        elif node.kind().startswith("aten::"):
            path = node.scopeName().rpartition("/__module")[2].partition(".")[2]
            yield {"op": node.kind(), "module": path,
                   "in_ids": [value_id(v, names) for v in node.inputs() if is_tensor(v)],
                   "input_shapes": [value_shape(v) for v in node.inputs() if is_tensor(v)],
                   "out_ids": [v.debugName() for v in node.outputs()]}
        for inner in node.blocks():
            yield from torchscript_operations(inner, names)


def is_tensor(value):
    return value.type().isSubtypeOf(torch._C.TensorType.get())


def value_id(value, names):
    name = value.debugName()
    return "p:" + names[name] if name in names else name


def value_shape(value):
    sizes = value.type().sizes() if hasattr(value.type(), "sizes") else None
    return None if sizes is None or None in sizes else list(sizes)


# Export -------------------------------------------------------------------------------------------

@contextlib.contextmanager
def replaced(owner, name, value):
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def exporter_internals():
    """The torch module that builds the exporter's scope map."""
    for name in ("torch.onnx._internal.torchscript_exporter.utils", "torch.onnx.utils"):
        with contextlib.suppress(ImportError):
            module = importlib.import_module(name)
            if hasattr(module, "_setup_trace_module_map"):
                return module
    return None


def export_with_scopes(model, args, kwargs, path, options, missing):
    """Exports and returns {node name: (scope or None, call stack or None)}, or None.

    The exporter names nodes after the second half of `Class::instance` in its scope map. The module
    is marked in the first half, which leaves the file unchanged.
    """
    parameters = inspect.signature(torch.onnx.export).parameters
    if "dynamo" in parameters:
        options.setdefault("dynamo", False)
    args = tuple(args)
    if kwargs or (args and isinstance(args[-1], dict)):
        args = (*args, kwargs)
    internals = exporter_internals()
    naming = "_jit_pass_onnx_assign_scoped_names_for_node_and_value"
    why = ("the dynamo exporter has no scope map; it writes modules into the file"
           if options.get("dynamo") else
           "nodes of modules exported as functions cannot be recorded"
           if options.get("export_modules_as_functions") else
           "this torch has no _setup_trace_module_map" if internals is None else
           "this torch has no _trace_module_map" if not hasattr(torch.jit._trace, "_trace_module_map") else
           f"this torch has no {naming}" if not hasattr(torch._C, naming) else None)
    if why is not None:
        missing["export"] = why
        torch.onnx.export(model, args, path, **options)
        return None

    paths = module_paths(model)
    module_of = {path: module for module, path in paths.items()}
    mark = "#"
    while any(mark in path for path in module_of):
        mark += "#"
    setup, assign = internals._setup_trace_module_map, getattr(torch._C, naming)
    numbered = list(module_of)
    scopes = {}

    # Many nodes share these.
    @functools.lru_cache(maxsize=None)
    def scope_of(text):
        return full_scope(text, numbered, module_of, mark)

    stack_from = functools.lru_cache(maxsize=None)(stack_in)

    def marked_map(*arguments, **more):
        result = setup(*arguments, **more)
        traced = torch.jit._trace._trace_module_map
        numbers = {module: number for number, module in enumerate(paths)}
        for module, text in list(traced.items()):
            if module in numbers:
                kind, colons, instance = text.partition("::")
                traced[module] = f"{kind}{mark}{numbers[module]}{colons}{instance}"
        return result

    def assign_and_record(graph):
        result = assign(graph)
        record(graph)
        return result

    def record(block):
        for node in block.nodes():
            if node.hasAttribute("onnx_name"):
                scopes[node.s("onnx_name")] = scope_of(node.scopeName()), stack_from(node.sourceRange())
            for inner in node.blocks():
                record(inner)

    with replaced(internals, "_setup_trace_module_map", marked_map), \
            replaced(torch._C, naming, assign_and_record):
        torch.onnx.export(model, args, path, **options)
    return scopes


def full_scope(scope, numbered, module_of, mark):
    """`pkg.Class::path/pkg.Class::path.of.child`, or None if uncertain. `known`: {path: module}, `numbered`: its paths.

    Scripted modules have no mark in their scopes, but paths relative to their parents; if several
    share a class, the scopes of all but the first end above the module.
    """
    texts, path, sure = [], None, False
    for atom in scope.split("/"):
        kind, colons, instance = atom.partition("::")
        number = kind.rpartition(mark)[2] if mark in kind else ""
        if not colons:
            continue
        if number.isdigit():
            path = numbered[int(number)]
        else:
            path = join(path, instance) if path else instance
        if path not in module_of:
            return None
        sure = number.isdigit() or not module_of[path]._modules
        texts.append(f"{class_name(module_of[path])[1]}::{path}")
    return "/".join(texts) if sure else None


def exported_nodes(path, scopes, stacks):
    """Yields the nodes of an ONNX file with their scopes and indices into `stacks`."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for field, value in fields(data, 0, len(data)):
            if field == 7:
                for graph, index, op_type, name in onnx_nodes(data, value, ""):
                    scope, stack = scopes.get(name, (None, None))
                    number = None if stack is None else stacks.setdefault(stack, len(stacks))
                    yield {"graph": graph, "index": index, "op_type": op_type, "scope": scope,
                           "stack": number}


def onnx_nodes(data, place, graph):
    """Yields (graph, index, operator, name) of the nodes of a GraphProto and its subgraphs."""
    nodes = (value for field, value in fields(data, *place) if field == 1)
    for index, node in enumerate(nodes):
        name, op_type, attributes = "", "", []
        for field, value in fields(data, *node):
            if field == 3:
                name = data[slice(*value)].decode()
            elif field == 4:
                op_type = data[slice(*value)].decode()
            elif field == 5:
                attributes.append(value)
        yield graph, index, op_type, name
        for attribute in attributes:
            values = list(fields(data, *attribute))
            label = next((data[slice(*v)].decode() for f, v in values if f == 1), "")
            inside = f"{graph}/{index}/{label}" if graph else f"{index}/{label}"
            many = [v for f, v in values if f == 11]
            for field, value in values:
                if field == 6:
                    yield from onnx_nodes(data, value, inside)
            for number, value in enumerate(many):
                yield from onnx_nodes(data, value, f"{inside}[{number}]")


def fields(data, at, end):
    """Yields (number, (begin, end)) of the length-delimited fields of a protobuf message."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < end:
        key = varint()
        kind = key & 7
        if kind == 0:
            varint()
        elif kind == 2:
            length = varint()
            yield key >> 3, (at, at + length)
            at += length
        else:
            at += 8 if kind == 1 else 4


# Writing ------------------------------------------------------------------------------------------

class json_file:
    """Writes JSON element by element. The file appears complete or not at all; links stay, and what is no regular
    file, such as a pipe, is written to."""

    def __init__(self, path):
        self.path, self.text = path if path is None else os.path.realpath(path), None
        self.first = True
        self.replaces = path is not None and (os.path.isfile(self.path) or not os.path.exists(self.path))

    def __enter__(self):
        folder = os.path.dirname(self.path) if self.replaces else None
        self.file = tempfile.NamedTemporaryFile("w+", encoding="utf-8", dir=folder, delete=False)
        self.file.write("{")
        return self

    def __exit__(self, kind, problem, place):
        try:
            if kind is None:
                self.file.write("\n}\n")
                if not self.replaces:
                    self.file.seek(0)
                    self.text = self.file.read()
            self.file.close()
            if kind is None and self.replaces:
                os.chmod(self.file.name, 0o666 & ~umask())
                os.replace(self.file.name, self.path)
            elif kind is None and self.path is not None:
                with open(self.path, "w", encoding="utf-8") as other:
                    other.write(self.text)
        finally:
            self.file.close()
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.file.name)

    def separate(self):
        self.file.write("\n" if self.first else ",\n")
        self.first = False

    def add(self, value):
        self.separate()
        self.file.write(json.dumps(value))  # four times as fast as json.dump

    def member(self, key, value):
        if inspect.isgenerator(value):
            with self.list(key):
                for item in value:
                    self.add(item)
            return
        self.separate()
        self.file.write(f"{json.dumps(key)}: {json.dumps(value)}")

    def nested(self, key):
        return self.enclosed(key, "{", "}")

    def list(self, key):
        return self.enclosed(key, "[", "]")

    @contextlib.contextmanager
    def enclosed(self, key, begin, end):
        self.separate()
        self.file.write(f"{json.dumps(key)}: {begin}")
        self.first = True
        yield
        self.file.write("\n" + end)
        self.first = False


def umask():
    now = os.umask(0)
    os.umask(now)
    return now


# The program --------------------------------------------------------------------------------------

def find_stemma(named=None):
    """The stemma program: the named one, else the one on the PATH, beside this file, or the newest in
    a build folder. Raises FileNotFoundError."""
    if named is not None:
        program = shutil.which(named)
        if program is None:
            raise FileNotFoundError(f"{named}: no such program")
        return program
    beside = os.path.dirname(os.path.abspath(__file__))
    built = [path for pattern in ("build/stemma", "build/*/stemma")
             for path in glob.glob(os.path.join(glob.escape(os.path.dirname(beside)), pattern)) if os.path.isfile(path)]
    for path in [shutil.which("stemma"), os.path.join(beside, "stemma"),
                 *sorted(built, key=os.path.getmtime, reverse=True)]:
        if path is not None and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError("stemma is not on the PATH, beside capture.py or in a build folder; "
                            "specify it with --stemma PROGRAM")


def tag(program, model, capture, output, options=()):
    """Writes the tagged `model` to `output`, which may be the same file. Returns the exit status."""
    files = [os.path.join(os.curdir, path) if path.startswith("-") else path for path in (model, capture, output)]
    sys.stdout.flush()
    return subprocess.run([program, "tag", files[0], "-m", files[1], "-o", files[2], *options]).returncode


def import_source(source):
    """The module of a file, which may import what is beside it, or of a name."""
    folder, name = os.path.split(source)
    sys.path.insert(0, os.path.abspath(folder))
    if not name.endswith(".py"):
        return importlib.import_module(name)
    name = name[:-3]
    spec = importlib.util.spec_from_file_location(name, source)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def why_not_written(files):
    """Why files cannot be written, by the options that name them; None if nothing is known against it."""
    options = {}
    for option, path in files.items():
        if path is None:
            continue
        if os.path.isdir(path) or not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            return f"{path}: {'is a folder' if os.path.isdir(path) else 'no such folder'}"
        same = options.setdefault(os.path.realpath(path), option)
        if same != option:
            return f"{same} and {option} both name {files[same]}"
    return None


def find_function(options, text):
    """The function that `FILE.py:FUNCTION` or `MODULE:FUNCTION` names."""
    source, _, function = text.rpartition(":")
    if not source:
        options.error(f"{text}: neither FILE.py:FUNCTION nor MODULE:FUNCTION")
    if source.endswith(".py") and not os.path.isfile(source):
        options.error(f"{source}: no such file")
    module = import_source(source)
    if not callable(getattr(module, function, None)):
        options.error(f"{source} has no function '{function}'")
    return getattr(module, function)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    options.add_argument("model", metavar="FILE.py:FUNCTION",
                         help="or MODULE:FUNCTION; returns (model, args) or (model, args, kwargs)")
    options.add_argument("-o", "--output", metavar="CAPTURE", required=True)
    options.add_argument("--export", metavar="MODEL", help="write the model to an ONNX file")
    options.add_argument("--tag", metavar="OUT", help="write a tagged copy of the file of --export")
    options.add_argument("--stemma", metavar="PROGRAM", help="for --tag; searched for if not given")
    options.add_argument("--opset", type=int, help="opset of the ONNX file")
    options.add_argument("--fx", choices=["auto", "symbolic_trace", "torch.export", "both", "none"], default="auto")
    options.add_argument("--no-trace", action="store_true", help="do not run the model")
    options.add_argument("--torchscript", action="store_true", help="also trace to TorchScript")
    chosen = options.parse_args()
    program = None
    if chosen.tag is not None:
        if chosen.export is None:
            options.error("--tag needs --export")
        try:
            program = find_stemma(chosen.stemma)
        except FileNotFoundError as problem:
            options.error(str(problem))
    for tagged in ({"--export": chosen.export}, {"--tag": chosen.tag}):  # a model may be tagged in place
        wrong = why_not_written({"--output": chosen.output, **tagged})
        if wrong is not None:
            options.error(wrong)
    function = find_function(options, chosen.model)()
    done = capture(*function, path=chosen.output, trace=not chosen.no_trace,
                   fx=None if chosen.fx == "none" else chosen.fx, torchscript=chosen.torchscript,
                   export=chosen.export,
                   export_options={"opset_version": chosen.opset} if chosen.opset else None)
    for part, why in done.missing.items():
        print(f"capture.py: no {part}: {why}", file=sys.stderr)
    return tag(program, chosen.export, chosen.output, chosen.tag) if chosen.tag is not None else 0


if __name__ == "__main__":
    sys.exit(main())
