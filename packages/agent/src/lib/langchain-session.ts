import type { ClientTool, ServerTool } from '@langchain/core/tools'
import type { AnyAgentMiddleware } from 'langchain'
import { type AgentSession, type AgentSessionConfig, openAgentSession } from './agent-session.ts'
import type { WaitOptions } from './connection.ts'
import { createAgent, type LangChainAgent, type LangChainAgentOptions } from './langchain-agent.ts'

type Tools = readonly (ClientTool | ServerTool)[]
type Middleware = readonly AnyAgentMiddleware[]

/** A LangChain agent, and the session that it works in. */
export interface StatefulAgent<M extends Middleware, T extends Tools> {
  readonly agent: LangChainAgent<M, T>
  readonly session: AgentSession
}

/**
 * Opens a session and creates a LangChain agent that works in it, for as long as something runs. The session is closed
 * whatever comes of that. Rejects as `openAgentSession` does, and with what `run` throws.
 */
export async function withAgentSession<
  Result,
  const M extends Middleware = readonly [],
  const T extends Tools = readonly [],
>(
  options: AgentSessionConfig & LangChainAgentOptions<M, T>,
  run: (agent: StatefulAgent<M, T>) => Promise<Result>,
  wait: WaitOptions = {},
): Promise<Result> {
  await using session = await openAgentSession(options, wait)
  return await run({ agent: agentOf(options, session), session })
}

/**
 * Opens a session and creates a LangChain agent that works in it. Whoever calls closes the session; one that is forgotten
 * ends with the process, with a warning.
 */
export async function createStatefulAgent<
  const M extends Middleware = readonly [],
  const T extends Tools = readonly [],
>(options: AgentSessionConfig & LangChainAgentOptions<M, T>, wait: WaitOptions = {}): Promise<StatefulAgent<M, T>> {
  const session = await openAgentSession(options, wait)
  try {
    return { agent: agentOf(options, session), session }
  } catch (error) {
    await session.close()
    throw error
  }
}

function agentOf<M extends Middleware, T extends Tools>(
  options: LangChainAgentOptions<M, T>,
  mcpSession: AgentSession,
): LangChainAgent<M, T> {
  return createAgent({ ...options, mcpSession } as never) as unknown as LangChainAgent<M, T>
}
