import type { WaitOptions } from '@episodic/mcp-client'
import type { AgentSession, AgentSessionConfig } from '../session/agent-session.ts'
import { type AgentStream, createAgentStream } from '../session/agent-stream.ts'
import { AgentExecutor, type ExecutorOptions } from '../session/executor-session.ts'
import type { KeepOptions } from '../session/kept-messages.ts'
import { type Agent, type AgentInput, type AgentOptions, type AgentResult, createAgent, messagesOf } from './agent.ts'
import type { AgentEvent, AgentMessage } from './agent-loop.ts'

export type StatefulAgentExecutorOptions = AgentSessionConfig & AgentOptions & KeepOptions & ExecutorOptions

/**
 * An agent that holds its MCP sessions for its whole life: they are opened at the first invocation and ended by
 * `close`.
 *
 * Invocations run one at a time, in call order. Messages are kept between invocations unless `keepMessages` is off;
 * those of a failed invocation are discarded.
 */
export class StatefulAgentExecutor extends AgentExecutor<AgentMessage> {
  readonly #options: StatefulAgentExecutorOptions

  constructor(options: StatefulAgentExecutorOptions) {
    super(options, ({ role }) => role === 'user')
    this.#options = options
  }

  /** Runs the agent to its end. Rejects as `openAgentSession` and `Agent.invoke` do, or with `executor-busy`. */
  async invoke(input: AgentInput, { signal }: WaitOptions = {}): Promise<AgentResult> {
    using turn = await this.take(signal)
    const result = await this.#agentIn(turn.session).invoke(this.#continued(input), { signal: turn.signal })
    this.kept.replace(result.messages)
    return result
  }

  /** Runs the agent while it is read. Throws the errors of `invoke`. */
  stream(input: AgentInput, { signal }: WaitOptions = {}): AgentStream<AgentEvent> {
    const executor = this
    return createAgentStream(async function* (running) {
      using turn = await executor.take(running)
      const messages = executor.#continued(input)
      for await (const event of executor.#agentIn(turn.session).stream(messages, { signal: turn.signal })) {
        messages.push(event)
        yield event
      }
      executor.kept.replace(messages)
    }, signal)
  }

  #agentIn(mcpSession: AgentSession): Agent {
    return createAgent({ ...this.#options, mcpSession })
  }

  #continued(input: AgentInput): AgentMessage[] {
    return [...this.kept.messages, ...messagesOf(input)]
  }
}
