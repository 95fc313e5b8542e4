"""Plays conversations through a gateway of models with an official client of a language model's API.

Usage: gateway_client.py CLIENT, with a line of JSON for each conversation on standard input: dialect, stream, root, key.
Answers each with a line: the texts of all answers.
"""

import json
import sys

TOOL = {"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]}
DESCRIPTION = "Guess a number."
QUESTION = "Which number is it?"
SYSTEM = "Guess with the tool."
RESULT = "It is higher."


def openai_chat(root, key, stream):
    from openai import OpenAI

    client = OpenAI(base_url=f"{root}/v1", api_key=key)
    tools = [{"type": "function", "function": {"name": "guess", "description": DESCRIPTION, "parameters": TOOL}}]
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
    while True:
        if stream:
            with client.chat.completions.stream(model="m", messages=messages, tools=tools) as events:
                for _ in events:
                    pass
                message = events.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
        yield message.content
        if not message.tool_calls:
            return
        calls = [call.model_dump(include={"id", "type", "function"}) for call in message.tool_calls]
        for call in calls:
            call["function"] = {name: call["function"][name] for name in ("name", "arguments")}
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": RESULT} for call in calls]


def openai_responses(root, key, stream):
    from openai import OpenAI

    client = OpenAI(base_url=f"{root}/v1", api_key=key)
    tools = [{"type": "function", "name": "guess", "description": DESCRIPTION, "parameters": TOOL, "strict": False}]
    items = [{"role": "user", "content": QUESTION}]
    while True:
        body = {"model": "m", "instructions": SYSTEM, "input": items, "tools": tools, "store": False}
        if stream:
            with client.responses.stream(**body) as events:
                for _ in events:
                    pass
                response = events.get_final_response()
        else:
            response = client.responses.create(**body)
        yield response.output_text
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return
        items += [item.to_dict() for item in response.output]
        for item in items:
            item.pop("parsed_arguments", None)
        items += [{"type": "function_call_output", "call_id": call.call_id, "output": RESULT} for call in calls]


def anthropic_messages(root, key, stream):
    from anthropic import Anthropic

    client = Anthropic(base_url=root, api_key=key)
    tools = [{"name": "guess", "description": DESCRIPTION, "input_schema": TOOL}]
    messages = [{"role": "user", "content": QUESTION}]
    while True:
        body = {"model": "m", "max_tokens": 1000, "system": SYSTEM, "messages": messages, "tools": tools}
        if stream:
            with client.messages.stream(**body) as events:
                message = events.get_final_message()
        else:
            message = client.messages.create(**body)
        yield "".join(block.text for block in message.content if block.type == "text")
        if message.stop_reason != "tool_use":
            return
        calls = [block for block in message.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": message.content})
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": RESULT} for call in calls]
        messages.append({"role": "user", "content": results})


def google_generate_content(root, key, stream):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key=key, http_options=types.HttpOptions(base_url=root))
    tool = types.FunctionDeclaration(name="guess", description=DESCRIPTION, parameters_json_schema=TOOL)
    config = types.GenerateContentConfig(system_instruction=SYSTEM, tools=[types.Tool(function_declarations=[tool])])
    contents = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
    while True:
        body = {"model": "m", "contents": contents, "config": config}
        if stream:
            parts = [
                part
                for chunk in client.models.generate_content_stream(**body)
                for part in chunk.candidates[0].content.parts
            ]
        else:
            parts = client.models.generate_content(**body).candidates[0].content.parts
        yield "".join(part.text for part in parts if part.text and not part.thought)
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            return
        contents.append(types.Content(role="model", parts=parts))
        results = [
            types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"result": RESULT}))
            for call in calls
        ]
        contents.append(types.Content(role="user", parts=results))


def through_langchain(model, stream):
    from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

    tool = {"type": "function", "function": {"name": "guess", "description": DESCRIPTION, "parameters": TOOL}}
    bound = model.bind_tools([tool])
    messages = [SystemMessage(SYSTEM), HumanMessage(QUESTION)]
    while True:
        if stream:
            message = None
            for chunk in bound.stream(messages):
                message = chunk if message is None else message + chunk
        else:
            message = bound.invoke(messages)
        yield message.text
        if not message.tool_calls:
            return
        messages.append(message)
        messages += [ToolMessage(RESULT, tool_call_id=call["id"]) for call in message.tool_calls]


def langchain(dialect):
    def play(root, key, stream):
        if dialect in ("chat", "responses"):
            from langchain_openai import ChatOpenAI

            options = {"use_responses_api": True, "output_version": "responses/v1"} if dialect == "responses" else {}
            model = ChatOpenAI(model="m", base_url=f"{root}/v1", api_key=key, **options)
        elif dialect == "messages":
            from langchain_anthropic import ChatAnthropic

            model = ChatAnthropic(model="m", base_url=root, api_key=key, max_tokens=1000)
        else:
            from langchain_google_genai import ChatGoogleGenerativeAI

            model = ChatGoogleGenerativeAI(model="m", base_url=root, api_key=key)
        return through_langchain(model, stream)

    return play


CLIENTS = {
    "openai": {"chat": openai_chat, "responses": openai_responses},
    "anthropic": {"messages": anthropic_messages},
    "google-genai": {"generateContent": google_generate_content},
    "langchain": {name: langchain(name) for name in ("chat", "responses", "messages", "generateContent")},
}

if __name__ == "__main__":
    plays = CLIENTS[sys.argv[1]]
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            texts = list(plays[asked["dialect"]](asked["root"], asked["key"], asked["stream"]))
            print(json.dumps({"texts": texts}), flush=True)
        except Exception as error:  # noqa: BLE001
            print(json.dumps({"error": f"{type(error).__name__}: {error}"[:500]}), flush=True)
