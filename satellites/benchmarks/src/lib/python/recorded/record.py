"""Prints what Python says of the cases in cases.json, as one JSON line: the fixture of the tests beside it.

python3 record.py < cases.json > python.json
"""

import json
import random
import sys


def value_of(case):
    """Reads a value: {"$float": "1.0"} is a float, {"$tuple": [...]} a tuple, {"$dict": [[key, value]...]} a dict."""
    if isinstance(case, list):
        return [value_of(item) for item in case]
    if not isinstance(case, dict):
        return case
    if "$float" in case:
        return float(case["$float"])
    if "$tuple" in case:
        return tuple(value_of(item) for item in case["$tuple"])
    if "$dict" in case:
        return {value_of(key): value_of(item) for key, item in case["$dict"]}
    return {key: value_of(item) for key, item in case.items()}


def drawn(seed):
    """Draws of each kind, in one order."""
    chance = random.Random(seed)
    shuffled = list(range(30))
    chance.shuffle(shuffled)
    return {
        "random": [repr(chance.random()) for _ in range(5)],
        "randint": [chance.randint(1, 6) for _ in range(10)] + [chance.randint(10**11, 10**12 - 1) for _ in range(4)],
        "uniform": [repr(chance.uniform(0.0, 120.0)) for _ in range(3)],
        "choice": [chance.choice("abcdefg") for _ in range(10)],
        "shuffle": shuffled,
        "sample": [chance.sample(range(20), 4), chance.sample(range(1000), 7), chance.sample(range(60), 60)],
        "after": [chance.random() for _ in range(700)][-1],
    }


cases = json.load(sys.stdin)
values = [value_of(case) for case in cases["values"]]
answer = {
    "values": [
        {
            "str": str(value),
            "repr": repr(value),
            "dumps": json.dumps(value),
            "compact": json.dumps(value, separators=(",", ":"), ensure_ascii=False),
            "indented": json.dumps(value, indent=2),
        }
        for value in values
    ],
    "rounds": [[repr(round(float(x), n)), repr(round(float(x))), f"{float(x):.{max(n, 0)}f}"] for x, n in cases["rounds"]],
    "lines": [[text.splitlines(), text.strip(), text.split()] for text in cases["lines"]],
    "seeds": [drawn(int(seed["int"]) if isinstance(seed, dict) else seed) for seed in cases["seeds"]],
}
print(json.dumps(answer))
