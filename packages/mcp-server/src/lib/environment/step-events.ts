import type { EpisodeEnd, PublishedEvent, RecordedEvent } from '@episodic/protocol'
import type { Change } from '@episodic/state'
import { applyEvent, type EventTurn } from './apply-event.ts'
import type { EnvironmentDefinition } from './environment.ts'
import type { PlayEffects } from './play-context.ts'

/** The result of a tool call, with the events that it published. */
export interface AppliedEvents {
  readonly change: Change
  /** The reason of the first end, which the call or an event made. */
  readonly ended: EpisodeEnd['reason'] | null
  readonly published: readonly PublishedEvent[]
  /** The texts of the events, in order. */
  readonly said: readonly string[]
}

/** Applies the events that a tool call published, in order, each to the state that the one before it left. */
export function applyPublished(
  environment: EnvironmentDefinition,
  { record, draft }: EventTurn,
  { rng, now, ended: endedByPlay, published: events }: PlayEffects,
): AppliedEvents {
  const published: PublishedEvent[] = []
  let change: Change = { state: draft, rng, now }
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

/** The most characters of event texts in one answer. */
const EVENT_CHARACTERS = 8_192

/**
 * Puts the texts of outside events since the last answer before an answer, oldest first. If they have more than {@link
 * EVENT_CHARACTERS}, the newest are kept, with the number of those left out.
 */
export function prependEventTexts(events: readonly RecordedEvent[], answer: string): string {
  const said = events.flatMap((event) => event.said ?? [])
  let characters = 0
  let first = said.length
  while (first > 0 && characters + (said[first - 1] as string).length <= EVENT_CHARACTERS) {
    first -= 1
    characters += (said[first] as string).length
  }
  const leftOut = first === 0 ? [] : [`(${first} earlier events are left out.)`]
  return [...leftOut, ...said.slice(first), answer].join('\n')
}
