"""The model of a Piper voice with its noise as inputs, so that a seed alone decides a take.

The graph draws its noise with RandomNormalLike nodes inside onnxruntime: one for the durations and
one for the frames. What these draw depends on all calls before, also of other threads.
"""

from pathlib import Path
from typing import Any

from pocket_batch.errors import ModelUnavailableError

NOISE = "pocket_batch_noise_"  # and a number: the name of an input


def load_graph(path: Path) -> tuple[bytes, int]:
    """The model with inputs `NOISE0`, `NOISE1`, ... and how many of them there are.

    Each takes standard normal noise of shape (n,), float32, which is used from its start, and
    again from its start when the graph needs more than n.

    Raises:
        ModelUnavailableError: it cannot be read, or draws chance in another way.
    """
    import onnx
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load(str(path))
    except (DecodeError, OSError, ValueError) as error:
        raise ModelUnavailableError(
            f"The file {path} should be the ONNX model of a Piper voice, but cannot be read "
            f"({error}). Fetch it again."
        ) from error
    graph, nodes, num_noises = model.graph, [], 0
    for node in graph.node:
        if not node.op_type.startswith("Random"):
            nodes.append(node)
            continue
        if not _is_standard(node):
            raise ModelUnavailableError(
                f"The model {path} draws chance by {node.op_type} in a way that cannot be seeded. "
                "Choose another voice, or export this one again with Piper."
            )
        name = f"{NOISE}{num_noises}"
        graph.input.append(
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [f"{name}_size"])
        )
        nodes.extend(_from_input(node, name))
        num_noises += 1
    del graph.node[:]
    graph.node.extend(nodes)
    return model.SerializeToString(), num_noises


def _is_standard(node: Any) -> bool:
    """Whether it draws float32 of mean 0 and variance 1 in the shape of its input."""
    values = {a.name: a.i if a.name == "dtype" else a.f for a in node.attribute}
    return node.op_type == "RandomNormalLike" and (
        values.get("mean", 0.0),
        values.get("scale", 1.0),
        values.get("dtype", 1),
    ) == (0.0, 1.0, 1)


def _from_input(node: Any, noise: str) -> list[Any]:
    """Nodes that take from the flat noise what a RandomNormalLike node would have drawn."""
    from onnx.helper import make_node, make_tensor

    def constant(name: str, value: int) -> Any:
        tensor = make_tensor(name, 7, [], [value])  # 7: int64, a scalar
        return make_node("Constant", [], [f"{noise}_{name}"], value=tensor)

    like, made = node.input[0], node.output[0]
    return [
        constant("zero", 0),
        constant("one", 1),
        make_node("Shape", [like], [f"{noise}_shape"]),
        make_node("Size", [like], [f"{noise}_wanted"]),
        make_node("Size", [noise], [f"{noise}_given"]),
        make_node(
            "Range", [f"{noise}_zero", f"{noise}_wanted", f"{noise}_one"], [f"{noise}_places"]
        ),
        make_node("Mod", [f"{noise}_places", f"{noise}_given"], [f"{noise}_taken"]),
        make_node("Gather", [noise, f"{noise}_taken"], [f"{noise}_flat"]),
        make_node("Reshape", [f"{noise}_flat", f"{noise}_shape"], [made]),
    ]
