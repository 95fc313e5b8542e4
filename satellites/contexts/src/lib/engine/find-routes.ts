import type { JsonObject } from '@episodic/protocol'
import { formatZodError, shorten } from '@episodic/protocol/internal'
import type { Context } from '../model/context.ts'
import { ContextError } from '../model/context-error.ts'
import type { IntentCandidate } from '../model/interpreter.ts'
import type { InputData, MachineHandler } from '../model/machine.ts'
import type { Route } from '../model/router.ts'
import { unknownContext } from './check-input.ts'
import { commandRoute } from './commands.ts'
import { findHandler, pick } from './play-frame.ts'
import { activeFrame, newFrame, type OpenFrame, type Turn } from './turn.ts'

export interface ContextRoute extends Route {
  readonly given: InputData
  /** `null` if the context would be opened. */
  readonly openFrame: OpenFrame | null
  readonly handler: MachineHandler
}

/**
 * Finds every route of a candidate: for each context that declares the intent, the frame nearest to the top that
 * accepts it, or else a new frame if the intent opens the context. If there is none, a command of that name is the
 * route.
 *
 * @param within - the only context to route to. Default: any.
 */
export function findRoutes(turn: Turn, candidate: IntentCandidate, within?: string): (ContextRoute | Route)[] {
  const routes: ContextRoute[] = []
  for (const context of turn.rules.contexts.values()) {
    if (within !== undefined && context.name !== within) continue
    const given = readSlots(context, candidate)
    if (given === null) continue
    const route = routeInto(turn, context, candidate, given)
    if (route) routes.push(route)
  }
  const command = routes.length === 0 && within === undefined ? commandRoute(turn, candidate) : null
  return command ? [command] : routes
}

function routeInto(turn: Turn, context: Context, candidate: IntentCandidate, given: InputData): ContextRoute | null {
  for (const frame of turn.stack.toReversed()) {
    if (frame.context !== context) continue
    const handler = findHandler(turn, frame, candidate.intent, given)
    const active = frame === activeFrame(turn)
    if (handler)
      return { ...candidate, context: context.name, frame: frame.id, active, given, openFrame: frame, handler }
  }
  const opening = context.machine.opens[candidate.intent]
  const handler = opening && pick(turn, newFrame(turn, context), opening, given)
  if (!handler) return null
  return { ...candidate, context: context.name, frame: null, active: false, given, openFrame: null, handler }
}

function readSlots(context: Context, { intent, slots, unrecognised = [] }: IntentCandidate): InputData | null {
  if (!Object.hasOwn(context.intents, intent)) return null
  const parsed = context.intents[intent]?.safeParse(slots)
  return parsed?.success ? { slots: parsed.data as JsonObject, unrecognised } : null
}

export function noRouteError(turn: Turn, { intent, slots }: IntentCandidate, within: string | undefined): ContextError {
  const { rules } = turn
  if (within !== undefined && !rules.contexts.has(within)) return unknownContext(rules, within)
  const knowing = [...rules.contexts.values()].filter(({ intents }) => Object.hasOwn(intents, intent))
  if (knowing.length === 0)
    return new ContextError(
      'unknown-intent',
      `There is no intent "${shorten(intent)}". The intents are: ${[...rules.intents.keys()].join(', ')}.`,
    )
  const readings = knowing.map((context) => context.intents[intent]?.safeParse(slots))
  const rejected = readings.find((reading) => reading && !reading.success)?.error
  if (rejected && readings.every((reading) => !reading?.success))
    return new ContextError('slots-invalid', `The slots of ${intent} are wrong: ${formatZodError(rejected)}.`)
  const frame = turn.stack.findLast(({ context }) => within === undefined || context.name === within)
  const accepted = acceptedBy(frame)
  const guarded = accepted.includes(intent) ? ' now' : ''
  return new ContextError(
    'illegal-transition',
    frame
      ? `${frame.context.name} does not accept ${intent} in the state ${frame.state}${guarded}, and nothing else does. It accepts: ${accepted.join(', ') || 'nothing'}.`
      : `${within === undefined ? 'Nothing is open, and no context opens' : `${within} is not open, and does not open`} by ${intent}.`,
    { details: { intent, context: frame?.context.name ?? null, state: frame?.state ?? null, accepted } },
  )
}

export function acceptedBy(frame: Pick<OpenFrame, 'context' | 'state'> | undefined): string[] {
  if (!frame) return []
  const { intents, machine } = frame.context
  return Object.keys(intents).filter((intent) => machine.states[frame.state]?.on[intent] ?? machine.on[intent])
}
