import type { JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { Learner } from '../check-context.ts'
import { type EpisodeSetting, type RehearsedEpisode, returnsOf, startEpisode } from '../rehearsed-episode.ts'

export interface LearnerSetting extends Omit<EpisodeSetting, 'policies' | 'maxSteps'> {
  readonly learner: Learner
  /** Stops after this many steps of the learner, like a player who leaves. */
  readonly maxSteps?: number
}

/** The `total` of its result is what the learner earned. */
export async function playLearner({
  learner: { seat, partners },
  maxSteps = Number.POSITIVE_INFINITY,
  ...options
}: LearnerSetting): Promise<RehearsedEpisode & { readonly own: number }> {
  const ongoing = await startEpisode({ ...options, policies: partners })
  let total = 0
  let own = 0
  while (own < maxSteps && (await ongoing.advance())) {
    const step = ongoing.episode.steps.at(-1)
    if (!step) break
    total += returnsOf(step)[seat] ?? 0
    if (step.seat === seat) own += 1
  }
  return { ...ongoing.episode, total, own }
}

export function learnerView({ public: shared, own }: SessionState, { seat }: Learner): JsonObject {
  return own ? { public: shared, own: own[seat] ?? {} } : shared
}
