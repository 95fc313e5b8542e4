import { dynamicTool, jsonSchema, type ToolSet } from 'ai'
import { modelPartsOf, type ToolAnswer } from '../connection/tool-answer.ts'
import type { AgentSession } from '../session/agent-session.ts'
import { type AgentTool, agentToolsOf, nameTools } from '../session/agent-tool.ts'
import type { McpSession } from '../session/mcp-session.ts'

/**
 * Returns a session's tools as AI SDK tools. Their output is the whole `ToolAnswer`; the model sees its text and
 * images, and a refused call as an error. A lost session and other faults throw an `AgentError`.
 *
 * `taken` are the names of the other tools of the agent: see `nameTools`.
 */
export function aiSdkToolsOf(session: AgentSession | McpSession, taken: Iterable<string> = []): ToolSet {
  return Object.fromEntries(nameTools(agentToolsOf(session), taken).map((tool) => [tool.name, aiSdkTool(tool)]))
}

function aiSdkTool({ tool, call }: AgentTool): ToolSet[string] {
  return dynamicTool({
    description: tool.description,
    inputSchema: jsonSchema(tool.inputSchema),
    execute: (input, { abortSignal }) => call(input as Parameters<AgentTool['call']>[0], { signal: abortSignal }),
    toModelOutput: ({ output }) => modelOutputOf(output as ToolAnswer),
  }) as ToolSet[string]
}

function modelOutputOf(answer: ToolAnswer) {
  if (answer.isError) return { type: 'error-text', value: answer.text } as const
  const parts = modelPartsOf(answer)
  if (typeof parts === 'string') return { type: 'text', value: parts } as const
  const value = parts.map((part) =>
    part.type === 'text'
      ? part
      : ({ type: 'file', mediaType: part.mimeType, data: { type: 'data', data: part.data } } as const),
  )
  return { type: 'content', value } as const
}
