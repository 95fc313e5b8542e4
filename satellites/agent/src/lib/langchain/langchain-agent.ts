import type { ClientTool, ServerTool } from '@langchain/core/tools'
import type { InteropZodType } from '@langchain/core/utils/types'
import {
  type AgentTypeConfig,
  type AnyAgentMiddleware,
  type AnyAnnotationRoot,
  type CombineTools,
  type CreateAgentParams,
  createAgent as createLangChainAgent,
  type ReactAgent,
  type ResponseFormatUndefined,
} from 'langchain'
import type { AgentSession } from '../session/agent-session.ts'
import type { McpSession } from '../session/mcp-session.ts'
import { endOnLostSession } from './langchain-middleware.ts'
import { langChainToolsOf } from './langchain-tools.ts'

export type Tools = readonly (ClientTool | ServerTool)[]
export type Middleware = readonly AnyAgentMiddleware[]

export interface McpSessionOption {
  /** The session whose tools the agent gets. The caller closes it. */
  readonly mcpSession: AgentSession | McpSession
}

export type LangChainAgentOptions<M extends Middleware = Middleware, T extends Tools = Tools> = Omit<
  CreateAgentParams<ResponseFormatUndefined, undefined, AnyAnnotationRoot, never>,
  'responseFormat' | 'middleware' | 'tools'
> & { readonly middleware?: M | undefined; readonly tools?: T | undefined }

export type LangChainAgent<M extends Middleware = Middleware, T extends Tools = Tools> = ReactAgent<
  AgentTypeConfig<ResponseFormatUndefined, undefined, AnyAnnotationRoot, M, CombineTools<T, M>>
>

/**
 * LangChain's `createAgent` with one more option, `mcpSession`: the agent has the session's tools besides its own, and
 * a lost session ends a run with an `AgentError`. Throws `config-invalid` if two tools have the same name.
 */
export function createAgent<
  Response extends Record<string, unknown>,
  const M extends Middleware = readonly [],
  const T extends Tools = readonly [],
>(
  options: McpSessionOption & LangChainAgentOptions<M, T> & { readonly responseFormat: InteropZodType<Response> },
): ReactAgent<AgentTypeConfig<Response, undefined, AnyAnnotationRoot, M, CombineTools<T, M>>>
export function createAgent<const M extends Middleware = readonly [], const T extends Tools = readonly []>(
  options: McpSessionOption & LangChainAgentOptions<M, T>,
): LangChainAgent<M, T>
export function createAgent({ mcpSession, ...options }: McpSessionOption & LangChainAgentOptions): unknown {
  const own = options.tools ?? []
  const names = own.flatMap((tool) => (typeof tool.name === 'string' ? [tool.name] : []))
  return createLangChainAgent({
    ...options,
    tools: [...own, ...langChainToolsOf(mcpSession, names)],
    // First, and so the outermost: no other middleware handles the end of a session.
    middleware: [endOnLostSession(), ...(options.middleware ?? [])],
  })
}
