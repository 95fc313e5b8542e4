import type { WaitOptions } from '@episodic/mcp-client'
import type { AgentSession, AgentSessionConfig } from '../session/agent-session.ts'
import { openAgent } from '../session/open-agent.ts'
import { type Agent, type AgentOptions, createAgent } from './agent.ts'

/** An agent, and the session that it works in. */
export interface StatefulAgent {
  readonly agent: Agent
  readonly session: AgentSession
}

/** Opens a session and an agent in it for the duration of `run`. Rejects also with what `run` throws. */
export async function withAgentSession<Result>(
  options: AgentSessionConfig & AgentOptions,
  run: (agent: StatefulAgent) => Promise<Result>,
  wait: WaitOptions = {},
): Promise<Result> {
  const opened = await createStatefulAgent(options, wait)
  await using _ = opened.session
  return await run(opened)
}

/** Opens a session and an agent in it. The caller closes the session; else it ends with the process. */
export async function createStatefulAgent(
  options: AgentSessionConfig & AgentOptions,
  wait: WaitOptions = {},
): Promise<StatefulAgent> {
  return openAgent(options, (mcpSession) => createAgent({ ...options, mcpSession }), wait)
}
