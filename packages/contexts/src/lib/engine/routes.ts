import type { JsonObject } from '@episodic/protocol'
import { formatZodError, shorten } from '@episodic/protocol/extend'
import type { Context } from '../model/context.ts'
import { ContextError } from '../model/context-error.ts'
import type { IntentCandidate } from '../model/interpreter.ts'
import type { InputData, MachineHandler } from '../model/machine.ts'
import type { Route } from '../model/router.ts'
import { findHandler, findOpening, unknownContext } from './play-frame.ts'
import { newFrame } from './stack.ts'
import { activeFrame, type OpenFrame, type Turn } from './turn.ts'

/** A route, and what taking it does. */
export interface Way extends Route {
  readonly given: InputData
  /** `null` where the context would be opened. */
  readonly openFrame: OpenFrame | null
  readonly handler: MachineHandler
}

/**
 * Lists every way that one candidate could go: for each context that knows the intent, the frame nearest to the top that
 * accepts it, or else a new one where the intent opens the context.
 */
export function listWays(turn: Turn, candidate: IntentCandidate, within: string | null = null): Way[] {
  const ways: Way[] = []
  for (const context of turn.rules.contexts.values()) {
    if (within !== null && context.name !== within) continue
    const given = readSlots(context, candidate)
    if (given === null) continue
    const way = wayInto(turn, context, candidate, given)
    if (way) ways.push(way)
  }
  return ways
}

function wayInto(turn: Turn, context: Context, candidate: IntentCandidate, given: InputData): Way | null {
  for (const frame of turn.stack.toReversed()) {
    if (frame.context !== context) continue
    const handler = findHandler(turn, frame, candidate.intent, given)
    const active = frame === activeFrame(turn)
    if (handler)
      return { ...candidate, context: context.name, frame: frame.id, active, given, openFrame: frame, handler }
  }
  const handler =
    context.machine.opens[candidate.intent] && findOpening(turn, newFrame(turn, context), candidate.intent, given)
  if (!handler) return null
  return { ...candidate, context: context.name, frame: null, active: false, given, openFrame: null, handler }
}

/** The slots as the context's schema reads them; `null` where it does not know the intent, or refuses them. */
function readSlots(context: Context, { intent, slots, unrecognised = [] }: IntentCandidate): InputData | null {
  if (!Object.hasOwn(context.intents, intent)) return null
  const parsed = context.intents[intent]?.safeParse(slots)
  return parsed?.success ? { slots: parsed.data as JsonObject, unrecognised } : null
}

/**
 * Says why there is no way for an intent that was stated: `unknown-context`, `unknown-intent`, `slots-invalid` or
 * `illegal-transition`.
 */
export function noWay(turn: Turn, { intent, slots }: IntentCandidate, within: string | undefined): ContextError {
  const { rules } = turn
  if (within !== undefined && !rules.contexts.has(within)) return unknownContext(turn, within)
  const knowing = [...rules.contexts.values()].filter(({ intents }) => Object.hasOwn(intents, intent))
  if (knowing.length === 0)
    return new ContextError(
      'unknown-intent',
      `There is no intent "${shorten(intent)}". The intents are: ${[...rules.intents.keys()].join(', ')}.`,
    )
  const readings = knowing.map((context) => context.intents[intent]?.safeParse(slots))
  const refusal = readings.find((reading) => reading && !reading.success)?.error
  if (refusal && readings.every((reading) => !reading?.success))
    return new ContextError('slots-invalid', `The slots of ${intent} are wrong: ${formatZodError(refusal)}.`)
  const frame = turn.stack.findLast(({ context }) => within === undefined || context.name === within)
  const accepted = acceptedBy(frame)
  const guarded = accepted.includes(intent) ? ' as things stand' : ''
  return new ContextError(
    'illegal-transition',
    frame
      ? `${frame.context.name} does not accept ${intent} in the state ${frame.state}${guarded}, and nothing else does. It accepts: ${accepted.join(', ') || 'nothing'}.`
      : `${within === undefined ? 'Nothing is open, and no context opens' : `${within} is not open, and does not open`} by ${intent}.`,
    { details: { intent, context: frame?.context.name ?? null, state: frame?.state ?? null, accepted } },
  )
}

/** The intents that a frame accepts in its present state, before any guard is asked. */
export function acceptedBy(frame: Pick<OpenFrame, 'context' | 'state'> | undefined): string[] {
  if (!frame) return []
  const { intents, machine } = frame.context
  return Object.keys(intents).filter((intent) => machine.states[frame.state]?.on[intent] ?? machine.on[intent])
}
