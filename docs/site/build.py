#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the site: documents, reference and the page of examples/web, as files to be served from anywhere.

usage: build.py FOLDER [--reference FOLDER] [--page FOLDER]

FOLDER/html/index.html is the site. The reference is made by Doxygen and the page by emscripten, unless
they are given: FOLDER/html of tests/reference_check.py, FOLDER/page of examples/web/build.sh. Fails when
a link leads nowhere. Status 77 when MkDocs is not installed (Debian: mkdocs-material).
"""
import argparse
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "docs", "examples/python/README.md")

DEMO = """# Try it

Drop an ONNX file below, or take the sample. It is read here and sent nowhere; the [page](page/index.html) is also one
of its own, and [works without a network](docs/web.md).

<iframe src="page/index.html" title="stemma in the browser"
        style="width: 100%; height: 80vh; border: 1px solid #94a3b8; border-radius: 6px"></iframe>
"""


def stage(source):
    """Documents, and what they link to, at the same places as in the repository."""
    for name in DOCUMENTS:
        for path in sorted((ROOT / name).rglob("*")) if (ROOT / name).is_dir() else [ROOT / name]:
            if path.is_file() and path.parent != ROOT / "docs/site" and path.name != "Doxyfile":
                copy(path, source)
    for document in list(source.rglob("*.md")):
        text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)#:]+)(?=[)#])", text):
            path = (ROOT / document.relative_to(source).parent / target).resolve()
            if path.is_dir():  # a folder is shown as a list of what is in it
                names = sorted(one.name for one in path.iterdir() if one.is_file())
                listing = source / path.relative_to(ROOT) / "README.md"
                if not (path / "README.md").exists():
                    for name in names:
                        copy(path / name, source)
                    listing.write_text(f"# {path.relative_to(ROOT)}\n\n" + "".join(f"- [{name}]({name})\n" for name in names))
                document.write_text(document.read_text().replace(f"]({target})", f"]({target.rstrip('/')}/README.md)"))
            else:
                copy(path, source)
    (source / "demo.md").write_text(DEMO)


def copy(path, source):
    target = source / path.relative_to(ROOT)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


class links(html.parser.HTMLParser):
    """What a file links to, and what in it can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.names = set(), {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("href", "src") and value:
                self.targets.add(value)
            elif key in ("id", "name") and value:
                self.names.add(value)


def unlink_private(reference):
    """Doxygen links to private classes but does not describe them: leaves the text of these links."""
    for path in reference.glob("*.html"):
        text = path.read_text(errors="replace")
        without = re.sub(r'<a [^>]*href="(class[\w]+\.html)"[^>]*>(.*?)</a>',
                         lambda link: link[0] if (reference / link[1]).exists() else link[2], text)
        if 'name="nested-classes"' not in text:
            without = without.replace('<a href="#nested-classes">Classes</a> &#124;', "")
        if without != text:
            path.write_text(without)


def broken_links(site):
    pages = {path: links(path.read_text(errors="replace")) for path in site.rglob("*.html")}
    for path, page in sorted(pages.items()):
        for target in sorted(page.targets):
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                continue
            file = path
            if url.path:
                name = urllib.parse.unquote(url.path)
                file = (site / name[1:] if name.startswith("/") else path.parent / name).resolve()
                file = file / "index.html" if file.is_dir() else file
            place = urllib.parse.unquote(url.fragment)
            if not file.exists() or (file in pages and "=" not in place and place not in pages[file].names):
                yield f"{path.relative_to(site)}: links to {target}, which is not there"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--reference", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    if shutil.which("mkdocs") is None:
        print("skipped: MkDocs is not installed (Debian: mkdocs-material)")
        sys.exit(77)
    folder.mkdir(parents=True, exist_ok=True)
    if asked.page and not (asked.page / "page/stemma.wasm").exists():
        print("skipped: the page was not built")
        sys.exit(77)
    if asked.reference is None:
        asked.reference = folder / "reference"
        subprocess.run([sys.executable, ROOT / "tests/reference_check.py", asked.reference], check=True)
    if asked.page is None:
        asked.page = folder / "web"
        subprocess.run(["sh", ROOT / "examples/web/build.sh", asked.page], check=True)
    source, site = folder / "source", folder / "html"
    shutil.rmtree(source, ignore_errors=True)
    stage(source)
    shutil.copytree(asked.reference.resolve() / "html", source / "reference")
    unlink_private(source / "reference")
    shutil.copytree(asked.page.resolve() / "page", source / "page")
    shutil.copy(ROOT / "docs/site/mkdocs.yml", folder)
    subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--clean", "--config-file", folder / "mkdocs.yml"], check=True)
    broken = list(broken_links(site))
    print("\n".join(broken[:50] + [f"{len(list(site.rglob('*.html')))} pages, {len(broken)} links lead nowhere; {site}/index.html"]))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
