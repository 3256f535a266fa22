"""Remake the vendored files of the dashboard and of its tests from packages of npm.

Usage: tools/vendor.py   (needs npm; run it only to upgrade: change a version below, run, test)
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "src/tenure/dashboard/files/vendor"
TESTS = ROOT / "tests/dashboard/vendor"
VERSIONS = {
    "preact": "11.2.0",
    "@preact/signals-core": "1.14.5",
    "@preact/signals": "2.11.4",
    "htm": "3.1.1",
    "uplot": "1.6.32",
    "axe-core": "4.14.0",
}
# In the order in which they need each other.
MODULES = [
    ("preact", "preact", "dist/preact.mjs"),
    ("preact/hooks", "preact", "hooks/dist/hooks.mjs"),
    ("@preact/signals-core", "@preact/signals-core", "dist/signals-core.mjs"),
    ("@preact/signals", "@preact/signals", "dist/signals.mjs"),
]
NAMES = {
    "preact": ["h", "render", "Fragment", "Component", "createContext", "createRef"],
    "preact/hooks": ["useState", "useEffect", "useLayoutEffect", "useMemo", "useRef",
                     "useCallback", "useContext", "useErrorBoundary", "useId"],
    "@preact/signals-core": ["signal", "computed", "effect", "batch", "untracked"],
    "@preact/signals": ["useSignal", "useComputed", "useSignalEffect"],
}  # fmt: skip
IMPORT = re.compile(r'import ?\{([^}]*)\} ?from ?"([^"]+)";?')
EXPORT_FROM = re.compile(r'export ?\{([^}]*)\} ?from ?"([^"]+)";?')
EXPORT = re.compile(r"export ?\{([^}]*)\};?")
MAP = re.compile(r"\n?//# sourceMappingURL=\S+")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        packages = {name: fetch(name, Path(folder)) for name in VERSIONS}
        write(PAGE, packages, {"ui.js": ui(packages), "uplot.js": uplot(packages)},
              {"ui.js": ["preact", "@preact/signals-core", "@preact/signals", "htm"],
               "uplot.js": ["uplot"]})  # fmt: skip
        axe = (packages["axe-core"] / "axe.min.js").read_text()
        write(TESTS, packages, {"axe.js": axe}, {"axe.js": ["axe-core"]})
    return 0


def fetch(name: str, folder: Path) -> Path:
    """The unpacked package."""
    command = ["npm", "pack", "--silent", f"{name}@{VERSIONS[name]}"]
    packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    into = folder / name.replace("/", "-")
    with tarfile.open(folder / packed.stdout.split()[-1]) as archive:
        archive.extractall(into, filter="data")
    return into / "package"


def ui(packages: dict[str, Path]) -> str:
    """Preact, its hooks, signals and htm as one module. Each keeps a scope of its own, because
    minified names clash; one file is one request instead of five.
    """
    parts = [f"// {name} {version}" for name, version in VERSIONS.items() if name in used()]
    parts.append("const scopes = {};")
    for module, package, path in MODULES:
        parts.append(scoped(module, (packages[package] / path).read_text()))
    htm = (packages["htm"] / "dist/htm.mjs").read_text()
    parts.append(
        re.sub(r"export default ?function", "const htm = function", htm).rstrip("\n;") + ";"
    )
    for module, names in NAMES.items():
        parts.append(f"export const {{ {', '.join(names)} }} = scopes[{json.dumps(module)}];")
    parts.append("export const html = htm.bind(h);")
    return "\n".join(parts) + "\n"


def used() -> set[str]:
    return {package for _, package, _ in MODULES} | {"htm"}


def scoped(module: str, text: str) -> str:
    """The module as a function that returns what it exports."""
    text = MAP.sub("", text)
    given = []

    def take(found: re.Match[str]) -> str:
        names = found[1].replace(" as ", ": ")
        return f"const {{{names}}} = scopes[{json.dumps(found[2])}];"

    def pass_on(found: re.Match[str]) -> str:
        given.append(f"...scopes[{json.dumps(found[2])}]")
        return ""

    def give(found: re.Match[str]) -> str:
        for one in found[1].split(","):
            inner, _, outer = one.partition(" as ")
            given.append(f"{outer or inner}: {inner}")
        return ""

    text = EXPORT.sub(give, EXPORT_FROM.sub(pass_on, IMPORT.sub(take, text)))
    if "export" in re.findall(r"[\w$]+", text):
        raise SystemExit(f"{module} exports in a way that this script does not know")
    body = f"{text.strip()}\nreturn {{ {', '.join(given)} }};"
    return f"scopes[{json.dumps(module)}] = (() => {{\n{body}\n}})();"


def uplot(packages: dict[str, Path]) -> str:
    """The minified script, made a module."""
    text = (packages["uplot"] / "dist/uPlot.iife.min.js").read_text()
    return (
        text.replace("/*! https://github.com/leeoniya/uPlot (v", "/*! uPlot (v").rstrip()
        + "\nexport default uPlot;\n"
    )


def write(
    folder: Path, packages: dict[str, Path], files: dict[str, str], made_of: dict[str, list[str]]
) -> None:
    """The files, their licences, and a list with hashes that a test compares."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for name, text in files.items():
        (folder / name).write_text(text)
        of = [{"package": one, "version": VERSIONS[one], "license": license_of(packages[one])}
              for one in made_of[name]]  # fmt: skip
        listed.append(
            {"file": name, "sha256": hashlib.sha256(text.encode()).hexdigest(), "madeOf": of}
        )
    names = dict.fromkeys(one for ones in made_of.values() for one in ones)
    texts = [
        f"{one} {VERSIONS[one]}\n\n{(packages[one] / 'LICENSE').read_text().strip()}\n"
        for one in names
    ]
    (folder / "LICENSES.txt").write_text(("\n" + "-" * 80 + "\n\n").join(texts))
    (folder / "vendor.json").write_text(json.dumps(listed, indent=2) + "\n")


def license_of(package: Path) -> str:
    found: str = json.loads((package / "package.json").read_text())["license"]
    return found


if __name__ == "__main__":
    sys.exit(main())
