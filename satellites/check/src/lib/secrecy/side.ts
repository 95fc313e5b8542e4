import { type EnvironmentDefinition, type Rehearsal, type RehearsedStep, rehearse } from '@episodic/mcp-server'
import type { Action, Json } from '@episodic/protocol'
import { partName } from '@episodic/state/internal'
import { type Deal, dealtEnvironment } from '../deal.ts'
import { type FindingKind, findTextDifference } from '../finding.ts'
import { playMove, truncationAt } from '../rehearsed-episode.ts'
import type { PlannedPair } from './dealt-pairs.ts'

/** What a seat gets and can read: how findings name it, and a difference in it. */
export const CHANNELS = {
  answer: ['answer-differs', 'the answer'],
  view: ['view-differs', 'what the seat sees'],
  tools: ['tools-differ', 'the list of tools'],
  legal: ['legal-differs', 'the list of legal actions'],
  message: ['message-differs', 'what is sent'],
  turn: ['turn-differs', 'whether it is the turn'],
  end: ['end-differs', 'the end'],
  state: ['state-differs', 'the public state'],
} as const satisfies Readonly<Record<string, readonly [FindingKind, string]>>
export type Channel = keyof typeof CHANNELS
export type Received = Readonly<Record<Channel, string>>

interface Outcome {
  readonly step: RehearsedStep | null
  readonly received: Received
  readonly revealed: readonly Json[]
}

export function startSide(environment: EnvironmentDefinition, planned: PlannedPair, deal: Deal) {
  const { setting, first } = planned
  const { seed } = first
  const started = rehearse(dealtEnvironment(environment, deal, seed), { params: setting.params, seed })
  return sideOf(environment, planned, started, new Map())
}

interface Side {
  readonly rehearsal: Rehearsal
  /** What the seat can read between two steps. */
  readonly now: Received
  /** An error of the rules leaves the state unchanged. */
  play(mover: string, action: Action): Promise<Outcome>
  fork(): Side
}

function sideOf(
  environment: EnvironmentDefinition,
  planned: PlannedPair,
  rehearsal: Rehearsal,
  played: ReadonlyMap<string, number>,
  known?: Received,
): Side {
  const { setting, seat } = planned
  const { params } = setting
  const { multiplayer, hasLegal } = environment
  const counts = new Map(played)
  const read = (): Received => {
    const { state, turn } = rehearsal
    const mine = turn.includes(seat)
    return {
      answer: '',
      // Once it has moved, the only seat reads its view in its answers alone.
      view: multiplayer || counts.size === 0 ? JSON.stringify(rehearsal.observe(seat)) : '',
      tools: JSON.stringify(environment.offers?.(state, params, seat) ?? null),
      legal: mine && hasLegal ? JSON.stringify(environment.legal(state, params, seat)) : '',
      message: '[]',
      turn: String(mine),
      end: 'null',
      // With the keys in their order, as the resource of the state has them.
      state: JSON.stringify([state.public, state.own?.[seat]].map((part) => partName(part) ?? part)),
    }
  }
  let now = known ?? read()
  return {
    rehearsal,
    get now() {
      return now
    },
    fork: () => sideOf(environment, planned, rehearsal.fork(), counts, now),
    async play(mover, action) {
      const count = counts.get(mover) ?? 0
      let step: RehearsedStep | null = null
      try {
        step = await playMove(rehearsal, { seat: mover, action }, truncationAt(count, setting))
        counts.set(mover, count + 1)
      } catch {
        // The plays of both deals have to fail.
      }
      now = read()
      const { ends = {}, sent = {} } = step?.seats ?? {}
      const received = {
        ...now,
        answer: mover === seat ? answerText(step) : '',
        message: JSON.stringify(sent[seat] ?? []),
        end: JSON.stringify(ends[seat] ?? null),
      }
      const revealed = step?.revealed.filter((_, i) => step.revealedTo[i]?.includes(seat) ?? true) ?? []
      return { step, received, revealed }
    },
  }
}

function answerText(step: RehearsedStep | null): string {
  if (!step) return 'the environment failed'
  const { observation, refused, end } = step
  const { tools: _, ...said } = observation
  return JSON.stringify({ ...said, isError: refused !== null, over: end !== null })
}

export function findDifference(first: Received, second: Received) {
  for (const channel of Object.keys(first) as Channel[]) {
    const difference = findTextDifference(first[channel], second[channel])
    if (difference) return { channel, difference }
  }
  return null
}
