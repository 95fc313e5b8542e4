export { generateText, type McpSessionOption, streamText, ToolLoopAgent } from './lib/ai-sdk/ai-sdk-agent.ts'
export {
  type AiSdkAgentOptions,
  type AiSdkInput,
  StatefulAgentExecutor,
  type StatefulAgentExecutorOptions,
} from './lib/ai-sdk/ai-sdk-executor.ts'
export { createStatefulAgent, type StatefulAgent, withAgentSession } from './lib/ai-sdk/ai-sdk-session.ts'
export { aiSdkToolsOf } from './lib/ai-sdk/ai-sdk-tools.ts'
