export { AgentError, type AgentErrorCode, SessionExpiredError, SessionLostError } from './lib/agent-error.ts'
export type { WaitOptions } from './lib/connection/connection.ts'
export type {
  OAuthClient,
  OAuthClientMetadata,
  OAuthContext,
  OAuthProvider,
  OAuthTokens,
} from './lib/connection/oauth-provider.ts'
export type {
  CommandServer,
  McpServersConfig,
  ServerConfig,
  UrlServer,
  Variables,
} from './lib/connection/server-config.ts'
export type { SessionTool, ToolAnnotations } from './lib/connection/session-tool.ts'
export type { ToolAnswer, ToolContent } from './lib/connection/tool-answer.ts'
export { type Agent, type AgentInput, type AgentOptions, type AgentResult, createAgent } from './lib/loop/agent.ts'
export type {
  AgentEvent,
  AgentMessage,
  LocalTool,
  Model,
  ModelCall,
  ModelRequest,
  ModelTool,
} from './lib/loop/agent-loop.ts'
export { createStatefulAgent, type StatefulAgent, withAgentSession } from './lib/loop/stateful-agent.ts'
export { StatefulAgentExecutor, type StatefulAgentExecutorOptions } from './lib/loop/stateful-agent-executor.ts'
export {
  type AgentServers,
  type AgentSession,
  type AgentSessionConfig,
  openAgentSession,
  type SessionScope,
} from './lib/session/agent-session.ts'
export type { AgentStream, StreamEnd } from './lib/session/agent-stream.ts'
export { type AgentTool, nameTools } from './lib/session/agent-tool.ts'
export type { ExecutorOptions } from './lib/session/executor-session.ts'
export type { KeepOptions } from './lib/session/kept-messages.ts'
export type { McpSession } from './lib/session/mcp-session.ts'
export {
  createMcpSessions,
  type McpSessions,
  type McpSessionsOptions,
  type OpenOptions,
} from './lib/session/mcp-sessions.ts'
export type { Recovery } from './lib/session/recovery.ts'
export type { CallOptions, SessionCalls } from './lib/session/session-calls.ts'
export type { SessionHealth } from './lib/session/session-health.ts'
export type { ToolCall, TransactionCalls } from './lib/session/transaction.ts'
