#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses stemma in the ways that docs/install.md describes, each in a clean folder.

usage: consumers_test.py WAY BUILD FOLDER [COMPONENT]

WAY is install, find_package, subdirectory, fetch_content, pkg_config, no_exceptions, without_json, exporting, missing, conan,
vcpkg, benchmark, documents or debian. BUILD is a folder in which stemma was built, FOLDER one that this program may empty and fill.
"""
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODEL = ROOT / "examples/data/bert_micro.onnx"
# All of the core, in two units: only where compiler options matter, as it takes ten times as long.
WHOLE_CORE = [HERE / "whole_core.cpp", HERE / "other_unit.cpp"]
COMPILER = os.environ.get("CXX", "c++")  # as in CMake
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
    print(run(program, *([] if component in ("core", "bench") else [MODEL])), end="")


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
    """With -I, not -isystem, so that warnings in headers are the consumer's."""
    cmake("find_package", folder, component, f"-DCOMPONENT={component}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
          "-DCMAKE_CXX_EXTENSIONS=OFF", "-DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON",
          f"-DCMAKE_CXX_FLAGS=-g0 {' '.join(WARNINGS)}",
          f"-DCMAKE_PREFIX_PATH={folder.parent / 'installed'}")


def pkg_config(folder, component):
    """Not compiled again if that is the same text for the compiler as with CMake, which takes far less time to find."""
    name = "stemma" if component == "stemma" else f"stemma-{component}"
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder.parent / "installed/share/pkgconfig")}
    flags = run("pkg-config", "--cflags", name, env=environment).split()
    libraries = run("pkg-config", "--libs", name, env=environment).split()
    consumer = emptied(folder) / "consumer"
    compile_it = [COMPILER, "-std=c++20", *WARNINGS, *flags]
    if component == "core":
        run(*compile_it, *WHOLE_CORE, *libraries, "-o", consumer)
    else:
        by_cmake = folder.parent / f"find_package_{component}"
        (command,) = json.loads((by_cmake / "compile_commands.json").read_text())
        words = shlex.split(command["command"])
        library = by_cmake / words[words.index("-o") + 1]
        # Assertions name their file, by its path from the .pc file.
        texts = [run(*one, "-E", "-P", HERE / f"{component}.cpp").replace("share/pkgconfig/../../", "")
                 for one in (compile_it, words[:words.index("-o")])]
        if texts[0] != texts[1]:
            sys.exit("with the flags of pkg-config, the compiler reads something else than with those of CMake")
        run(COMPILER, library, *libraries, "-o", consumer)
    run_consumer(consumer, component)


def no_exceptions(folder):
    """The core without exceptions, for programs that are built without them: in one unit, as that takes half the time."""
    program, other = WHOLE_CORE
    run(COMPILER, "-std=c++20", "-fno-exceptions", "-I", ROOT / "include", "-include", other, program,
        "-o", emptied(folder) / "consumer")
    run_consumer(folder / "consumer", "core")


def without_json(folder):
    """The core without nlohmann-json, as a subproject and installed."""
    emptied(folder)
    refused = folder / "refused/nlohmann/json.hpp"
    refused.parent.mkdir(parents=True)
    refused.write_text("#error the core needs no <nlohmann/json.hpp>\n")
    hidden = ["-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON", f"-DCMAKE_CXX_FLAGS=-g0 -I{refused.parent.parent}"]
    cmake("subdirectory", folder / "subdirectory", "core", f"-DSTEMMA={ROOT}", *hidden)
    run("cmake", "-S", ROOT, "-B", folder / "headers", f"-DCMAKE_INSTALL_PREFIX={folder / 'prefix'}",
        "-DSTEMMA_BUILD_PROGRAM=OFF", "-DSTEMMA_BUILD_EXAMPLES=OFF", "-DSTEMMA_WITH_ONNX=OFF", *hidden)
    run("cmake", "--install", folder / "headers")
    cmake("find_package", folder / "installed", "core", "-DCOMPONENT=core",
          f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}", *hidden)


def exporting(folder):
    """A library with stemma as a subproject exports and packs itself, and only itself."""
    emptied(folder)
    build, prefix = folder / "build", folder / "prefix"
    run("cmake", "-S", HERE / "exporting", "-B", build, f"-DSTEMMA={ROOT}", "-DCMAKE_CXX_FLAGS=-g0",
        f"-DCMAKE_INSTALL_PREFIX={prefix}")
    run("cmake", "--build", build)
    run("cmake", "--install", build)
    settings = dict(re.findall(r'^set\((CPACK_\w+) "(.*)"\)$', (build / "CPackConfig.cmake").read_text(), re.M))
    if settings["CPACK_PACKAGE_NAME"] != "engine" or settings["CPACK_GENERATOR"] != "TGZ":
        sys.exit("the settings of the whole are not its own")
    leaked = [name for name, value in settings.items()
              if ("stemma" in value and str(ROOT) not in value and name != "CPACK_COMPONENTS_ALL")
              or name.startswith("CPACK_DEBIAN_") or "STEMMA" in name]
    if leaked or list((build / "stemma").rglob("CPackConfig.cmake")):
        sys.exit(f"what stemma packs itself with stands in the whole: {leaked}")
    cmake("exported", folder / "user", "core", f"-DCMAKE_PREFIX_PATH={prefix}")


def missing(folder, *with_onnx):
    """Missing dependencies are reported, with their package."""
    emptied(folder)
    bare = ["cmake", "-S", ROOT, "-DSTEMMA_BUILD_PROGRAM=OFF", "-DSTEMMA_BUILD_EXAMPLES=OFF"]
    no_json = "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON"
    no_onnx = f"-DCMAKE_PROJECT_INCLUDE={HERE / 'stubs/no_onnx.cmake'}"
    cases = [([*bare, "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON"], "libboost-dev"),
             (["cmake", "-S", ROOT, no_json], "nlohmann-json3-dev"),
             (["cmake", "-S", ROOT, "-DCMAKE_DISABLE_FIND_PACKAGE_range-v3=ON"], "librange-v3-dev"),
             ([*bare, "-DSTEMMA_WITH_ONNX=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON"], "libprotobuf-dev")]
    if with_onnx:
        user = ["cmake", "-S", HERE / "find_package", "-DCOMPONENT=onnx",
                f"-DCMAKE_PREFIX_PATH={folder.parent / 'installed'}"]
        cases += [([*bare, "-DSTEMMA_WITH_ONNX=ON", no_onnx], "libonnx-dev"),
                  ([*user, no_onnx], "libonnx-dev"),
                  ([*user, "-DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON"], "libprotobuf-dev"),
                  ([*user, no_json], "nlohmann-json3-dev"),
                  ([*user, "-DCMAKE_DISABLE_FIND_PACKAGE_range-v3=ON"], "librange-v3-dev")]
    for number, (words, package) in enumerate(cases):
        result = subprocess.run([str(word) for word in [*words, "-B", folder / str(number)]], capture_output=True, text=True)
        if result.returncode == 0 or package not in result.stderr:
            print("$", *words)
            print(result.stdout, result.stderr)
            sys.exit(f"it does not name {package}")
    print(f"{len(cases)} packages named")


def conan(folder):
    """The recipe, with a minimal stand-in for Conan; and the use of the package."""
    emptied(folder)
    sys.path.insert(0, str(HERE / "stubs"))
    spec = importlib.util.spec_from_file_location("conanfile", ROOT / "examples/packaging/conanfile.py")
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    recipe = module.Stemma(ROOT / "examples/packaging")
    recipe.export_sources_folder = recipe.source_folder = str(folder / "sources")
    recipe.package_folder = str(folder / "package")
    recipe.set_version()
    if not re.fullmatch(r"\d+\.\d+\.\d+", recipe.version):
        sys.exit(f"the version is '{recipe.version}'")
    for step in ("export_sources", "requirements", "layout", "build", "package", "package_id", "package_info"):
        getattr(recipe, step)()
    places = ";".join(str(folder / "package" / place) for place in recipe.cpp_info.builddirs)
    cmake("find_package", folder / "user", "stemma", "-DCOMPONENT=stemma", f"-Dstemma_DIR={places}")


def vcpkg(folder):
    """The port, with a minimal stand-in for vcpkg; and the use of what it installs."""
    emptied(folder)
    package = folder / "package"
    run("cmake", f"-DPORTFILE={ROOT / 'examples/packaging/vcpkg/portfile.cmake'}", f"-DPACKAGE={package}",
        f"-DBUILDTREES={folder / 'buildtrees'}", "-P", HERE / "stubs/vcpkg.cmake")
    for name in ("include/stemma/stemma.hpp", "share/stemma/copyright", "share/stemma/stemma-config.cmake"):
        if not (package / name).exists():
            sys.exit(f"{name} is not installed")
    for name in ("debug", "share/cmake"):
        if (package / name).exists():
            sys.exit(f"{name} is installed")
    cmake("find_package", folder / "user", "stemma", "-DCOMPONENT=stemma", f"-Dstemma_DIR={package / 'share/stemma'}")


def benchmark(folder):
    """A policy compared with the default, in a separate project, on few operators: too few for optimizing to matter."""
    build = emptied(folder)
    run("cmake", "-S", ROOT / "examples/benchmark", "-B", build, "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG")
    run("cmake", "--build", build)
    output = run(build / "my_policy", "400", "--benchmark_min_time=0.001", "--benchmark_format=json")
    rows = json.loads(output[output.index("{"):])["benchmarks"]
    print(*(f"{one['name']} {one['real_time']:.3f} {one['time_unit']}" for one in rows), sep="\n")
    expected = ["selection/default", "selection/mine", "tag_operators/default", "tag_operators/mine"]
    if [one["name"] for one in rows] != expected or any(one["items_per_second"] <= 0 for one in rows):
        sys.exit("that is not what was to be measured")


def documents(folder):
    """CMake code in documents can be configured, in a project with the installed stemma."""
    emptied(folder)
    blocks = [block for name in ("docs/library.md", "docs/install.md", "docs/policies.md", "docs/policies/benchmark.md")
              for block in re.findall(r"^```cmake\n(.*?)^```$", (ROOT / name).read_text(), re.M | re.S)]
    for number, block in enumerate(blocks):
        project = emptied(folder / str(number))
        (project / "stemma").symlink_to(ROOT)
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.21)\nproject(shown CXX)\n"
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
    # That folder lacks dependencies; nothing that needs them is configured.
    dpkg = ["dpkg", f"--root={root}", "--force-not-root", "--force-depends", "--log=/dev/null"]
    environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    before = {path for path in root.rglob("*") if "var" not in path.parts}
    run(*dpkg, "--install", *packages, env=environment)
    stemma = root / "usr/bin/stemma"
    print(run(stemma, "--version"), end="")
    # The program finds the one that it queries about types and validity.
    checked = run(stemma, "validate", ROOT / "examples/data/bert_micro.onnx")
    if "onnx.cannot_judge" in checked:
        sys.exit(checked)
    run(COMPILER, "-std=c++20", "-fsyntax-only", "-I", root / "usr/include", HERE / "stemma.cpp")
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
    elif way == "missing":
        missing(folder, *component)
    elif way in ("without_json", "exporting", "conan", "vcpkg", "benchmark", "documents"):
        globals()[way](folder)
    elif way == "subdirectory":
        cmake("subdirectory", folder, "core", f"-DSTEMMA={ROOT}")
    elif way == "fetch_content":
        cmake("fetch_content", folder, "stemma", f"-DSTEMMA={ROOT}")
    else:
        debian(build, folder)


if __name__ == "__main__":
    main()
