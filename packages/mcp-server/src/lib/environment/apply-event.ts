import { createRng, findNonJson, type OutsideEvent, WireError } from '@episodic/protocol'
import { formatZodError, shorten } from '@episodic/protocol/extend'
import type { Happened, SessionRecord, SessionState } from '@episodic/state'
import { ServerError } from '../server-error.ts'
import type { EnvironmentDefinition, EventContext } from './environment.ts'
import { ignoreRejection } from './thrown-value.ts'

/** What the rules see of a session when something happens outside. What comes of it depends on nothing else. */
export interface EventTurn {
  readonly record: Pick<SessionRecord, 'params' | 'seed' | 'rng' | 'now' | 'state'>
  readonly draft: SessionState
}

/** Characters that one event may say: players are told of all events since their last call at once. */
const SAID_CHARACTERS = 4_000

/** Characters of an event's id: a session keeps those of many. */
const ID_CHARACTERS = 128

/** Throws `invalid-params` for an id that no event has. */
export function assertEventId(id: string): void {
  if (id.length === 0 || id.length > ID_CHARACTERS || !id.isWellFormed())
    throw new WireError('invalid-params', `The id of an event is a text of 1 to ${ID_CHARACTERS} characters.`)
}

/** Throws `invalid-params` for an event that an environment does not take: of another type, or with other data. */
export function assertEvent(environment: EnvironmentDefinition, event: Pick<OutsideEvent, 'type' | 'data'>): void {
  const problem = findEventProblem(environment, event)
  if (problem) throw new WireError('invalid-params', problem)
}

/** Says why an environment does not take an event; `null` where it does. */
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

/**
 * Applies one event by the rules: pure, synchronous. For one that {@link findEventProblem} finds nothing wrong with.
 */
export function applyEvent(
  environment: EnvironmentDefinition,
  { record, draft }: EventTurn,
  { type, data }: Pick<OutsideEvent, 'type' | 'data'>,
): Happened {
  const event = environment.events[type] as EnvironmentDefinition['events'][string]
  const rng = createRng(record.seed, record.rng)
  const said: string[] = []
  let ended: string | null = null
  let now = record.now
  const context: EventContext<unknown, unknown, unknown> = {
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
    end: (reason) => {
      ended = reason
    },
    elapse: (milliseconds) => {
      if (!(milliseconds >= 0)) throw new RangeError(`elapse needs milliseconds from 0 up; it got ${milliseconds}.`)
      now += milliseconds
    },
  }
  const returned: unknown = event.apply(context)
  ignoreRejection(returned)
  if (returned instanceof Promise)
    throw failed(
      environment,
      type,
      'returned a promise. Rules are synchronous: await outside, and publish what came of it',
    )
  const text = said.join('\n')
  const problem = said.every((each) => typeof each === 'string') ? findNonJson(text, 'what it says') : 'it says no text'
  if (problem) throw failed(environment, type, `cannot be told: ${problem}`)
  if (text.length > SAID_CHARACTERS)
    throw failed(environment, type, `says ${text.length} characters, and an event says ${SAID_CHARACTERS} at most`)
  return {
    change: { state: draft, rng: rng.save(), now },
    end: ended === null ? null : { kind: 'terminated', reason: ended },
    said: said.length > 0 ? text : null,
  }
}

function failed({ name }: EnvironmentDefinition, type: string, what: string): ServerError {
  return new ServerError('rules-failed', `The event ${type} of ${name} ${what}.`)
}
