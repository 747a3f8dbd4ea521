# SPDX-License-Identifier: Apache-2.0
import subprocess


def cmake_layout(recipe):
    recipe.build_folder = recipe.source_folder + "-build"


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self, variables=None):
        recipe = self.recipe
        subprocess.run(["cmake", "-S", recipe.source_folder, "-B", recipe.build_folder,
                        f"-DCMAKE_INSTALL_PREFIX={recipe.package_folder}",
                        *(f"-D{name}={value}" for name, value in (variables or {}).items())],
                       check=True, stdout=subprocess.DEVNULL)

    def install(self):
        subprocess.run(["cmake", "--install", self.recipe.build_folder], check=True, stdout=subprocess.DEVNULL)
