"""TorchScript: an archive of `torch.jit.save`, whose classes are source text in it and whose constants are a pickle.

Source: torch/csrc/jit/serialization of PyTorch (import.cpp, import_source.cpp, export_module.cpp): `constants.pkl` is read
before all else, and by it torch tells such a file from one of `torch.save`; a class `__torch__.a.b.C` is looked up in
`code/__torch__/a/b.py`. What C++ registers, `__torch__.torch.classes.…`, has no source. Files for phones have `bytecode.pkl`,
which is read instead.
"""

CLASS = "__torch__."
REGISTERED = "__torch__.torch.classes."
SHOWN = 3


def shown(directory, top, layout):
    """Whether it is one, by any of the records that make it one, or by a class that only TorchScript has."""
    records = any(directory.at(top + name) is not None for name in ("constants.pkl", "bytecode.pkl"))
    return (
        records
        or any(name.startswith(top + "code/") for name in directory.names())
        or any(name.startswith(CLASS) for name in layout.globals)
    )


def judge(directory, top, layout):
    """Its constants are there, and the source of every class that `data.pkl` makes something of."""
    layout.notes["torchscript"] = True
    layout.warn("torchscript", "TorchScript: code/ is run by torch when the model is called")
    if directory.at(top + "bytecode.pkl") is not None:
        return
    if directory.at(top + "constants.pkl") is None:
        layout.fault("missing", "TorchScript without constants.pkl, which torch.jit.load reads first")
    lost = sorted(name for name in layout.globals if _has_source(name) and directory.at(top + _source(name)) is None)
    if lost:
        more = " and %d more" % (len(lost) - SHOWN) if len(lost) > SHOWN else ""
        what = "TorchScript without the code of %s%s: there is no %s"
        layout.fault("missing", what % (", ".join(lost[:SHOWN]), more, _source(lost[0])))


def _has_source(name):
    return name.startswith(CLASS) and not name.startswith(REGISTERED)


def _source(name):
    return "code/%s.py" % name.rpartition(".")[0].replace(".", "/")
