"""Plays tasks of tau2-bench with its own code, and prints what happened.

  python tau2.py <checkout> <data> --record <domain>  prints a line of golden results for each task
  python tau2.py <checkout> <data> --play <domain>    answers each line of JSON: plays {"task", "calls"}
  python tau2.py <checkout> <data> --texts <domain>   prints what models read
  python tau2.py <checkout> <data> --time <domain>    plays all golden actions, and prints how long it took

<checkout> has `src/tau2` of the repository, and <data> the files that `episodic suite get tau2` gets. The packages are
those of requirements/tau2.txt: what the original imports for voice, models and tables of results is not loaded.
"""

import ast
import functools
import gzip
import hashlib
import json
import os
import sys
import tempfile
import time
import types
from pathlib import Path

checkout, data, mode, domain = sys.argv[1:5]

# A data folder of the original, with files unpacked.
unpacked = tempfile.TemporaryDirectory(prefix="tau2-data-")
for file in (Path(data) / "data").rglob("*"):
    if file.is_file():
        target = Path(unpacked.name) / file.relative_to(Path(data) / "data")
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".gz":
            target.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
        else:
            target.write_bytes(file.read_bytes())
os.environ["TAU2_DATA_DIR"] = unpacked.name

sys.path.insert(0, f"{checkout}/src")
# Packages that import all of the rest, and one that only tables of results need.
for name in ("tau2", "tau2.orchestrator", "tau2.evaluator"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [f"{checkout}/src/{name.replace('.', '/')}"]
sys.modules["pandas"] = types.ModuleType("pandas")
sys.modules["pandas"].DataFrame = object

from loguru import logger  # noqa: E402

logger.remove()

from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage  # noqa: E402
from tau2.evaluator.evaluator_action import ActionEvaluator  # noqa: E402
from tau2.evaluator.evaluator_communicate import CommunicateEvaluator  # noqa: E402
from tau2.evaluator.evaluator_env import EnvironmentEvaluator  # noqa: E402

ENVIRONMENT = __import__(f"tau2.domains.{domain}.environment", fromlist=["get_environment"])
TASKS = {task.id: task for task in ENVIRONMENT.get_tasks(None)}


def construct(**kwargs):
    """A fresh environment. Without a new object here, a VPN that one task breaks stays broken in the next."""
    if domain == "telecom":
        from tau2.domains.telecom.user_data_model import PerformanceLevel, VpnDetails
        from tau2.domains.telecom.user_tools import TelecomUserTools

        TelecomUserTools.default_vpn_details = VpnDetails(
            server_address="192.168.1.1", protocol="OpenVPN", server_performance=PerformanceLevel.EXCELLENT
        )
    return ENVIRONMENT.get_environment(**kwargs)


def start(task):
    environment = construct()
    initial = task.initial_state
    environment.set_state(None, initial.initialization_actions if initial else None, [])
    return environment


def play(environment, calls):
    """Returns the texts that the environment answers, and the conversation as messages of the original."""
    answers, messages = [], []
    for i, call in enumerate(calls):
        if call["tool"] == "say":
            kind = UserMessage if call["requestor"] == "user" else AssistantMessage
            messages.append(kind(role=call["requestor"], content=call["arguments"]["text"]))
            continue
        asked = ToolCall(id=str(i), name=call["tool"], arguments=call["arguments"], requestor=call["requestor"])
        kind = UserMessage if asked.requestor == "user" else AssistantMessage
        answer = environment.get_response(asked)
        answers.append(answer.content)
        messages += [kind(role=asked.requestor, content=None, tool_calls=[asked]), answer]
    return answers, messages


def golden_of(task):
    """The golden actions, and the facts that the agent is to say."""
    criteria = task.evaluation_criteria
    calls = [
        {"tool": action.name, "arguments": action.arguments, "requestor": action.requestor}
        for action in criteria.actions or []
    ]
    says = [{"tool": "say", "arguments": {"text": fact}, "requestor": "assistant"} for fact in criteria.communicate_info or []]
    return calls + says


def rows_of(environment):
    """The tables of a shop, with the text of each row as the original prints it."""
    tables = environment.tools.db.model_dump()
    if domain == "airline":
        flights = tables.pop("flights")
        tables["days"] = {f"{name} {date}": day for name, row in flights.items() for date, day in row["dates"].items()}
    else:
        del tables["products"]
    return {table: {key: json.dumps(row) for key, row in rows.items()} for table, rows in tables.items()}


@functools.cache
def rows_at_start():
    return rows_of(construct())


def databases(environment):
    """What is compared: the rows that changed; of telecom both databases as plain JSON, as the original dumps them."""
    if domain != "telecom":
        return {
            table: {key: text for key, text in rows.items() if rows_at_start()[table].get(key) != text}
            for table, rows in rows_of(environment).items()
        }
    kits = {"agent": environment.tools, "user": environment.user_tools}
    dumped = {seat: kit.db.model_dump() for seat, kit in kits.items() if kit is not None and kit.db is not None}
    return json.loads(json.dumps(dumped, default=str))


def judge(task, messages):
    """Each assertion, and whether the reward is 1 by the original's evaluators, without sentences that need a judge."""
    reward = EnvironmentEvaluator.calculate_reward(construct, task, messages)
    parts = [
        reward.reward,
        ActionEvaluator.calculate_reward(task, messages).reward if "ACTION" in task.evaluation_criteria.reward_basis else 1,
        CommunicateEvaluator.calculate_reward(task, messages).reward
        if "COMMUNICATE" in task.evaluation_criteria.reward_basis
        else 1,
    ]
    return [one.met for one in reward.env_assertions or []], all(part == 1 for part in parts)


def plain(value):
    """Whole floats as JavaScript prints them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


def digest(value, length=16):
    """The first digits of the SHA-256 of canonical JSON (RFC 8785)."""
    text = json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


# Paths in the databases that chance decides.
RANDOM = {"telecom": [("agent", "bills", "*", "bill_id"), ("agent", "customers", "*", "bill_ids")]}


def without(value, paths):
    if not isinstance(value, (dict, list)) or not paths:
        return value
    kept = {}
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        inner = [path[1:] for path in paths if path[0] in ("*", key)]
        if () not in inner:
            kept[key] = without(part, inner)
    return list(kept.values()) if isinstance(value, list) else kept


def print_line(value):
    print(json.dumps(value, separators=(",", ":"), ensure_ascii=False), flush=True)


def record():
    for task in TASKS.values():
        environment = start(task)
        answers, messages = play(environment, golden_of(task))
        state = digest(without(databases(environment), RANDOM.get(domain, [])), 64)
        print_line({"task": task.id, "answers": digest(answers), "state": digest(state), "solved": judge(task, messages)[1]})


def answer_lines():
    for line in sys.stdin:
        asked = json.loads(line)
        task = TASKS[asked["task"]]
        environment = start(task)
        # The golden actions as the file has them: `2.0` came here as `2`.
        golden = iter(golden_of(task)[: asked["golden"]])
        calls = [call if call["tool"] == "say" else next(golden, call) for call in asked["calls"]]
        answers, messages = play(environment, calls)
        assertions, solved = judge(task, messages) if asked["judged"] else ([], False)
        print_line({"answers": answers, "state": databases(environment), "assertions": assertions, "solved": solved})


def constant_in(file, name):
    """The text of a constant of a module that is not imported, since it needs clients of models."""
    for node in ast.parse(Path(f"{checkout}/src/tau2/{file}").read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return eval(compile(ast.Expression(node.value), file, "eval"), {"__builtins__": {}})
    raise KeyError(name)


def texts():
    environment = construct()
    kits = {"agent": environment.tools, "user": environment.user_tools}
    tools = {
        name: tool.openai_schema["function"]
        for kit in kits.values()
        if kit is not None
        for name, tool in kit.get_tools().items()
    }
    agent = constant_in("agent/llm_agent.py", "SYSTEM_PROMPT").format(
        agent_instruction=constant_in("agent/llm_agent.py", "AGENT_INSTRUCTION"), domain_policy=environment.policy
    )
    guidelines = Path(unpacked.name) / "tau2" / "user_simulator" / (
        "simulation_guidelines_tools.md" if environment.user_tools is not None else "simulation_guidelines.md"
    )
    users = {
        task.id: constant_in("user/user_simulator.py", "SYSTEM_PROMPT").format(
            global_user_sim_guidelines_with_persona=guidelines.read_text().replace("<PERSONA_GUIDELINES>", ""),
            instructions=str(task.user_scenario),
        )
        for task in TASKS.values()
    }
    print_line({"tools": tools, "agent": agent, "users": users})


def measure():
    begun, starts, calls = time.perf_counter(), 0.0, 0
    for task in TASKS.values():
        before = time.perf_counter()
        environment = start(task)
        starts += time.perf_counter() - before
        calls += len(play(environment, golden_of(task))[0])
    total = time.perf_counter() - begun
    print_line({"tasks": len(TASKS), "calls": calls, "seconds": total, "starts": starts})


{"--record": record, "--play": answer_lines, "--texts": texts, "--time": measure}[mode]()
