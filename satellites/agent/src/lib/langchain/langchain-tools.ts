import { ToolMessage } from '@langchain/core/messages'
import { type DynamicStructuredTool, type ToolRunnableConfig, tool } from '@langchain/core/tools'
import { modelPartsOf } from '../connection/tool-answer.ts'
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
      // As LangChain's standard blocks.
      const content = modelPartsOf(answer) as ToolMessage['content']
      const id = config.toolCall?.id
      if (id === undefined) return content
      const status = answer.isError ? 'error' : 'success'
      return new ToolMessage({ name, content, status, tool_call_id: id, artifact: answer.structured })
    },
    { name, description: listed.description, schema: listed.inputSchema },
  ) as unknown as DynamicStructuredTool
}
