export {
  createAgent,
  type LangChainAgent,
  type LangChainAgentOptions,
  type McpSessionOption,
} from './lib/langchain-agent.ts'
export { StatefulAgentExecutor, type StatefulAgentExecutorOptions } from './lib/langchain-executor.ts'
export { createStatefulAgent, type StatefulAgent, withAgentSession } from './lib/langchain-session.ts'
export { langChainToolsOf } from './lib/langchain-tools.ts'
