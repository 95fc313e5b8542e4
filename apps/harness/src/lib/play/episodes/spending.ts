import type { Completion, SealedRecord } from '@episodic/protocol'
import { createExactSum, formatCost, formatCount, isCounted, ownCompletionsOf, seatRecordsOf } from '@episodic/report'
import { HarnessError } from '../../base/harness-error.ts'
import type { ModelOptions } from '../../models/model-options.ts'

/** What an answer of a language model took. */
export type Spent = ReturnType<typeof spentOn>

export type SpendingLimits = Pick<ModelOptions, 'costLimit' | 'tokenLimit' | 'timeLimit'>

export function spentOn(answer: Pick<Completion, 'promptTokens' | 'completionTokens' | 'cost'>) {
  return {
    /** Read and written; `null` if its server did not count them. */
    tokens: isCounted(answer) ? answer.promptTokens + answer.completionTokens : null,
    /** In the currency of the prices; `null` if it is not known. */
    cost: answer.cost,
  }
}

/**
 * Counts what the language models of a run or of a set take, and stops it at a limit. What was asked before is still
 * paid: at least one answer of each episode in flight may come on top.
 */
export class Spending implements Disposable {
  readonly #limits: SpendingLimits
  readonly #stop = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined
  #tokens = 0
  readonly #cost = createExactSum()

  constructor(limits: SpendingLimits) {
    this.#limits = limits
    const { timeLimit } = limits
    if (timeLimit === undefined) return
    this.#timer = setTimeout(
      () => this.#reach(`${formatCount(timeLimit)} s have passed (--time-limit)`),
      timeLimit * 1_000,
    )
  }

  /** Aborts at a limit, with HarnessError `limit-reached`. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Adds answers. What is not known of one counts as nothing, unless there is a limit for it: then it is reached. */
  add(answers: readonly Spent[]): void {
    const { costLimit, tokenLimit } = this.#limits
    for (const { tokens, cost } of answers) {
      this.#tokens += tokens ?? 0
      this.#cost.add(cost ?? 0)
      if (costLimit !== undefined && cost === null)
        this.#reach('what an answer costs is not known, and there is a --cost-limit: give --prices, or leave it out')
      if (tokenLimit !== undefined && tokens === null)
        this.#reach('a server does not count its tokens, and there is a --token-limit: leave it out')
    }
    if (costLimit !== undefined && this.#cost.value() >= costLimit)
      this.#reach(`${formatCost(this.#cost.value())} was spent, and --cost-limit is ${formatCost(costLimit)}`)
    if (tokenLimit !== undefined && this.#tokens >= tokenLimit)
      this.#reach(`${formatCount(this.#tokens)} tokens were used, and --token-limit is ${formatCount(tokenLimit)}`)
  }

  /** Adds the answers of a sealed episode, of the seats whose policies count. */
  addSealed(record: SealedRecord, counts: (policy: string) => boolean): void {
    const { costLimit, tokenLimit } = this.#limits
    // Most runs have no limit, and every sealed line of theirs would be taken apart.
    if (costLimit === undefined && tokenLimit === undefined) return
    const episodes = seatRecordsOf(record).filter(([, { policy }]) => counts(policy.name))
    this.add(episodes.flatMap(([, episode]) => ownCompletionsOf(episode)).map(spentOn))
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #reach(why: string): void {
    const message = `The run stopped at a limit: ${why}. Nothing is lost: raise the limit, and resume the run.`
    if (!this.signal.aborted) this.#stop.abort(new HarnessError('limit-reached', message))
  }
}
