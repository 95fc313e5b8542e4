import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import type { EpisodeToPlay, Received, Rollout } from '../../testing/players/rollout.ts'
import { environment as ledger } from '../worlds/ledger-world.ts'

/** What was found in the episodes of one endpoint. */
export interface RolloutFigures {
  readonly episodes: number
  /** Steps that clients received. */
  readonly steps: number
  readonly finished: number
  /** Episodes that their client gave up with a typed error, by its code. */
  readonly errors: Readonly<Record<string, number>>
  /** Episodes that the server says are not to be scored, by the reason that it gives. */
  readonly masked: Readonly<Record<string, number>>
  /** Steps that were played more often than they were asked for. */
  readonly doubled: number
  /** Steps that were answered and not played. */
  readonly lost: number
  /** Scored episodes that differ from the reference, and others with an observation or a reward that is not in it. */
  readonly wrong: number
}

/** A step as it has to be answered. */
type ReferenceStep = Received & { readonly reward: number }

/** Plays episodes of the ledger in the process of their host. */
interface Reference extends AsyncDisposable {
  play(amounts: readonly number[]): Promise<readonly ReferenceStep[]>
}

/**
 * Compares the episodes of trainers with a reference: the same actions, played in the process of a host without any
 * fault.
 *
 * A scored episode has the observations, the rewards and the sum of the reference. One that its client gave up has
 * those of the reference up to then. One that is masked may have any, because nobody trains on it, but has a reason.
 */
export class RolloutOracle {
  readonly breaches: string[] = []
  readonly #endpoint: string
  readonly #reference: Reference
  readonly #masksLate: boolean
  readonly #counts = { episodes: 0, steps: 0, finished: 0, doubled: 0, lost: 0, wrong: 0 }
  readonly #errors: Record<string, number> = {}
  readonly #masked: Record<string, number> = {}

  /** With `masksLate`, a server masks an episode only in the end: before that, nothing is compared. */
  constructor(endpoint: string, reference: Reference, { masksLate = false } = {}) {
    this.#endpoint = endpoint
    this.#reference = reference
    this.#masksLate = masksLate
  }

  get figures(): RolloutFigures {
    return { ...this.#counts, errors: { ...this.#errors }, masked: { ...this.#masked } }
  }

  /** Takes an episode in. */
  async check(amounts: readonly number[], { received, end }: Rollout): Promise<void> {
    const counts = this.#counts
    counts.episodes += 1
    counts.steps += received.length
    if (end.kind === 'masked') {
      count(this.#masked, end.reason)
      if (end.reason === '') this.#break('is masked without a reason.')
      return
    }
    if (end.kind === 'failed') count(this.#errors, end.code)
    else counts.finished += 1
    if (end.kind === 'failed' && this.#masksLate) return
    const difference = differenceOf({ received, end }, await this.#reference.play(amounts))
    if (!difference) return
    const { kind, times, text } = difference
    if (kind !== 'wrong') counts[kind] += times
    if (kind === 'wrong' || end.kind === 'finished') counts.wrong += 1
    this.#break(text)
  }

  /** Records what no client of the protocol would raise. */
  untyped(error: unknown): void {
    this.#counts.wrong += 1
    this.#break(`ended with an error of no type: ${error instanceof Error ? error.stack : error}`)
  }

  #break(text: string): void {
    this.breaches.push(`${this.#endpoint}: an episode ${text}`)
  }
}

/** The first place at which an episode differs from the reference. */
interface Difference {
  readonly kind: 'doubled' | 'lost' | 'wrong'
  /** Steps. */
  readonly times: number
  readonly text: string
}

function differenceOf({ received, end }: Rollout, wanted: readonly ReferenceStep[]): Difference | null {
  let due = 0
  for (const [index, { text, reward }] of received.entries()) {
    const expected = wanted[index] as ReferenceStep
    const place = `answered step ${index + 1} with ${JSON.stringify(text)} instead of ${JSON.stringify(expected.text)}.`
    const more = entriesIn(text) - entriesIn(expected.text)
    if (more !== 0 && !Number.isNaN(more))
      return { kind: more > 0 ? 'doubled' : 'lost', times: Math.abs(more), text: place }
    if (text !== expected.text) return { kind: 'wrong', times: 1, text: place }
    due += expected.reward
    if (reward === null) continue
    if (reward !== due)
      return { kind: 'wrong', times: 1, text: `rewarded step ${index + 1} with ${reward} instead of ${due}.` }
    due = 0
  }
  if (end.kind !== 'finished') return null
  const missing = wanted.length - received.length
  if (missing > 0) return { kind: 'lost', times: missing, text: `was scored without its last ${missing} steps.` }
  const total = wanted.reduce((all, { reward }) => all + reward, 0)
  if (end.total === total) return null
  return { kind: 'wrong', times: 1, text: `has a return of ${end.total} instead of ${total}.` }
}

/** The episode of the ledger that adds these amounts. */
export function ledgerEpisode(amounts: readonly number[]): EpisodeToPlay {
  const calls = amounts.map((amount) => ({ tool: 'add', arguments: { amount } }))
  return { environment: 'ledger', params: { entries: amounts.length }, calls }
}

/** Opens the reference that episodes are compared with. */
export async function openReference(): Promise<Reference> {
  const stack = new AsyncDisposableStack()
  const host = stack.use(createHost({ environments: [ledger] }))
  const connection = stack.use(await connect(inProcess(host)))
  return {
    async play(amounts) {
      const { params, calls } = ledgerEpisode(amounts)
      await using environment = connection.environment('ledger')
      await environment.reset({ params })
      const steps = []
      for (const call of calls) {
        const { observation, reward } = await environment.step(call)
        steps.push({ text: observation.text, reward: reward.total })
      }
      return steps
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** How many entries a ledger has by its own words; not a number for another text. */
function entriesIn(text: string): number {
  return Number(/ in (\d+) entries\./.exec(text)?.[1])
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
