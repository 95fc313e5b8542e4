"""Plays tasks of BFCL's multi-turn categories with the original's own code.

bfcl.py --record prints what golden actions come to, a line of JSON a task; with a folder after it, those of tasks in it
instead of the original's. Without it, each line of JSON on the standard input is a question, and is answered by a line of
JSON:

    {"category": "base", "index": 0, "extra": ["ls(a=True)"], "turns": [["cd(folder='a')"], []], "full": false}

`extra` is called after the ground truth. `turns` are the calls of a model, and are judged. `full` asks for texts instead
of digests.
"""

import ast
import functools
import hashlib
import importlib
import json
import sys
import time
from datetime import datetime
from pathlib import Path

import bfcl_eval
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils

DATA = Path(bfcl_eval.__file__).parent / "data"
CATEGORIES = ["base", "miss_func", "miss_param", "long_context"]
SOURCES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code."


class Day(datetime):
    """Ages are counted on the day of the release."""

    @classmethod
    def today(cls):
        return cls(2026, 3, 23)


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def with_truths(tasks, truths):
    return [(task, truth["ground_truth"]) for task, truth in zip(read(tasks), read(truths))]


TASKS = {}
for name in CATEGORIES:
    file = f"BFCL_v4_multi_turn_{name}.json"
    TASKS[name] = with_truths(DATA / file, DATA / "possible_answer" / file)


def forget():
    """Makes all classes anew: their class attributes, long texts and default arguments change as they are played."""
    for name in [name for name in sys.modules if name.startswith(SOURCES)]:
        del sys.modules[name]
    for name in [name for name in vars(multi_turn_utils) if name.endswith("_instance")]:
        delattr(multi_turn_utils, name)
    importlib.import_module(SOURCES + "travel_booking").datetime = Day
    twitter = importlib.import_module(SOURCES + "posting_api").TwitterAPI
    post = twitter.post_tweet

    @functools.wraps(post)
    def post_tweet(self, *given, **named):
        # Tweets share the lists that are the defaults of these arguments, also with those of the ground truth.
        post.__defaults__ = ([], [])
        return post(self, *given, **named)

    twitter.post_tweet = post_tweet


def call(task, calls, model="model"):
    return multi_turn_utils.execute_multi_turn_func_call(
        calls, task["initial_config"], task["involved_classes"], model, task["id"], "long_context" in task["id"]
    )


def tree(directory):
    return {
        name: item.content if hasattr(item, "content") else [item.name, tree(item)]
        for name, item in directory.contents.items()
    }


def state_of(instances):
    """What is compared of each class, as Python prints it."""
    states = {}
    for name, instance in instances.items():
        if name == "GorillaFileSystem":
            path = instance.pwd()["current_working_directory"]
            state = {"cwd": path, "tree": [instance.root.name, tree(instance.root)]}
        else:
            public = {key: item for key, item in vars(instance).items() if not key.startswith("_")}
            state = {key: public[key] for key in sorted(public) if key != "long_context"}
        if "generated_ids" in state:
            state["generated_ids"] = sorted(state["generated_ids"])
        states[name] = repr(state)
    return states


def digest(value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def judge(category, index, turns):
    """Whether the original's checker takes the calls of a model."""
    sys.modules.pop("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker", None)
    checker = importlib.import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker")
    task, truth = TASKS[category][index]
    forget()
    steps = [[[one] for one in turn] for turn in turns]
    return checker.multi_turn_checker(steps, truth, task, category, "judged")["valid"]


def play(category, index, extra, full):
    task, truth = TASKS[category][index]
    forget()
    _, instances = call(task, [])
    show = (lambda value: value) if full else digest
    answers, states, seconds = [], [show(state_of(instances))], 0
    for one in [one for turn in offered(task, truth) for one in turn] + extra:
        begun = time.perf_counter()
        [answer], instances = call(task, [one])
        seconds += time.perf_counter() - begun
        answers.append(show(answer))
        try:
            states.append(show(state_of(instances)))
        except RecursionError:
            states.append("endless")
    return {"answers": answers, "states": states, "seconds": seconds}


def offered(task, truth):
    """The ground truth without functions that are offered in a later turn: no model can call them."""
    missed = {int(turn): names for turn, names in task.get("missed_function", {}).items()}
    name = lambda one: ast.parse(one, mode="eval").body.func.id  # noqa: E731
    held = lambda turn: {name for later, names in missed.items() if later > turn for name in names}  # noqa: E731
    return [[one for one in calls if name(one) not in held(turn)] for turn, calls in enumerate(truth)]


def record():
    for category, tasks in TASKS.items():
        for index, (task, truth) in enumerate(tasks):
            turns = offered(task, truth)
            forget()
            _, instances = call(task, [])
            answers = []
            for one in [one for turn in turns for one in turn]:
                [answer], instances = call(task, [one])
                answers.append(answer)
            state = digest(state_of(instances))
            solved = judge(category, index, turns)
            line = {"task": task["id"], "answers": digest(answers), "state": state, "solved": solved}
            print(json.dumps(line, separators=(",", ":")))


if sys.argv[1:2] == ["--record"]:
    for folder in map(Path, sys.argv[2:]):
        # The long texts are the original's, and those of a sample are others.
        names = [name for name in CATEGORIES if (folder / "tasks" / f"{name}.jsonl").exists() and name != "long_context"]
        TASKS = {name: with_truths(folder / "tasks" / f"{name}.jsonl", folder / "answers" / f"{name}.jsonl") for name in names}
    record()
else:
    for question in map(json.loads, sys.stdin):
        said = play(question["category"], question["index"], question["extra"], question.get("full", False))
        if "turns" in question:
            try:
                said["valid"] = judge(question["category"], question["index"], question["turns"])
            except RecursionError:
                said["valid"] = "endless"
        print(json.dumps(said), flush=True)
