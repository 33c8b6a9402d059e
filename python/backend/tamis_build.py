"""Build a wheel of tamis: the backend that pip calls (PEP 517).

A wheel is a zip of the package with three files of metadata. Meson compiles the module, with the library in it. Nothing
but Python's own library is used here, so pip needs no network: setuptools and wheel are not asked for.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[1]
ROOT = PYTHON.parent
BUILD = Path(os.environ.get("TAMIS_PYTHON_BUILD", ROOT / "build-python"))

# What the module does not need is not built. libsodium is linked statically where that is possible, so that the wheel
# runs on machines without it.
OPTIONS = ["-Dpython=enabled", "-Dtests=disabled", "-Dbench=disabled", "-Dflows=disabled",
           "-Ddefault_library=both", "-Dbuildtype=release", "-Dsodium=auto", "-Dsodium_static=true"]

PROJECT = tomllib.loads((PYTHON / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version() -> str:
    text = (ROOT / "meson.build").read_text(encoding="utf-8")
    return re.search(r"^\s*version: '([^']+)'", text, re.M).group(1)


def run(*command: str) -> None:
    """Without pip's PYTHONPATH, which hides the packages that /usr/bin/meson is made of."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}")


def build_package() -> Path:
    """Compile, and return the folder of the package."""
    options = [*OPTIONS, f"-Dpython_path={sys.executable}"]
    if (BUILD / "build.ninja").exists():
        run("meson", "configure", str(BUILD), *options)
    else:
        run("meson", "setup", str(BUILD), str(ROOT), *options)
    run("ninja", "-C", str(BUILD), "python")
    return BUILD / "python" / "tamis"


def tag() -> str:
    """One binary for 3.11 and all later versions."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"cp311-abi3-{platform}"


def metadata() -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {version()}",
             f"Summary: {PROJECT['description']}", f"License: {PROJECT['license']['text']}",
             f"Keywords: {','.join(PROJECT['keywords'])}", f"Requires-Python: {PROJECT['requires-python']}",
             *(f"Classifier: {name}" for name in PROJECT["classifiers"]),
             "Description-Content-Type: text/markdown", ""]
    return "\n".join([*lines, (PYTHON / PROJECT["readme"]).read_text(encoding="utf-8")])


def wheel_file() -> str:
    return f"Wheel-Version: 1.0\nGenerator: tamis\nRoot-Is-Purelib: false\nTag: {tag()}\n"


class Wheel:
    """A zip with a list of what is in it. Dates are fixed: the same sources make the same bytes."""

    def __init__(self, path: Path) -> None:
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.records: list[str] = []

    def add(self, name: str, data: bytes, mode: int = 0o644) -> None:
        entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(data)}")

    def close(self, record: str) -> None:
        self.records.append(f"{record},,")
        self.zip.writestr(zipfile.ZipInfo(record, (2000, 1, 1, 0, 0, 0)), "\n".join(self.records) + "\n")
        self.zip.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Called by pip; returns the name of the wheel that was written."""
    package = build_package()
    info = f"tamis-{version()}.dist-info"
    name = f"tamis-{version()}-{tag()}.whl"
    wheel = Wheel(Path(wheel_directory) / name)
    sources = [file for file in sorted((PYTHON / "tamis").iterdir()) if file.suffix in (".py", ".pyi", ".typed")]
    for file in sources:
        wheel.add(f"tamis/{file.name}", file.read_bytes())
    wheel.add("tamis/_core.abi3.so", (package / "_core.abi3.so").read_bytes(), 0o755)
    wheel.add(f"{info}/METADATA", metadata().encode())
    wheel.add(f"{info}/WHEEL", wheel_file().encode())
    wheel.add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.close(f"{info}/RECORD")
    return name


def build_sdist(sdist_directory, config_settings=None):
    """The module is compiled together with the library, so a checkout of tamis is the source distribution."""
    raise SystemExit("tamis has no source distribution of its own: install from a checkout, or take the wheel of `make python`")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print(folder / build_wheel(folder))
