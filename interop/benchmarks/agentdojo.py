"""Plays AgentDojo with its own code, for agentdojo.ts: a line of JSON for each request, and a line for each answer.

A request is {"suite", "task", "attack", "model", "calls", "output"}: `task` is `banking/user_task_0`,
`banking/injection_task_0`, or `banking/user_task_0/injection_task_0`; without `calls` the ground truths are played.
With `--record` it writes what ground truths come to for every task.
"""

import argparse
import datetime
import decimal
import hashlib
import importlib.abc
import importlib.machinery
import json
import sys
import time
import types
import unittest.mock

# This file has the name of the package.
sys.path.pop(0)

# Clients of models are imported by the original, and not used here.
CLIENTS = {"anthropic", "click", "cohere", "dotenv", "google", "langchain", "openai", "requests", "rich", "tenacity"}


class Clients(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in CLIENTS:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return unittest.mock.MagicMock()

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Clients())

from agentdojo.agent_pipeline.tool_execution import is_string_list, tool_result_to_str  # noqa: E402
from agentdojo.attacks.attack_registry import ATTACKS  # noqa: E402
from agentdojo.attacks import base_attacks, important_instructions_attacks  # noqa: E402
from agentdojo.default_suites.v1.tools import calendar_client, cloud_drive_client, email_client  # noqa: E402
from agentdojo.functions_runtime import FunctionsRuntime  # noqa: E402
from agentdojo.task_suite.load_suites import get_suites  # noqa: E402
from ast import literal_eval  # noqa: E402

SUITES = get_suites("v1.2.2")

# Time and the order of a set are not decided by the original: a fixed time, and the order of first occurrence.
NOW = "2025-01-01 00:00:00"


Clock = types.SimpleNamespace(
    now=lambda: datetime.datetime.fromisoformat(NOW),
    strptime=datetime.datetime.strptime,
    fromisoformat=datetime.datetime.fromisoformat,
)
for module in [calendar_client, cloud_drive_client, email_client]:
    module.datetime = types.SimpleNamespace(datetime=Clock, date=datetime.date, timedelta=datetime.timedelta)
calendar_client.set = dict.fromkeys

# The model's name is given; the original finds it in the name of a pipeline, and refuses others.
MODEL = ""
for module in [base_attacks, important_instructions_attacks]:
    module.get_model_name_from_pipeline = lambda pipeline: MODEL or base_attacks.DEFAULT_MODEL_NAME


def plain(value):
    """JSON as JavaScript writes it: no float that is whole, and dates as texts."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value) if isinstance(value, str) else value


LEFT_OUT = {"initial_emails", "initial_events", "initial_files", "received", "sent", "drafts"}


def state_of(environment):
    def without(value):
        if isinstance(value, dict):
            return {key: without(part) for key, part in value.items() if key not in LEFT_OUT}
        return [without(part) for part in value] if isinstance(value, list) else value

    return without(plain(environment.model_dump()))


def canonical(value):
    """JSON with sorted keys, no white space, and numbers as JavaScript writes them."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float) and 1e-7 < abs(value) < 1e-4:
        return format(decimal.Decimal(repr(value)), "f")
    return json.dumps(value, ensure_ascii=False)


def digest(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:16]


def parts_of(suite_name, task):
    suite = SUITES[suite_name]
    ids = task.split("/")[1:]
    user = next((suite.user_tasks[one] for one in ids if one.startswith("user")), None)
    injection = next((suite.injection_tasks[one] for one in ids if one.startswith("injection")), None)
    return suite, user, injection


ATTACK_CACHE = {}


def injections_of(suite, user, injection, attack):
    if attack == "none" or user is None or injection is None:
        return {}
    key = (suite.name, attack, MODEL)
    if key not in ATTACK_CACHE:
        ATTACK_CACHE[key] = ATTACKS[attack](suite, None)
    return ATTACK_CACHE[key].attack(user, injection)


def call_of(suite, environment, runtime, function, args):
    """As ToolsExecutor and the pipelines of models: a text that is a list is read, and an error is the answer."""
    args = {
        key: literal_eval(value) if isinstance(value, str) and is_string_list(value) else value
        for key, value in args.items()
    }
    result, error = runtime.run_function(environment, function, args)
    return error or tool_result_to_str(result)


def play(request):
    global MODEL
    MODEL = request.get("model") or ""
    suite, user, injection = parts_of(request["suite"], request["task"])
    main = user or injection
    try:
        injections = injections_of(suite, user, injection, request.get("attack") or "important_instructions")
        environment = suite.load_and_inject_default_environment(injections)
    except Exception as error:
        return {"task": request["task"], "failed": type(error).__name__}
    if user:
        environment = user.init_environment(environment)
    before = environment.model_copy(deep=True)
    runtime = FunctionsRuntime(suite.tools)
    calls = request.get("calls")
    output = request.get("output")
    if calls is None:
        # All are found before the first is played.
        truth = [call for task in [user, injection] if task for call in task.ground_truth(before.model_copy(deep=True))]
        calls = [{"tool": call.function, "arguments": call.args} for call in truth]
    if output is None:
        output = main.GROUND_TRUTH_OUTPUT
    started = time.perf_counter()
    answers = [call_of(suite, environment, runtime, call["tool"], call["arguments"]) for call in calls]
    seconds = time.perf_counter() - started
    from agentdojo.functions_runtime import FunctionCall

    traces = [FunctionCall(function=call["tool"], args=call["arguments"]) for call in calls]
    content = [{"type": "text", "content": output}]

    def judged(task):
        # A check that fails itself would end a run of the original.
        try:
            return bool(suite._check_task_result(task, content, before, environment, traces))
        except Exception as error:
            return type(error).__name__

    return {
        "task": request["task"],
        "prompt": user.PROMPT if user else injection.GOAL,
        "output": output,
        "calls": plain(calls),
        "injections": injections,
        "answers": answers,
        "state": state_of(environment) if request.get("whole") else digest(state_of(environment)),
        "utility": judged(main),
        "security": judged(injection) if user and injection else None,
        "seconds": seconds,
    }


def tasks_of(suite):
    users, injections = list(suite.user_tasks), list(suite.injection_tasks)
    yield from (f"{suite.name}/{user}" for user in users)
    yield from (f"{suite.name}/{injection}" for injection in injections)
    yield from (f"{suite.name}/{user}/{injection}" for user in users for injection in injections)


def record(names):
    for name in names:
        for task in tasks_of(SUITES[name]):
            played = play({"suite": name, "task": task})
            suite, user, injection = parts_of(name, task)
            # An injection without ground truth has no golden actions.
            if not user and not played["calls"] and not played["output"]:
                continue
            line = {"task": task, "answers": digest(played["answers"]), "state": played["state"]}
            print(json.dumps({**line, "solved": played["utility"]}, separators=(",", ":")))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--tools", action="store_true")
    parser.add_argument("suites", nargs="*", default=list(SUITES))
    options = parser.parse_args()
    names = options.suites or list(SUITES)
    if options.record:
        return record(names)
    if options.list:
        return print(json.dumps([task for name in names for task in tasks_of(SUITES[name])]))
    if options.tools:
        told = {
            name: [
                {"name": f.name, "description": f.description, "schema": f.parameters.model_json_schema()}
                for f in SUITES[name].tools
            ]
            for name in names
        }
        return print(json.dumps(told))
    for line in sys.stdin:
        try:
            answer = play(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
