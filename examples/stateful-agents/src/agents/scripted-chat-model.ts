import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { nextTurn, type Script } from './script.ts'

/**
 * A chat model of LangChain that follows a script. Stateless, like any model: it finds its position in the messages.
 */
export class ScriptedChatModel extends BaseChatModel {
  readonly #script: Script

  constructor(script: Script) {
    super({})
    this.#script = script
  }

  override _llmType(): string {
    return 'scripted'
  }

  override bindTools() {
    return this
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const results = messages
      .filter((message) => ToolMessage.isInstance(message))
      .map((message) => ({ text: message.text, isError: message.status === 'error' }))
    const turn = nextTurn(this.#script, results)
    const message =
      typeof turn === 'string'
        ? new AIMessage(turn)
        : new AIMessage({
            content: '',
            tool_calls: [{ id: `call-${results.length + 1}`, name: turn.tool, args: { ...turn.input } }],
          })
    return { generations: [{ text: message.text, message }] }
  }
}
