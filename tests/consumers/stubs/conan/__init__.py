# SPDX-License-Identifier: Apache-2.0
"""The part of Conan 2 that the recipe uses, without cache or settings."""


class _Information:
    def __init__(self):
        self.builddirs, self.properties = [], {}

    def set_property(self, name, value):
        self.properties[name] = value

    def clear(self):
        pass


class ConanFile:
    def __init__(self, recipe_folder):
        self.recipe_folder = str(recipe_folder)
        self.required = []
        self.cpp_info, self.info = _Information(), _Information()

    def requires(self, reference, **_):
        self.required.append(reference)
