import {
  ToolLoopAgent as AiToolLoopAgent,
  generateText as generateAiText,
  type OutputInterface,
  streamText as streamAiText,
  type ToolLoopAgentSettings,
  type ToolSet,
} from 'ai'
import type { AgentSession } from '../session/agent-session.ts'
import type { McpSession } from '../session/mcp-session.ts'
import { endOnLostSession, lostIn } from './ai-sdk-guard.ts'
import { aiSdkToolsOf } from './ai-sdk-tools.ts'

type Context = Record<string, unknown>
type GenerateOptions<T extends ToolSet, C extends Context, O extends OutputInterface> = Parameters<
  typeof generateAiText<T, C, O>
>[0]
type StreamOptions<T extends ToolSet, C extends Context, O extends OutputInterface> = Parameters<
  typeof streamAiText<T, C, O>
>[0]

export interface McpSessionOption {
  /** The session whose tools the model gets. The caller closes it. */
  readonly mcpSession: AgentSession | McpSession
}

/**
 * The AI SDK's `generateText` with one more option, `mcpSession`: the model has the session's tools besides its own,
 * and a lost session rejects with an `AgentError`. As there, a model takes one step unless `stopWhen` says otherwise.
 */
export async function generateText<
  T extends ToolSet,
  C extends Context = Context,
  O extends OutputInterface = OutputInterface<string, string>,
>({ mcpSession, ...options }: McpSessionOption & GenerateOptions<T, C, O>) {
  const result = await generateAiText<T, C, O>(withSession(mcpSession, options) as GenerateOptions<T, C, O>)
  const lost = lostIn(result.steps)
  if (lost) throw lost
  return result
}

/** The AI SDK's `streamText` with an option `mcpSession`: its tools too. A lost session is an `error` part. */
export function streamText<
  T extends ToolSet,
  C extends Context = Context,
  O extends OutputInterface = OutputInterface<string, string, never>,
>({ mcpSession, ...options }: McpSessionOption & StreamOptions<T, C, O>) {
  return streamAiText<T, C, O>(withSession(mcpSession, options) as StreamOptions<T, C, O>)
}

/** The AI SDK's `ToolLoopAgent` with a setting `mcpSession`: its tools, and a lost session ends a run. */
export class ToolLoopAgent<
  CallOptions = never,
  T extends ToolSet = ToolSet,
  C extends Context = Context,
  O extends OutputInterface = never,
> extends AiToolLoopAgent<CallOptions, T, C, O> {
  constructor({ mcpSession, ...settings }: McpSessionOption & ToolLoopAgentSettings<CallOptions, T, C, O>) {
    super(withSession(mcpSession, settings) as unknown as ToolLoopAgentSettings<CallOptions, T, C, O>)
  }
}

function withSession(mcpSession: AgentSession | McpSession, options: object): object {
  const { tools = {}, prepareStep } = options as Partial<
    Pick<GenerateOptions<ToolSet, Context, OutputInterface>, 'tools' | 'prepareStep'>
  >
  return {
    ...options,
    tools: { ...tools, ...aiSdkToolsOf(mcpSession, Object.keys(tools)) },
    prepareStep: endOnLostSession(prepareStep),
  }
}
