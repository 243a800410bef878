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
    from verikit.checks.checkpoint import CheckpointIntact
    from verikit.checks.imports import ImportConflict
    from verikit.checks.log import LogHealthy
    from verikit.checks.syntax import SyntaxValid
    from verikit.checks.tensors import TensorShapeSane

# One line a check: its name, and the module that is imported when it is first used.
LAZY = {
    "CheckpointIntact": "verikit.checks.checkpoint",
    "ImportConflict": "verikit.checks.imports",
    "LogHealthy": "verikit.checks.log",
    "SyntaxValid": "verikit.checks.syntax",
    "TensorShapeSane": "verikit.checks.tensors",
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
    "Finding",
    "ImportConflict",
    "Local",
    "LogHealthy",
    "Look",
    "Mark",
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
    "hosts",
    "mark",
    "verify",
    "verify_async",
]


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module 'verikit' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
