import type { Guarantees } from '@episodic/protocol'
import type { Latency, Proportion, StepParts, Summary } from '../fold/summary.ts'
import type { ShownTree } from '../fold/tree-sample.ts'
import { formatCount, formatDuration, formatInterval, formatNumber, formatPercent, plural } from '../text/format.ts'

export function formatIntervals({ count, clusters }: Pick<Proportion, 'count' | 'clusters'>): string {
  if (clusters === 0) return 'No episode finished, so there are no intervals.'
  if (clusters === 1) return 'There is only one task, so there are no intervals.'
  const tasks = `${formatCount(clusters)} tasks`
  return count === clusters
    ? `95 % intervals over ${tasks}, one episode each: Student’s t for means, Wilson’s score for shares.`
    : `95 % intervals clustered by task (${tasks}, ${formatCount(count)} episodes): robust errors with Student’s t for means, Wilson’s score at the effective sample size for shares.`
}

export function formatRetried({ episodes, plays, finished }: NonNullable<Summary['retried']>): string {
  return `${formatCount(finished)} of ${formatCount(episodes)} finished in the end, after ${formatCount(plays)} more plays`
}

export function formatLatency({ p90, p99, longest }: Latency): string {
  return `median; p90 ${formatDuration(p90)}   p99 ${formatDuration(p99)}   longest ${formatDuration(longest)}`
}

export function formatStepParts({ wire, queue }: StepParts): string {
  return `mean; ${formatDuration(wire)} on the wire, ${formatDuration(queue)} waiting for the connection and the event loops`
}

export function formatWaiting({ longest, requests }: NonNullable<Summary['time']['waited']>): string {
  return `in all, for the rate limit and between tries: ${plural(requests, 'request')}, longest ${formatDuration(longest)}`
}

export function listPlayers({ policies, seats }: Pick<Summary, 'policies' | 'seats'>): readonly string[] {
  return seats?.map((seat) => `${seat.name} ${seat.policies.join(', ')}`) ?? policies
}

export function formatRefused({ steps, refused }: Pick<Summary['counts'], 'steps' | 'refused'>): string {
  const rate = steps > refused ? `, ${formatNumber(refused / (steps - refused))} for each accepted one` : ''
  return `of ${formatCount(steps)}${rate}`
}

interface Interval {
  readonly low: number | null
  readonly high: number | null
  readonly count: number
  readonly clusters: number
}

export function noteInterval(interval: Interval, format: (interval: Interval) => string): string {
  if (interval.count === 0) return 'no finished episode'
  if (interval.low !== null) return `95 % ${format(interval)}`
  return interval.clusters < 2 ? 'one task: no interval' : 'the same in every task: no interval'
}

/** Says what a state is worth: `0.123 (95 % 0.045 to 0.201)`. */
export function formatTreeValue(value: ShownTree['points'][number]['value']): string {
  if (!value) return 'unknown: no line finished'
  const note =
    value.low !== null
      ? `95 % ${formatInterval(value)}`
      : value.clusters < 2
        ? 'one line: no interval'
        : 'the same in every line: no interval'
  return `${formatNumber(value.mean)} (${note})`
}

/** What a server of others does not promise, a sentence for each; none for a run on Episodic's own. */
export function noteGuarantees({ guarantees }: Pick<Summary, 'guarantees'>): string[] {
  if (!guarantees) return []
  const { system, replay, delivery, seed } = guarantees
  if (system === 'mcp' && replay)
    return [
      'An MCP server has the state: each call reaches it at most once, an episode that loses it is void, and a replay makes no call.',
    ]
  return [
    `Played on a server of ${SYSTEMS[system]}, which keeps the state and the rules.`,
    ...(replay ? [] : ['Its episodes cannot be replayed, and no hash of a state proves them.']),
    ...(delivery === 'exactly-once' ? [] : ['A step whose answer was lost is not sent again: its episode failed.']),
    ...(seed === 'ignored' ? ['The protocol has no seed.'] : []),
    ...(seed === 'passed-on' ? ['The server received the seed, and may not use it.'] : []),
  ]
}

const SYSTEMS: Readonly<Record<Guarantees['system'], string>> = {
  episodic: 'Episodic',
  mcp: 'MCP',
  ors: 'the Open Reward Standard',
  openenv: 'OpenEnv',
}

export function noteMissingRewards({
  guarantees,
  rewards: { byTerm, missing, unrewarded },
}: Pick<Summary, 'guarantees' | 'rewards'>): string | null {
  if (!guarantees || missing === 0) return null
  if (byTerm.length === 0) return 'The server gave no reward for any step. A return of 0 is an empty sum, and no score.'
  const note = `The server gave no reward for ${plural(missing, 'step')} of finished episodes. They add nothing to a return.`
  if (unrewarded === 0) return note
  return `${note} ${plural(unrewarded, 'episode')} got none at all: a return of 0 is an empty sum there, and no score.`
}

/** The largest share of failed episodes without a notice. */
const TOLERATED = 0.05

/**
 * The notice for a run in which more than one episode in twenty failed, so that the figures of the others may mislead:
 * a world that throws instead of losing would have a perfect success rate. `null` for other runs.
 */
export function noteFailures({ counts: { finished, failed } }: Pick<Summary, 'counts'>): string | null {
  const sealed = finished + failed
  if (failed <= TOLERATED * sealed) return null
  const share = `${formatCount(failed)} of ${formatCount(sealed)} sealed episodes failed (${formatPercent(failed / sealed)})`
  return finished > 0
    ? `${share}. Success and return cover only the other ${formatCount(finished)}.`
    : `${share}. There is no success rate and no return.`
}

export function noteUnknownTools({ counts, unknownTools }: Pick<Summary, 'counts' | 'unknownTools'>): string | null {
  if (!unknownTools) return null
  const { episodes, calls, names } = unknownTools
  const [first, ...others] = names
  const more = others.length > 0 ? `, and ${plural(others.length, 'other name')}` : ''
  const named = first ? ` Most often: ${JSON.stringify(first.name)} (${formatCount(first.count)}${more}).` : ''
  return `In ${formatCount(episodes)} of ${formatCount(counts.finished + counts.failed)} episodes every call named a tool that does not exist: ${plural(calls, 'call')}.${named} Check the names in the policy, or how the server of the model parses calls.`
}

export function noteNeverEnded({ counts, ends }: Pick<Summary, 'counts' | 'ends'>): string | null {
  const [first] = ends.truncated
  if (counts.unresolved > 0 || first?.name !== 'step-limit' || first.count < counts.finished) return null
  return `The step limit cut off every finished episode (${formatCount(counts.finished)}), and the rules ended none. If that is not intended, raise the limit, or call \`end\` in a tool of the world.`
}

/** Whether rewards were shaped. Undiscounted shaping may sum up to 0 over an episode, but shows in its steps. */
export function isShaped({ rewards }: Summary): boolean {
  return rewards.byStep.some((step) => step.total !== step.unshaped)
}
