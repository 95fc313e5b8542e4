export { createAgent, type LangChainAgent } from './lib/langchain/langchain-agent.ts'
export { StatefulAgentExecutor } from './lib/langchain/langchain-executor.ts'
export { createStatefulAgent, type StatefulAgent, withAgentSession } from './lib/langchain/langchain-session.ts'
export { langChainToolsOf } from './lib/langchain/langchain-tools.ts'
