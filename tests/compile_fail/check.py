#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a table of sources that must be rejected, and checks the compiler's messages for each.

usage: check.py precompile HEADERS COMPILER OPTION...
       check.py TABLE HEADERS COMPILER OPTION...

Every table includes HEADERS first, precompiled since all need it.

A table is one translation unit. Its cases begin with one of these comments; everything before the
first belongs to all cases:

    // expect: SENTENCE     every static_assert of the case fails with it; without one, the whole
                            case is rejected. Of several such comments, the first is the first
                            that fails.
    // compiles             no messages about the case

A table of policies says `// role: ROLE`, followed by what they are templates of, and defines `members`
and `complete`, with everything that the role needs but its category, and all: what every role refuses
then follows at the end.

A sentence may continue in the next lines of its comment. In separate comments, a case may limit the
length of the messages, `// at most N lines`, and a table may set compiler options, `// options: ...`.
"""
import os
import pathlib
import re
import subprocess
import sys

HEAD = re.compile(r"// (compiles|expect: (.*))$")
APART = re.compile(r"// (at most|options:) ")
ERROR = re.compile(r"[^\s:]+:\d+:(?:\d+:)? (?:fatal )?error: (?P<text>.*)")
PLACE = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+):(?:\d+:)? ")
# g++ prints this before an error, clang after it.
BEFORE = re.compile(r"In file included from|\s+from |\S+ In |\S+\s+(?:recursively )?required from ")

ROLE = re.compile(r"^// role: (\w+)(.*)$", re.M)
COMMON = """
// compiles
static_assert(stemma::explain_policy<stemma::ROLE_category, completeMORE>());

// expect: ROLE policy: make the class copyable
struct not_copyable : complete {
    not_copyable(const not_copyable&) = delete;
};
static_assert(stemma::explain_policy<stemma::ROLE_category, not_copyableMORE>());

// expect: ROLE policy: add `using policy_category = stemma::ROLE_category;`
static_assert(stemma::explain_policy<stemma::ROLE_category, membersMORE>());

struct of_another_role : members {
    using policy_category = stemma::OTHER_category;
};
static_assert(stemma::explain_policy<stemma::ROLE_category, of_another_roleMORE>());
"""


def common_cases(text):
    """What the policies of a table share with those of every other role."""
    role = ROLE.search(text)
    if not role:
        return ""
    other = "selection" if role[1] == "cut" else "cut"
    return COMMON.replace("ROLE", role[1]).replace("MORE", role[2]).replace("OTHER", other)


class Case:
    def __init__(self, first):
        self.first = first
        self.sentences = []
        self.source = []

    def has_code(self):
        return any(line and not line.startswith("//") for line in self.source)

    def most_lines(self):
        said = re.search(r"^// at most (\d+) lines$", "\n".join(self.source), re.M)
        return int(said[1]) if said else None

    def asserts(self):
        return [self.first + i for i, line in enumerate(self.source) if line.startswith("static_assert(")]


def cases_of(text):
    cases = []
    in_head = False
    for number, line in enumerate(text.splitlines(), 1):
        head = HEAD.match(line)
        if head and (not cases or cases[-1].has_code()):
            cases.append(Case(number))
        if head and head[2]:
            cases[-1].sentences.append(head[2])
        elif in_head and line.startswith("// ") and cases[-1].sentences and not APART.match(line):
            cases[-1].sentences[-1] += line.removeprefix("//")
        in_head = bool(head) or (in_head and line.startswith("//"))
        if cases:
            cases[-1].source.append(line)
    return cases


class Error:
    def __init__(self, text, lines):
        self.text = text
        self.lines = lines


def errors_of(output):
    """The compiler's messages: each error with all lines that belong to it."""
    errors = []
    before = []
    for line in output.splitlines():
        error = ERROR.match(line)
        if error:
            errors.append(Error(error["text"], before + [line]))
            before = []
        elif BEFORE.match(line) or not errors:
            before.append(line)
        else:
            errors[-1].lines.append(line)
    return errors


def places(error, table):
    """The lines of the table in an error."""
    matches = (PLACE.match(line) for line in error.lines)
    return [int(place["line"]) for place in matches if place and os.path.samefile(place["file"], table)]


def distribute(errors, cases, table):
    """Yields (case, line or None, error). An error without a case belongs to that of the previous error."""
    case, line = (cases[0], None) if len(cases) == 1 else (None, None)
    for error in errors:
        for place in places(error, table):
            inside = [one for one in cases if one.first <= place < one.first + len(one.source)]
            if inside:
                case, line = inside[0], place
        yield case, line, error


def complaints(cases, errors, table):
    said = list(distribute(errors, cases, table))
    for case, _, error in said:
        if case is None:
            yield 1, f"this belongs to no case: {error.text}"
    for case in cases:
        own = [(line, error) for one, line, error in said if one is case]
        if not case.sentences:
            if own:
                yield case.first, f"it does not compile: {own[0][1].text}"
            continue
        for place in case.asserts() or [None]:
            texts = [error.text for line, error in own if place is None or line == place]
            if not texts:
                yield place or case.first, f"it compiles, and should be refused with: {case.sentences[0]}"
                continue
            failed = [text for text in texts if text.startswith("static")] or texts
            further = [text for text in failed if " policy: " in text and case.sentences[0] not in text]
            if "make the class copyable" in case.sentences[0] and further:
                yield place or case.first, f"the compiler says more than: {case.sentences[0]}\n    also: {further[0]}"
            if case.sentences[0] not in failed[0]:
                yield place or case.first, f"the compiler does not say: {case.sentences[0]}\n    but: {failed[0]}"
            for sentence in case.sentences[1:]:
                if not any(sentence in text for text in failed):
                    yield place or case.first, f"the compiler does not say: {sentence}"
        lines = sum(len(error.lines) for _, error in own)
        if case.most_lines() is not None and lines > case.most_lines():
            yield case.first, f"it takes {lines} lines to say what should take {case.most_lines()}"


def main():
    table, headers, *command = sys.argv[1:]
    if table == "precompile":
        return subprocess.run(command + ["-x", "c++-header", headers, "-o", headers + ".gch"]).returncode
    text = pathlib.Path(table).read_text(encoding="utf-8")
    common = common_cases(text)
    if common:
        text += common
        table = f"{headers}.{pathlib.Path(table).name}"
        pathlib.Path(table).write_text(text, encoding="utf-8")
    cases = cases_of(text)
    if not cases:
        print(f"{table}:1: no line says '// expect: ...' or '// compiles'")
        return 1
    options = re.search(r"^// options: (.*)$", text, re.M)
    # The compiler ignores headers precompiled with other options.
    command += options[1].split() if options else ["-include", headers]
    done = subprocess.run(command + ["-w", "-fsyntax-only", table], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C"})
    errors = errors_of(done.stdout)
    faults = list(complaints(cases, errors, table))
    if done.returncode != 0 and not errors:
        faults.append((1, "the compiler fails without an error"))
    for line, problem in faults:
        print(f"{table}:{line}: {problem}")
    if faults:
        print(f"\nthe compiler says:\n{done.stdout}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
