import type { WaitOptions } from '@episodic/mcp-client'
import { type AgentSession, type AgentSessionConfig, openAgentSession } from './agent-session.ts'

/** Opens a session and an agent for it. Closes the session if `create` throws, and rejects with that error. */
export async function openAgent<Agent>(
  config: AgentSessionConfig,
  create: (session: AgentSession) => Agent,
  wait: WaitOptions,
): Promise<{ readonly agent: Agent; readonly session: AgentSession }> {
  const session = await openAgentSession(config, wait)
  try {
    return { agent: create(session), session }
  } catch (error) {
    await session.close()
    throw error
  }
}
