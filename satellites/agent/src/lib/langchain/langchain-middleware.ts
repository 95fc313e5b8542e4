import { reasonOf } from '@episodic/mcp-client'
import { type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { createMiddleware, ToolInvocationError } from 'langchain'
import { AgentError } from '../agent-error.ts'

/** Ends a run with a tool's `AgentError`; LangChain passes other errors to the model, as mistakes to fix. */
export function endOnLostSession() {
  return createMiddleware({
    name: 'EpisodicSession',
    async wrapToolCall(request, handler) {
      try {
        return await handler(request)
      } catch (error) {
        if (AgentError.is(error) || request.runtime.signal?.aborted) throw error
        const { id = '', name } = request.toolCall
        // Without the stack, which is LangChain's own text for it.
        const why = ToolInvocationError.isInstance(error)
          ? (error.toolError?.message ?? error.message)
          : reasonOf(error)
        return new ToolMessage({
          name,
          content: `Error: ${why}\n Please fix your mistakes.`,
          status: 'error',
          tool_call_id: id,
        })
      }
    },
  })
}

/** Passes the messages of a finished run to `keep`. */
export function onMessages(keep: (messages: readonly BaseMessage[]) => void) {
  return createMiddleware({
    name: 'EpisodicMessages',
    afterAgent(state) {
      keep(state.messages)
      return undefined
    },
  })
}
