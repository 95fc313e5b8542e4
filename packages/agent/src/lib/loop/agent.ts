import type { WaitOptions } from '../connection/connection.ts'
import type { AgentSession } from '../session/agent-session.ts'
import { type AgentStream, createAgentStream } from '../session/agent-stream.ts'
import { agentToolsOf } from '../session/agent-tool.ts'
import type { McpSession } from '../session/mcp-session.ts'
import { type AgentEvent, type AgentMessage, type LocalTool, type Model, runAgentLoop } from './agent-loop.ts'

/** What an agent without a framework is made of. */
export interface AgentOptions {
  readonly model: Model
  /** What the model is told before anything else. */
  readonly systemPrompt?: string | undefined
  /** Functions of this program that the model may call besides the servers' tools. */
  readonly tools?: readonly LocalTool[] | undefined
  /** Turns that the model may take in one invocation. 20 by default. */
  readonly maximumTurns?: number | undefined
}

/** What is asked: a text, or a conversation that ends with a question. */
export type AgentInput = string | readonly AgentMessage[]

/** How an invocation came out. */
export interface AgentResult {
  /** What the model said last. */
  readonly text: string
  /** The conversation, what was asked among it. */
  readonly messages: readonly AgentMessage[]
}

/** An agent without a framework. It keeps no messages: what it is to remember is part of what it is asked. */
export interface Agent {
  /**
   * Runs to the end. Rejects with `step-limit`, with the `AgentError` of a tool that cannot go on, with what the model
   * throws, and with the signal's own reason.
   */
  invoke(input: AgentInput, options?: WaitOptions): Promise<AgentResult>
  /** Runs as it is read. Throws what `invoke` rejects with. */
  stream(input: AgentInput, options?: WaitOptions): AgentStream<AgentEvent>
}

/**
 * Creates an agent that works in a session. Whoever opened that closes it. A call of it throws `config-invalid` where two
 * tools would have one name.
 */
export function createAgent({
  model,
  systemPrompt,
  tools = [],
  maximumTurns = 20,
  mcpSession,
}: AgentOptions & { readonly mcpSession: AgentSession | McpSession }): Agent {
  const run = (messages: AgentMessage[], signal: AbortSignal) =>
    runAgentLoop(messages, {
      model,
      systemPrompt: systemPrompt ?? null,
      local: tools,
      session: agentToolsOf(mcpSession),
      maximumTurns,
      signal,
    })
  return {
    async invoke(input, { signal = new AbortController().signal } = {}) {
      const messages = messagesOf(input)
      for await (const _ of run(messages, signal)) {
        // What happens on the way is among the messages.
      }
      const last = messages.at(-1)
      return { text: last?.role === 'assistant' ? last.text : '', messages }
    },
    stream: (input, { signal } = {}) => createAgentStream((running) => run(messagesOf(input), running), signal),
  }
}

/** What is asked, as messages that can be added to. */
export function messagesOf(input: AgentInput): AgentMessage[] {
  return typeof input === 'string' ? [{ role: 'user', text: input }] : [...input]
}
