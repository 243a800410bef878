"""A JSON file beside a checkpoint (config.json and its like): text that a strict parser takes as a whole.

Source: RFC 8259.  What a failed download appends to it, or leaves in its place, is no JSON.
"""

import json
import os

from verikit.probes.formats import folders, model_config, template
from verikit.probes.formats.layout import Broken
from verikit.probes.place import CannotSee

# What loaders read beside the weights. Other JSON files of a folder are nobody's business: some hold a value a line.
NAMES = frozenset(
    "config.json generation_config.json model_index.json params.json adapter_config.json quantize_config.json "
    "tokenizer.json tokenizer_config.json special_tokens_map.json added_tokens.json vocab.json preprocessor_config.json "
    "processor_config.json scheduler_config.json quantization_config.json chat_template.json".split()
)

VOCABULARIES = frozenset("tokenizer.json tokenizer_config.json vocab.json added_tokens.json".split())
"""May have tens of megabytes, of which nothing is held against weights."""

TEMPLATE = "chat_template.jinja"
"""What transformers reads before the `chat_template` in the JSON files that it is saved beside, and renders."""

TEMPLATES = "additional_chat_templates"
"""The folder of further ones, each a file by its name (CHAT_TEMPLATE_DIR of transformers)."""

BESIDE = ("config.json", "tokenizer_config.json", "processor_config.json")

LIMIT = 16 << 20
END = 4096
KEPT = ("model_type", "num_hidden_layers", "hidden_size", "vocab_size", "torch_dtype", "dtype")


def beside(place, folder, names, layout, prefix=""):
    """Makes members of what loaders read or render beside the weights of a folder, whatever format these have."""
    for name in names:
        if name in NAMES:
            layout.member(prefix + name, module="json_file")
        elif name == TEMPLATE:
            layout.member(prefix + name, module="template")
        elif name == TEMPLATES and folders.is_folder(place, folder, name):
            inner = place.listdir(os.path.join(folder, name))
            for each in (each for each in inner if each.endswith(".jinja")):
                layout.member("%s%s/%s" % (prefix, name, each), module="template")


def structure(file, layout):
    """It parses; whether the config ties its embeddings is noted, and what its chat templates reach for."""
    if os.path.basename(layout.path) in BESIDE:
        layout.member(TEMPLATE, required=False, module="template")
    if file.size > LIMIT and os.path.basename(layout.path) in VOCABULARIES:
        _ends(file)
        what = "of its {:,} bytes of JSON only the first and the last were looked at"
        layout.warn("bound_reached", what.format(file.size))
        return
    value = parsed(file, LIMIT)
    if type(value) is dict:
        parts = [value] + [value[key] for key in ("text_config", "llm_config") if type(value.get(key)) is dict]
        layout.notes["tied"] = any(part.get("tie_word_embeddings") is True for part in parts)
        if os.path.basename(layout.path) == "config.json":
            layout.notes["held"] = model_config.noted(value)
        for name, text in _templates(value.get("chat_template")):
            template.tell(text, name, layout)
        layout.notes["config"] = {key: value[key] for key in KEPT if type(value.get(key)) in (int, str)}


def _templates(value):
    """(what to call it, text) of one template, or of several by their names."""
    if type(value) is str:
        return [("chat_template", value)]
    rows = value if type(value) is list else ()
    rows = [(row.get("name"), row.get("template")) for row in rows if type(row) is dict]
    rows += value.items() if type(value) is dict else ()
    return [("chat_template %.40s" % name, text) for name, text in rows if type(text) is str]


def relate(layout, members):
    """The weights beside a config.json are those that it speaks of; beside what goes with it, it is there."""
    if os.path.basename(layout.path) == "generation_config.json" and "config.json" not in members:
        layout.warn("missing", "there is no config.json beside it, with which it is written")
    if "held" in layout.notes:
        model_config.judge(layout, members)


def parsed(file, limit, pairs=None):
    """The value; `Broken` for what is no JSON; more than `limit` bytes are `bound_reached`, if both ends may be JSON's.

    pairs: makes an object of its pairs, as json's `object_pairs_hook`.
    """
    if file.size > limit:
        _ends(file)
        raise CannotSee("bound_reached", "it has {:,} bytes, of JSON at most {:,} are read".format(file.size, limit))
    data = file.at(0, file.size)
    if not data.strip(b"\0"):
        raise Broken("empty", "it is empty" if not data else "it is all zeros")
    try:
        text = data.decode("utf-8-sig")
        del data  # megabytes, with 10^5 tensors
        return json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        raise Broken("bad_header", "it is no JSON: %s" % error) from None


def _ends(file):
    """`Broken` where the first and the last bytes are not those of one object or array."""
    first, last = file.at(0, END).lstrip(b"\xef\xbb\xbf \t\r\n")[:1], file.at(file.size - END, END).rstrip()[-1:]
    if first + last not in (b"{}", b"[]"):
        ends = first.decode("latin-1"), last.decode("latin-1")
        raise Broken("bad_header", "it is no JSON: it begins with %r and ends with %r" % ends)
