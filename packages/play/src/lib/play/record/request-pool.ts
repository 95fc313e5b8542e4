import type { ModelAnswer } from '@episodic/env'
import { type JsonObject, playedCalls, type RecordedStep, type Transcript } from '@episodic/protocol'
import { answerMessage, type MessageReference, resultMessage } from '@episodic/protocol/internal'

/**
 * Pools the requests of a play, so that a line grows with the conversation and not with its square. A message that is
 * an answer of the model or of the environment becomes a reference to it if that gives the same bytes.
 *
 * @param answers - those of the steps in their order, then those that led to no step.
 */
export function poolRequests(answers: readonly ModelAnswer[], steps: readonly RecordedStep[], by: Transcript['by']) {
  const recorded = new References(answers, steps)
  const messages = new Pool<JsonObject | MessageReference>((message, text) => recorded.take(text) ?? message)
  const tools = new Pool<JsonObject>((tool) => tool)
  /** One for each answer; undefined if the policy did not report it. */
  const prompts = answers.map(
    ({ request }) => request && { messages: messages.add(request.messages), tools: tools.add(request.tools) },
  )
  const transcript: Transcript = { by, messages: messages.entries, tools: tools.entries }
  return { prompts, transcript }
}

/**
 * The entries of all requests. An entry is the same as an earlier one if it is the same object, or if it has the same
 * text and place as in the request before: equal texts at other places are entries of their own, so that the requests
 * of a growing conversation are single ranges.
 */
class Pool<Entry> {
  readonly entries: Entry[] = []
  readonly #texts: string[] = []
  readonly #indexes = new Map<JsonObject, number>()
  readonly #entryOf: (value: JsonObject, text: string) => Entry
  #before: readonly number[] = []

  constructor(entryOf: (value: JsonObject, text: string) => Entry) {
    this.#entryOf = entryOf
  }

  add(values: readonly JsonObject[]): [from: number, to: number][] {
    this.#before = values.map((value, place) => this.#indexOf(value, place))
    const ranges: [from: number, to: number][] = []
    for (const index of this.#before) {
      const last = ranges.at(-1)
      if (last?.[1] === index) last[1]++
      else ranges.push([index, index + 1])
    }
    return ranges
  }

  #indexOf(value: JsonObject, place: number): number {
    const known = this.#indexes.get(value)
    if (known !== undefined) return known
    const text = JSON.stringify(value)
    const before = this.#before[place]
    if (before !== undefined && this.#texts[before] === text) return before
    const index = this.#texts.push(text) - 1
    // As it was sent: without keys that JSON leaves out.
    this.entries.push(this.#entryOf(JSON.parse(text) as JsonObject, text))
    this.#indexes.set(value, index)
    return index
  }
}

/** The messages that are in the line already, by their text. Of equal ones, each is used in turn. */
class References {
  readonly #unused = new Map<string, MessageReference[]>()

  constructor(answers: readonly ModelAnswer[], steps: readonly RecordedStep[]) {
    for (const [index, answer] of answers.entries()) this.#add(answerMessage(answer), { from: 'completion', index })
    const calls = playedCalls(steps)
    for (const [index, step] of steps.entries()) {
      const result = resultMessage(step, calls[index])
      if (result) this.#add(result, { from: 'step', index })
    }
  }

  take(text: string): MessageReference | undefined {
    const found = this.#unused.get(text)
    return found && (found.length > 1 ? found.shift() : found[0])
  }

  #add(message: JsonObject, reference: MessageReference): void {
    const text = JSON.stringify(message)
    const same = this.#unused.get(text)
    if (same) same.push(reference)
    else this.#unused.set(text, [reference])
  }
}
