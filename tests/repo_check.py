#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of the repository: everything a reader relies on and no compiler checks.

usage: repo_check.py [ROOT]

Every complaint has file, line and remedy. The exceptions to a rule are listed below, each with its
reason; an exception that is no longer needed is a complaint too.
"""
import os
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "compile_fail"))
from check import common_cases

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
INCLUDE = ROOT / "include"

# Folders without text of the project.
SKIPPED_FOLDERS = {".git", ".cache", "__pycache__", "build", "node_modules"}
DATA_FOLDERS = ("tests/data/", "examples/data/")
SOURCES = {".hpp", ".cpp", ".py", ".sh", ".mjs", ".js"}

# Headers without a test of the same name.
UNTESTED = {
    "stemma/align/detail/absorbed_readers.hpp": "part of align/align_graphs.hpp, tested there",
    "stemma/align/detail/aligned_origins.hpp": "part of align/align_graphs.hpp, tested there",
    "stemma/align/detail/graph_matcher.hpp": "part of align/align_graphs.hpp, tested there",
    "stemma/align/detail/group_aligner.hpp": "part of align/align_graphs.hpp, tested there",
    "stemma/align/detail/known_values.hpp": "part of align/align_graphs.hpp, tested there",
    "stemma/align/detail/slice_finder.hpp": "part of align/align_graphs.hpp, tested there",
    "stemma/align/graph_alignment.hpp": "part of align/align_graphs.hpp, tested there",
    "stemma/checkpoint/detail/pickled_values.hpp": "part of checkpoint/read_checkpoint.hpp, tested there",
    "stemma/checkpoint/detail/safetensors.hpp": "part of checkpoint/read_checkpoint.hpp, tested there",
    "stemma/checkpoint/detail/tensor_layout.hpp": "part of checkpoint/read_checkpoint.hpp, tested there",
    "stemma/checkpoint/detail/torch_pickle.hpp": "part of checkpoint/detail/pickle.hpp, tested there",
    "stemma/evidence/detail/scope_series.hpp": "part of evidence/detail/scope_modules.hpp, tested there",
    "stemma/weights/detail/biased_products.hpp": "part of weights/identify_parameters.hpp, tested in cli/weights_test.py",
    "stemma/weights/detail/name_numbers.hpp": "part of weights/identify_parameters.hpp, tested there",
    "stemma/weights/detail/content_entries.hpp": "part of weights/identify_parameters.hpp, tested there",
    "stemma/weights/detail/derived_entries.hpp": "part of weights/identify_parameters.hpp, tested there",
    "stemma/weights/detail/used_entries.hpp": "part of weights/identify_parameters.hpp, tested there",
    "stemma/weights/detail/weight_uses.hpp": "part of weights/identify_parameters.hpp, tested there",
    "stemma/weights/detail/data_places.hpp": "part of weights/patch_weights.hpp, tested there",
    "stemma/weights/detail/new_values.hpp": "part of weights/patch_weights.hpp, tested there",
    "stemma/io/detail/buffered_writer.hpp": "part of io/output_file.hpp, tested there",
    "stemma/onnx/message_refs.hpp": "records, filled and tested by onnx/wire_model.hpp",
    "stemma/onnx/detail/inlined_function.hpp": "part of onnx/detail/inlined_paths.hpp, tested there",
    "stemma/onnx/detail/graph_scan.hpp": "part of onnx/wire_model.hpp, tested there",
    "stemma/onnx/detail/model_scan.hpp": "part of onnx/wire_model.hpp, tested there",
    "stemma/config.hpp": "macros only; every test uses them",
    "stemma/core/id.hpp": "an alias and a constant",
    "stemma/align/detail/aligner.hpp": "part of align/align.hpp, tested there",
    "stemma/evidence/detail/call_resolver.hpp": "part of evidence/function_calls.hpp, tested there",
    "stemma/detail/define_handles.hpp": "part of handles.hpp, tested there",
    "stemma/detail/define_model.hpp": "part of model.hpp, tested there",
    "stemma/detail/define_part.hpp": "part of part.hpp, tested there",
    "stemma/detail/model_state.hpp": "part of model.hpp, tested there",
    "stemma/cut/detail/part_cutter.hpp": "part of cut/model_cutter.hpp, tested there",
    "stemma/onnx/detail/temporary_model.hpp": "part of open/detail/untagged_model.hpp, tested there",
    "stemma/compare/detail/compared_model.hpp": "part of compare/diff_models.hpp, tested there",
    "stemma/compare/detail/weight_comparer.hpp": "part of compare/diff_models.hpp, tested there",
    "stemma/cost/detail/cost_collector.hpp": "part of cost/model_cost.hpp, tested there",
    "stemma/cost/detail/module_flow.hpp": "part of cost/model_cost.hpp, tested there",
    "stemma/cost/detail/operator_costs.hpp": "part of cost/model_cost.hpp, tested there",
    "stemma/cost/detail/ort_events.hpp": "part of cost/profile_readers.hpp, tested there",
    "stemma/cost/detail/csv_rows.hpp": "part of cost/profile_readers.hpp, tested there",
    "stemma/cost/profile_pictures.hpp": "pictures and traces, tested by tests/cli/cost_test.py",
    "stemma/cut/cut_options.hpp": "a struct without behaviour",
    "stemma/onnx/detail/onnx_fields.hpp": "field numbers; checked against protobuf by tests of onnx/",
    "stemma/evidence/evidence_context.hpp": "holds results of others; tested with each source",
    "stemma/definitions.hpp": "an include; tested with and without by tests/consumers",
    "stemma/model/dependence.hpp": "an enumeration",
    "stemma/model/finding.hpp": "a struct without behaviour",
    "stemma/core/category.hpp": "tags and two concepts; tested with each policy",
}
# Tests of more than one header.
UNMIRRORED = {
    "tests/main.cpp": "the main of all test programs",
    "tests/archetypes.cpp": "every algorithm with minimal models of its concepts",
    "tests/documents.cpp": "code in documents that is not part of an example",
    "tests/host_graphs.cpp": "the whole tagger on graphs unrelated to ONNX",
    "tests/accuracy.cpp": "the table of accuracy over all fixtures",
    "tests/evidence/traps.cpp": "known misleading evidence, each in a separate model",
    "tests/evidence_goals.cpp": "goals for the evidence, over all fixtures and dialects",
    "tests/leave_one_out.cpp": "propagation with hidden evidence, over all fixtures",
    "tests/open/hostile_files.cpp": "all readers and writers of tags, on damaged files",
    "tests/tagging/laws.cpp": "the laws of all roles, on policies that obey or break them",
    "tests/torch_capture.cpp": "the libtorch adapter in examples/torch",
    "tests/proto/scan_differential.cpp": "the scan of wire_model, compared with protobuf's parser",
}
# Folders of tests without headers of the same names.
OTHER_TESTS = ("tests/cli/", "tests/compile_fail/", "tests/data/", "tests/consumers/", "tests/debuggers/",
               "tests/fuzz/", "tests/page/", "tests/runtime/", "tests/single_header/")
# Maximum length of a header.
MAX_LINES = 420
# Headers with includes under #if.
CONDITIONAL_INCLUDES = {
    "stemma/config.hpp": "needed by a macro only if it is not predefined",
    "stemma/definitions.hpp": "replaced by a library",
    "stemma/io/detail/system_files.hpp": "not portable",
}
# Evidence sources that the program does not offer by name.
UNNAMED_SOURCES = {
    "any_policy": "holds any source",
    "evidence_sources": "several sources as one",
    "optional_source": "a source that can be switched off",
}
# Evidence sources with information from outside the model.
GIVEN_SOURCES = {
    "given_claims": "findings of others",
}
# Maximum lengths of documents.
MAX_DOCUMENT_LINES = {"README.md": 80, "CONTRIBUTING.md": 155, "CMakeLists.txt": 160}

# Folders from the bottom: a header may include headers of its folder and of those before it.
FOLDERS = ["core", "io", "model", "evidence", "tagging", "align", "onnx", "record", "checkpoint", "capture", "open", "types",
           "cost", "query", "weights", "fold", "cut", "numerics", "plan", "check", "compare", "report", "proto"]
# Headers of the top folder that every header may include.
BOTTOM = {"stemma/config.hpp", "stemma/error.hpp", "stemma/version.hpp"}
# Folders whose headers know neither files nor range-v3's views.
GENERIC = {"core", "io", "model", "evidence", "tagging", "align"}
UMBRELLAS = {"stemma/core.hpp", "stemma/verbs.hpp", "stemma/stemma.hpp", "stemma/onnx.hpp"}

THIRD_PARTY = {"boost", "range", "nlohmann", "onnx", "google", "fmt", "CLI", "catch2", "benchmark"}
# The header of range-v3 that costs no compile time.
CHEAP_RANGES = "range/v3/range_fwd.hpp"
# Names of the standard library, by the headers that declare them.
STANDARD = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy_if count_if fill find_if includes "
                 "is_sorted lower_bound max_element min_element mismatch none_of nth_element partial_sort reverse "
                 "rotate set_difference set_intersection set_union sort stable_sort transform unique upper_bound",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast bit_width countr_zero popcount",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "ceil exp floor isfinite isinf isnan ldexp log log1p pow sqrt",
    "compare": "strong_ordering",
    "concepts": "convertible_to integral same_as",
    "cstddef": "byte ptrdiff_t size_t",
    "cstdint": "int16_t int32_t int64_t int8_t uint16_t uint32_t uint64_t uint8_t",
    "cstring": "memchr memcmp memcpy memset strlen",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "function greater hash less reference_wrapper",
    "iosfwd": "ostream",
    "iterator": "back_inserter inserter make_move_iterator",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "call_once lock_guard mutex once_flag unique_lock",
    "numeric": "accumulate gcd iota partial_sum",
    "optional": "nullopt optional",
    "ostream": "ostream",
    "queue": "priority_queue queue",
    "set": "set",
    "span": "span",
    "sstream": "istringstream ostringstream",
    "stdexcept": "invalid_argument logic_error runtime_error",
    "string": "stoi stoull string to_string",
    "string_view": "string_view",
    "thread": "thread",
    "tuple": "tie tuple",
    "type_traits": "conditional_t decay_t is_convertible_v is_invocable_v is_same_v remove_cvref_t",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "exchange forward in_place move pair",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
DECLARED_IN = {}
for header, names in STANDARD.items():
    for name in names.split():
        DECLARED_IN.setdefault(name, set()).add(header)

INCLUDE_LINE = re.compile(r"\s*#\s*include\s*([<\"])([^>\"]+)[>\"]")

complaints = []
used_exceptions = set()


def complain(path, line, problem, remedy):
    complaints.append(f"{path}:{line}: {problem}\n    remedy: {remedy}")


def excepted(table, key):
    """Whether `key` is in a table of exceptions; records its use."""
    if key in table:
        used_exceptions.add((id(table), key))
        return True
    return False


def files():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = set(folders) - SKIPPED_FOLDERS
        for name in set(names) - SKIPPED_FOLDERS:  # in a worktree, .git is a file
            yield os.path.relpath(os.path.join(folder, name), ROOT)


FILES = sorted(files(), key=lambda name: name.split("/"))
CODE = [name for name in FILES
        if pathlib.Path(name).suffix in SOURCES and not name.startswith(DATA_FOLDERS)
        and not name.startswith("single_include/stemma/")]
HEADERS = [name for name in CODE if name.startswith("include/") and name.endswith(".hpp")]
TEXT = {name: (ROOT / name).read_text(encoding="utf-8") for name in CODE}


def header_name(path):
    return path.removeprefix("include/")


def check_licence_lines():
    for name in CODE:
        lines = TEXT[name].splitlines() + ["", ""]
        at = 1 if lines[0].startswith("#!") else 0
        if not re.fullmatch(r"(//|#) SPDX-License-Identifier: Apache-2\.0", lines[at]):
            complain(name, at + 1, "the licence line is missing",
                     "begin with 'SPDX-License-Identifier: Apache-2.0' in a comment")


def check_guards():
    for name in CODE:
        if not name.endswith(".hpp"):
            continue
        inside = header_name(name) if name.startswith("include/") else "stemma/" + name
        guard = re.sub(r"[^A-Za-z0-9]", "_", inside).upper()
        lines = TEXT[name].splitlines()
        expected = [f"#ifndef {guard}", f"#define {guard}"]
        if lines[1:3] != expected or lines[-1] != f"#endif // {guard}":
            complain(name, 2, "the include guard does not follow from the path", f"use {guard}")


def check_mirror():
    for name in HEADERS:
        header = header_name(name)
        test = "tests/" + header.removeprefix("stemma/").removesuffix(".hpp") + ".cpp"
        if header in UMBRELLAS:
            continue
        has_test = test in TEXT
        if not has_test and not excepted(UNTESTED, header):
            complain(name, 1, "has no test", f"add {test}")
    for name in CODE:
        if not (name.startswith("tests/") and name.endswith(".cpp")) or name.startswith(OTHER_TESTS):
            continue
        if excepted(UNMIRRORED, name):
            continue
        header = "stemma/" + name.removeprefix("tests/").removesuffix(".cpp") + ".hpp"
        if "include/" + header not in TEXT:
            complain(name, 1, "tests no header of its name", f"add include/{header} or move the test")
            continue
        first = INCLUDE_LINE.search(TEXT[name])
        if not first or first[2] != header:
            complain(name, 1, "does not include the header under test first",
                     f"begin with #include <{header}>")
    for name in CODE:
        path = name.removeprefix("tests/").removesuffix(".cpp")
        # `test::model` is a message of tests/wire_builder.hpp.
        namespace = "test::" + ("the_model" if path == "model" else re.sub(r"[^a-z0-9]", "_", path))
        opening = f"\nnamespace {namespace} {{\n"
        if name.endswith(".cpp") and "TEST_CASE(" in TEXT[name] and opening not in TEXT[name]:
            complain(name, 1, "has no namespace of its own, and tests are compiled joined",
                     f"put everything after the includes into namespace {namespace}")
    for name in CODE:
        if name.startswith("bench/") and name.endswith("_bench.cpp"):
            header = "stemma/" + name.removeprefix("bench/").removesuffix("_bench.cpp") + ".hpp"
            if "include/" + header not in TEXT:
                complain(name, 1, "measures no header of its name", "rename it after a header")


def rank(form, target):
    """The group of an include: local, own, third party, standard."""
    if form == '"':
        return 0
    top = target.split("/")[0]
    if top in ("stemma", "stemma_bench", "stemma_report"):
        return 1
    return 2 if top in THIRD_PARTY else 3


def check_includes():
    for name in CODE:
        if not name.endswith((".hpp", ".cpp")):
            continue
        depth = 1 if name.endswith(".hpp") else 0  # of #if; the guard counts
        level = 0
        previous = None
        own = name.endswith(".cpp")  # the first include of a test may be the header under test
        for number, line in enumerate(TEXT[name].splitlines(), 1):
            if "#" not in line:
                continue
            if re.match(r"\s*#\s*if", line):
                level += 1
            elif re.match(r"\s*#\s*endif", line):
                level -= 1
            match = INCLUDE_LINE.match(line)
            if not match:
                continue
            form, target = match[1], match[2]
            in_library = name.startswith("include/")
            if in_library and form == '"':
                complain(name, number, "quoted include in the library", "write #include <stemma/...>")
            if in_library and target == "boost/graph/graphviz.hpp":
                complain(name, number, f"<{target}> costs seconds of compile time", "leave it to programs")
            if (in_library and target.startswith("range/") and target != CHEAP_RANGES
                    and header_name(name).split("/")[1] in GENERIC):
                complain(name, number, f"<{target}> costs every user at least 0.1 s of compile time",
                         f"in {', '.join(sorted(GENERIC))}, <{CHEAP_RANGES}> is enough for ranges that compose with its views")
            if level > depth:
                if in_library and not excepted(CONDITIONAL_INCLUDES, header_name(name)):
                    complain(name, number, "include under #if", "move it to the top of the header")
                continue
            group = rank(form, target)
            if own:  # the header under test stands alone
                own = False
                if group == 1 and name.startswith("tests/"):
                    previous = None
                    continue
            if previous is not None:
                last_group, last_number = previous
                if group < last_group:
                    complain(name, number, f"<{target}> follows a later group of includes",
                             'order: local "...", <stemma/...>, third party, standard')
                elif group > last_group and number == last_number + 1 and group > 1:
                    complain(name, number, "two groups of includes without an empty line between them",
                             "put an empty line in front of it")
            previous = (group, number)


def check_standard_includes():
    """A header includes what it uses of the standard library, so that it compiles alone."""
    for name in HEADERS:
        included = {target for form, target in INCLUDE_LINE.findall(TEXT[name])}
        code = re.sub(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", "", TEXT[name])
        for used in sorted(set(re.findall(r"\bstd::(\w+)", code))):
            declared = DECLARED_IN.get(used, included)
            if not declared & included:
                complain(name, 1, f"uses std::{used} without the header that declares it",
                         f"add #include <{min(declared)}>")


def check_language():
    """Every header includes config.hpp first, which rejects older standards."""
    for name in HEADERS:
        if header_name(name) not in ("stemma/config.hpp", "stemma/version.hpp") and not own_includes(header_name(name)):
            complain(name, 1, "includes no other header, so that nothing checks the language standard",
                     "include <stemma/config.hpp>")


def check_namespaces():
    """All names of the library are in the inline namespace of the version."""
    for name in HEADERS:
        for number, line in enumerate(TEXT[name].splitlines(), 1):
            if re.match(r"namespace stemma\b(?!::inline STEMMA_ABI\b)", line):
                complain(name, number, "opens namespace stemma without its version",
                         "write namespace stemma::inline STEMMA_ABI")


def own_includes(header):
    return [target for form, target in INCLUDE_LINE.findall(TEXT["include/" + header])
            if target.startswith("stemma/") and "include/" + target in TEXT]


def floor_of(header):
    """The level of a header's folder from the bottom; the facade is on top."""
    if header in BOTTOM:
        return -1
    folder = header.split("/")[1]
    return FOLDERS.index(folder) if folder in FOLDERS else len(FOLDERS)


def check_layers():
    for name in HEADERS:
        header = header_name(name)
        folder = header.split("/")[1]
        if header in UMBRELLAS:
            continue
        if header.count("/") > 1 and folder not in FOLDERS + ["detail"]:
            complain(name, 1, f"is in a folder without a level: {folder}", "add it to FOLDERS here")
        for target in own_includes(header):
            if target in UMBRELLAS:
                complain(name, 1, f"includes the umbrella <{target}>", "include what is needed")
            if floor_of(target) > floor_of(header):
                complain(name, 1, f"includes <{target}> of a folder above its own",
                         "move what is needed downwards")
        for form, target in INCLUDE_LINE.findall(TEXT[name]):
            protobuf = target.startswith(("google/protobuf/", "onnx/"))
            if protobuf and folder != "proto":
                complain(name, 1, f"<{target}> outside proto/", "only proto/ knows protobuf")
    check_cycles()


def check_cycles():
    done, path = set(), []

    def visit(header):
        if header in path:
            around = " -> ".join(path[path.index(header):] + [header])
            complain("include/" + header, 1, f"headers include each other: {around}",
                     "move what both need to a third one")
            return
        if header in done:
            return
        path.append(header)
        for target in own_includes(header):
            visit(target)
        path.pop()
        done.add(header)

    for name in HEADERS:
        visit(header_name(name))


# With texts of which one is in whatever matches, as these are found faster.
FORBIDDEN = [
    (re.compile(r"(?<![\w.}$])/(work|home|root|Users|tmp)/"), ("/work/", "/home/", "/root/", "/Users/", "/tmp/"),
     "a path of one machine", "use a path relative to the project, or a temporary folder made for the purpose"),
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))"), ("TODO", "FIXME", "XXX", "HACK"),
     "a note to self without an issue", "write TODO(#number), or do it"),
    (re.compile(r"(registry\.npmjs\.org|registry\.yarnpkg\.com|pypi\.org|pythonhosted\.org|"
                r"(deb|archive)\.(debian|ubuntu)\.(org|com)|crates\.io|proxy\.golang\.org)"),
     (".org", ".com", "crates.io"),
     "the host of a package registry", "leave the choice of registry to the user's package manager"),
]


def check_words():
    for name in FILES:
        # Joined files are checked separately.
        if name.startswith((*DATA_FOLDERS, "single_include/stemma/")) or name in ("LICENSE", "tests/repo_check.py"):
            continue
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            complain(name, 1, "is not UTF-8 text", "keep data in tests/data or examples/data")
            continue
        for pattern, parts, problem, remedy in FORBIDDEN:
            for match in pattern.finditer(text) if any(part in text for part in parts) else ():
                complain(name, text.count("\n", 0, match.start()) + 1, problem, remedy)


# Features that libc++ 14 lacks; it has the concepts of ranges.
NOT_PORTABLE = re.compile(r"std::(ranges::(?!(?:\w+_)?range\b|view\b|view_base\b)|views::|make_unique_for_overwrite\b|"
                          r"format\b|expected\b|source_location\b|jthread\b)")
# The library for the web is compiled with libc++ 13.
NOT_IN_LIBRARY = re.compile(r"std::bit_cast\b")


def check_portable():
    for name in CODE:
        if not name.endswith((".hpp", ".cpp")):
            continue
        in_library = name in HEADERS
        remedy = "core/detail/range.hpp and its neighbours have it" if in_library else "use range-v3 or <algorithm>"
        for pattern in [NOT_PORTABLE, NOT_IN_LIBRARY] if in_library else [NOT_PORTABLE]:
            for match in pattern.finditer(TEXT[name]):
                if not TEXT[name][:match.start()].rsplit("\n", 1)[-1].lstrip().startswith("//"):
                    complain(name, TEXT[name].count("\n", 0, match.start()) + 1, "needs more than libc++ 14 has", remedy)


def check_sizes():
    for name in HEADERS:
        lines = TEXT[name].count("\n")
        if lines > MAX_LINES:
            complain(name, lines, f"has {lines} lines", f"split it by idea: at most {MAX_LINES}")
    for name, most in MAX_DOCUMENT_LINES.items():
        if name not in FILES:
            complain(name, 1, "is missing", "add it")
            continue
        lines = (ROOT / name).read_text(encoding="utf-8").count("\n")
        if lines > most:
            complain(name, lines, f"has {lines} lines", f"shorten it: at most {most}")


def check_confidences():
    """Confidences are named in one header, with their origin."""
    for name in HEADERS:
        if header_name(name) == "stemma/model/confidence.hpp":
            continue
        for number, line in enumerate(TEXT[name].splitlines(), 1):
            if re.search(r"\b0?\.(?!0)\d+F\b", line):
                complain(name, number, "a confidence without a name", "name it in model/confidence.hpp, with its origin")


def policies_of(text):
    """Names and categories of policies defined in a header."""
    if "policy_category" not in text:
        return []
    pattern = re.compile(r"^(?:struct|class) (\w+)[^;{]*\{(?:(?!^\};).)*?"
                         r"using policy_category = (\w+)_category;", re.M | re.S)
    public = re.sub(r"^namespace detail \{.*?^\} // namespace detail", "", text, flags=re.M | re.S)
    names = pattern.findall(public)
    categories = dict(names)
    derived = re.findall(r"^(?:struct|class) (\w+) : (?:public )?(\w+) \{", public, re.M)
    return names + [(name, categories[base]) for name, base in derived if base in categories]


def words_of(name):
    """All words of a file except in includes."""
    return set(re.findall(r"\w+", INCLUDE_LINE.sub("", TEXT.get(name, ""))))


def document(name):
    return (ROOT / name).read_text(encoding="utf-8") if name in FILES else ""


# Roles whose built-in policies users of the program choose by name.
BY_NAME = ("selection", "naming", "resolution", "propagation", "diagnostics")


def sentences_of(text):
    """The messages of static_asserts."""
    literal = r'"(?:[^"\\]|\\.)*"'
    said = re.findall(rf"static_assert\([^;]*?,\s*((?:{literal}\s*)+)\);", text)
    return ["".join(part[1:-1] for part in re.findall(literal, one)) for one in said]


def check_refusals():
    """Checks that tables of rejected sources cover all static_asserts of headers."""
    refused = "".join(TEXT[name] + common_cases(TEXT[name])
                      for name in TEXT if name.startswith("tests/compile_fail/") and name.endswith(".cpp"))
    refused = refused.replace("\n// ", " ")
    for header in HEADERS:
        for sentence in sentences_of(TEXT[header]):
            if f"expect: {sentence}" not in refused:
                complain(header, 1, f"nothing in tests/compile_fail is rejected with '{sentence}'",
                         "add a case to a table there")


# Headings required on the page of a role.
ROLE_PAGE = ("\n| what it may read | how |\n", "\n## Built in\n", "\n## Writing your own\n",
             "\n## Compile-time diagnostics\n", "\n## Laws\n")


def check_role(role, header, page):
    """Checks that a role is complete."""
    where = f"docs/policies/{role}.md"
    for part in ROLE_PAGE:
        if part not in page:
            complain(where, 1, f"lacks '{part.strip()}'", "see the pages of other roles")
    box = page.partition("\n## Built in\n")[2].partition("\n## ")[0]
    if len(set(re.findall(r"`(\w+)`", box))) < 3:
        complain(where, 1, "names fewer than a default and two alternatives", "add policies")
    for example in (f"examples/policies/{role}.cpp", f"examples/policies/{role}.expected"):
        if example not in FILES:
            complain(header, 1, f"lacks {example}", "add a program and its output")
    laws = set(re.findall(rf'"({role}: [^"]*)"', TEXT.get("tests/laws.hpp", "")))
    if not laws:
        complain(header, 1, f"tests/laws.hpp has no broken_{role}_laws", "add it")
    for law in sorted(laws):
        if f"- {law}\n" not in page:
            complain(where, 1, f"lacks the law '{law}'", "add it under Laws")


def check_policies():
    overview = document("docs/policies.md")
    pages = {name: document(name) for name in FILES if name.startswith("docs/policies/")}
    chosen = words_of("include/stemma/tagging/policy_registry.hpp")
    program = words_of("include/stemma/open/attribution_options.hpp")
    tried = words_of("tests/tagging/laws.cpp")
    name_sources = words_of("include/stemma/evidence/name_sources.hpp")
    tests = set().union(*(words_of(name) for name in TEXT if name.startswith("tests/")
                          and name.endswith(".cpp") and name != "tests/tagging/laws.cpp"))
    for name in HEADERS:
        header = header_name(name)
        if policies_of(TEXT[name]) and not header.startswith("stemma/evidence/") \
                and f"`{header.removeprefix('stemma/')}`" not in overview:
            complain(name, 1, "docs/policies.md does not mention it",
                     f"add a line with `{header.removeprefix('stemma/')}`")
        for policy, category in policies_of(TEXT[name]):
            page = f"docs/policies/{category}.md"
            if f"`{policy}`" not in (overview if policy == "any_policy" else pages.get(page, "")):
                complain(name, 1, f"{page} does not mention {policy}", f"add `{policy}` there")
            names = [policy] + re.findall(rf"^using (\w+) = {policy}<", TEXT[name], re.M)
            if tests.isdisjoint(names):
                complain(name, 1, f"no test uses {policy}", "test it")
            if category == "evidence":
                if not excepted(UNNAMED_SOURCES, policy) and not excepted(GIVEN_SOURCES, policy) \
                        and name_sources.isdisjoint(names):
                    complain(name, 1, f"name_sources lacks {policy}",
                             "add it in evidence/name_sources.hpp, or to GIVEN_SOURCES here")
            elif policy not in tried:
                complain(name, 1, f"{policy} is not checked against the laws of its role",
                         "try it in tests/tagging/laws.cpp")
            by_name = category in BY_NAME and policy != "any_policy"
            if by_name and policy not in chosen:
                complain(name, 1, f"{policy} cannot be chosen at run time",
                         "add it to tagging/policy_registry.hpp")
            if category == "evidence" and not excepted(UNNAMED_SOURCES, policy) \
                    and program.isdisjoint(names):
                complain(name, 1, f"the program does not use {policy}",
                         "add it to the sources in open/attribution_options.hpp")
        for role in re.findall(r"<std::same_as<(\w+)_category> Role.*\s*consteval bool explain_policy\(", TEXT[name]):
            for sentence in sentences_of(TEXT[name][TEXT[name].index("consteval bool explain_"):]):
                if sentence not in pages.get(f"docs/policies/{role}.md", ""):
                    complain(name, 1, f"docs/policies/{role}.md does not say '{sentence}'",
                             "add it to what is said when a policy is refused")
            check_role(role, name, pages.get(f"docs/policies/{role}.md", ""))
        for explained in re.findall(r"consteval bool (explain_\w+)\(", TEXT[name]):
            if explained not in tests:
                complain(name, 1, f"no test uses {explained}",
                         "test that it accepts a model of the concept, and what it says")


def check_links():
    for name in FILES:
        if not name.endswith(".md") or name.startswith(DATA_FOLDERS):
            continue
        folder = (ROOT / name).parent
        prose = re.sub(r"^```\w+\n.*?^```$", lambda block: "\n" * block[0].count("\n"), document(name),
                       flags=re.M | re.S)
        for number, line in enumerate(prose.splitlines(), 1):
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", line):
                if not (folder / target).exists():
                    complain(name, number, f"links to '{target}', which does not exist", "fix the link")
            for target in re.findall(r"`([\w/]+\.hpp)`", line):
                if not any(f"/{file}".endswith(f"/{target}") for file in FILES):
                    complain(name, number, f"names '{target}', which does not exist", "fix the name")
    for name in CODE:
        if name.startswith("tests/repo_check"):
            continue
        for match in re.finditer(r"\bdocs/[a-z0-9_/.-]+\.(?:md|json)\b", TEXT[name]):
            if match[0] not in FILES:
                complain(name, TEXT[name].count("\n", 0, match.start()) + 1,
                         f"names '{match[0]}', which does not exist", "fix the name")


def check_commands():
    page = document("docs/cli.md")
    tests = "".join(text for name, text in TEXT.items() if name.startswith("tests/cli/"))
    declared = TEXT.get("examples/cli/common.hpp", "")
    called = TEXT.get("examples/cli/program.cpp", "")
    built = document("examples/cli/CMakeLists.txt")
    for name in CODE:
        if not name.startswith("examples/cli/"):
            continue
        for command in re.findall(r"add_(?:subcommand\(|command<\w+>\(\s*app, chosen,)\s*\"([\w-]+)\"", TEXT[name]):
            stem = command.replace("-", "_")
            expected = [
                (name == f"examples/cli/{stem}.cpp", f"move it to examples/cli/{stem}.cpp"),
                (f"add_{stem}(" in declared, "declare it in examples/cli/common.hpp"),
                (re.search(rf"\"{command}\", cli::add_{stem}\b", called), "list it in examples/cli/program.cpp"),
                (f"{stem}.cpp" in built, "add it to examples/cli/CMakeLists.txt"),
                (re.search(rf"^#+ .*\b{command}\b", page, re.M), "add a section to docs/cli.md"),
                (f'"{command}"' in tests, "run it in tests/cli"),
            ]
            for holds, remedy in expected:
                if not holds:
                    complain(name, 1, f"command '{command}' is not complete", remedy)


def check_schemas():
    formats = document("docs/formats.md")
    tried = TEXT.get("tests/schema_check.py", "")
    titles = {re.search(r'"title": "([^"]*)"', document(name))[1]: name
              for name in FILES if re.fullmatch(r"docs/\w+\.schema\.json", name)}
    for name in CODE:
        if not name.startswith(("include/", "examples/cli/")):
            continue
        for schema in sorted(set(re.findall(r'"(stemma\.\w+/\d+)"', TEXT[name]))):
            if schema not in formats:
                complain(name, 1, f"docs/formats.md does not mention {schema}", f"add a line with `{schema}`")
            row = next((line for line in formats.splitlines() if f"`{schema}` |" in line), "")
            if ".schema.json" in row and schema not in titles:
                complain(name, 1, f"{schema} has no schema", "add docs/<name>.schema.json with this title")
    for title, name in titles.items():
        if f'"{name.removeprefix("docs/").removesuffix(".schema.json")}"' not in tried:
            complain(name, 1, f"nothing is validated against the schema of {title}",
                     "add a line to tests/schema_check.py")


def check_version():
    numbers = re.findall(r"STEMMA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                         TEXT.get("include/stemma/version.hpp", ""))
    name = "examples/packaging/vcpkg/vcpkg.json"
    if name in FILES and f'"version": "{".".join(numbers)}"' not in document(name):
        complain(name, 1, "differs from the version in include/stemma/version.hpp",
                 f"write {'.'.join(numbers)}")
    # The visualizers of Visual Studio contain the inline namespace.
    name = "examples/packaging/debuggers/stemma.natvis"
    abi = "v" + "_".join(numbers[:2])
    for number, line in enumerate(document(name).splitlines(), 1):
        spelled = re.search(r'Name="stemma::(v\d+_\d+)?', line)
        if spelled and (spelled[1] or abi) != abi:
            complain(name, number, "differs from the version in include/stemma/version.hpp", f"write {abi}")


def check_exceptions():
    for title, table in [("UNTESTED", UNTESTED), ("UNMIRRORED", UNMIRRORED),
                         ("CONDITIONAL_INCLUDES", CONDITIONAL_INCLUDES),
                         ("UNNAMED_SOURCES", UNNAMED_SOURCES), ("GIVEN_SOURCES", GIVEN_SOURCES)]:
        for key in table:
            if (id(table), key) not in used_exceptions:
                complain("tests/repo_check.py", 1, f"{title} lists '{key}' needlessly",
                         "take it out of the list")


def print_sizes():
    sizes = sorted((TEXT[name].count("\n"), header_name(name)) for name in HEADERS)
    lengths = [lines for lines, _ in sizes]
    total = {top: sum(TEXT[n].count("\n") for n in CODE if n.startswith(top + "/"))
             for top in ("include", "tests", "bench", "examples")}
    print(f"headers: {len(sizes)}, lines: median {statistics.median(lengths):.0f}, "
          f"p90 {lengths[len(lengths) * 9 // 10]}, longest "
          + ", ".join(f"{name} {lines}" for lines, name in reversed(sizes[-3:])))
    print("lines of code: " + ", ".join(f"{top} {lines}" for top, lines in total.items()))


def main():
    check_licence_lines()
    check_guards()
    check_mirror()
    check_includes()
    check_standard_includes()
    check_language()
    check_namespaces()
    check_layers()
    check_words()
    check_sizes()
    check_confidences()
    check_policies()
    check_refusals()
    check_portable()
    check_commands()
    check_schemas()
    check_links()
    check_version()
    check_exceptions()
    print_sizes()
    for text in complaints:
        print(text)
    print(f"{len(complaints)} complaints" if complaints else "nothing to complain about")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
