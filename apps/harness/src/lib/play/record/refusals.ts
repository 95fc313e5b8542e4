import type { SealedRecord } from '@episodic/protocol'
import { cleanText, noteUnknownTools, type Summary } from '@episodic/report'

/** Keeps the first refusal of a run that is likely a mistake of the policy: a tool or arguments that there are not. */
export class Refusals {
  #first: string | null = null

  add(record: SealedRecord): void {
    if (this.#first !== null) return
    for (const { refused, observation } of record.steps)
      if (refused === 'tool' || refused === 'arguments') {
        this.#first = observation.text.split('\n')[0] as string
        return
      }
  }

  /**
   * Returns a notice if most steps were refused, and one of them for such a mistake, or if there are episodes in which
   * every call named a tool that does not exist; `null` otherwise.
   */
  notice(summary: Pick<Summary, 'counts' | 'unknownTools'>): string | null {
    const { steps, refused } = summary.counts
    const most =
      this.#first !== null && 2 * refused > steps
        ? `${refused} of ${steps} steps were refused. The first: ${this.#first}`
        : null
    const sentences = [most, noteUnknownTools(summary)].filter((sentence) => sentence !== null)
    return sentences.length > 0 ? cleanText(sentences.join(' ')) : null
  }
}
