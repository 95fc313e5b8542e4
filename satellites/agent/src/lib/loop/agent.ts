import type { WaitOptions } from '@episodic/mcp-client'
import type { AgentSession } from '../session/agent-session.ts'
import { type AgentStream, createAgentStream } from '../session/agent-stream.ts'
import { agentToolsOf } from '../session/agent-tool.ts'
import type { McpSession } from '../session/mcp-session.ts'
import { type AgentEvent, type AgentMessage, type LocalTool, type Model, runAgentLoop } from './agent-loop.ts'

/** Options of an agent without a framework. */
export interface AgentOptions {
  readonly model: Model
  readonly systemPrompt?: string | undefined
  /** Functions of this program that the model may call besides the servers' tools. */
  readonly tools?: readonly LocalTool[] | undefined
  /** The most turns of the model in one invocation. Default 20. */
  readonly maximumTurns?: number | undefined
}

/** The input of an agent: a text, or a conversation that ends with a user message. */
export type AgentInput = string | readonly AgentMessage[]

/** The result of an invocation. */
export interface AgentResult {
  /** The last text of the model. */
  readonly text: string
  /** The conversation, including the input. */
  readonly messages: readonly AgentMessage[]
}

/** An agent without a framework. It keeps no messages between invocations. */
export interface Agent {
  /** Runs to the end. Rejects with `step-limit`, a tool's `AgentError`, the model's errors, and the signal's reason. */
  invoke(input: AgentInput, options?: WaitOptions): Promise<AgentResult>
  /** Runs while it is read. Throws the errors of `invoke`. */
  stream(input: AgentInput, options?: WaitOptions): AgentStream<AgentEvent>
}

/** Creates an agent that uses a session of the caller. Calls throw `config-invalid` for two tools of one name. */
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
        // The events are in `messages` too.
      }
      const last = messages.at(-1)
      return { text: last?.role === 'assistant' ? last.text : '', messages }
    },
    stream: (input, { signal } = {}) => createAgentStream((running) => run(messagesOf(input), running), signal),
  }
}

export function messagesOf(input: AgentInput): AgentMessage[] {
  return typeof input === 'string' ? [{ role: 'user', text: input }] : [...input]
}
