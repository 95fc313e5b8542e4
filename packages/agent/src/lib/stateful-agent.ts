import { type Agent, type AgentOptions, createAgent } from './agent.ts'
import { type AgentSession, type AgentSessionConfig, openAgentSession } from './agent-session.ts'
import type { WaitOptions } from './connection.ts'

/** An agent, and the session that it works in. */
export interface StatefulAgent {
  readonly agent: Agent
  readonly session: AgentSession
}

/**
 * Opens a session and creates an agent that works in it, for as long as something runs. The session is closed whatever
 * comes of that. Rejects as `openAgentSession` does, and with what `run` throws.
 */
export async function withAgentSession<Result>(
  options: AgentSessionConfig & AgentOptions,
  run: (agent: StatefulAgent) => Promise<Result>,
  wait: WaitOptions = {},
): Promise<Result> {
  await using session = await openAgentSession(options, wait)
  return await run({ agent: createAgent({ ...options, mcpSession: session }), session })
}

/**
 * Opens a session and creates an agent that works in it. Whoever calls closes the session; one that is forgotten ends with
 * the process, with a warning.
 */
export async function createStatefulAgent(
  options: AgentSessionConfig & AgentOptions,
  wait: WaitOptions = {},
): Promise<StatefulAgent> {
  const session = await openAgentSession(options, wait)
  return { agent: createAgent({ ...options, mcpSession: session }), session }
}
