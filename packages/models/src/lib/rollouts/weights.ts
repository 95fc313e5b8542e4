import { abortable } from '@episodic/protocol/internal'
import type { Answer } from '../answers/parse-answer.ts'
import type { ChatBody } from '../requests/concessions.ts'
import { continuedChat, joinAnswers, mayContinue } from './continued-answer.ts'

/** Times that one answer may be ended by its engine while nobody has said that the weights change. */
const MOST_ENDED = 8

/**
 * The versions of the weights of an engine. Requests wait while they change, and an answer that the engine ended by
 * then is gone on with under the new ones.
 */
export class Weights {
  /** In the order in which they were loaded; the last one samples now. */
  readonly versions: string[] = []
  isChanging = false
  #inFlight = 0
  #turn = Promise.withResolvers<void>()

  figures(): object {
    const { versions } = this
    const version = versions.at(-1) ?? null
    return { version, updates: versions.length, changing: this.isChanging, in_flight: this.#inFlight }
  }

  /** Lets requests through, to weights of this version. One that is known already is loaded again. */
  load(version: string): void {
    if (this.versions.at(-1) !== version) this.versions.push(version)
    this.isChanging = false
    this.#wake()
  }

  /** Resolves when the engine has no request any more, or requests may pass again, or `signal` is aborted. */
  async drained(signal: AbortSignal): Promise<void> {
    while (this.#inFlight > 0 && this.isChanging && !signal.aborted) await this.#change(signal)
  }

  /**
   * Asks for an answer. One that names no version has that of the time when it was asked for. Rejects as `send` does;
   * after an abort it is asked at once.
   */
  async ask(chat: ChatBody, send: (chat: ChatBody) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    let before: Answer | null = null
    for (let ended = 0; ; ) {
      while (this.isChanging && !signal.aborted) {
        ended = 0
        await this.#change(signal)
      }
      const version = this.versions.at(-1)
      this.#inFlight += 1
      try {
        const answer = withVersion(await send(before ? continuedChat(chat, before) : chat), version)
        const whole: Answer | null = before ? joinAnswers(before, answer, chat) : answer
        if (whole) return whole
        // The engine did not go on from its own tokens, so these are of no use.
        before = null
      } catch (error) {
        const { partial } = error as { readonly partial?: Answer }
        // It may be that a conversation that ends with half of an answer is what the engine does not take.
        if (!partial && !before) throw error
        ended += 1
        if (ended > MOST_ENDED) throw error
        const said = partial ? withVersion(partial, version) : null
        const kept: Answer | null = said && before ? joinAnswers(before, said, chat) : said
        before = kept && mayContinue(kept) ? kept : null
      } finally {
        this.#inFlight -= 1
        this.#wake()
      }
    }
  }

  async #change(signal: AbortSignal): Promise<void> {
    await abortable(this.#turn.promise, signal).catch(() => {})
  }

  #wake(): void {
    this.#turn.resolve()
    this.#turn = Promise.withResolvers()
  }
}

function withVersion(answer: Answer, version: string | undefined): Answer {
  if (version === undefined || answer.completion.policyVersion !== undefined) return answer
  return { ...answer, completion: { ...answer.completion, policyVersion: version } }
}
