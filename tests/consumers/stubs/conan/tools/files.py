# SPDX-License-Identifier: Apache-2.0
import fnmatch
import pathlib
import shutil


def load(_, path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def copy(_, pattern, source, target):
    """Copies matching files of a folder; like Conan, silently if none matches."""
    for path in pathlib.Path(source).rglob("*"):
        name = path.relative_to(source)
        if path.is_file() and fnmatch.fnmatch(str(name), pattern):
            (pathlib.Path(target) / name.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, pathlib.Path(target) / name)
