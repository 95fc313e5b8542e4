import { ToolLoopAgent as AiToolLoopAgent, type OutputInterface, type ToolLoopAgentSettings, type ToolSet } from 'ai'
import type { AgentSession } from '../session/agent-session.ts'
import type { McpSession } from '../session/mcp-session.ts'
import { endOnLostSession } from './ai-sdk-guard.ts'
import { aiSdkToolsOf } from './ai-sdk-tools.ts'

type Context = Record<string, unknown>

export interface McpSessionOption {
  /** The session whose tools the model gets. The caller closes it. */
  readonly mcpSession: AgentSession | McpSession
}

/** The AI SDK's `ToolLoopAgent` with a setting `mcpSession`: its tools, and a lost session ends a run. */
export class ToolLoopAgent<
  CallOptions = never,
  T extends ToolSet = ToolSet,
  C extends Context = Context,
  O extends OutputInterface = never,
> extends AiToolLoopAgent<CallOptions, T, C, O> {
  constructor({ mcpSession, ...settings }: McpSessionOption & ToolLoopAgentSettings<CallOptions, T, C, O>) {
    const { tools = {}, ...steps } = settings as ToolLoopAgentSettings<never, ToolSet, Context>
    super({
      ...settings,
      tools: { ...tools, ...aiSdkToolsOf(mcpSession, Object.keys(tools)) },
      ...endOnLostSession(steps),
    } as unknown as ToolLoopAgentSettings<CallOptions, T, C, O>)
  }
}
