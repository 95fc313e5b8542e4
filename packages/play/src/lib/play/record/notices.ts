import type { SealedRecord } from '@episodic/protocol'
import { completionsOf } from '@episodic/report/fold/completions'
import type { Summary } from '@episodic/report/fold/summary'
import { noteUnknownTools } from '@episodic/report/notes/run-notes'
import { cleanText } from '@episodic/report/text/format'

export class Notices {
  /** The first refusal that is likely a mistake of the policy: a tool or arguments that there are not. */
  #refusal: string | null = null
  readonly #leftOut = new Set<string>()

  /** Adds a sealed episode. Returns what its model's server newly refuses, and is asked without; else `null`. */
  add(record: SealedRecord): string | null {
    const wrong = ({ refused }: SealedRecord['steps'][number]) => refused === 'tool' || refused === 'arguments'
    this.#refusal ??= record.steps.find(wrong)?.observation.text.split('\n')[0] ?? null
    const found = completionsOf(record).flatMap(({ asked, model, leftOut = [] }) =>
      leftOut.map((name) => `${asked ?? model}: ${name}`),
    )
    const fresh = [...new Set(found)].filter((each) => !this.#leftOut.has(each))
    for (const each of fresh) this.#leftOut.add(each)
    if (fresh.length === 0) return null
    return cleanText(`A server refused what requests had, and is asked without it: ${fresh.join(', ')}.`)
  }

  /**
   * Returns a notice if most steps were refused, and one of them for such a mistake, or if there are episodes in which
   * every call named a tool that does not exist; `null` otherwise.
   */
  atEnd(summary: Pick<Summary, 'counts' | 'unknownTools'>): string | null {
    const { steps, refused } = summary.counts
    const most =
      this.#refusal !== null && 2 * refused > steps
        ? `${refused} of ${steps} steps were refused. The first: ${this.#refusal}`
        : null
    const sentences = [most, noteUnknownTools(summary)].filter((sentence) => sentence !== null)
    return sentences.length > 0 ? cleanText(sentences.join(' ')) : null
  }
}
