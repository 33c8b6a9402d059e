"""Build a wheel or a source distribution of tamis: the backend that pip calls (PEP 517).

A wheel is a zip of the package with three files of metadata. Meson compiles the module, with the library in it. This file uses only Python's own library (no setuptools, no wheel), so pip needs no network.

usage: tamis_build.py FOLDER [sdist]      write a wheel there, or a source distribution
"""
import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[1]
ROOT = PYTHON.parent
BUILD = Path(os.environ.get("TAMIS_PYTHON_BUILD", ROOT / "build-python"))

# Build only what the module needs. libsodium is linked statically where that is possible, so that the wheel
# runs on machines without it.
OPTIONS = ["-Dpython=enabled", "-Dtests=disabled", "-Dbench=disabled", "-Dflows=disabled",
           "-Ddefault_library=both", "-Dbuildtype=release", "-Dsodium=auto", "-Dsodium_static=true"]

PROJECT = tomllib.loads((PYTHON / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version() -> str:
    text = (ROOT / "meson.build").read_text(encoding="utf-8")
    return re.search(r"^\s*version: '([^']+)'", text, re.M).group(1)


def run(*command: str) -> None:
    """The environment without pip's PYTHONPATH, which hides the packages that /usr/bin/meson needs."""
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
    """Write a zip with a list of its contents. Dates are fixed, so that the same sources give the same bytes."""

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


def info_folder() -> str:
    return f"{PROJECT['name']}-{version()}.dist-info"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Called by pip before it builds a wheel, so that we compile only once. Returns the name of the folder."""
    folder = Path(metadata_directory) / info_folder()
    folder.mkdir()
    (folder / "METADATA").write_text(metadata(), encoding="utf-8")
    (folder / "WHEEL").write_text(wheel_file(), encoding="utf-8")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Called by pip; returns the name of the wheel that was written."""
    package = build_package()
    info = info_folder()
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


def tracked_files() -> list[str]:
    """The files that git tracks; an empty list if there is no git, or no checkout."""
    if shutil.which("git") is None:
        return []
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    return [name for name in listed.stdout.split("\0") if name]


def is_source(path: Path) -> bool:
    """Is it a source file: not built, and not left over from a tool? About the same as .gitignore."""
    made = {"__pycache__", "node_modules", ".hypothesis", ".mypy_cache", "PKG-INFO"}
    return not path.parts[0].startswith(("build", ".git")) and not made.intersection(path.parts) \
        and path.parts[:2] != ("lab", "report") and path.suffix not in (".tmp", ".whl")


def source_files() -> list[str]:
    """The files that git tracks; in an unpacked source distribution, all source files."""
    below = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
    names = tracked_files() or [str(path) for path in below if is_source(path)]
    return sorted(name for name in names if (ROOT / name).is_file())


def build_sdist(sdist_directory, config_settings=None):
    """The module is compiled together with the library, so this has all of tamis. Dates are fixed, so that the same sources give the same bytes."""
    base = f"{PROJECT['name']}-{version()}"
    path = Path(sdist_directory) / f"{base}.tar.gz"
    with open(path, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed, \
            tarfile.open(mode="w", fileobj=packed, format=tarfile.PAX_FORMAT) as tar:
        for name in source_files():
            add_source(tar, f"{base}/{name}", (ROOT / name).read_bytes(), os.access(ROOT / name, os.X_OK))
        add_source(tar, f"{base}/PKG-INFO", metadata().encode(), False)
    return path.name


def add_source(tar: tarfile.TarFile, name: str, data: bytes, is_program: bool) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = len(data), 946684800, 0o755 if is_program else 0o644
    tar.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    build = build_sdist if sys.argv[2:] == ["sdist"] else build_wheel
    print(folder / build(folder))
