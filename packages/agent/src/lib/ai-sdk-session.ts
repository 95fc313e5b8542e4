import type { OutputInterface, ToolSet } from 'ai'
import { type AgentSession, type AgentSessionConfig, openAgentSession } from './agent-session.ts'
import { ToolLoopAgent } from './ai-sdk-agent.ts'
import type { AiSdkAgentOptions } from './ai-sdk-executor.ts'
import type { WaitOptions } from './connection.ts'

/** An AI SDK agent, and the session that it works in. */
export interface StatefulAgent<T extends ToolSet, O extends OutputInterface> {
  readonly agent: ToolLoopAgent<never, T, Record<string, unknown>, O>
  readonly session: AgentSession
}

/**
 * Opens a session and creates an AI SDK agent that works in it, for as long as something runs. The session is closed
 * whatever comes of that. Rejects as `openAgentSession` does, and with what `run` throws.
 */
export async function withAgentSession<Result, T extends ToolSet = ToolSet, O extends OutputInterface = never>(
  options: AgentSessionConfig & AiSdkAgentOptions<T, O>,
  run: (agent: StatefulAgent<T, O>) => Promise<Result>,
  wait: WaitOptions = {},
): Promise<Result> {
  await using session = await openAgentSession(options, wait)
  return await run({ agent: agentOf(options, session), session })
}

/**
 * Opens a session and creates an AI SDK agent that works in it. Whoever calls closes the session; one that is forgotten
 * ends with the process, with a warning.
 */
export async function createStatefulAgent<T extends ToolSet = ToolSet, O extends OutputInterface = never>(
  options: AgentSessionConfig & AiSdkAgentOptions<T, O>,
  wait: WaitOptions = {},
): Promise<StatefulAgent<T, O>> {
  const session = await openAgentSession(options, wait)
  try {
    return { agent: agentOf(options, session), session }
  } catch (error) {
    await session.close()
    throw error
  }
}

function agentOf<T extends ToolSet, O extends OutputInterface>(
  options: AiSdkAgentOptions<T, O>,
  mcpSession: AgentSession,
): StatefulAgent<T, O>['agent'] {
  return new ToolLoopAgent({ ...options, mcpSession } as never)
}
