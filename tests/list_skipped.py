#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the tests that were skipped, wholly or in part, and why.

usage: list_skipped.py RESULTS

RESULTS is the output of `ctest --output-junit`. The reason for a wholly skipped test is its last
line of output; parts are those that Python's unittest reports as skipped.
"""
import re
import sys
import xml.etree.ElementTree


def skipped(results):
    """Yields (test, reason)."""
    for case in xml.etree.ElementTree.parse(results).getroot().iter("testcase"):
        name = case.get("name")
        output = (case.findtext("system-out") or "").strip()
        if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            yield name, output.splitlines()[-1] if output else "it does not say"
            continue
        for part, quote, reason in re.findall(r"^(.*?) ?\.\.\. skipped (['\"])(.*)\2$", output, re.M):
            yield f"{name}: {part}", reason
        for count in re.findall(r"\(skipped=(\d+)\)", output):
            yield name, f"{count} of its parts"


def main():
    tests = list(skipped(sys.argv[1]))
    print(f"\nskipped: {len(tests) or 'nothing'}")
    for name, reason in tests:
        print(f"  {name}: {reason}")


if __name__ == "__main__":
    main()
