"""Datasets that Python writes, read by the command."""

from __future__ import annotations

import json
import random
import struct
import subprocess
from pathlib import Path

import pytest
from serving import ROOT, Server, node

from episodic_env import EpisodicError, Task, connect, read_tasks, write_tasks
from episodic_env.canonical_json import canonical_json

ODD = {
    "ü": 'ö\u2028\u0007"\\/',
    "😀": [1, 1.0, -0.0, 1e21, 1e20, 123456789012345680000, 1e-6, 1e-7, 0.1, 2.5e-8, 1e300, 5e-324, -4.5, True, None],
    "\ufb33": {},
    "10": {"b": [], "a": [{}]},
    "9": "",
}


def javascript(program: str, *arguments: str, given: str = "") -> str:
    command = [node(), "--input-type=module", "-e", program, *arguments]
    done = subprocess.run(command, cwd=ROOT / "interop", input=given, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


CANONICAL = """
import { canonicalJson } from '@episodic/protocol'
import { readFileSync } from 'node:fs'
const values = JSON.parse(readFileSync(0, 'utf8'))
console.log(JSON.stringify(values.map((value) => canonicalJson(value))))
"""


def test_the_canonical_form_is_that_of_the_command() -> None:
    draws = random.Random(7)
    numbers = [struct.unpack("<d", draws.randbytes(8))[0] for _ in range(2000)]
    numbers = [number for number in numbers if number == number and abs(number) != float("inf")]
    numbers += [float(f"{draws.randint(1, 999)}e{exponent}") for exponent in range(-30, 30)]
    numbers += [draws.uniform(-1000, 1000) for _ in range(500)] + [2**53 + 1, 10**25, -(10**15)]
    values = [ODD, numbers, "text", None, [[]]]
    # `json.dumps` writes numbers exactly, so both sides read the same ones.
    expected = json.loads(javascript(CANONICAL, given=json.dumps(values)))
    assert [canonical_json(value) for value in values] == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1: 2}, {"a": object()}, {"\udfff": 1}])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(EpisodicError) as refused:
        canonical_json(value)
    assert refused.value.code == "option-invalid"


def test_the_command_takes_what_python_writes(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    tasks = [
        Task("number-guessing", {"high": high}, seed=seed, prompt="Find “it”.\u2028", limits={"steps": 20}, id="mine")
        for high in (10, 1000)
        for seed in (None, "a")
    ]
    with connect(server.url, server.token) as connection:
        written = write_tasks(file, tasks, connection)
        assert [task.seed for task in written] == ["0", "a", "2", "a"]
        assert list(read_tasks(file)) == written
        with connection.open(written[0]) as episode:
            assert episode.params["high"] == 10
    checked = subprocess.run(
        [node(), str(ROOT / "apps/harness/src/cli.ts"), "dataset", "validate", str(file), "--world", "number-guessing"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    serving = Server(tmp_path, "number-guessing", "--tasks", str(file), "--ors-port", "0")
    serving.stop()


def test_tasks_that_cannot_be_written_leave_the_file_as_it_was(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text("before")
    for tasks, code in [
        ([Task("chess")], "unknown-environment"),
        ([Task("number-guessing", version="0.0.1")], "option-invalid"),
        ([Task("number-guessing", seed="a"), Task("number-guessing", seed="a")], "option-invalid"),
        ([Task("number-guessing", {"high": float("nan")})], "option-invalid"),
    ]:
        with connect(server.url, server.token) as connection, pytest.raises(EpisodicError) as refused:
            write_tasks(file, tasks, connection)
        assert refused.value.code == code
        assert file.read_text() == "before"
