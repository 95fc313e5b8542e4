import type { WaitOptions } from '@episodic/mcp-client'
import type { OutputInterface, ToolSet } from 'ai'
import type { AgentSession, AgentSessionConfig } from '../session/agent-session.ts'
import { openAgent } from '../session/open-agent.ts'
import { ToolLoopAgent } from './ai-sdk-agent.ts'
import type { AiSdkAgentOptions } from './ai-sdk-executor.ts'

export interface StatefulAgent<T extends ToolSet, O extends OutputInterface> {
  readonly agent: ToolLoopAgent<never, T, Record<string, unknown>, O>
  readonly session: AgentSession
}

/** Opens a session and an AI SDK agent in it for the duration of `run`. Rejects also with what `run` throws. */
export async function withAgentSession<Result, T extends ToolSet = ToolSet, O extends OutputInterface = never>(
  options: AgentSessionConfig & AiSdkAgentOptions<T, O>,
  run: (agent: StatefulAgent<T, O>) => Promise<Result>,
  wait: WaitOptions = {},
): Promise<Result> {
  const opened = await createStatefulAgent(options, wait)
  await using _ = opened.session
  return await run(opened)
}

/** Opens a session and an AI SDK agent in it. The caller closes the session; else it ends with the process. */
export async function createStatefulAgent<T extends ToolSet = ToolSet, O extends OutputInterface = never>(
  options: AgentSessionConfig & AiSdkAgentOptions<T, O>,
  wait: WaitOptions = {},
): Promise<StatefulAgent<T, O>> {
  const create = (mcpSession: AgentSession) =>
    new ToolLoopAgent<never, T, Record<string, unknown>, O>({ ...options, mcpSession } as never)
  return openAgent(options, create, wait)
}
