"""Sphinx: `make docs`."""

from verikit import __version__

project = "verikit"
author = "the verikit maintainers"
copyright = f"2026, {author}"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.intersphinx"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "verikit"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
intersphinx_mapping = {}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
