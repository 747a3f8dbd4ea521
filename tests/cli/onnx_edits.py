# SPDX-License-Identifier: Apache-2.0
"""Reads, edits and writes ONNX files, for tests that need two models with a known difference. A minimal
implementation of protobuf and ONNX, independent of stemma.
"""
import struct

FLOAT, INT8, INT64 = 1, 3, 7


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


class Message:
    """A message as the list of its fields: (number, wire type, value)."""

    def __init__(self, data=b""):
        self.fields = []
        at = 0

        def take():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    return value

        while at < len(data):
            key = take()
            kind = key & 7
            if kind == 0:
                value = take()
            else:
                size = take() if kind == 2 else 8 if kind == 1 else 4
                value = data[at:at + size]
                at += size
            self.fields.append((key >> 3, kind, value))

    def all(self, number):
        return [value for n, _, value in self.fields if n == number]

    def text(self, number):
        return (self.all(number) or [b""])[0].decode()

    def drop(self, number):
        self.fields = [field for field in self.fields if field[0] != number]
        return self

    def add(self, number, value):
        if isinstance(value, int):
            self.fields.append((number, 0, value))
        else:
            data = value.bytes() if isinstance(value, Message) else value
            self.fields.append((number, 2, data.encode() if isinstance(data, str) else data))
        return self

    def put(self, number, values):
        """Replaces the fields of a number, at the position of the first."""
        at = next((i for i, field in enumerate(self.fields) if field[0] == number),
                  len(self.fields))
        rest = [field for field in self.fields[at:] if field[0] != number]
        self.fields = self.fields[:at]
        for value in values:
            self.add(number, value)
        self.fields += rest
        return self

    def bytes(self):
        out = b""
        for number, kind, value in self.fields:
            out += varint(number << 3 | kind)
            out += varint(value) if kind == 0 else (varint(len(value)) if kind == 2 else b"") + value
        return out


class Node(Message):
    @property
    def inputs(self):
        return [value.decode() for value in self.all(1)]

    @property
    def outputs(self):
        return [value.decode() for value in self.all(2)]

    @property
    def name(self):
        return self.text(3)

    @property
    def op_type(self):
        return self.text(4)

    def rename(self, old, new):
        self.put(1, [new if value == old else value for value in self.inputs])

    def is_standard(self):
        return self.text(7) in ("", "ai.onnx")


def node(op_type, inputs, outputs, like, name):
    """A node of the same module as another."""
    message = Node()
    for value in inputs:
        message.add(1, value)
    for value in outputs:
        message.add(2, value)
    message.add(3, name)
    message.add(4, op_type)
    for entry in like.all(9):
        message.add(9, entry)
    return message


def tensor(name, dims, kind, data):
    message = Message()
    for dim in dims:
        message.add(1, dim)
    return message.add(2, kind).add(8, name).add(9, data)


class Model:
    def __init__(self, path):
        self.message = Message(path.read_bytes())
        self.graph = Message(self.message.all(7)[0])
        self.nodes = [Node(value) for value in self.graph.all(1)]
        self.tensors = [Message(value) for value in self.graph.all(5)]

    def write(self, path):
        self.graph.put(1, [one.bytes() for one in self.nodes])
        self.graph.put(5, [one.bytes() for one in self.tensors])
        self.message.put(7, [self.graph.bytes()])
        path.write_bytes(self.message.bytes())
        return path

    def tensor(self, name):
        return next((one for one in self.tensors if one.text(8) == name), None)

    def node(self, name):
        return next(one for one in self.nodes if one.name == name)

    def readers(self, value):
        return [one for one in self.nodes if value in one.inputs]

    def outputs(self):
        return {Message(value).text(1) for value in self.graph.all(12)}

    def has_bodies(self):
        return any(Message(attribute).all(6) or Message(attribute).all(11)
                   for one in self.nodes for attribute in one.all(5))

    def insert_behind(self, place, added):
        self.nodes.insert(self.nodes.index(place) + 1, added)

    # Edits.

    def change_weight(self, name):
        """Adds 0.5 to one number of a float32 initializer with raw data."""
        tensor = self.tensor(name)
        data = bytearray(tensor.all(9)[0])
        at = len(data) // 8 * 4
        struct.pack_into("<f", data, at, struct.unpack_from("<f", data, at)[0] + 0.5)
        tensor.put(9, [bytes(data)])

    def insert_operator(self, place, op_type="Neg"):
        """Inserts an operator after a node, in its module."""
        value = place.outputs[0]
        added = node(op_type, [value], [value + "_edited"], place,
                     place.name.rsplit("/", 1)[0] + "/" + op_type + "_edited")
        for reader in self.readers(value):
            reader.rename(value, value + "_edited")
        self.insert_behind(place, added)

    def change_operator(self, place, op_type):
        place.put(4, [op_type])

    def raise_opset(self, version):
        imports = [Message(value) for value in self.message.all(8)]
        for one in imports:
            if one.text(1) in ("", "ai.onnx"):
                one.put(2, [version])
        self.message.put(8, [one.bytes() for one in imports])

    def lower_softmax(self, place):
        """Replaces Softmax over the last axis by Exp, ReduceSum and Div."""
        (value,), (result,) = place.inputs, place.outputs
        scope = place.name.rsplit("/", 1)[0]
        axes = result + "_axes"
        self.tensors.append(tensor(axes, [1], INT64, struct.pack("<q", -1)))
        at = self.nodes.index(place)
        self.nodes[at:at + 1] = [
            node("Exp", [value], [result + "_exp"], place, scope + "/Exp"),
            node("ReduceSum", [result + "_exp", axes], [result + "_sum"], place, scope + "/ReduceSum"),
            node("Div", [result + "_exp", result + "_sum"], [result], place, scope + "/Div")]

    def lower_normalization(self, place):
        """What LayerNormalization over the last axis computes, in elementary operators."""
        (value, scale, bias), (result,) = place.inputs, place.outputs
        scope = place.name.rsplit("/", 1)[0]
        epsilon = next(struct.unpack("<f", one.all(2)[0])[0] for one in map(Message, place.all(5))
                       if one.text(1) == "epsilon")
        self.tensors += [tensor(result + "_two", [], FLOAT, struct.pack("<f", 2)),
                         tensor(result + "_epsilon", [], FLOAT, struct.pack("<f", epsilon))]
        steps = [("ReduceMean", [value], "_mean"), ("Sub", [value, "_mean"], "_centred"),
                 ("Pow", ["_centred", "_two"], "_squares"), ("ReduceMean", ["_squares"], "_variance"),
                 ("Add", ["_variance", "_epsilon"], "_shifted"), ("Sqrt", ["_shifted"], "_deviation"),
                 ("Div", ["_centred", "_deviation"], "_normalized"),
                 ("Mul", ["_normalized", scale], "_scaled"), ("Add", ["_scaled", bias], "")]
        named = lambda name: result + name if name.startswith("_") else name
        lowered = [node(op, [named(one) for one in reads], [result + makes], place,
                        f"{scope}/{op}{makes}") for op, reads, makes in steps]
        axes = Message().add(1, "axes").add(8, (1 << 64) - 1).add(20, 7)
        for one in lowered:
            if one.op_type == "ReduceMean":
                one.add(5, axes)
        at = self.nodes.index(place)
        self.nodes[at:at + 1] = lowered

    def lower_gemm(self, place):
        """Transpose, MatMul and Add instead of Gemm with a transposed weight."""
        (value, weight, bias), (result,) = place.inputs, place.outputs
        scope = place.name.rsplit("/", 1)[0]
        at = self.nodes.index(place)
        self.nodes[at:at + 1] = [
            node("Transpose", [weight], [result + "_weight"], place, scope + "/Transpose"),
            node("MatMul", [value, result + "_weight"], [result + "_product"], place, scope + "/MatMul"),
            node("Add", [result + "_product", bias], [result], place, scope + "/Add")]

    def quantize_weight(self, place, slot):
        """Converts the weight of a node to int8, with a DequantizeLinear before the node."""
        name = place.inputs[slot]
        weight = self.tensor(name)
        count = len(weight.all(9)[0]) // 4
        numbers = struct.unpack(f"<{count}f", weight.all(9)[0])
        scale = max(map(abs, numbers)) / 127 or 1.0
        data = struct.pack(f"<{count}b", *(max(-127, min(127, round(x / scale))) for x in numbers))
        self.tensors.remove(weight)
        self.tensors += [tensor(name + "_quantized", weight.all(1), INT8, data),
                         tensor(name + "_scale", [], FLOAT, struct.pack("<f", scale)),
                         tensor(name + "_zero_point", [], INT8, b"\0")]
        at = self.nodes.index(place)
        self.nodes.insert(at, node("DequantizeLinear",
                                   [name + "_quantized", name + "_scale", name + "_zero_point"],
                                   [name + "_dequantized"], place, name + "_DequantizeLinear"))
        place.rename(name, name + "_dequantized")

    def _layer(self, scope):
        """The nodes of a scope such as `/encoder/layer.1`, its inputs and outputs."""
        inside = [one for one in self.nodes if one.name.startswith(scope + "/")]
        outputs = {value for one in inside for value in one.outputs}
        read = {value for one in self.nodes if one not in inside for value in one.inputs}
        leaving = [value for one in inside for value in one.outputs
                   if value in read or value in self.outputs()]
        return inside, outputs, leaving

    def repeat_layer(self, scope, new_scope, entering):
        """Inserts a layer with its own weights after another."""
        inside, outputs, (result,) = self._layer(scope)
        dotted, new_dotted = scope[1:].replace("/", "."), new_scope[1:].replace("/", ".")
        readers = [one for one in self.readers(result) if one not in inside]
        names = {value: value.replace(scope, new_scope) if scope in value else value + "_more"
                 for value in outputs}
        copies = []
        for one in inside:
            copy = Node(one.bytes())
            copy.put(3, [new_scope + one.name[len(scope):]])
            for value in one.inputs:
                own = self.tensor(value)
                if own and (dotted in value or len(own.all(9)[0]) > 64) and value not in names:
                    names[value] = value.replace(dotted, new_dotted) if dotted in value \
                        else value + "_more"
                    data = own.all(9)[0]
                    if len(own.all(1)) > 0 and own.all(2) == [FLOAT]:
                        numbers = struct.unpack(f"<{len(data) // 4}f", data)
                        data = struct.pack(f"<{len(numbers)}f", *(x * 0.75 + 0.01 for x in numbers))
                    self.tensors.append(Message(own.bytes()).put(8, [names[value]]).put(9, [data]))
            copy.put(1, [result if value == entering else names.get(value, value)
                         for value in one.inputs])
            copy.put(2, [names[value] for value in one.outputs])
            copies.append(copy)
        for reader in readers:
            reader.rename(result, names[result])
        at = max(self.nodes.index(one) for one in inside) + 1
        self.nodes[at:at] = copies

    def remove_layer(self, scope, entering):
        inside, _, (result,) = self._layer(scope)
        self.nodes = [one for one in self.nodes if one not in inside]
        for reader in self.readers(result):
            reader.rename(result, entering)

    def move_scope(self, scope, new_scope):
        """Gives a module another path, in names of nodes and parameters."""
        dotted, new_dotted = scope[1:].replace("/", "."), new_scope[1:].replace("/", ".")
        names = {}
        for one in self.tensors:
            name = one.text(8)
            if name.startswith(dotted + "."):
                names[name] = new_dotted + name[len(dotted):]
                one.put(8, [names[name]])
        for one in self.nodes:
            if one.name.startswith(scope + "/"):
                one.put(3, [new_scope + one.name[len(scope):]])
        outputs = self.outputs()
        renamed = {value: new_scope + value[len(scope):] for one in self.nodes
                   for value in one.outputs if value.startswith(scope + "/") and value not in outputs}
        renamed.update(names)
        for one in self.nodes:
            one.put(1, [renamed.get(value, value) for value in one.inputs])
            one.put(2, [renamed.get(value, value) for value in one.outputs])

    def swap_layers(self, first, second, entering):
        """Swaps two consecutive layers."""
        inside, _, (result,) = self._layer(first)
        behind, _, (other,) = self._layer(second)
        for one in self.nodes:
            if one in inside:
                one.put(1, [other if value == entering else value for value in one.inputs])
            elif one in behind:
                one.put(1, [entering if value == result else value for value in one.inputs])
            else:
                one.put(1, [result if value == other else value for value in one.inputs])
        rest = [one for one in self.nodes if one not in inside and one not in behind]
        at = min(self.nodes.index(one) for one in inside)
        front = [one for one in self.nodes[:at] if one in rest]
        self.nodes = front + behind + inside + rest[len(front):]
