import type { Completion, EpisodeRecord, MatchRecord, SealedRecord } from '@episodic/protocol'
import { isMatchRecord } from '@episodic/protocol'

const HIDDEN = 'hidden until it is judged'
const NO_REWARD = { total: 0, terms: {}, shaping: 0 }

/** Returns a line without what may sway a judge: rewards, potentials, end, player and cost. */
export function blindRecord(record: SealedRecord): SealedRecord {
  return isMatchRecord(record) ? blindMatch(record) : blindEpisode(record)
}

function blindEpisode(record: EpisodeRecord): EpisodeRecord {
  const { start, steps, undecided } = record
  return {
    ...record,
    policy: { name: HIDDEN, seed: '' },
    start: start && { ...start, potential: null },
    steps: steps.map((step) => ({ ...blindStep(step), reward: NO_REWARD })),
    outcome: { kind: 'finished', end: { kind: 'terminated', reason: HIDDEN } },
    returns: null,
    ...(undecided && { undecided: undecided.map(blindAnswer) }),
  }
}

function blindMatch(record: MatchRecord): MatchRecord {
  const { seats, steps, undecided } = record
  return {
    ...record,
    seats: Object.fromEntries(
      Object.entries(seats).map(([name, { success: _, start, ...seat }]) => [
        name,
        {
          ...seat,
          policy: { name: HIDDEN, seed: '' },
          start: start && { ...start, potential: null },
          end: { kind: 'terminated', reason: HIDDEN },
          returns: null,
        },
      ]),
    ),
    steps: steps.map((step) => ({ ...blindStep(step), rewards: {} })),
    outcome: { kind: 'finished' },
    ...(undecided && { undecided: undecided.map(blindAnswer) }),
  }
}

function blindStep<Step extends { readonly completions?: readonly Completion[] | undefined }>(step: Step) {
  const { completions } = step
  return { ...step, potential: null, ...(completions && { completions: completions.map(blindAnswer) }) }
}

function blindAnswer({ asked: _, responseId: __, ...answer }: Completion): Completion {
  return { ...answer, model: HIDDEN, cost: null }
}
