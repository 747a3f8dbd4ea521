# SPDX-License-Identifier: Apache-2.0
"""A recipe for Conan 2, as its conventions are."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, cmake_layout
from conan.tools.files import copy, load


class Stemma(ConanFile):
    name = "stemma"
    license = "Apache-2.0"
    description = "module hierarchy of ONNX graphs"
    package_type = "header-library"
    settings = "os", "compiler", "build_type", "arch"
    generators = "CMakeToolchain", "CMakeDeps"
    no_copy_source = True

    def set_version(self):
        path = os.path.join(self.recipe_folder, "..", "..", "include", "stemma", "version.hpp")
        numbers = re.findall(r"STEMMA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", load(self, path))
        self.version = ".".join(numbers)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "examples/packaging/*", "examples/report/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def requirements(self):
        self.requires("boost/[>=1.74]", transitive_headers=True)
        self.requires("range-v3/[>=0.12]", transitive_headers=True)
        self.requires("nlohmann_json/[>=3.9]", transitive_headers=True)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"STEMMA_WITH_ONNX": "OFF", "STEMMA_BUILD_PROGRAM": "OFF",
                                   "STEMMA_BUILD_EXAMPLES": "OFF"})

    def package(self):
        CMake(self).install()

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("share", "cmake", "stemma"))
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
