import { type AgentMessage, createAgent, type Model, type ModelTool } from '@episodic/agent'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources'
import { MAXIMUM_TURNS, type RunAgent } from './agent.ts'
import type { ToolInput } from './script.ts'

/** The time limit of a turn in milliseconds, and the number of retries. */
const TIME_LIMIT = 120_000
const RETRIES = 2

/** A model behind an endpoint that speaks OpenAI's chat completions: vLLM, SGLang, llama.cpp or one that is hosted. */
export interface OpenAiModel {
  readonly baseURL: string
  readonly apiKey: string
  readonly model: string
}

/** Creates a runner for a real model, without a framework. */
export function createOpenAiAgent(options: OpenAiModel): RunAgent {
  const model = createOpenAiModel(options)
  return async ({ prompt, mcpSession, tools, signal }) => {
    const agent = createAgent({ model, mcpSession, tools, maximumTurns: MAXIMUM_TURNS })
    const { text } = await agent.invoke(prompt, { signal })
    return text
  }
}

function createOpenAiModel({ baseURL, apiKey, model }: OpenAiModel): Model {
  const client = new OpenAI({ baseURL, apiKey, timeout: TIME_LIMIT, maxRetries: RETRIES })
  return async ({ messages, tools, signal }) => {
    const { choices } = await client.chat.completions.create(
      { model, messages: messages.map(toOpenAiMessage), tools: tools.map(toOpenAiTool), temperature: 0 },
      { signal },
    )
    const said = choices[0]?.message
    if (!said) throw new Error(`The model ${model} answered with no message.`)
    const calls = (said.tool_calls ?? []).filter((call) => call.type === 'function')
    return {
      text: said.content ?? '',
      calls: calls.map(({ id, function: { name, arguments: text } }) => ({ id, name, arguments: parseInput(text) })),
    }
  }
}

function toOpenAiTool({ name, description, inputSchema }: ModelTool): ChatCompletionTool {
  return { type: 'function', function: { name, description, parameters: inputSchema } }
}

function toOpenAiMessage(message: AgentMessage): ChatCompletionMessageParam {
  if (message.role === 'user') return { role: 'user', content: message.text }
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.answer.text }
  const calls = message.calls.map(({ id, name, arguments: input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input) },
  }))
  return { role: 'assistant', content: message.text, ...(calls.length > 0 && { tool_calls: calls }) }
}

/** Parses a model's arguments. If they are not a JSON object, the tool's error reports that to the model. */
function parseInput(text: string): ToolInput {
  try {
    const value: unknown = JSON.parse(text || '{}')
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as ToolInput
  } catch {}
  return { 'arguments that are no JSON object': text }
}
