export { type Agent, type AgentInput, type AgentOptions, type AgentResult, createAgent } from './lib/agent.ts'
export { AgentError, type AgentErrorCode, SessionExpiredError, SessionLostError } from './lib/agent-error.ts'
export type {
  AgentEvent,
  AgentMessage,
  LocalTool,
  Model,
  ModelCall,
  ModelRequest,
  ModelTool,
} from './lib/agent-loop.ts'
export {
  type AgentServers,
  type AgentSession,
  type AgentSessionConfig,
  openAgentSession,
  type SessionScope,
} from './lib/agent-session.ts'
export type { AgentStream, StreamEnd } from './lib/agent-stream.ts'
export { type AgentTool, nameTools } from './lib/agent-tool.ts'
export type { WaitOptions } from './lib/connection.ts'
export type { ExecutorOptions } from './lib/executor-session.ts'
export type { KeepOptions } from './lib/kept-messages.ts'
export type { McpSession } from './lib/mcp-session.ts'
export { createMcpSessions, type McpSessions, type McpSessionsOptions, type OpenOptions } from './lib/mcp-sessions.ts'
export type {
  OAuthClient,
  OAuthClientMetadata,
  OAuthContext,
  OAuthProvider,
  OAuthTokens,
} from './lib/oauth-provider.ts'
export type { Recovery } from './lib/recovery.ts'
export type { CommandServer, McpServersConfig, ServerConfig, UrlServer, Variables } from './lib/server-config.ts'
export type { CallOptions, SessionCalls } from './lib/session-calls.ts'
export type { SessionHealth } from './lib/session-health.ts'
export type { SessionTool, ToolAnnotations } from './lib/session-tool.ts'
export { createStatefulAgent, type StatefulAgent, withAgentSession } from './lib/stateful-agent.ts'
export { StatefulAgentExecutor, type StatefulAgentExecutorOptions } from './lib/stateful-agent-executor.ts'
export type { ToolAnswer, ToolContent } from './lib/tool-answer.ts'
export type { ToolCall, TransactionCalls } from './lib/transaction.ts'
