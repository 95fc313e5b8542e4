import type { ModelOptions } from '@episodic/models/model-options'
import type { Completion, SealedRecord } from '@episodic/protocol'
import { isAnswered, isCounted, ownCompletionsOf } from '@episodic/report/fold/completions'
import { createExactSum } from '@episodic/report/fold/exact-sum'
import { seatRecordsOf } from '@episodic/report/seats/seat-record'
import { formatCost, formatCount } from '@episodic/report/text/format'
import { HarnessError } from '@episodic/run/base/harness-error'
import { LimitReached } from '@episodic/run/base/limit-reached'

/** What an answer of a language model took. */
export type Spent = ReturnType<typeof spentOn>

export type SpendingLimits = Pick<ModelOptions, 'costLimit' | 'tokenLimit' | 'timeLimit'>

export function spentOn(answer: Pick<Completion, 'promptTokens' | 'completionTokens' | 'cost' | 'responseId'>) {
  return {
    /** The server's id of the answer; `null` if it gave none. */
    id: answer.responseId ?? null,
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
    const why = `The run stopped at a limit: ${formatCount(timeLimit)} s have passed (--time-limit). Nothing is lost: resume the run, which then has as long again.`
    this.#timer = setTimeout(() => this.#stop.abort(new HarnessError('limit-reached', why)), timeLimit * 1_000)
  }

  /** Aborts at a limit, with HarnessError `limit-reached`. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /**
   * Adds answers of a policy. Returns the error `usage-missing` if a limit cannot hold for one of them, because it is
   * not known what it took: that stops the run of this policy, and no other. What is not known counts as nothing.
   */
  add(policy: string, answers: readonly Spent[]): HarnessError | null {
    const { costLimit, tokenLimit } = this.#limits
    for (const { tokens, cost } of answers) {
      this.#tokens += tokens ?? 0
      this.#cost.add(cost ?? 0)
    }
    if (costLimit !== undefined && this.#cost.value() >= costLimit)
      this.#reach('--cost-limit', costLimit, `${formatCost(this.#cost.value())} was spent`)
    if (tokenLimit !== undefined && this.#tokens >= tokenLimit)
      this.#reach('--token-limit', tokenLimit, `${formatCount(this.#tokens)} tokens were used`)
    const uncounted = answers.find(
      ({ tokens, cost }) => (costLimit !== undefined && cost === null) || (tokenLimit !== undefined && tokens === null),
    )
    return uncounted
      ? usageMissing(policy, uncounted, costLimit === undefined ? '--token-limit' : '--cost-limit')
      : null
  }

  /** Adds the answers of a sealed episode, of the seats whose policies count, as {@link add} does. */
  addSealed(record: SealedRecord, counts: (policy: string) => boolean): HarnessError | null {
    const { costLimit, tokenLimit } = this.#limits
    // Most runs have no limit, and every sealed line of theirs would be taken apart.
    if (costLimit === undefined && tokenLimit === undefined) return null
    const missing = seatRecordsOf(record)
      .filter(([, { policy }]) => counts(policy.name))
      .map(([, episode]) => this.add(episode.policy.name, ownCompletionsOf(episode).filter(isAnswered).map(spentOn)))
    return missing.find((error) => error !== null) ?? null
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #reach(option: string, limit: number, what: string): void {
    if (this.signal.aborted) return
    const shown = option === '--cost-limit' ? formatCost(limit) : formatCount(limit)
    this.#stop.abort(new LimitReached(option, limit, `${what}, and ${option} is ${shown}`))
  }
}

function usageMissing(policy: string, { id, tokens }: Spent, limit: string): HarnessError {
  const answer = id === null ? 'An answer' : `The answer ${id}`
  const missing =
    tokens === null
      ? 'has no usage.prompt_tokens or no usage.completion_tokens'
      : 'has no usage.cost, and there are no prices'
  return new HarnessError(
    'usage-missing',
    `${answer} of ${policy} ${missing}, so that ${limit} cannot hold for it. Have its server count, or play ${policy} without the limit. Nothing is lost.`,
  )
}
