import type { SealedRecord } from '@episodic/protocol'
import { cleanText, completionsOf } from '@episodic/report'

/** Says once of each model what its server refuses, so that it is asked without it. */
export class LeftOut {
  readonly #said = new Set<string>()

  /** Returns a notice for what no record before had; `null` for nothing new. */
  add(record: SealedRecord): string | null {
    const found = completionsOf(record).flatMap(({ asked, model, leftOut = [] }) =>
      leftOut.map((name) => `${asked ?? model}: ${name}`),
    )
    const fresh = [...new Set(found)].filter((each) => !this.#said.has(each))
    for (const each of fresh) this.#said.add(each)
    if (fresh.length === 0) return null
    return cleanText(`A server refused what requests had, and is asked without it: ${fresh.join(', ')}.`)
  }
}
