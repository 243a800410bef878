"""Shell scripts, by the shell's own `-n`: it reads and runs nothing. The text goes in by standard input."""

import re

from verikit.probes.place import CannotSee
from verikit.probes.syntax import data as texts

SHELLS = ("bash", "dash", "zsh", "ksh", "sh")


def read_shell(place, path, data):
    shell = shell_of(data)
    # BASH_ENV would be run before the text is read; nothing of the environment is needed.
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
    try:
        ran = place.run([shell, "-n"], input=data, timeout=30.0, limit=1 << 16, cwd="/", env=env)
        if ran.status and re.search(rb"shopt\s+-[qu]*s[qu]*\s[^\n]*extglob", data) and shell == "bash":
            ran = place.run([shell, "-O", "extglob", "-n"], input=data, timeout=30.0, limit=1 << 16, cwd="/", env=env)
    except CannotSee as error:
        raise CannotSee("tool_missing", "%s: %s, which would read it" % (path, error.reason)) from None
    said = ran.stderr.decode("utf-8", "replace")
    if ran.late or ran.status < 0:
        raise CannotSee("probe_error", "%s: %s -n was ended after 30 s, or by a signal" % (path, shell))
    warned = [(words, line) for line, words in lines_said(said)]
    if ran.status == 0 and not any("syntax error" in words for words, _ in warned):
        if b"\r\n" in data:
            warned.append(("lines end in CR LF: %s takes the CR for a part of the words" % shell, 1))
        if b"\0" in data:
            warned.append(("it holds NUL bytes, which the shell drops", data[: data.find(b"\0")].count(b"\n") + 1))
        return texts.taken(warned)
    words, line = warned[0] if warned else (said.strip() or "status %d" % ran.status, None)
    cut = any(words in said for words in ("unexpected end of file", "looking for matching", "end of file unexpected"))
    cause = "the file ends in the middle of something: cut short, or a word that closes is missing" if cut else None
    cause = "lines end in CR LF" if b"\r\n" in data else cause
    lines = data.decode("utf-8", "replace").splitlines()
    text = lines[line - 1][:300] if line and line <= len(lines) else None
    return texts.refused("%s -n" % shell, words, line, None, text, cause)


def shell_of(data):
    """The shell that the first line names; bash if it names none."""
    first = data[:200].split(b"\n")[0].decode("latin-1")
    words = first[2:].replace("-S ", "").split() if first.startswith("#!") else []
    names = [word.rpartition("/")[2] for word in words]
    name = "bash" if not names else names[1] if names[0] == "env" and names[1:] else names[0]
    if name not in SHELLS:
        raise CannotSee("unsupported", "its first line names %s, which is not asked here" % name)
    return name


def lines_said(text):
    """(line, message) of what a shell says: `bash: line 3: …`, `sh: 3: …`, `zsh: parse error near …`."""
    for row in text.splitlines():
        found = re.match(r"\S+: (?:line )?(\d+): (.*)", row) or re.match(r"\S+: ()(.*)", row)
        if found and not found.group(2).startswith("`"):
            yield int(found.group(1)) if found.group(1) else None, found.group(2)
