import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import type { BaseMessage } from '@langchain/core/messages'
import { AIMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import type { Model } from '../index.ts'

/** One turn of a model: what it says, or the tools that it wants. */
export type Turn = string | readonly (readonly [tool: string, args?: Record<string, unknown>])[]

type Calls = readonly { readonly id: string; readonly name: string; readonly args: Record<string, unknown> }[]

type LanguageModelStreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

/** Plays turns in order; the last one again and again. */
function player(turns: readonly Turn[]): () => { readonly text: string; readonly calls: Calls } {
  let at = 0
  let id = 0
  return () => {
    const turn = turns[Math.min(at++, turns.length - 1)]!
    if (typeof turn === 'string') return { text: turn, calls: [] }
    return { text: '', calls: turn.map(([name, args = {}]) => ({ id: `call-${++id}`, name, args })) }
  }
}

/** A model for no framework. `asked` holds the number of messages at each turn. */
export function scriptedModel(turns: readonly Turn[]): { readonly model: Model; readonly asked: number[] } {
  const next = player(turns)
  const asked: number[] = []
  return {
    asked,
    model: async ({ messages }) => {
      asked.push(messages.length)
      const { text, calls } = next()
      return { text, calls: calls.map(({ id, name, args }) => ({ id, name, arguments: args as never })) }
    },
  }
}

/** A chat model for LangChain. */
export class ScriptedChatModel extends BaseChatModel {
  readonly asked: BaseMessage[][] = []
  readonly #next: ReturnType<typeof player>

  constructor(turns: readonly Turn[]) {
    super({})
    this.#next = player(turns)
  }

  _llmType(): string {
    return 'scripted'
  }

  override bindTools() {
    return this
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    this.asked.push(messages)
    const { text, calls } = this.#next()
    const message = new AIMessage({ content: text, tool_calls: calls.map((call) => ({ ...call, type: 'tool_call' })) })
    return { generations: [{ text, message }] }
  }
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** A language model for the AI SDK, of its own test interface. */
export function scriptedLanguageModel(turns: readonly Turn[]): MockLanguageModelV4 {
  const next = player(turns)
  const answer = () => {
    const { text, calls } = next()
    const content = [
      ...(text ? [{ type: 'text' as const, text }] : []),
      ...calls.map(({ id, name, args }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: name,
        input: JSON.stringify(args),
      })),
    ]
    const unified = calls.length > 0 ? ('tool-calls' as const) : ('stop' as const)
    return { content, finishReason: { unified, raw: undefined } }
  }
  return new MockLanguageModelV4({
    doGenerate: async () => ({ ...answer(), usage, warnings: [] }),
    doStream: async () => {
      const { content, finishReason } = answer()
      const chunks = content.flatMap((part, i): LanguageModelStreamPart[] =>
        part.type === 'text'
          ? [
              { type: 'text-start' as const, id: String(i) },
              { type: 'text-delta' as const, id: String(i), delta: part.text },
              { type: 'text-end' as const, id: String(i) },
            ]
          : [part],
      )
      return {
        stream: simulateReadableStream<LanguageModelStreamPart>({
          chunks: [
            { type: 'stream-start' as const, warnings: [] },
            ...chunks,
            { type: 'finish' as const, finishReason, usage },
          ],
          initialDelayInMs: null,
          chunkDelayInMs: null,
        }),
      }
    },
  })
}
