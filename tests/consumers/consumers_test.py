#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses stemma in the ways that docs/install.md describes, each in a clean folder.

usage: consumers_test.py WAY BUILD FOLDER [COMPONENT]

WAY is install, find_package, subdirectory, fetch_content, pkg_config, no_exceptions, documents or debian. BUILD is a folder in
which stemma was built, FOLDER one that this program may empty and fill.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODEL = ROOT / "examples/data/bert_micro.onnx"
# All of the core, in two units: asked for where the compiler is told what to do, as it takes ten times as long.
WHOLE_CORE = [HERE / "whole_core.cpp", HERE / "other_unit.cpp"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def run(*words, **options):
    result = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode != 0:
        print("$", *words)
        print(result.stdout)
        sys.exit(f"{words[0]} ended with status {result.returncode}")
    return result.stdout


def emptied(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def run_consumer(program, component):
    print(run(program, *([] if component == "core" else [MODEL])), end="")


def cmake(project, folder, component, *options):
    run("cmake", "-S", HERE / project, "-B", emptied(folder), "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS=-g0", *options)
    run("cmake", "--build", folder)
    run_consumer(folder / "consumer", component)


def install(build, folder):
    run("cmake", "--install", build, "--prefix", emptied(folder))
    headers = [path.relative_to(ROOT) for path in (ROOT / "include").rglob("*.hpp")]
    for name in [*headers, "share/man/man1/stemma.1",
                 "share/bash-completion/completions/stemma"]:
        if not (folder / name).exists():
            sys.exit(f"{name} is not installed")
    print(run(folder / "bin/stemma", "--version"), end="")


def find_package(folder, component):
    cmake("find_package", folder, component, f"-DCOMPONENT={component}",
          f"-DCMAKE_PREFIX_PATH={folder.parent / 'installed'}")


def pkg_config(folder, component):
    """With -I, not -isystem, so that warnings in headers are the consumer's."""
    name = "stemma" if component == "core" else f"stemma-{component}"
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder.parent / "installed/share/pkgconfig")}
    flags = run("pkg-config", "--cflags", name, env=environment).split()
    libraries = run("pkg-config", "--libs", name, env=environment).split()
    sources = WHOLE_CORE if component == "core" else [HERE / f"{component}.cpp"]
    run("c++", "-std=c++20", *WARNINGS, *flags, *sources, *libraries, "-o",
        emptied(folder) / "consumer")
    run_consumer(folder / "consumer", component)


def no_exceptions(folder):
    """The core without exceptions, as in programs that build all of themselves so."""
    run("c++", "-std=c++20", "-fno-exceptions", "-I", ROOT / "include", *WHOLE_CORE, "-o", emptied(folder) / "consumer")
    run_consumer(folder / "consumer", "core")


def documents(folder):
    """What documents show for CMake can be configured, in a project with the installed stemma."""
    emptied(folder)
    blocks = [block for name in ("docs/library.md", "docs/install.md", "docs/policies.md")
              for block in re.findall(r"^```cmake\n(.*?)^```$", (ROOT / name).read_text(), re.M | re.S)]
    for number, block in enumerate(blocks):
        project = emptied(folder / str(number))
        (project / "stemma").symlink_to(ROOT)
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.24)\nproject(shown CXX)\n"
            f"add_executable(my_program main.cpp)\n{block}")
        (project / "main.cpp").write_text("int main() {}\n")
        run("cmake", "-S", project, "-B", project / "build",
            f"-DCMAKE_PREFIX_PATH={folder.parent / 'installed'}")
    print(f"{len(blocks)} blocks")
    if not blocks:
        sys.exit("no block was found")


def debian(build, folder):
    """Packages are made, installed below a folder, used, and removed."""
    run("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", emptied(folder))
    packages = sorted(folder.glob("*.deb"))
    if [package.name.split("_")[0] for package in packages] != ["libstemma-dev", "stemma"]:
        sys.exit(f"packages are {packages}")
    root = folder / "root"
    for name in ["var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/dpkg/triggers"]:
        (root / name).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    # Dependencies are not below that folder; nothing is configured that would need them.
    dpkg = ["dpkg", f"--root={root}", "--force-not-root", "--force-depends", "--log=/dev/null"]
    environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    before = {path for path in root.rglob("*") if "var" not in path.parts}
    run(*dpkg, "--install", *packages, env=environment)
    stemma = root / "usr/bin/stemma"
    print(run(stemma, "--version"), end="")
    # The program finds what it asks about types and validity.
    checked = run(stemma, "validate", ROOT / "examples/data/bert_micro.onnx")
    if "onnx.cannot_judge" in checked:
        sys.exit(checked)
    run("c++", "-std=c++20", "-fsyntax-only", "-I", root / "usr/include", HERE / "wire.cpp")
    for name in ["share/man/man1/stemma.1", "share/bash-completion/completions/stemma",
                 "share/fish/vendor_completions.d/stemma.fish"]:
        if not (root / "usr" / name).exists():
            sys.exit(f"{name} is not in the packages")
    run(*dpkg, "--remove", "stemma", "libstemma-dev", env=environment)
    files = [path for path in (root / "usr").rglob("*") if path.is_file()]
    if files:
        sys.exit(f"left after removal: {files}")


def main():
    way, build, folder, *component = sys.argv[1:]
    build, folder = pathlib.Path(build).resolve(), pathlib.Path(folder).resolve()
    os.environ.pop("DESTDIR", None)
    if way == "install":
        install(build, folder)
    elif way == "find_package":
        find_package(folder, *component)
    elif way == "pkg_config":
        pkg_config(folder, *component)
    elif way == "no_exceptions":
        no_exceptions(folder)
    elif way == "documents":
        documents(folder)
    elif way == "subdirectory":
        cmake("subdirectory", folder, "core", f"-DSTEMMA={ROOT}")
    elif way == "fetch_content":
        cmake("fetch_content", folder, "wire", f"-DSTEMMA={ROOT}")
    else:
        debian(build, folder)


if __name__ == "__main__":
    main()
