export { ToolLoopAgent } from './lib/ai-sdk/ai-sdk-agent.ts'
export { StatefulAgentExecutor } from './lib/ai-sdk/ai-sdk-executor.ts'
export { createStatefulAgent, type StatefulAgent, withAgentSession } from './lib/ai-sdk/ai-sdk-session.ts'
export { aiSdkToolsOf } from './lib/ai-sdk/ai-sdk-tools.ts'
