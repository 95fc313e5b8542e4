export {
  createAgent,
  type LangChainAgent,
  type LangChainAgentOptions,
  type McpSessionOption,
} from './lib/langchain/langchain-agent.ts'
export { StatefulAgentExecutor, type StatefulAgentExecutorOptions } from './lib/langchain/langchain-executor.ts'
export { createStatefulAgent, type StatefulAgent, withAgentSession } from './lib/langchain/langchain-session.ts'
export { langChainToolsOf } from './lib/langchain/langchain-tools.ts'
