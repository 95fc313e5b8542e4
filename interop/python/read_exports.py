"""Reads the files of `episodic export` with the libraries that their users have. Prints one line for each file.

Usage: read_exports.py FOLDER, which has <format>.jsonl for each format, and csv.csv.
"""

import json
import sys
from base64 import b64encode
from math import isclose
from pathlib import Path

from datasets import load_dataset
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

folder = Path(sys.argv[1])


def load(name: str, kind: str = "json"):
    suffix = "jsonl" if kind == "json" else kind
    return load_dataset(kind, data_files=str(folder / f"{name}.{suffix}"), split="train", cache_dir=str(folder / "cache"))


def passed(name: str, what: str) -> None:
    print(json.dumps({"file": name, "read": what}), flush=True)


episodes = load("trl-sft")
assert {"messages", "tools", "task", "attempt", "return", "episode"} <= set(episodes.column_names)
for row in episodes:
    roles = [message["role"] for message in row["messages"]]
    assert roles[0] == "user" and roles[1::2] == ["assistant"] * (len(roles) // 2), roles
    call = row["messages"][1]["tool_calls"][0]["function"]
    assert isinstance(call["arguments"], dict) and call["name"] in {tool["function"]["name"] for tool in row["tools"]}
passed("trl-sft", f"{episodes.num_rows} rows with datasets")

pairs = load("trl-preference")
for row in pairs:
    assert row["returns"][0] > row["returns"][1]
    assert row["prompt"][0]["role"] == "user" and row["chosen"][0]["role"] == row["rejected"][0]["role"] == "assistant"
passed("trl-preference", f"{pairs.num_rows} pairs with datasets")

for row in load("atif"):
    assert row["schema_version"] == "ATIF-v1.7" and [step["step_id"] for step in row["steps"]][0] == 1
passed("atif", "trajectories with datasets")

rollouts = load("trl")
for row in rollouts:
    assert row["mask"] == (row["reward"] is not None) and row["reward_kind"] == "unshaped"
    assert row["prompt"][-1]["role"] == "user" and row["completion"][0]["role"] == "assistant"
assert len(set(rollouts["group"])) < rollouts.num_rows
passed("trl", f"{rollouts.num_rows} rollouts with datasets")

table = load("csv", "csv")
assert table.features["return"].dtype == "float64" and table.features["success"].dtype == "bool"
assert table.num_rows == rollouts.num_rows and table["episode"] == rollouts["episode"]
assert all(isclose(read, reward) for read, reward in zip(table["return"], rollouts["reward"], strict=True))
passed("csv", f"{table.num_rows} rows with datasets")

# Protocol Buffers have bytes in base64, and OTLP has its ids in hexadecimal.
spans = []
for line in (folder / "otel.jsonl").read_text().rstrip("\n").split("\n"):
    document = json.loads(line)
    for resource in document["resourceSpans"]:
        for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
            for key in {"traceId", "spanId", "parentSpanId"} & set(span):
                span[key] = b64encode(bytes.fromhex(span[key])).decode()
    # Unknown fields and values of other types are rejected.
    traces = ParseDict(document, TracesData())
    spans += [span for resource in traces.resource_spans for scope in resource.scope_spans for span in scope.spans]
agents = {span.span_id for span in spans if not span.parent_span_id}
assert len(agents) == rollouts.num_rows and all(span.parent_span_id in agents for span in spans if span.parent_span_id)
assert all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in spans)
assert all(span.start_time_unix_nano <= span.end_time_unix_nano for span in spans)
passed("otel", f"{len(spans)} spans with opentelemetry-proto")
