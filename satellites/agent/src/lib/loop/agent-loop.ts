import { reasonOf } from '@episodic/mcp-client'
import type { JsonObject } from '@episodic/protocol'
import { AgentError } from '../agent-error.ts'
import { refusedAnswer, type ToolAnswer, toolAnswerOf } from '../connection/tool-answer.ts'
import { type AgentTool, nameTools } from '../session/agent-tool.ts'

/** A tool call that a model requests. */
export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly arguments: JsonObject
}

/** One message of a conversation. */
export type AgentMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly answer: ToolAnswer }

/** A tool as a model sees it. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
}

/** The input of a model. */
export interface ModelRequest {
  readonly systemPrompt: string | null
  readonly messages: readonly AgentMessage[]
  readonly tools: readonly ModelTool[]
  readonly signal: AbortSignal
}

/** A model: returns a text and the tools to call. Without calls, it is done. */
export type Model = (
  request: ModelRequest,
) => Promise<{ readonly text: string; readonly calls?: readonly ModelCall[] | undefined }>

/** A function of this program, as a tool. The model sees the message of an error that it throws. */
export interface LocalTool extends ModelTool {
  readonly call: (args: JsonObject, options: { readonly signal: AbortSignal }) => Promise<ToolAnswer | string>
}

/** A message that an agent adds to the conversation. */
export type AgentEvent = Exclude<AgentMessage, { readonly role: 'user' }>

export interface AgentLoopOptions {
  readonly model: Model
  readonly systemPrompt: string | null
  readonly local: readonly LocalTool[]
  readonly session: readonly AgentTool[]
  readonly maximumTurns: number
  readonly signal: AbortSignal
}

/**
 * Asks a model and calls the tools that it requests, in order, until it requests none. The answer to an invalid request
 * is an error that the model sees. Appends the messages that it yields to `messages`.
 *
 * Throws `step-limit`, the `AgentError` of a tool that ends the run, errors of the model, and the signal's reason.
 */
export async function* runAgentLoop(
  messages: AgentMessage[],
  { model, systemPrompt, local, session, maximumTurns, signal }: AgentLoopOptions,
): AsyncGenerator<AgentEvent> {
  const named = nameTools(
    session,
    local.map(({ name }) => name),
  )
  const tools: ModelTool[] = [
    ...local,
    ...named.map(({ name, tool }) => ({ name, description: tool.description, inputSchema: tool.inputSchema })),
  ]
  const add = <Event extends AgentEvent>(event: Event): Event => {
    messages.push(event)
    return event
  }
  for (let turn = 0; turn < maximumTurns; turn++) {
    signal.throwIfAborted()
    const { text, calls = [] } = await model({ systemPrompt, messages: [...messages], tools, signal })
    signal.throwIfAborted()
    yield add({ role: 'assistant', text, calls })
    if (calls.length === 0) return
    for (const { id, name, arguments: args } of calls) {
      const answer = await answerOf(name, args)
      yield add({ role: 'tool', callId: id, name, answer })
    }
  }
  throw new AgentError(
    'step-limit',
    `The model still wants tools after ${maximumTurns} turns, which are as many as it may take. Raise maximumTurns, or ask for less.`,
  )

  async function answerOf(name: string, args: JsonObject): Promise<ToolAnswer> {
    const own = local.find((tool) => tool.name === name)
    if (own) return callLocal(own, args)
    const tool = named.find((other) => other.name === name)
    if (tool) return tool.call(args, { signal })
    return refusedAnswer(
      `There is no tool ${name}. There is: ${tools.map((other) => other.name).join(', ') || 'none'}.`,
    )
  }

  async function callLocal(tool: LocalTool, args: JsonObject): Promise<ToolAnswer> {
    try {
      const said = await tool.call(args, { signal })
      return typeof said === 'string' ? toolAnswerOf([{ type: 'text', text: said }], null, false) : said
    } catch (error) {
      signal.throwIfAborted()
      // The function called a session, and its error ends the run as that of a tool would.
      if (AgentError.is(error)) throw error
      return refusedAnswer(`${tool.name} failed: ${reasonOf(error)}`)
    }
  }
}
