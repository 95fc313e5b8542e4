import { hash } from 'node:crypto'
import { monotonic, toText } from '@episodic/protocol/internal'
import type { Answer } from '../answers/parse-answer.ts'
import { temperatureOf } from '../apis/recorded-api.ts'
import type { EpisodeJournal, JournalEntry } from '../journal/model-journal.ts'
import { withoutTokens } from '../messages/handed-tokens.ts'
import type { ChatBody } from '../requests/concessions.ts'
import { timesOf } from '../requests/tries.ts'
import { Weights } from '../rollouts/weights.ts'
import { type Asking, type Engine, Refused } from './engine.ts'
import { type Conversation, GivenAnswers, readConversation, requestOf } from './given-answers.ts'

export interface CallRecord {
  answer(answer: Answer, isKept: boolean): void
  fail(status: number | null, code: string): void
}

export interface GatewaySessionOptions {
  readonly engine: Engine
  /** Keeps answers beyond this process, and has those of an earlier one. Default: `null`, they are kept here. */
  readonly journal?: EpisodeJournal | Promise<EpisodeJournal> | null
  /** Holds requests back while they change. Default: they never change. */
  readonly weights?: Weights
  record(chat: ChatBody): CallRecord | null
}

export interface Call {
  /** Names the answer: the same for a request that is sent again. */
  readonly id: string
  readonly answer: Promise<Answer>
  /** Says whether the agent has received the whole answer. If nobody has, the next same request gets it. */
  end(isReceived: boolean): void
}

interface Begun extends Pick<Call, 'id' | 'answer'> {
  readonly number: number
  waiting: number
  isReceived: boolean
}

/**
 * The calls of one agent. Each request is answered once, and an answer that did not reach its agent is not lost: it is
 * kept, and is the answer to the same request when that comes again.
 */
export class GatewaySession implements Disposable {
  readonly #options: GatewaySessionOptions
  readonly #asking: Asking
  readonly #weights: Weights
  readonly #given = new GivenAnswers()
  /** The last of each request, by what it asks. */
  readonly #begun = new Map<string, Begun>()
  readonly #closed = new AbortController()
  #last: Conversation | null = null

  constructor(options: GatewaySessionOptions) {
    this.#options = options
    this.#weights = options.weights ?? new Weights()
    this.#asking = options.engine.open()
  }

  get isBusy(): boolean {
    return [...this.#begun.values()].some(({ waiting }) => waiting > 0)
  }

  remember(entries: readonly JournalEntry[]): void {
    for (const { asked, answer } of entries) {
      if (!asked) continue
      this.#last = readConversation({ messages: asked.messages, tools: asked.tools }, this.#last)
      this.#given.add(this.#last, answer, this.#options.engine.takesTokens(answer.completion.asked ?? ''))
    }
  }

  /**
   * Begins a request. The k-th of several same requests has the k-th answer, also of a session that is opened again.
   *
   * @param isRetry - whether the agent's client says that it sends the same request again.
   */
  ask(chat: ChatBody, isRetry: boolean): Call {
    const conversation = readConversation(chat, this.#last)
    this.#last = conversation
    const { key } = conversation
    const last = this.#begun.get(key)
    if (last && (isRetry || (last.waiting === 0 && !last.isReceived))) return join(last)
    const number = (last?.number ?? -1) + 1
    const id = hash('sha256', `${key} ${number}`).slice(0, 24)
    const begun: Begun = { id, answer: this.#answer(conversation, id), number, waiting: 0, isReceived: false }
    this.#begun.set(key, begun)
    // What was refused was not answered: the next same request is asked again.
    begun.answer.catch(() => {
      if (this.#begun.get(key) !== begun) return
      if (last) this.#begun.set(key, last)
      else this.#begun.delete(key)
    })
    return join(begun)
  }

  listModels(): Promise<readonly string[]> {
    return this.#options.engine.listModels(this.#closed.signal)
  }

  async #answer(conversation: Conversation, id: string): Promise<Answer> {
    const { engine, record } = this.#options
    const { chat } = conversation
    const model = toText(chat.model)
    const recorded = record(chat)
    const journal = await this.#options.journal
    const before = journal?.take(id)
    // The agent would send the tokens again and again, and here they are those of the answer.
    const kept = before && { ...before, message: withoutTokens(before.message) }
    if (kept) {
      recorded?.answer(kept, true)
      this.#given.add(conversation, kept, engine.takesTokens(model))
      return withoutIds(kept)
    }
    try {
      const sent = monotonic()
      const asked = this.#given.restore(conversation, engine.takesTokens(model))
      const { signal } = this.#closed
      const said = await this.#weights.ask(asked, (body) => this.#asking.ask(body, signal), signal)
      const times = timesOf([{ sent, answered: monotonic(), failure: null }], 0)
      const settings = { asked: toText(chat.model ?? said.completion.model), ...temperatureOf(chat) }
      const message = withoutTokens(said.message)
      const answer = { ...said, message, completion: { ...said.completion, ...settings, ...times } }
      // Before anybody learns of it.
      await journal?.add(id, answer, requestOf(chat))
      this.#given.add(conversation, answer, engine.takesTokens(model))
      recorded?.answer(answer, false)
      return withoutIds(answer)
    } catch (error) {
      if (error instanceof Refused) recorded?.fail(error.code === 'http' ? error.status : null, error.code)
      throw error
    }
  }

  [Symbol.dispose](): void {
    this.#closed.abort()
  }
}

function join(begun: Begun): Call {
  begun.waiting += 1
  begun.isReceived = false
  return {
    id: begun.id,
    answer: begun.answer,
    end(isReceived) {
      begun.waiting -= 1
      begun.isReceived ||= isReceived
    },
  }
}

/** What an agent gets of an answer, which is kept in case it asks again. */
function withoutIds(answer: Answer): Answer {
  const { promptTokenIds: _, tokenIds: __, logProbabilities: ___, ...completion } = answer.completion
  return { ...answer, completion }
}
