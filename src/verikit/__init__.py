"""verikit: claims about files, logs, checkpoints and tensors, checked where the data is.

from verikit import CheckpointIntact, SyntaxValid, verify

ready = SyntaxValid("train.py") & CheckpointIntact("/data/step20k.pt").on("root@gpu01")
report = verify(ready)
print(report)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Some public functions are called like the module or package they come from (check, hosts, mark, verify). Those are
# imported here first, so that no later import of one can put itself in the function's place.
import verikit.hosts  # noqa: F401
from verikit._version import __version__
from verikit.address import SSH, Exec, Local, hosts
from verikit.check import Check, Look, at_least, check
from verikit.errors import Cause, Undecided, Unseen, VerificationFailed, VerikitError
from verikit.finding import Finding, Result
from verikit.mark import Mark
from verikit.report import Report
from verikit.verdict import FAIL, PASS, UNKNOWN, Verdict
from verikit.verify import Session, mark, verify, verify_async

if TYPE_CHECKING:
    from verikit import suites as suites
    from verikit.checks.checkpoint import CheckpointIntact
    from verikit.checks.files import FileMatches
    from verikit.checks.http import HttpHealthy, OpenAIHealthy
    from verikit.checks.imports import ImportConflict
    from verikit.checks.jsonl import JsonlValid
    from verikit.checks.log import LogHealthy, register_program
    from verikit.checks.modules import ModuleResolves
    from verikit.checks.patch import PatchApplied
    from verikit.checks.port import PortOpen
    from verikit.checks.process import ProcessAlive
    from verikit.checks.spec_from import spec_from, spec_from_config
    from verikit.checks.syntax import SyntaxValid
    from verikit.checks.tensors import TensorShapeSane
    from verikit.insertion import safe_lines
    from verikit.layout import checkpoint_layout
    from verikit.manifest import Manifest, newest_intact, seal

# What is imported when it is first used: its name, and the module that it comes from. One line a check.
LAZY = {
    "CheckpointIntact": "verikit.checks.checkpoint",
    "FileMatches": "verikit.checks.files",
    "HttpHealthy": "verikit.checks.http",
    "ImportConflict": "verikit.checks.imports",
    "JsonlValid": "verikit.checks.jsonl",
    "LogHealthy": "verikit.checks.log",
    "Manifest": "verikit.manifest",
    "ModuleResolves": "verikit.checks.modules",
    "OpenAIHealthy": "verikit.checks.http",
    "PatchApplied": "verikit.checks.patch",
    "PortOpen": "verikit.checks.port",
    "ProcessAlive": "verikit.checks.process",
    "SyntaxValid": "verikit.checks.syntax",
    "TensorShapeSane": "verikit.checks.tensors",
    "checkpoint_layout": "verikit.layout",
    "newest_intact": "verikit.manifest",
    "register_program": "verikit.checks.log",
    "safe_lines": "verikit.insertion",
    "seal": "verikit.manifest",
    "spec_from": "verikit.checks.spec_from",
    "spec_from_config": "verikit.checks.spec_from",
}

__all__ = [
    "FAIL",
    "PASS",
    "SSH",
    "UNKNOWN",
    "Cause",
    "Check",
    "CheckpointIntact",
    "Exec",
    "FileMatches",
    "Finding",
    "HttpHealthy",
    "ImportConflict",
    "JsonlValid",
    "Local",
    "LogHealthy",
    "Look",
    "Manifest",
    "Mark",
    "ModuleResolves",
    "OpenAIHealthy",
    "PatchApplied",
    "PortOpen",
    "ProcessAlive",
    "Report",
    "Result",
    "Session",
    "SyntaxValid",
    "TensorShapeSane",
    "Undecided",
    "Unseen",
    "Verdict",
    "VerificationFailed",
    "VerikitError",
    "__version__",
    "at_least",
    "check",
    "checkpoint_layout",
    "hosts",
    "mark",
    "newest_intact",
    "register_program",
    "safe_lines",
    "seal",
    "spec_from",
    "spec_from_config",
    "suites",
    "verify",
    "verify_async",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "suites":
        return import_module("verikit.suites")
    if name not in LAZY:
        raise AttributeError(f"module 'verikit' has no attribute {name!r}")
    value = getattr(import_module(LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
