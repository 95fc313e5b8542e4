"""Prints what the libraries of AgentDojo say of cases.json: `python3 record.py < cases.json > original.json`.

Needs PyYAML and pydantic with email-validator, in the versions of interop/python/requirements/agentdojo.txt.
"""

import datetime
import difflib
import json
import sys

import yaml
from pydantic import BaseModel, EmailStr, Field, create_model

cases = json.load(sys.stdin)
TYPES = {"str": str, "int": int, "float": float, "bool": bool, "list[str]": list[str], "list[dict]": list[dict]}


def attempt(run, *errors):
    try:
        return run()
    except errors as error:
        return {"error": f"{error}"}


def argument(given):
    fields = {
        name: (TYPES[kind] | None, Field(default=None)) if optional else (TYPES[kind], ...)
        for name, (kind, optional) in cases["parameters"].items()
    }
    return create_model("Input schema for `made`", **fields).model_validate(given).model_dump()


def moments(value):
    """Writes {"$moment": "…"} as a date; the same text twice is the same object."""
    known = {}

    def read(part):
        if isinstance(part, dict) and "$moment" in part:
            text = part["$moment"]
            return known.setdefault(text, datetime.datetime.fromisoformat(text))
        if isinstance(part, dict):
            return {key: read(inner) for key, inner in part.items()}
        return [read(inner) for inner in part] if isinstance(part, list) else part

    return read(value)


class Mail(BaseModel):
    to: EmailStr


def constants(source):
    scope = {}
    exec(source, scope)
    made = {name: value for name, value in scope.items() if isinstance(value, type)}
    return {
        name: {key: value for key, value in vars(made[name]).items() if isinstance(value, (str, int, float, list))}
        for name in made
    }


def wrong(address):
    try:
        return {"address": Mail(to=address).to}
    except ValueError as error:
        return {"wrong": error.errors()[0]["msg"].removeprefix("value is not a valid email address: ")}


print(
    json.dumps(
        {
            "yaml": [yaml.safe_dump(moments(value)).strip() for value in cases["yaml"]],
            "quoted": [attempt(lambda: yaml.safe_load(text), yaml.YAMLError) for text in cases["quoted"]],
            "arguments": [attempt(lambda: argument(given), ValueError) for given in cases["arguments"]],
            "addresses": [wrong(address) for address in cases["addresses"]],
            "times": [
                attempt(lambda: str(datetime.datetime.strptime(text, "%Y-%m-%d %H:%M")), ValueError)
                for text in cases["times"]
            ],
            "isoTimes": [
                attempt(lambda: str(datetime.datetime.fromisoformat(text)), ValueError) for text in cases["isoTimes"]
            ],
            "similar": [difflib.SequenceMatcher(None, a, b).ratio() for a, b in cases["similar"]],
            "sources": [
                {
                    name: {key: value for key, value in part.items() if not key.startswith("__")}
                    for name, part in constants(source).items()
                }
                for source in cases["sources"]
            ],
        },
        indent=1,
    )
)
