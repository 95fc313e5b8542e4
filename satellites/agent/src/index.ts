export type {
  OAuthClient,
  OAuthClientMetadata,
  OAuthContext,
  OAuthProvider,
  OAuthTokens,
} from '@episodic/mcp-client'
export { AgentError, SessionExpiredError, SessionLostError } from './lib/agent-error.ts'
export type { McpServersConfig, ServerConfig } from './lib/connection/server-config.ts'
export type { SessionTool } from './lib/connection/session-tool.ts'
export type { ToolAnswer } from './lib/connection/tool-answer.ts'
export { type Agent, type AgentResult, createAgent } from './lib/loop/agent.ts'
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
export { StatefulAgentExecutor } from './lib/loop/stateful-agent-executor.ts'
export {
  type AgentSession,
  type AgentSessionConfig,
  openAgentSession,
  type SessionScope,
} from './lib/session/agent-session.ts'
export { type AgentTool, nameTools } from './lib/session/agent-tool.ts'
export type { McpSession } from './lib/session/mcp-session.ts'
export { createMcpSessions, type McpSessions } from './lib/session/mcp-sessions.ts'
export type { Recovery } from './lib/session/recovery.ts'
export type { ToolCall } from './lib/session/transaction.ts'
