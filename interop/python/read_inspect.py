"""Reads Inspect logs of `episodic export` with inspect_ai, and compares them with the summaries of their runs. Prints one line
for each log.

Usage: read_inspect.py FOLDER, which has <run>.eval and <run>/summary.json for each run.
"""

import json
import sys
from pathlib import Path

from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries

for file in sorted(Path(sys.argv[1]).glob("*.eval")):
    summary = json.loads((file.with_suffix("") / "summary.json").read_text())
    counts, success = summary["counts"], summary["success"]["overall"]
    log = read_eval_log(str(file))
    assert log.status == "success" and log.version == 2

    scored = [sample for sample in log.samples if sample.scores]
    failed = [sample for sample in log.samples if sample.error]
    assert [len(scored), len(failed)] == [counts["finished"], counts["failed"]], counts
    assert log.results.total_samples == len(log.samples) and log.results.completed_samples == len(scored)
    assert not any(sample.error for sample in scored) and not any(sample.scores for sample in failed)

    # The success rate of the run is that of the log, and that of its samples.
    scores = {score.name: score for score in log.results.scores}
    assert scores["success"].metrics["mean"].value == success["rate"], (scores["success"], success)
    bounds = summary["success"]["bounds"]
    metrics = {name: metric.value for name, metric in scores["success"].metrics.items() if name.startswith("if_failed")}
    assert metrics == ({"if_failed_lost": bounds["low"], "if_failed_won": bounds["high"]} if bounds else {}), metrics
    assert sum(sample.scores["success"].as_float() for sample in scored) == success["successes"]
    mean = sum(sample.scores["return"].as_float() for sample in scored) / len(scored)
    assert abs(mean - scores["return"].metrics["mean"].value) < 1e-9
    assert len(log.reductions) == len(scores)

    # Summaries and single samples are what a viewer reads.
    summaries = read_eval_log_sample_summaries(str(file))
    assert {(each.id, each.epoch) for each in summaries} == {(sample.id, sample.epoch) for sample in log.samples}
    for each in summaries[:10]:
        sample = read_eval_log_sample(str(file), id=each.id, epoch=each.epoch)
        assert len(sample.messages) == each.message_count and sample.uuid == each.uuid

    models = [event for sample in log.samples for event in sample.events if event.event == "model"]
    tools = [event for sample in log.samples for event in sample.events if event.event == "tool"]
    assert len(tools) == sum(sample.metadata["steps"] for sample in log.samples)
    tokens = summary["tokens"]
    assert len(models) == (tokens["requests"] if tokens else 0)
    if tokens:
        assert all(event.input and event.tools for event in models)
        assert sum(event.output.usage.total_tokens for event in models) == tokens["prompt"] + tokens["completion"]
        assert sum(usage.total_tokens for usage in log.stats.model_usage.values()) == tokens["prompt"] + tokens["completion"]
    read = f"{len(scored)} scored and {len(failed)} failed samples, {len(models)} answers of models, success {success['rate']:.3f}"
    print(json.dumps({"file": file.name, "read": read}), flush=True)
