import { isMatchRecord, type SealedRecord, type Task } from '@episodic/protocol'

/** A rollout to play: one episode, or one tree of episodes. */
export interface PlannedEpisode {
  readonly task: Task
  /** Number of the rollout among those of its task, from 0. */
  readonly attempt: number
  /** Number of the play, from 0; more if earlier ones failed. Default 0. */
  readonly try?: number
  /** Number of the task in the plan, from 0. Left out where no order is kept. */
  readonly position?: number
  /** Where a stage drew the task. Left out without stages. */
  readonly curriculum?: SealedRecord['curriculum']
  /** Where it goes on from an earlier episode. Left out for an episode that starts anew. */
  readonly origin?: SealedRecord['origin']
}

export type EpisodeName = Pick<SealedRecord, 'attempt'> & { readonly task: Pick<SealedRecord['task'], 'id'> }

export function episodeKey({ task, attempt }: EpisodeName): string {
  return `${task.id} ${attempt}`
}

export function policySeedsOf(record: SealedRecord): string[] {
  return isMatchRecord(record) ? Object.values(record.seats).map(({ policy }) => policy.seed) : [record.policy.seed]
}
