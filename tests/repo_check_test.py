#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks repo_check.py: in copies of the project with a few unrelated defects each, it must report all of these."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEFT_OUT = shutil.ignore_patterns(".git", "build", "node_modules", "__pycache__", "data")


def replaced(old, new):
    def change(text):
        assert old in text, f"'{old}' is not there any more"
        return text.replace(old, new, 1)
    return change


def added(text):
    return lambda before: before + text


# File, edit (None: removed), and a part of the complaint.
CASES = [
    ("include/stemma/core/glob.hpp", replaced("// SPDX", "//  SPDX"), "licence line"),
    ("include/stemma/evidence/class_tags.hpp", replaced("detail::confidence::class_tag", "0.7F"), "without a name"),
    ("include/stemma/core/glob.hpp", replaced("_CORE_GLOB_HPP", "_GLOB_HPP"), "include guard"),
    ("include/stemma/core/glob.hpp", replaced("#include", "#if 1\n#include <map>\n#endif\n#include"),
     "under #if"),
    ("include/stemma/tagging/naming.hpp",
     replaced("#include <stemma/model/tag_table.hpp>", '#include "tag_table.hpp"'), "quoted include"),
    ("include/stemma/core/glob.hpp", replaced("#include", "#include <string>\n\n#include <boost/a.hpp>\n#include"),
     "follows a later group"),
    ("include/stemma/tagging/naming.hpp", replaced(".hpp>\n\n#include", ".hpp>\n#include"),
     "without an empty line between"),
    ("include/stemma/core/glob.hpp", replaced("#include", "#include <stemma/model/tag_table.hpp>\n\n#include"),
     "of a folder above its own"),
    ("include/stemma/tagging/naming.hpp", replaced("#include", "#include <stemma/onnx/carrier.hpp>\n#include"),
     "of a folder above its own"),
    ("include/stemma/model/detail/nesting.hpp", replaced("#include", "#include <stemma/onnx/carrier.hpp>\n#include"),
     "of a folder above its own"),
    ("include/stemma/core/detail/hash.hpp", replaced("#include", "#include <stemma/core/detail/id_set_pool.hpp>\n\n#include"),
     "include each other"),
    ("include/stemma/record/summary.hpp", replaced("#include", "#include <onnx/onnx_pb.h>\n#include"),
     "only proto/ knows"),
    ("include/stemma/core/glob.hpp", replaced("#include <stemma/core/detail/ascii.hpp>\n", ""), "checks the language standard"),
    ("include/stemma/core/glob.hpp", added("using std::multimap;\n"), "without the header that declares it"),
    ("include/stemma/core/glob.hpp", replaced("namespace stemma::inline STEMMA_ABI {", "namespace stemma {"),
     "without its version"),
    ("include/stemma/core/glob.hpp", added("\n" * 400), "lines"),
    ("include/stemma/core/glob.hpp", added("using std::ranges::sort;\n"), "more than libc++ 14"),
    ("include/stemma/core/glob.hpp", added("using std::bit_cast;\n"), "more than libc++ 14"),
    ("examples/cli/strip.cpp", added("using std::ranges::sort;\n"), "more than libc++ 14"),
    ("tests/core/glob.cpp", added("using std::format;\n"), "more than libc++ 14"),
    ("bench/beside.hpp", added("namespace all = std::views::all;\n"), "more than libc++ 14"),
    ("include/stemma/core/brand_new.hpp", added(""), "has no test"),
    ("tests/core/brand_new.cpp", added(""), "tests no header"),
    ("tests/core/glob.cpp", replaced("namespace test::core_glob", "namespace test::glob"),
     "no namespace of its own"),
    ("bench/core/brand_new_bench.cpp", added(""), "measures no header"),
    ("include/stemma/config.hpp", replaced("<cassert>", "<cassert> // see /home" + "/me"), "one machine"),
    ("examples/quickstart.sh", added("# TO" + "DO more\n"), "note to self"),
    ("CONTRIBUTING.md", added("\n" * 100), "lines"),
    ("CHANGELOG.md", added("[x](docs/none.md)\n"), "links to"),
    ("CHANGELOG.md", added("`core/none.hpp`\n"), "names 'core/none.hpp'"),
    ("include/stemma/core/glob.hpp", added("// docs/none.md\n"), "names 'docs/none.md'"),
    ("docs/policies.md", replaced("`tagging/naming.hpp`", ""), "does not mention it"),
    ("docs/policies/resolution.md", replaced("`by_trust`: the", "the"), None),  # occurs twice, one is enough
    ("docs/policies/resolution.md", replaced("`cautious`", ""), "does not mention cautious"),
    ("docs/policies/naming.md", replaced("naming policy: make", "make"), "does not say 'naming policy"),
    ("docs/policies/naming.md", replaced("## Laws", "Laws"), "lacks '## Laws'"),
    ("docs/policies/naming.md", replaced("- naming: a selected module gets no segment", ""),
     "the law 'naming: a selected module gets no segment'"),
    ("examples/policies/naming.expected", None, "lacks examples/policies/naming.expected"),
    ("tests/compile_fail/cost_policy.cpp", replaced("// role: cost", ""),
     "rejected with 'cost policy: make"),
    ("include/stemma/tagging/selection.hpp",
     replaced("/// Modules at most", "struct odd {\n    using policy_category = selection_category;\n};\n\n///"),
     "odd cannot be chosen"),
    ("include/stemma/evidence/leftovers.hpp",
     replaced("struct leftovers {", "struct odd {\n    using policy_category = evidence_category;\n};\n\nstruct leftovers {"),
     "does not use odd"),
    ("include/stemma/report/visibility.hpp",
     replaced("/// Every operator.", "struct peculiar {\n    using policy_category = visibility_category;\n};\n\n///"),
     "no test uses peculiar"),
    ("include/stemma/tagging/policy_registry.hpp", lambda text: text.replace("cautious", "careful"), "cautious cannot be chosen"),
    ("tests/tagging/laws.cpp", replaced("in_packages", "others"), "in_packages is not checked"),
    ("include/stemma/evidence/name_sources.hpp", replaced("parameter_regions, leftovers,", "parameter_regions,"),
     "name_sources lacks leftovers"),
    ("docs/policies/evidence.md", replaced("`leftovers`", "Leftovers"), "does not mention leftovers"),
    ("tests/evidence/leftovers.cpp", None, "has no test"),
    ("examples/cli/common.hpp", replaced("add_tree(", "add_trees("), "declare it in"),
    ("examples/cli/CMakeLists.txt", replaced("tree.cpp", ""), "add it to examples/cli/CMakeLists.txt"),
    ("docs/cli.md", replaced("## tree", "## other"), "add a section"),
    ("examples/cli/strip.cpp", replaced('"strip"', '"undo"'), "run it in tests/cli"),
    ("include/stemma/report/export_model.hpp", replaced('"stemma.tree/1"', '"stemma.tree/2"'),
     "docs/formats.md does not mention stemma.tree/2"),
    ("tests/schema_check.py", lambda text: text.replace('"folds"', '"others"'), "validated against the schema of stemma.folds"),
    ("examples/cli/program.cpp", replaced('{"tree", cli::add_tree},', ''), "list it in"),
    ("examples/cli/strip.cpp", replaced('"strip"', '"undo"'), "command 'undo'"),
    ("README.md", None, "is missing"),
]


def complaints(root):
    done = subprocess.run([sys.executable, root / "tests/repo_check.py", root], capture_output=True, text=True)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(done.stderr)
    texts = done.stdout.replace("\n    remedy", " remedy").splitlines()
    return {text for text in texts if " remedy: " in text}


def batches():
    """Returns: the cases in groups of at most eight, of different files and with different complaints."""
    groups = []
    for case in CASES:
        name, _, expected = case
        fits = (group for group in groups if expected and len(group) < 8 and
                all(other and name != other_name and expected not in other and other not in expected
                    for other_name, _, other in group))
        group = next(fits, None)
        if group is None:
            groups.append([case])
        else:
            group.append(case)
    return groups


def complaints_about(cases):
    """Returns: what is reported about a copy with these defects and not about the original."""
    with tempfile.TemporaryDirectory(dir=original.parent) as temporary:
        copy = pathlib.Path(temporary) / "copy"
        shutil.copytree(original, copy, copy_function=os.link)
        for name, change, _ in cases:
            path = copy / name
            text = path.read_text() if path.exists() else "// SPDX-License-Identifier: Apache-2.0\n"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # not overwritten, as it is the original file
            if change is not None:
                path.write_text(change(text))
        return complaints(copy) - before


def failures_of(cases):
    """Returns: the failures of repo_check.py in some cases."""
    complaints = complaints_about(cases)
    return [f"{name}: nobody complained '{expected}'" if expected else f"{name}: was expected to pass, but: {complaints}"
            for name, _, expected in cases
            if (not any(expected in line for line in complaints) if expected else complaints)]


def main():
    global before, original
    with tempfile.TemporaryDirectory() as temporary:
        original = pathlib.Path(temporary) / "original"
        shutil.copytree(ROOT, original, ignore=LEFT_OUT)
        before = complaints(original)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            failures = [text for texts in pool.map(failures_of, batches()) for text in texts]
    print("\n".join(failures) or f"{len(CASES)} mistakes are seen")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
