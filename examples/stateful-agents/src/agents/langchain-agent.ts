import type { LocalTool } from '@episodic/agent'
import { createAgent } from '@episodic/agent/langchain'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { MAXIMUM_TURNS, type RunAgent } from './agent.ts'
import type { ToolInput } from './script.ts'
import { ScriptedChatModel } from './scripted-chat-model.ts'

/** Runs the assignment with a LangChain agent and a scripted chat model. */
export const runLangchainAgent: RunAgent = async ({ prompt, script, mcpSession, tools, signal }) => {
  const agent = createAgent({ model: new ScriptedChatModel(script), mcpSession, tools: tools.map(toLangchainTool) })
  // A turn is two steps of LangChain's graph: the model's and the tools'.
  const options = { signal, recursionLimit: 2 * MAXIMUM_TURNS }
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: prompt }] }, options)
  return messages.at(-1)?.text ?? ''
}

function toLangchainTool({ name, description, inputSchema, call }: LocalTool) {
  return new DynamicStructuredTool({
    name,
    description,
    schema: inputSchema,
    async func(input: ToolInput, _run, { signal = new AbortController().signal } = {}) {
      const answer = await call(input, { signal })
      return typeof answer === 'string' ? answer : answer.text
    },
  })
}
