"""The state of torch's random generator of the CPU, as `torch.get_rng_state` gives it: bytes, of one of two sizes.

Source: aten/src/ATen/CPUGeneratorImpl.cpp of PyTorch: `CPUGeneratorImplState` has 5,056 bytes, and `set_state` takes
`CPUGeneratorImplStateLegacy`, 5,048, too; anything else it refuses.  Those of other devices vary and are not judged.
"""

SIZES = (5056, 5048)


def judge(path, part, key, layout):
    """The tensor of bytes under this key has a size that torch takes back."""
    row = next((row for row in part.tensors if row.name == key and row.dtype == "uint8"), None)
    if row is not None and tuple(row.shape) not in [(size,) for size in SIZES]:
        what = "%s: the random state %r has the shape %s, torch takes [%d] or [%d]"
        layout.fault("bad_size", what % (path, key, list(row.shape), *SIZES))
