import type { LocalTool } from '@episodic/agent'
import { ToolLoopAgent } from '@episodic/agent/ai-sdk'
import { dynamicTool, isStepCount, jsonSchema } from 'ai'
import { MAXIMUM_TURNS, type RunAgent } from './agent.ts'
import type { ToolInput } from './script.ts'
import { createScriptedLanguageModel } from './scripted-language-model.ts'

/** Runs the assignment with the AI SDK's `ToolLoopAgent` and a scripted language model. */
export const runAiSdkAgent: RunAgent = async ({ prompt, script, mcpSession, tools, signal }) => {
  const agent = new ToolLoopAgent({
    model: createScriptedLanguageModel(script),
    mcpSession,
    tools: Object.fromEntries(tools.map((tool) => [tool.name, toAiSdkTool(tool)])),
    stopWhen: isStepCount(MAXIMUM_TURNS),
  })
  return (await agent.generate({ prompt, abortSignal: signal })).text
}

function toAiSdkTool({ description, inputSchema, call }: LocalTool) {
  return dynamicTool({
    description,
    inputSchema: jsonSchema(inputSchema),
    async execute(input, { abortSignal = new AbortController().signal }) {
      const answer = await call(input as ToolInput, { signal: abortSignal })
      return typeof answer === 'string' ? answer : answer.text
    },
  })
}
