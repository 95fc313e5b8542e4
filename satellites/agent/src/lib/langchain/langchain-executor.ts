import { type BaseMessage, type BaseMessageLike, coerceMessageLikeToMessage } from '@langchain/core/messages'
import type { AgentSessionConfig } from '../session/agent-session.ts'
import { type AgentStream, createAgentStream } from '../session/agent-stream.ts'
import { AgentExecutor, type ExecutorOptions } from '../session/executor-session.ts'
import type { KeepOptions } from '../session/kept-messages.ts'
import {
  createAgent,
  type LangChainAgent,
  type LangChainAgentOptions,
  type Middleware,
  type Tools,
} from './langchain-agent.ts'
import { onMessages } from './langchain-middleware.ts'

export type StatefulAgentExecutorOptions<M extends Middleware, T extends Tools> = AgentSessionConfig &
  LangChainAgentOptions<M, T> &
  KeepOptions &
  ExecutorOptions

type Invocation<M extends Middleware, T extends Tools> = Parameters<LangChainAgent<M, T>['invoke']>

/**
 * A LangChain agent that holds its MCP sessions for its whole life: they are opened at the first invocation and ended
 * by `close`.
 *
 * Invocations run one after the other, in the order in which they were made. Messages are kept from one to the next,
 * unless `keepMessages` is off or a `checkpointer` keeps them; those of an invocation that fails are not.
 */
export class StatefulAgentExecutor<
  const M extends Middleware = readonly [],
  const T extends Tools = readonly [],
> extends AgentExecutor<BaseMessage> {
  readonly #options: StatefulAgentExecutorOptions<M, T>
  #agent: LangChainAgent<M, T> | null = null

  constructor(options: StatefulAgentExecutorOptions<M, T>) {
    // A checkpointer keeps them by itself.
    const keepMessages = options.keepMessages ?? options.checkpointer === undefined
    super({ ...options, keepMessages }, (message) => message.getType() === 'human')
    this.#options = options
  }

  /** Runs the agent to its end, as its own `invoke` does. Rejects with an `AgentError` if its sessions do. */
  async invoke(
    input: Invocation<M, T>[0],
    config: Invocation<M, T>[1] = {} as Invocation<M, T>[1],
  ): Promise<Awaited<ReturnType<LangChainAgent<M, T>['invoke']>>> {
    const { signal } = config as { signal?: AbortSignal }
    using turn = await this.take(signal)
    const agent = this.#agentOf(turn.session)
    return (await agent.invoke(this.#continued(input), { ...config, signal: turn.signal } as typeof config)) as Awaited<
      ReturnType<LangChainAgent<M, T>['invoke']>
    >
  }

  /** Runs the agent as it is read, and yields what its own `stream` does for the `streamMode` of `config`. */
  stream<Chunk = unknown>(
    input: Invocation<M, T>[0],
    config: Parameters<LangChainAgent<M, T>['stream']>[1] = {} as Parameters<LangChainAgent<M, T>['stream']>[1],
  ): AgentStream<Chunk> {
    const { signal } = config as { signal?: AbortSignal }
    const executor = this
    return createAgentStream(async function* (running) {
      using turn = await executor.take(running)
      const agent = executor.#agentOf(turn.session)
      yield* (await agent.stream(executor.#continued(input), {
        ...config,
        signal: turn.signal,
      } as typeof config)) as AsyncIterable<Chunk>
    }, signal)
  }

  #agentOf(mcpSession: Parameters<typeof createAgent>[0]['mcpSession']): LangChainAgent<M, T> {
    const keep = onMessages((messages) => this.kept.replace(messages))
    const middleware = [...(this.#options.middleware ?? []), keep]
    this.#agent ??= createAgent({ ...this.#options, mcpSession, middleware } as never) as unknown as LangChainAgent<
      M,
      T
    >
    return this.#agent
  }

  #continued(input: Invocation<M, T>[0]): Invocation<M, T>[0] {
    if (this.kept.messages.length === 0 || typeof input !== 'object' || input === null || !('messages' in input))
      return input
    const given = (input as { messages: BaseMessageLike | readonly BaseMessageLike[] }).messages
    const said = (Array.isArray(given) ? given : [given]) as BaseMessageLike[]
    return { ...input, messages: [...this.kept.messages, ...said.map(coerceMessageLikeToMessage)] } as Invocation<
      M,
      T
    >[0]
  }
}
