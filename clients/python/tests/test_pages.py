"""The programs of the pages, run as they are printed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from serving import ROOT, Server

PAGES = tuple(
    ROOT / page
    for page in (
        "clients/python/README.md",
        "docs/start/python.md",
        "docs/play/python.md",
        "docs/play/python-trainers.md",
    )
)
NEEDS = {
    "gymnasium": "gymnasium",
    "classics": "gymnasium",
    "trl": "datasets",
    "inspect": "inspect_ai",
    "verifiers": "verifiers",
    "skyrl": "skyrl_gym",
}
"""The package that an adapter needs."""


def adapter_of(program: str) -> str:
    return next((adapter for adapter in NEEDS if f"episodic_env.{adapter}" in program), "client")


PROGRAMS = [
    pytest.param(program, id=f"{page.name}-{number}-{adapter_of(program)}")
    for page in PAGES
    for number, program in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
]


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_the_programs_of_the_pages_have_types(tmp_path: Path) -> None:
    for program in PROGRAMS:
        (tmp_path / f"{str(program.id).replace('-', '_').replace('.', '_')}.py").write_text(str(program.values[0]))
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", os.devnull]
    variables = {**os.environ, "MYPYPATH": str(ROOT / "clients/python/src")}
    result = subprocess.run([*command, str(tmp_path)], env=variables, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_a_page_runs(program: str, server: Server, tmp_path: Path) -> None:
    package = NEEDS.get(adapter_of(program))
    if package is not None and importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}")
    # Each plays on the server of the tests, or starts its own.
    assert ("http://127.0.0.1:7337" in program) != bool(re.search(r"\bserve\(", program))
    file = tmp_path / "program.py"
    file.write_text(program.replace("http://127.0.0.1:7337/env", server.url))
    path = os.pathsep.join([str(ROOT / "clients/python/src")])
    variables = {**os.environ, "PYTHONPATH": path, "EPISODIC_CONTROL_TOKEN": server.token}
    command = [sys.executable, str(file)]
    result = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout
