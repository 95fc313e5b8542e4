import type { WaitOptions } from '@episodic/mcp-client'
import type { AgentSession, AgentSessionConfig } from '../session/agent-session.ts'
import { openAgent } from '../session/open-agent.ts'
import {
  createAgent,
  type LangChainAgent,
  type LangChainAgentOptions,
  type Middleware,
  type Tools,
} from './langchain-agent.ts'

/** A LangChain agent, and the session that it works in. */
export interface StatefulAgent<M extends Middleware, T extends Tools> {
  readonly agent: LangChainAgent<M, T>
  readonly session: AgentSession
}

/** Opens a session and a LangChain agent in it for the duration of `run`. Rejects also with what `run` throws. */
export async function withAgentSession<
  Result,
  const M extends Middleware = readonly [],
  const T extends Tools = readonly [],
>(
  options: AgentSessionConfig & LangChainAgentOptions<M, T>,
  run: (agent: StatefulAgent<M, T>) => Promise<Result>,
  wait: WaitOptions = {},
): Promise<Result> {
  const opened = await createStatefulAgent(options, wait)
  await using _ = opened.session
  return await run(opened)
}

/** Opens a session and a LangChain agent in it. The caller closes the session; else it ends with the process. */
export async function createStatefulAgent<
  const M extends Middleware = readonly [],
  const T extends Tools = readonly [],
>(options: AgentSessionConfig & LangChainAgentOptions<M, T>, wait: WaitOptions = {}): Promise<StatefulAgent<M, T>> {
  const create = (mcpSession: AgentSession) =>
    createAgent({ ...options, mcpSession } as never) as unknown as LangChainAgent<M, T>
  return openAgent(options, create, wait)
}
