import { createRng, findNonJson, type OutsideEvent } from '@episodic/protocol'
import { formatZodError, invalidParams, shorten } from '@episodic/protocol/internal'
import type { SessionState } from '@episodic/state'
import type { Happened } from '@episodic/state/internal'
import { rulesFailed, type ServerError } from '../../server-error.ts'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import type { GameEventContext } from '../definition/game.ts'
import { ignoreRejection } from '../definition/thrown-value.ts'
import { endReason, namedSeats, type RulesTurn, sentTextProblem, turnAfterEvent } from './rules-turn.ts'

/** The part of a session that the rules of an event see. The outcome of an event depends on nothing else. */
export interface EventTurn {
  readonly record: Pick<RulesTurn['record'], 'params' | 'seed' | 'rng' | 'now' | 'state' | 'seats' | 'turn'>
  readonly draft: SessionState
}

/** Characters that one event may say: an answer reports all events since the player's last call. */
const SAID_CHARACTERS = 4_000

/** Characters of an event's id: a session keeps those of many. */
const ID_CHARACTERS = 128

export function assertEventId(id: string): void {
  if (id.length === 0 || id.length > ID_CHARACTERS || !id.isWellFormed())
    throw invalidParams(`The id of an event is a text of 1 to ${ID_CHARACTERS} characters.`)
}

export function assertEvent(environment: EnvironmentDefinition, event: Pick<OutsideEvent, 'type' | 'data'>): void {
  const problem = findEventProblem(environment, event)
  if (problem) throw invalidParams(problem)
}

export function findEventProblem(
  environment: EnvironmentDefinition,
  { type, data }: { readonly type: string; readonly data: unknown },
): string | null {
  const event = Object.hasOwn(environment.events, type) ? environment.events[type] : undefined
  if (!event) {
    const types = Object.keys(environment.events).join(', ')
    return `${environment.name} takes no event "${shorten(String(type), 128)}". It takes: ${types || 'none'}.`
  }
  const parsed = event.data.safeParse(data)
  const problem = parsed.success ? findNonJson(data, 'data') : formatZodError(parsed.error, data)
  return problem && `Wrong data for the event ${type}: ${problem}.`
}

/** Applies one valid outside event (see {@link findEventProblem}) by the rules: pure, synchronous. */
export function applyEvent(
  environment: EnvironmentDefinition,
  given: EventTurn,
  event: Pick<OutsideEvent, 'type' | 'data'>,
): Happened {
  const happened = playEvent(environment, given, event)
  const { turn } = given.record
  if (!turn) return happened
  // A seat in turn reports an end by its next step.
  if (happened.end) return { ...happened, turn }
  return { ...happened, turn: turnAfterEvent(environment, given.record, event.type, happened.change.state) }
}

/** Plays the rules of one event: what it changes and says, apart from whose turn it then is. */
export function playEvent(
  environment: EnvironmentDefinition,
  { record, draft }: EventTurn,
  { type, data }: Pick<OutsideEvent, 'type' | 'data'>,
): Omit<Happened, 'turn'> {
  const event = environment.events[type] as EnvironmentDefinition['events'][string]
  const rng = createRng(record.seed, record.rng)
  const said: string[] = []
  const sent: Record<string, string[]> = {}
  let ended: string | null = null
  let now = record.now
  const context: GameEventContext<string, unknown, unknown, unknown> = {
    state: draft,
    data: event.data.parse(data),
    params: record.params,
    rng,
    get now() {
      return now
    },
    say: (text) => {
      said.push(text)
    },
    send: (to, text) => {
      const problem = sentTextProblem(text)
      if (problem) throw failed(environment, type, problem)
      for (const seat of namedSeats(environment, record, 'send', to)) sent[seat] = [...(sent[seat] ?? []), text]
    },
    end: (reason) => {
      ended = endReason('end', reason)
    },
    elapse: (milliseconds) => {
      if (!(milliseconds >= 0)) throw new RangeError(`elapse needs milliseconds from 0 up; it got ${milliseconds}.`)
      now += milliseconds
    },
  }
  const returned: unknown = event.apply(context)
  ignoreRejection(returned)
  if (returned instanceof Promise)
    throw failed(environment, type, 'returned a promise. Rules are synchronous: await outside, and publish the result')
  const text = said.join('\n')
  const problem = said.every((each) => typeof each === 'string') ? findNonJson(text, 'what it says') : 'it says no text'
  if (problem) throw failed(environment, type, `says what cannot be kept: ${problem}`)
  if (text.length > SAID_CHARACTERS)
    throw failed(environment, type, `says ${text.length} characters, and an event says ${SAID_CHARACTERS} at most`)
  return {
    change: { state: draft, rng: rng.save(), now },
    end: ended === null ? null : { kind: 'terminated', reason: ended },
    said: said.length > 0 ? text : null,
    ...(Object.keys(sent).length > 0 && { sent }),
  }
}

function failed({ name }: EnvironmentDefinition, type: string, what: string): ServerError {
  return rulesFailed(`The event ${type} of ${name} ${what}.`)
}
