"""Judges reports of `episodic check --report` with OpenEnv's own package, and validates a served world with it.

`validate_reports.py <base URL> <package>...` prints a line of JSON for each package: its report is at
`validation/episodic.json`. The first package is the world that is served at the URL; it is validated whole.
"""

from __future__ import annotations

import json
import sys
import tempfile
import tomllib
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import episodic_env
import jsonschema
from episodic_env.openenv import GRADERS, REPORT, validate
from openenv.validation import (
    UNSUPPORTED_CATEGORIES,
    GraderRegistry,
    Lane,
    Level,
    ProviderCapability,
    apply_policy,
    load_policy,
    run_validation,
)
from openenv.validation.report import ValidationReportV2

SCHEMA = json.loads(files("openenv.validation").joinpath("schemas/report-v2.schema.json").read_text())
POLICY = load_policy("v2")
MISSING = "grader not implemented in this build"


class ServedProvider:
    """Stands for a container: the world is served already."""

    name = "served"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public"})

    def __init__(self, url: str) -> None:
        self.url = url

    def build(self, root: Path, execution: Any) -> str:
        """Builds nothing."""
        return "sha256:" + "0" * 64

    def start(self, spec: Any) -> Any:
        """Returns the world that is served."""
        return SimpleNamespace(base_url=self.url, inspect=dict, logs=lambda _=0: "", stop=lambda: None)


def judge(root: Path) -> dict[str, Any]:
    """Returns what OpenEnv's schema, models, policy and parser say of a package and its report."""
    text = (root / REPORT).read_text()
    jsonschema.validate(json.loads(text), SCHEMA)
    report = ValidationReportV2.model_validate_json(text)
    by = {status: [r.check_id for r in report.results if r.status == status] for status in ("pass", "fail", "skip")}
    said = {
        "name": root.name,
        "answered": len(by["pass"]) + len(by["fail"]),
        "failed": by["fail"],
        "hasAllIds": [r.check_id for r in report.results] == list(POLICY.entries_for_lane(Lane.LOCAL)),
        "hasReasons": all(r.evidence for r in report.results),
        "hasVerdictOfPolicy": report.verdict == apply_policy(report.results, POLICY, Lane.LOCAL),
        "verdict": report.verdict.value,
    }
    if report.manifest is None:
        (manifest,) = (r.evidence for r in report.results if r.check_id == "static.manifest")
        return {**said, "unsupported": [kind for kind in UNSUPPORTED_CATEGORIES if kind in manifest[0]]}
    static = run_validation(root, max_level=Level.STATIC)
    return {**said, "static": static.verdict.value, "isProposed": proposed(static.manifest, report.manifest)}


def proposed(parsed: Any, said: Any) -> bool:
    """Returns whether the block that was proposed for `openenv.yaml` is read as what the report says."""
    return bool(parsed is not None and parsed.model_dump() == said.model_dump())


def validate_served(root: Path, url: str) -> dict[str, Any]:
    """Validates a served world with OpenEnv's graders alone, and with those of `episodic-env` too."""
    with (root / "openenv.yaml").open("a") as manifest:
        manifest.write('  execution: {"kind": "openenv_ws"}\n')
    provider = ServedProvider(url)
    bare = run_validation(root, provider=provider)
    ours = validate(root, provider=provider)
    measured = [r.check_id for r in bare.results if r.status == "pass"]
    return {
        "measured": measured,
        "bare": bare.verdict.value,
        "left": [r.check_id for r in bare.results if MISSING in "".join(r.evidence)],
        "ours": ours.verdict.value,
        "passedWithOurs": sum(r.status == "pass" for r in ours.results),
        "stillMissing": [r.check_id for r in ours.results if MISSING in "".join(r.evidence)],
    }


def load_graders() -> bool:
    """Returns whether OpenEnv's registry loads each grader by the entry points of `episodic-env`."""
    project = tomllib.loads((Path(episodic_env.__file__).parents[2] / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["openenv.validation.graders"]
    with tempfile.TemporaryDirectory() as folder:
        # What an installer makes of them.
        info = Path(folder) / "episodic_env-0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: episodic-env\nVersion: 0\n")
        lines = [f"{name} = {value}\n" for name, value in points.items()]
        (info / "entry_points.txt").write_text("[openenv.validation.graders]\n" + "".join(lines))
        sys.path.append(folder)
        registry = GraderRegistry()
        loaded = registry.load_entry_points()
        sys.path.remove(folder)
    graders = vars(GRADERS).values()
    return loaded == len(graders) and all(registry.get(grader.check_id) is grader for grader in graders)


def main(url: str, *packages: str) -> None:
    """Prints a line for each package."""
    for i, package in enumerate(packages):
        judged = judge(Path(package))
        served = {"served": {**validate_served(Path(package), url), "loads": load_graders()}} if i == 0 else {}
        print(json.dumps({**judged, **served}))


if __name__ == "__main__":
    main(*sys.argv[1:])
