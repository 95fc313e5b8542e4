import { ToolMessage } from '@langchain/core/messages'
import { type DynamicStructuredTool, type ToolRunnableConfig, tool } from '@langchain/core/tools'
import type { ToolAnswer } from '../connection/tool-answer.ts'
import type { AgentSession } from '../session/agent-session.ts'
import { type AgentTool, agentToolsOf, nameTools } from '../session/agent-tool.ts'
import type { McpSession } from '../session/mcp-session.ts'

/**
 * Returns a session's tools as LangChain tools. A refused call is a message with the status `error`; structured content
 * is the message's `artifact`. A lost session and other faults reject with an `AgentError`.
 *
 * `taken` are the names of the other tools of the agent: see `nameTools`.
 */
export function langChainToolsOf(
  session: AgentSession | McpSession,
  taken: Iterable<string> = [],
): DynamicStructuredTool[] {
  return nameTools(agentToolsOf(session), taken).map(langChainTool)
}

function langChainTool({ name, tool: listed, call }: AgentTool): DynamicStructuredTool {
  return tool(
    async (args, config: ToolRunnableConfig) => {
      const answer = await call(args as Parameters<AgentTool['call']>[0], { signal: config.signal })
      const content = contentOf(answer)
      const id = config.toolCall?.id
      if (id === undefined) return content
      const status = answer.isError ? 'error' : 'success'
      return new ToolMessage({ name, content, status, tool_call_id: id, artifact: answer.structured })
    },
    { name, description: listed.description, schema: listed.inputSchema },
  ) as unknown as DynamicStructuredTool
}

/** Text as text, and what else there is as LangChain's standard blocks. */
function contentOf({ text, content }: ToolAnswer): ToolMessage['content'] {
  if (content.every(({ type }) => type !== 'image' && type !== 'audio')) return text
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    if (part.type === 'image' || part.type === 'audio')
      return { type: part.type, data: part.data, mimeType: part.mimeType }
    return { type: 'text', text: JSON.stringify(part) }
  })
}
