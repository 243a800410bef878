"""The main job: `make demo` plays three real stories on embedded SSH hosts."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent


def test_demo():
    """
    Every verdict of the demo is the expected one, the deciding lines are shown, and it cleans up after itself.
    """
    done = subprocess.run([sys.executable, str(ROOT / "docs/demo.py")], capture_output=True, text=True, timeout=180)

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "every verdict was the expected one" in done.stdout
    assert "truncated: 203.2 MiB of 208.0 MiB (218,108,941 bytes expected)" in done.stdout
    assert "a_module_that_nobody_installed" in done.stdout
    folder = pathlib.Path(done.stdout.partition("\n")[0].rpartition(", in ")[2])
    assert folder.name.startswith("verikit-demo-")
    assert not folder.exists()
