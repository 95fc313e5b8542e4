import type { WaitOptions } from '@episodic/mcp-client'
import type {
  GenerateTextResult,
  ModelMessage,
  OutputInterface,
  TextStreamPart,
  ToolLoopAgentSettings,
  ToolSet,
} from 'ai'
import type { AgentSession, AgentSessionConfig } from '../session/agent-session.ts'
import { type AgentStream, createAgentStream } from '../session/agent-stream.ts'
import { AgentExecutor, type ExecutorOptions } from '../session/executor-session.ts'
import type { KeepOptions } from '../session/kept-messages.ts'
import { ToolLoopAgent } from './ai-sdk-agent.ts'
import { lostIn } from './ai-sdk-guard.ts'

export type AiSdkAgentOptions<T extends ToolSet, O extends OutputInterface> = ToolLoopAgentSettings<
  never,
  T,
  Record<string, unknown>,
  O
>

export type StatefulAgentExecutorOptions<T extends ToolSet, O extends OutputInterface> = AgentSessionConfig &
  AiSdkAgentOptions<T, O> &
  KeepOptions &
  ExecutorOptions

export type AiSdkInput = { readonly prompt: string } | { readonly messages: readonly ModelMessage[] }

/**
 * An AI SDK agent that holds its MCP sessions for its whole life: they are opened at the first invocation and ended by
 * `close`.
 *
 * Invocations run one after the other, in the order in which they were made. Messages are kept from one to the next,
 * unless `keepMessages` is off; those of an invocation that fails are not.
 */
export class StatefulAgentExecutor<
  T extends ToolSet = ToolSet,
  O extends OutputInterface = never,
> extends AgentExecutor<ModelMessage> {
  readonly #options: StatefulAgentExecutorOptions<T, O>
  #agent: ToolLoopAgent<never, T, Record<string, unknown>, O> | null = null

  constructor(options: StatefulAgentExecutorOptions<T, O>) {
    super(options, ({ role }) => role === 'user')
    this.#options = options
  }

  /** Runs the agent to its end, as `generateText` does. Rejects with an `AgentError` if its sessions do. */
  async invoke(
    input: AiSdkInput,
    { signal }: WaitOptions = {},
  ): Promise<GenerateTextResult<T, Record<string, unknown>, O>> {
    using turn = await this.take(signal)
    const messages = this.#continued(input)
    const result = await this.#agentOf(turn.session).generate({ messages, abortSignal: turn.signal })
    turn.signal.throwIfAborted()
    const lost = lostIn(result.steps)
    if (lost) throw lost
    this.kept.replace([...messages, ...result.responseMessages])
    return result
  }

  /** Yields the parts of `streamText` as the agent runs. Unlike there, an error is thrown after its part. */
  stream(input: AiSdkInput, { signal }: WaitOptions = {}): AgentStream<TextStreamPart<T>> {
    const executor = this
    return createAgentStream(async function* (running) {
      using turn = await executor.take(running)
      const messages = executor.#continued(input)
      const result = await executor.#agentOf(turn.session).stream({ messages, abortSignal: turn.signal })
      let failed: { readonly error: unknown } | null = null
      for await (const part of result.stream) {
        if (part.type === 'error') failed = { error: part.error }
        yield part
      }
      turn.signal.throwIfAborted()
      if (failed) throw failed.error
      const lost = lostIn(await result.steps)
      if (lost) throw lost
      executor.kept.replace([...messages, ...(await result.responseMessages)])
    }, signal)
  }

  #agentOf(mcpSession: AgentSession): ToolLoopAgent<never, T, Record<string, unknown>, O> {
    this.#agent ??= new ToolLoopAgent({ onError: () => {}, ...this.#options, mcpSession })
    return this.#agent
  }

  #continued(input: AiSdkInput): ModelMessage[] {
    const said = 'prompt' in input ? [{ role: 'user', content: input.prompt } as const] : input.messages
    return [...this.kept.messages, ...said]
  }
}
