import type { WaitOptions } from '../connection/connection.ts'
import { type AgentSession, type AgentSessionConfig, openAgentSession } from './agent-session.ts'

/**
 * Opens a session, and makes an agent that works in it. Where the agent cannot be made, the session is closed. Rejects as
 * `openAgentSession` does, and with what `create` throws.
 */
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
