import { type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { createMiddleware, ToolInvocationError } from 'langchain'
import { AgentError } from '../agent-error.ts'
import { reasonOf } from '../connection/reason.ts'

/**
 * Ends an agent's run with the `AgentError` of a tool, which LangChain would tell to the model as something to be fixed.
 * Whatever else a tool throws is told to the model, as it would be without.
 */
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

/** Hands over the messages of a run that came to its end. */
export function onMessages(keep: (messages: readonly BaseMessage[]) => void) {
  return createMiddleware({
    name: 'EpisodicMessages',
    afterAgent(state) {
      keep(state.messages)
      return undefined
    },
  })
}
