import { withAgentSession } from '@episodic/agent/langchain'
import { nextGuess } from '@episodic/models/bisect.fixture'
import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import type { ChatGeneration, ChatResult, LLMResult } from '@langchain/core/outputs'
import { defineAgent } from '../../../index.ts'

/** A model of LangChain's own interface that needs no server. */
class BisectingModel extends BaseChatModel {
  constructor() {
    super({})
  }

  _llmType(): string {
    return 'bisecting'
  }

  override bindTools(): this {
    return this
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const value = nextGuess(messages.map(({ text }) => text).join('\n'))
    const calls =
      value === null
        ? []
        : [{ type: 'tool_call' as const, id: `call-${messages.length}`, name: 'guess', args: { value } }]
    const message = new AIMessage({ content: value === null ? 'Found.' : '', tool_calls: calls })
    return { generations: [{ text: '', message }] }
  }
}

export const agent = defineAgent({
  name: 'langchain',
  play: ({ url, task, observation, record, signal }) =>
    withAgentSession(
      { mcpServers: { world: { url } }, model: new BisectingModel(), systemPrompt: task.prompt },
      async ({ agent }) => {
        const messages = [{ role: 'user', content: observation.text }]
        const handleLLMEnd = ({ generations }: LLMResult) => {
          const [[{ message }]] = generations as [[ChatGeneration]]
          const { text, tool_calls: calls = [] } = message as AIMessage
          record({
            model: 'bisecting',
            text: text || null,
            calls: calls.map(({ id = '', name, args }) => ({ id, name, arguments: JSON.stringify(args) })),
          })
        }
        // LangChain would else run it in the background, and an agent that has returned records nothing more.
        const recorder = Object.assign(BaseCallbackHandler.fromMethods({ handleLLMEnd }), { awaitHandlers: true })
        await agent.invoke({ messages }, { signal, recursionLimit: 200, callbacks: [recorder] })
      },
      { signal },
    ),
})
