import type { PublishedEvent, RecordedEvent } from '@episodic/protocol'
import { eventTexts } from '@episodic/protocol/internal'
import type { Change } from '@episodic/state'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import { type EventTurn, playEvent } from './apply-event.ts'
import type { PlayCall, PlayEffects } from './play-context.ts'
import { bySeat, playingSeats } from './rules-turn.ts'

export interface CallOutcome {
  readonly change: Change
  /** With the first end, which the call or an event made, and with the texts of the events. */
  readonly effects: PlayEffects
  /** `undefined` if none were. */
  readonly published: readonly PublishedEvent[] | undefined
}

/** Applies the events that a call of the rules published, in order, each to the state that the one before it left. */
export function outcomeOf(
  environment: EnvironmentDefinition,
  { record, draft }: EventTurn,
  call: PlayCall,
): CallOutcome {
  const effects = call.effects()
  const { rng, now, ended: endedByPlay, published: events } = effects
  const published: PublishedEvent[] = []
  let change: Change = { state: draft, rng, now }
  let ended = endedByPlay
  for (const event of events) {
    const before = { ...record, rng: change.rng, now: change.now }
    const happened = playEvent(environment, { record: before, draft }, event)
    change = happened.change
    ended ??= happened.end?.reason ?? null
    published.push({ ...event, said: happened.said, ...(happened.sent && { sent: happened.sent }) })
  }
  if (published.length === 0) return { change, effects, published: undefined }
  const textsFor = (seat: string) => published.flatMap((event) => eventTexts(event, seat))
  const messages = bySeat(playingSeats(record), (seat) => [...(effects.messages[seat] ?? []), ...textsFor(seat)])
  return { change, effects: { ...effects, ended, messages }, published }
}

const EVENT_CHARACTERS = 8_192

/** Puts the texts of events before an answer: the newest {@link EVENT_CHARACTERS}, and the number left out. */
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
