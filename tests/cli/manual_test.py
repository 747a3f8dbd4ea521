#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page lists everything `--help` lists, and shells complete it.

usage: manual_test.py PROGRAM page|bash|zsh|fish FIXTURES

Status 77 if the shell is missing.
"""
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

PROGRAM = pathlib.Path(sys.argv[1]).resolve()


def printed_by(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True,
                          timeout=60, **options).stdout


def commands():
    text = printed_by(PROGRAM, "--help")
    part = text[text.index("Subcommands:"):text.index("Try it:")]
    return re.findall(r"^  ([a-z][\w-]*) ", part, re.M)


def options_of(command):
    """Names of options as --help prints them, and the values of those with fixed choices."""
    names, choices = set(), {}
    for line in printed_by(PROGRAM, command, "--help").splitlines():
        if re.match(r"  -", line):
            spellings = re.match(r"  (-\S+)", line)[1].split(",")
            names.update(spellings)
            values = re.match(r"  -\S+ ([a-z][\w-]*(?:[,|][a-z][\w-]*)+)(?:=| |$)", line)
            if values:
                choices[spellings[-1]] = set(re.split("[,|]", values[1]))
    return names, choices


def check(name, holds, what):
    if not holds:
        sys.exit(f"{name}: {what}")


def check_page():
    text = printed_by(PROGRAM, "manual", "page").replace("\\-", "-")
    check("page", text.startswith(".\\\"") and ".TH STEMMA 1" in text, "has no title")
    for command in commands():
        check("page", f".SS stemma {command} " in text, f"lacks the command {command}")
        for option in options_of(command)[0]:
            check("page", re.search(rf"\\fB{option}\\fR", text), f"lacks {option} of {command}")
    sections = re.findall(r"^\.SH (.+)", text, re.M)
    check("page", sections == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS",
                               "EXAMPLES"], f"has the sections {sections}")


def bash(script, line):
    """Bash's completions for the last word of a line."""
    text = " ".join(line)
    quoted = line[-1].startswith("'")
    parts = [*line[:-1], *([line[-1]] if quoted else re.findall(r"[^:=]+|[:=]", line[-1]) or [""])]
    words = " ".join(map(shlex.quote, parts))
    offered = printed_by("bash", "-c", f"PATH={script.parent}:$PATH; source {script}; COMP_WORDS=({words}); "
                         f"COMP_CWORD={len(parts) - 1}; COMP_LINE={shlex.quote(text)}; COMP_POINT={len(text)}; _stemma; "
                         "printf '%s\\n' \"${COMPREPLY[@]}\"", env={**os.environ, "HOME": str(script.parent)})
    # The prefix that bash adds: everything up to the last word break.
    before = "" if quoted else line[-1][:max(line[-1].rfind(":"), line[-1].rfind("=")) + 1]
    return "\n".join(before + each for each in offered.splitlines())


def fish(script, line):
    quoted = " ".join(line).replace("'", "\\'")
    home = {"HOME": str(script.parent), "PATH": f"{script.parent}:/usr/bin:/bin"}
    text = printed_by("fish", "-c", f"source {script}; complete -C '{quoted}'", env=home)
    return "\n".join(each.split("\t")[0] for each in text.splitlines())


def check_completion(script, complete, long_only):
    offered = set(complete(script, ["stemma", ""]).split())
    check("commands", {*commands(), "help"} <= offered, f"offers {offered}")
    check("help", set(commands()) <= set(complete(script, ["stemma", "help", ""]).split()), "offers no commands")
    for command in commands():
        names, choices = options_of(command)
        offered = set(complete(script, ["stemma", command, "--" if long_only else "-"]).split())
        wanted = {name for name in names if name.startswith("--") or not long_only}
        check(command, offered == wanted, f"offers {offered}, not {wanted}")
        for option, values in choices.items():
            offered = set(complete(script, ["stemma", command, option, ""]).split())
            check(command, offered == values, f"offers {offered} for {option}")


def spellings(folder):
    """What a shell understands as the path of one model in a folder, which is at home."""
    return [f"{folder}/a\\ b.onnx", f'"{folder}/a b.onnx"', f"'{folder}/a b.onnx'", "~/a\\ b.onnx", '~/"a b.onnx"',
            "$HOME/c.onnx", '"$HOME/a b.onnx"', "~/c.onnx"]


def check_of_model(script, complete, model):
    """Completes modules, classes and operators of the model on the line, and policies."""
    for spelled in spellings(script.parent):
        offered = complete(script, ["stemma", "explain", spelled, "pooler.dense.w"]).split("\n")
        check(spelled, offered == ["pooler.dense.weight"], f"offers {offered}")
        offered = complete(script, ["stemma", "explain", spelled, "-m", spelled, "pooler.dense.w"]).split("\n")
        check("-m " + spelled, offered == ["pooler.dense.weight"], f"offers {offered}")
    for line, begin in ((["cut", model, "--module"], "encoder.layer.0.at"), (["query", model], "encoder.layer.0.at"),
                        (["explain", model], "encoder.layer.0.at")):
        offered = complete(script, ["stemma", *line, begin]).split("\n")
        check(line[0], "encoder.layer.0.attention.self.query" in offered, f"offers {offered}")
        check(line[0], not any(each and not each.startswith(begin) for each in offered), f"offers {offered}")
    for begin, wanted in (("/pooler/den", "/pooler/dense/Gemm"), ("pooler.dense.w", "pooler.dense.weight")):
        offered = complete(script, ["stemma", "explain", model, begin]).splitlines()
        check("explain", wanted in offered, f"offers {offered} for {begin}")
        offered = complete(script, ["stemma", "query", model, begin]).splitlines()
        check("query", wanted not in offered, f"takes no {wanted}")
    capture = str(pathlib.Path(model).with_name("modules.json"))
    for line, begin, wanted in (([], "op:Soft", "op:Softmax"), ([], "attr:axi", "attr:axis"),
                                (["-m", capture], "class:BertSelf", "class:BertSelfAttention"),
                                ([], "has:op:Soft", "has:op:Softmax"), ([], "feeds:pool", "feeds:pooler"),
                                ([], "'encoder and op:Soft", "encoder and op:Softmax")):
        offered = complete(script, ["stemma", "query", model, *line, begin]).splitlines()
        check(begin, wanted in offered, f"offers {offered}")
    check("a list", complete(script, ["stemma", "tree", model, "--columns", "nodes,par"]).split() == ["nodes,parameters"],
          "does not go on behind a comma")
    offered = complete(script, ["stemma", "tag", model, "--select", ""]).split()
    check("tag --select", {"all", "class:"} <= set(offered), f"offers {offered}")


class Zsh:
    """zsh at a terminal: what it makes of a line when Tab is pressed behind it."""

    def __init__(self, script):
        self.line = script.parent / "line"
        os.mkfifo(self.line)
        (script.parent / "_stemma").symlink_to(script)
        self.master, terminal = os.openpty()
        self.process = subprocess.Popen(["zsh", "-f", "-i"], stdin=terminal, stdout=terminal, stderr=terminal,
                                        start_new_session=True,
                                        env={**os.environ, "TERM": "xterm", "HOME": str(script.parent),
                                             "PATH": f"{script.parent}:/usr/bin:/bin"})
        os.close(terminal)
        self.output = threading.Thread(target=self.drain, daemon=True)
        self.output.start()
        self.send(f"fpath=({script.parent} $fpath); autoload -Uz compinit; compinit -D -u; "
                  f"tell() {{ print -r -- $BUFFER >{self.line}; zle kill-whole-line }}; zle -N tell; bindkey '^X' tell\n")

    def drain(self):
        with contextlib.suppress(OSError):
            while os.read(self.master, 4096):
                pass

    def send(self, text):
        os.write(self.master, text.encode())

    def __call__(self, script, line):
        self.send(" ".join(line) + "\t\x18")
        return self.line.read_text().strip().split(" ")[-1]

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def check_zsh(script):
    printed_by("zsh", "-n", script)
    text = script.read_text()
    for command in commands():
        part = text[text.index(f"    {command})\n"):].split(";;")[0]
        offered = set(re.findall(r"'\*(-[^\[]+)\[", part))
        check(command, offered == options_of(command)[0], f"offers {offered}")


def check_zsh_of_model(script, zsh, model):
    """Words that only one is left for: the line then has the whole of it."""
    for line, wanted in ((["valid"], "validate"), (["cut", model, "--module", "encoder.layer.0.attention.self.qu"],
                                                   "encoder.layer.0.attention.self.query"),
                         (["query", model, "op:Soft"], "op:Softmax"), (["query", model, "attr:axi"], "attr:axis"),
                         (["query", model, "has:op:Soft"], "has:op:Softmax"),
                         (["query", model, "'encoder and op:Soft"], "op:Softmax'"),
                         (["explain", model, "/pooler/dense/Ge"], "/pooler/dense/Gemm"),
                         (["explain", model, "pooler.dense.wei"], "pooler.dense.weight"),
                         (["tree", model, "--columns", "nodes,par"], "nodes,parameters,")):
        completions = zsh(script, ["stemma", *line])
        check(" ".join(line), completions == wanted, f"becomes {completions}")
    for spelled in spellings(script.parent):
        completions = zsh(script, ["stemma", "explain", spelled, "pooler.dense.wei"])
        check(spelled, completions == "pooler.dense.weight", f"becomes {completions}")


def main():
    what = sys.argv[2]
    if what == "page":
        return check_page()
    if shutil.which(what) is None:
        print(f"{what} is not installed")
        sys.exit(77)
    model = str(pathlib.Path(sys.argv[3]).resolve() / "bert_micro/model.onnx")
    words = printed_by(PROGRAM, "manual", "words", model).split("\n")
    check("words", {"encoder.layer.0", "/model/encoder/layer.0", "op:MatMul"} <= set(words), f"are {words}")
    with tempfile.TemporaryDirectory(prefix="stemma-test-") as folder:
        os.symlink(PROGRAM, f"{folder}/stemma")
        for name in "a b.onnx", "c.onnx":
            os.symlink(model, f"{folder}/{name}")
        script = pathlib.Path(folder) / "completion"
        script.write_text(printed_by(PROGRAM, "manual", what))
        if what == "bash":
            check_completion(script, bash, long_only=False)
            check_of_model(script, bash, model)
        elif what == "fish":
            check_completion(script, fish, long_only=True)
            check_of_model(script, fish, model)
        else:
            check_zsh(script)
            with contextlib.closing(Zsh(script)) as zsh:
                check_zsh_of_model(script, zsh, model)


if __name__ == "__main__":
    main()
