#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Browses models with `stemma browse`, and pages through output, in a tmux terminal.

usage: browse_test.py PROGRAM FIXTURES
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from onnx_edits import Model

PROGRAM, FIXTURES = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
FOLDER = tempfile.TemporaryDirectory()


class Terminal:
    """A terminal in which one command runs. Each has its own server: one that is shutting down accepts no session."""

    opened = []

    def __init__(self, *command, width=120, height=40):
        Terminal.close_all()
        self.socket = f"{FOLDER.name}/{time.monotonic_ns()}"
        Terminal.opened.append(self)
        self.status = pathlib.Path(FOLDER.name) / "status"
        self.status.unlink(missing_ok=True)
        # The terminal outlives its command, whose last output would be lost otherwise.
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "-c", FOLDER.name,
                  "sh", "-c", 'status=$1; shift; "$@"; echo $? >"$status"; exec sleep 600', "sh", str(self.status),
                  *command, ";", "set-option", "-g", "status", "off", ";", "set-option", "-g", "window-size", "manual")

    @staticmethod
    def close_all():
        while Terminal.opened:
            Terminal.opened.pop().tmux("kill-server", check=False)

    def tmux(self, *words, check=True):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=check, capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout

    def shown(self):
        return self.tmux("capture-pane", "-p", "-S", "-5")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def expect(self, *texts, without=()):
        """Waits until the screen shows all of these."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            shown = self.shown()
            if all(text in shown for text in texts) and not any(text in shown for text in without):
                return shown
            time.sleep(0.02)
        sys.exit(f"the screen lacks one of {texts}, or has one of {without}:\n{shown}")

    def expect_end(self, status=0):
        """Waits until the command has ended."""
        until = time.monotonic() + 20
        while not self.status.is_file() or not self.status.read_text().endswith("\n"):
            if time.monotonic() > until:
                sys.exit(f"did not end:\n{self.shown()}")
            time.sleep(0.02)
        if int(self.status.read_text()) != status:
            sys.exit(f"ended with {self.status.read_text()}:\n{self.shown()}")


def walks():
    """Opening, closing, searching; both sides follow the selection."""
    model = FIXTURES / "bert_micro/model.onnx"
    terminal = Terminal(PROGRAM, "browse", str(model))
    terminal.expect("encoder", "nodes", "q quit")
    terminal.press("G", "g", "h")
    terminal.expect("\u25b8 model", "''  1/1")
    terminal.press("l", "l")
    terminal.expect("  2/")
    terminal.press("/")
    terminal.type("attention.self")
    terminal.expect("/attention.self", "encoder.layer.0.attention.self")
    terminal.press("Enter")
    terminal.expect("encoder.layer.0.attention.self  ", "convex")
    terminal.press("p")
    terminal.expect("Reshape", "\u2190 ")
    terminal.press("p", "n")
    terminal.expect("2 of ", "encoder.layer.0.attention.self.query  ")
    terminal.press("N", "N")
    terminal.expect("encoder.layer.1.attention.self.value  ")
    terminal.press("l", "l")
    terminal.expect("evidence", "#")
    terminal.press("/")
    terminal.type("op:Softmax and in:encoder.layer.1")
    terminal.press("Escape")
    terminal.expect("evidence", "#")
    terminal.press("?")
    terminal.expect("copy the path")
    terminal.press("q")
    terminal.expect_end()


def runs_commands():
    """A command runs on the file, with the selection."""
    terminal = Terminal(PROGRAM, "browse", str(FIXTURES / "bert_micro/model.onnx"))
    terminal.expect("q quit")
    terminal.press("/")
    terminal.type("intermediate")
    terminal.press("Enter")
    terminal.expect("encoder.layer.0.intermediate  ")
    terminal.press(":")
    terminal.type("cut --module % -o 'a part.onnx'")
    terminal.press("Enter")
    terminal.expect("[enter goes back]")
    terminal.press("Enter")
    terminal.expect("encoder.layer.0.intermediate  ", "q quit")
    if not (pathlib.Path(FOLDER.name) / "a part.onnx").is_file():
        sys.exit("browse: the command wrote nothing")
    terminal.press("q")
    terminal.expect_end()


def resizes():
    """A narrow terminal shows one side; a tiny one shows something."""
    terminal = Terminal(PROGRAM, "browse", str(FIXTURES / "bert_micro/model.onnx"))
    terminal.expect("convex")
    terminal.tmux("resize-window", "-x", "60", "-y", "12")
    terminal.expect("encoder", without=("convex",))
    terminal.press("Tab")
    terminal.expect("nodes")
    for size in (("4", "2"), ("1", "1"), ("200", "50")):
        terminal.tmux("resize-window", "-x", size[0], "-y", size[1])
        terminal.press("Down", "Up")
    terminal.expect("convex")
    terminal.press("q")
    terminal.expect_end()


def shows_all():
    """Long lines wrap; a picture condenses shape arithmetic to one line, and marks the selected node."""
    terminal = Terminal(PROGRAM, "browse", str(FIXTURES / "bert_micro/model.onnx"), width=100, height=40)
    terminal.expect("q quit")
    terminal.press("/")
    terminal.type("op:Softmaxx")
    terminal.expect("column 1: no node is of type 'Softmaxx'; similar: 'Softmax'", without=("model.onnx",))
    terminal.press("Escape")
    terminal.press("/")
    terminal.type("op:Softmax")
    terminal.press("Enter")
    shown = terminal.expect("axis=-1", "claim")
    flat = "".join(line[45:].strip() for line in shown.splitlines())
    for text in ("/encoder/layer.0/attention/self/Softmax_output_0", "fromencoder.layer.0.attention.self"):
        if text not in flat.replace(" ", ""):
            sys.exit(f"browse: {text} is cut:\n{shown}")
    terminal.press("p")
    shown = terminal.expect("shape arithmetic, 7 nodes", without=("read by",))
    picture = [line[45:] for line in shown.splitlines()]
    if not any("\u25b8" in line and "Softmax" in line for line in picture):
        sys.exit(f"browse: the picture does not mark the node:\n{shown}")
    if any("Unsqueeze" in line for line in picture):
        sys.exit(f"browse: the picture has nodes that only work with shapes:\n{shown}")
    terminal.press("q")
    terminal.expect_end()


def keeps_lines():
    """A name with a line break takes one line."""
    model = Model(FIXTURES / "mlp/model.onnx")
    model.nodes[0].put(3, ["/net/first\nsecond/MatMul"])
    model.write(pathlib.Path(FOLDER.name) / "broken.onnx")
    terminal = Terminal(PROGRAM, "browse", "broken.onnx")
    terminal.expect("q quit")
    terminal.press("/")
    terminal.type("second/")
    terminal.press("Enter")
    terminal.expect("/net/first second/MatMul")
    terminal.press("q")
    terminal.expect_end()


def pages():
    """Only output longer than the screen is paged."""
    if not shutil.which("less"):
        return
    model = str(FIXTURES / "bert_micro/model.onnx")
    terminal = Terminal(PROGRAM, "tree", model, height=10)
    terminal.expect("embeddings", ":", without=("48 modules",))
    terminal.press("G")
    terminal.expect("modules, 281 nodes")
    terminal.press("q")
    terminal.expect_end()
    terminal = Terminal(PROGRAM, "tree", model, "--depth", "1")
    terminal.expect_end()
    terminal.expect("modules, 281 nodes")
    terminal = Terminal("env", "PAGER=cat", PROGRAM, "tree", model, height=10)
    terminal.expect_end()
    terminal = Terminal("env", "PAGER=/no/pager -R", PROGRAM, "explain", model, "encoder")
    terminal.expect_end()
    terminal.expect("encoder")
    terminal = Terminal("env", "PAGER=tr n N", PROGRAM, "explain", model, "encoder")
    terminal.expect_end()
    terminal.expect("eNcoder")


def needs_a_terminal():
    """A missing or unsupported terminal is reported."""
    model = FIXTURES / "bert_micro/model.onnx"
    answer = subprocess.run([PROGRAM, "browse", model], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if answer.returncode != 2 or "needs a terminal" not in answer.stderr or answer.stdout:
        sys.exit(f"browse without a terminal: {answer}")
    terminal = Terminal("env", "TERM=no-such-kind", PROGRAM, "browse", str(model))
    terminal.expect("unknown terminal")
    terminal.expect_end(2)
    terminal = Terminal(PROGRAM, "browse", "nowhere.onnx")
    terminal.expect("nowhere.onnx")
    terminal.expect_end(3)


def main():
    if not shutil.which("tmux"):
        print("skipped: no tmux (Debian: tmux)")
        sys.exit(77)
    try:
        for test in (walks, runs_commands, resizes, shows_all, keeps_lines, pages, needs_a_terminal):
            test()
    finally:
        Terminal.close_all()


if __name__ == "__main__":
    main()
