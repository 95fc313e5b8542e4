DEFAULT_FIRST_AGENT_MESSAGE = AssistantMessage(
    role="assistant", content="What can I do for you?", cost=0.0
)
