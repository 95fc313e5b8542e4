import type { EpisodeEnd, PublishedEvent } from '@episodic/protocol'
import type { Change } from '@episodic/state'
import { applyEvent, type EventTurn } from './apply-event.ts'
import type { EnvironmentDefinition } from './environment.ts'
import type { ToolCallContext } from './play-context.ts'

/** What a play came to, with the events that it published. */
export interface AppliedEvents {
  readonly change: Change
  /** The reason of the first end: of the play, or else of an event. */
  readonly ended: EpisodeEnd['reason'] | null
  readonly published: readonly PublishedEvent[]
  /** What the events said, in order. */
  readonly said: readonly string[]
}

/** Applies the events that a play published to what it left, in order: each to what the one before it left. */
export function applyPublished(
  environment: EnvironmentDefinition,
  { record, draft }: EventTurn,
  { chance, now, ended: endedByPlay, published: events }: ToolCallContext,
): AppliedEvents {
  const published: PublishedEvent[] = []
  let change: Change = { state: draft, rng: chance, now }
  let ended: AppliedEvents['ended'] = endedByPlay
  for (const event of events) {
    const before = { ...record, rng: change.rng, now: change.now }
    const happened = applyEvent(environment, { record: before, draft }, event)
    change = happened.change
    ended ??= happened.end?.reason ?? null
    published.push({ ...event, said: happened.said })
  }
  return { change, ended, published, said: published.flatMap(({ said }) => said ?? []) }
}
