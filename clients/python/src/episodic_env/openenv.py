"""Shows what `episodic check --report` has found inside OpenEnv's own validation. Needs `openenv` 0.10 or newer.

A package keeps the report in `validation/episodic.json`, beside its `openenv.yaml`. The graders of this module, which
are entry points of `openenv.validation.graders`, answer from it the ids that OpenEnv has no grader for. `openenv` 0.10
loads no entry points yet, so `python -m episodic_env.openenv <package>` validates with OpenEnv and adds them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from openenv.validation import (
    CheckResult,
    CheckStatus,
    Lane,
    Level,
    NormalizedManifest,
    Subject,
    ValidationReport,
    Verdict,
    apply_policy,
    load_policy,
    run_validation,
    write_report,
)
from openenv.validation.report import ValidationReportV2

__all__ = ["GRADERS", "REPORT", "EvidenceGrader", "validate"]

REPORT = "validation/episodic.json"
_HOW = f"episodic check <world> --report {REPORT}"
_LEVELS = {"static": Level.STATIC, "runtime": Level.RUNTIME, "semantic": Level.SEMANTIC}
# What OpenEnv measures itself: two graders of one id are an error.
_OWN = {
    "static.manifest",
    "runtime.startup",
    "runtime.reward_well_formed",
    "runtime.observation_schema",
    "runtime.state_contract",
    "runtime.network_policy",
}


class EvidenceGrader:
    """Answers one id by the report of a package; skips it if there is none, or one of another name or version."""

    requires_capabilities: frozenset[str] = frozenset()
    requires_provider: frozenset[Any] = frozenset()
    depends_on: tuple[str, ...] = ()

    def __init__(self, check_id: str) -> None:
        self.check_id = check_id
        self.level = _LEVELS[check_id.partition(".")[0]]

    def applies_to(self, manifest: NormalizedManifest) -> bool:
        """Return true: for a package without a report, `run` says how to make one."""
        return True

    def run(self, subject: Subject) -> CheckResult:
        """Returns the result that the report has for the id."""
        return self.answer(subject.root, subject.manifest)

    def answer(self, root: Path, manifest: NormalizedManifest) -> CheckResult:
        """Returns the result that the report in a folder has for the id."""
        try:
            report = ValidationReportV2.model_validate_json((root / REPORT).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return self._skip(f"{REPORT} is missing", _HOW)
        except ValueError as error:
            return self._skip(f"{REPORT} is no report of RFC 008: {error}", _HOW)
        checked, package = (f"{one.name} {one.version}" if one else None for one in (report.manifest, manifest))
        if checked != package:
            return self._skip(f"{REPORT} is about {checked}, and the package is {package}", _HOW)
        found = next((result for result in report.results if result.check_id == self.check_id), None)
        return found or self._skip(f"{REPORT} does not answer it", None)

    def _skip(self, why: str, remediation: str | None) -> CheckResult:
        skip = CheckStatus.SKIP
        return CheckResult(check_id=self.check_id, status=skip, evidence=[why], remediation=remediation, duration_s=0)


GRADERS = SimpleNamespace(
    **{
        check_id.replace(".", "_"): EvidenceGrader(check_id)
        for check_id in load_policy("v2").entries_for_lane(Lane.LOCAL)
        if check_id not in _OWN
    }
)


def validate(package: str | Path, max_level: Level = Level.SEMANTIC, **options: Any) -> ValidationReport:
    """Validates a package with OpenEnv, answers what OpenEnv has no grader for, and judges all by its policy.

    Args:
        package: The folder that has `openenv.yaml`.
        max_level: The last level.
        options: Further arguments of `openenv.validation.run_validation`, such as `provider`.

    Raises:
        SignatureError: The folder is no package, or one of several formats.
    """
    root = Path(package)
    report: ValidationReport = run_validation(root, max_level=max_level, **options)
    if report.manifest is None:
        return report
    results = {result.check_id: result for result in report.results}
    for grader in vars(GRADERS).values():
        known = results.get(grader.check_id)
        if grader.level <= max_level and (known is None or "grader not implemented" in "".join(known.evidence)):
            results[grader.check_id] = grader.answer(root, report.manifest)
    levels = [level for level in _LEVELS.values() if level <= max_level]
    verdict = apply_policy(list(results.values()), load_policy(report.policy_version), report.lane)
    update = {"results": list(results.values()), "levels_run": levels, "verdict": verdict}
    return report.model_copy(update=update)


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m episodic_env.openenv", description=validate.__doc__)
    parser.add_argument("package", nargs="?", default=".")
    parser.add_argument("--level", choices=list(_LEVELS), default="semantic")
    given = parser.parse_args()
    report = validate(given.package, _LEVELS[given.level])
    print(write_report(report))
    return 1 if report.verdict is Verdict.FAIL else 0


if __name__ == "__main__":
    sys.exit(_main())
