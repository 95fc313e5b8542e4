"""Lets another program play through the agents of NeMo Gym, `simple_agent` and `gymnasium_agent`.

It reads one request a line on standard input and writes one answer a line on standard output. A `Rollout` has an
agent play a row with a model that calls the given tools, one in each turn, and answers with the result of the agent. A
list of results has the agent ask for the metrics of them. `{"conform": …}` checks the sessions of environment servers
with NeMo Gym's own test.
"""

import asyncio
import json
import os
import socket
import sys
import threading
from typing import Any, TypedDict
from urllib.parse import urlsplit

import httpx
import requests
import uvicorn
from fastapi import FastAPI, Request, Response
from omegaconf import OmegaConf

JsonObject = dict[str, Any]

AGENTS = ("simple", "gymnasium")


class Rollout(TypedDict):
    """What an agent is to play, and the calls that the model makes."""

    agent: str
    row: JsonObject
    calls: list[JsonObject]


def main(url: str) -> None:
    """Answers requests until standard input ends."""
    # What NeMo Gym prints must not get between the answers, and it reads the arguments as its own.
    answers, sys.stdout = sys.stdout, sys.stderr
    del sys.argv[1:]
    ports = start_agents(url)
    for line in sys.stdin:
        answers.write(json.dumps(answer(url, ports, json.loads(line))) + "\n")
        answers.flush()
    # Its HTTP client belongs to a loop that is still running, so it cannot be closed in order.
    os._exit(0)


def answer(url: str, ports: dict[str, int], request: Any) -> Any:
    """The answer to one request."""
    if isinstance(request, list):
        return post(f"http://127.0.0.1:{ports['simple']}/aggregate_metrics", {"verify_responses": request})
    if "conform" in request:
        return conform(url, request["conform"])
    rollout: Rollout = request
    row = rollout["row"] | {"calls": rollout["calls"]}
    # The model finds its calls in the request, as it has no session of its own.
    row["responses_create_params"]["metadata"] = {"calls": json.dumps(rollout["calls"])}
    return post(f"http://127.0.0.1:{ports[rollout['agent']]}/run", row)


def post(url: str, body: JsonObject) -> JsonObject:
    """The answer of an agent, or its error."""
    response = requests.post(url, json=body)
    return response.json() if response.ok else {"problem": f"{response.status_code}: {response.text[:2000]}"}


def start_agents(url: str) -> dict[str, int]:
    """Starts the model and the agents in front of a resources server, all on one loop."""
    ports = {name: free_port() for name in ("model", *AGENTS)}
    resources = urlsplit(url)
    config = OmegaConf.create(
        {
            "resources": {"resources_servers": {"episodic": {"host": resources.hostname, "port": resources.port}}},
            "model": {"responses_api_models": {"m": {"host": "127.0.0.1", "port": ports["model"]}}},
            "observability_enabled": False,
        }
        | {
            name: {"responses_api_agents": {f"{name}_agent": {"host": "127.0.0.1", "port": ports[name]}}}
            for name in AGENTS
        }
    )
    os.environ["NEMO_GYM_CONFIG_DICT"] = OmegaConf.to_yaml(config)
    from nemo_gym.config_types import ModelServerRef, ResourcesServerRef
    from nemo_gym.server_utils import BaseServerConfig, ServerClient
    from responses_api_agents.gymnasium_agent.app import GymnasiumAgent, GymnasiumAgentConfig
    from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

    client = ServerClient(head_server_config=BaseServerConfig(host="127.0.0.1", port=1), global_config_dict=config)
    common = {
        "host": "127.0.0.1",
        "entrypoint": "",
        "resources_server": ResourcesServerRef(type="resources_servers", name="resources"),
        "model_server": ModelServerRef(type="responses_api_models", name="model"),
    }
    simple = SimpleAgent(config=SimpleAgentConfig(name="simple", port=ports["simple"], **common), server_client=client)
    gymnasium = GymnasiumAgent(
        config=GymnasiumAgentConfig(name="gymnasium", port=ports["gymnasium"], max_steps=1000, **common),
        server_client=client,
    )
    serve(
        {
            ports["model"]: create_model(),
            ports["simple"]: simple.setup_webserver(),
            ports["gymnasium"]: gymnasium.setup_webserver(),
        }
    )
    return ports


def create_model() -> FastAPI:
    """A model that makes the calls of its request one after another, whatever it is shown."""
    app = FastAPI()

    @app.post("/v1/responses")
    async def responses(body: JsonObject) -> JsonObject:
        calls = json.loads(body["metadata"]["calls"])
        made = sum(item.get("type") == "function_call" for item in body["input"])
        return {
            "id": f"response-{made}",
            "created_at": 0,
            "model": "scripted",
            "object": "response",
            "output": [call_item(made, calls[made])] if made < len(calls) else [message_item(made)],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": body.get("tools") or [],
        }

    return app


def call_item(number: int, call: JsonObject) -> JsonObject:
    """A call of a tool, as a model returns it."""
    return {
        "id": f"item-{number}",
        "type": "function_call",
        "call_id": f"call-{number}",
        "name": call["tool"],
        "status": "completed",
        "arguments": json.dumps(call["arguments"]),
    }


def message_item(number: int) -> JsonObject:
    """The last message of a model."""
    content = [{"type": "output_text", "text": "Done.", "annotations": []}]
    return {
        "id": f"item-{number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def conform(url: str, seed: JsonObject) -> JsonObject:
    """Runs NeMo Gym's own test of sessions against the server, through an app in this process."""
    from nemo_gym.base_resources_server import ResourcesSeedSessionRequest
    from nemo_gym.testing.session_conformance import check_resources_session_contract

    app = FastAPI()

    @app.post("/{path:path}")
    async def forward(path: str, request: Request) -> Response:
        async with httpx.AsyncClient() as client:
            answered = await client.post(f"{url}/{path}", content=await request.body())
        return Response(answered.content, answered.status_code, media_type="application/json")

    try:
        check_resources_session_contract(app, ResourcesSeedSessionRequest.model_validate(seed), keeps_state=True)
    except AssertionError as error:
        return {"problem": str(error)}
    return {"conforms": True}


def serve(apps: dict[int, FastAPI]) -> None:
    """Serves apps by their ports, and returns when all of them listen."""
    servers = [
        uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
        for port, app in apps.items()
    ]

    async def run() -> None:
        await asyncio.gather(*(server.serve() for server in servers))

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    while not all(server.started for server in servers):
        threading.Event().wait(0.05)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


if __name__ == "__main__":
    main(sys.argv[1])
