"""The demo and the measurements of the module, with few keys: the server still understands what they send."""
import os
import subprocess
import sys
from pathlib import Path

import pytest
from server import MODULE, sanitizer_environment

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ["TAMIS_BUILD"]


def run(*command):
    """Nothing with a sanitizer: these scripts start their servers themselves, without its runtime."""
    if sanitizer_environment() is not None:
        return None
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_demo():
    said = run(ROOT / "scripts/demo-redis", BUILD)
    assert said is None or "6. A key is a file" in said and "sieve\n" in said.split("$ printf")[1]


def test_measure():
    said = run(sys.executable, ROOT / "tests/redis/measure", MODULE, "2000", "single_commands", "variadic")
    assert said is None or said.count(" ratio ") == 5 and said.count("keys/s") == 5


@pytest.mark.slow
def test_measure_of_the_rest():
    said = run(sys.executable, ROOT / "tests/redis/measure", MODULE, "2000", "space", "new_shapes")
    assert said is None or said.count("p99.9") == 7 and "0 refused" in said


@pytest.mark.slow
def test_measure_of_a_cluster():
    said = run(sys.executable, ROOT / "tests/redis/measure-cluster", BUILD, "1000")
    assert said is None or said.count(" windows: ") == 8
