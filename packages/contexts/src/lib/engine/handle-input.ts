import type { JsonObject } from '@episodic/protocol'
import { ContextError } from '../model/context-error.ts'
import type { FallbackReason } from '../model/conversation.ts'
import type { ConversationInput } from '../model/conversation-input.ts'
import type { ConversationRecord, QuestionOption } from '../model/conversation-record.ts'
import type { ConversationRules } from '../model/conversation-rules.ts'
import { failed } from '../model/failed.ts'
import type { IntentCandidate } from '../model/interpreter.ts'
import type { Route, RouteDecision } from '../model/router.ts'
import type { TurnResult } from '../model/turn-result.ts'
import { describeUnknownSlots, unknownSlots } from '../nlu/intent-slots.ts'
import { commandRoute, readCommand, runCommand, vainCommand } from './commands.ts'
import { conclude } from './conclude.ts'
import { deliver } from './deliver.ts'
import type { Remembered } from './end-turn.ts'
import { sayFallback } from './fallback-text.ts'
import { inputProblem } from './input-problem.ts'
import { askAbout, readChoice } from './question.ts'
import { listWays, noWay, type Way } from './routes.ts'
import { handTo, open } from './stack.ts'
import { activeFrame, beginTurn, type Turn } from './turn.ts'

type Input<Kind extends ConversationInput['kind']> = Extract<ConversationInput, { kind: Kind }>

/** Takes one input. Pure: the record stays as it was. */
export function handleInput(
  rules: ConversationRules,
  record: ConversationRecord,
  input: ConversationInput,
): TurnResult {
  const problem = inputProblem(rules, input)
  if (problem) return refuse(record, problem)
  if (input.kind === 'event' && record.private.events.includes(input.id))
    return { ...unchanged(record), duplicate: true }
  if (record.public.ended !== null)
    return refuse(
      record,
      new ContextError(
        'conversation-ended',
        `The conversation is over (${record.public.ended}) and takes nothing more. Start another.`,
      ),
    )
  const written = 'written' in input ? (input.written?.text ?? null) : null
  const turn = beginTurn(rules, record, input.now, written)
  try {
    return conclude(turn, take(turn, input), input.kind === 'event' ? input.id : null)
  } catch (error) {
    if (ContextError.is(error) && !BROKEN.has(error.code)) return refuse(record, error)
    throw error
  }
}

/** What is a mistake of the author's, or of whoever kept the record. */
const BROKEN: ReadonlySet<string> = new Set(['definition-invalid', 'handler-failed', 'record-invalid'])

function refuse(record: ConversationRecord, { code, message, details }: ContextError): TurnResult {
  return { ...unchanged(record), refused: { code: code as never, message, details } }
}

/** What an input comes to that does nothing. */
export function unchanged(record: ConversationRecord): TurnResult {
  return { record, replies: [], transitions: [], revealed: [], intent: null, refused: null, duplicate: false }
}

function take(turn: Turn, input: ConversationInput): Remembered {
  switch (input.kind) {
    case 'utterance':
      return hear(turn, input)
    case 'act':
      return act(turn, input)
    case 'event':
      return deliver(turn, input)
    case 'command': {
      turn.question = null
      runCommand(turn, input.command)
      const slots: JsonObject = 'context' in input.command ? { context: input.command.context } : {}
      return { kind: 'command', text: input.command.name, intent: null, slots, context: null }
    }
  }
}

/** Takes what a user said: an answer to what they were asked, or else a candidate that the router picks. */
function hear(turn: Turn, { text, interpreted }: Input<'utterance'>): Remembered {
  const said = (route: Route | null): Remembered => ({
    kind: 'utterance',
    text: text.toWellFormed(),
    intent: route?.intent ?? null,
    slots: route?.slots ?? {},
    context: route?.context ?? null,
  })
  const choice = turn.question && readChoice(turn.question, text, interpreted.candidates)
  if (choice === 'unclear' && turn.question) {
    fallBack(turn, { kind: 'ambiguous', options: turn.question.options })
    return said(null)
  }
  if (choice === 'none') {
    turn.question = null
    fallBack(turn, { kind: 'declined' })
    return said(null)
  }
  if (choice && choice !== 'unclear') {
    turn.question = null
    const way = wayOf(turn, choice)
    if (!way) fallBack(turn, { kind: 'not-understood' })
    return said(way && follow(turn, way) ? way : null)
  }
  if (interpreted.problem !== null) {
    fallBack(turn, { kind: 'interpreter-failed', problem: interpreted.problem })
    return said(null)
  }
  const ways = interpreted.candidates.flatMap((candidate) => waysOf(turn, candidate)).sort((a, b) => b.score - a.score)
  const [best] = interpreted.candidates
  const vain = best && ways.length === 0 ? vainCommand(best) : null
  if (vain && routed(turn, [vain]).kind === 'take') {
    fallBack(turn, { kind: 'nothing-open', command: vain.intent })
    return said(null)
  }
  if (best?.unrecognised?.length && ways.length === 0) {
    fallBack(turn, { kind: 'unrecognised', intent: best.intent, values: best.unrecognised })
    return said(null)
  }
  return said(decide(turn, ways))
}

/** Takes an intent that was stated. Throws a refusal if no context accepts it, and `slots-invalid` for a slot that it does not have. */
function act(turn: Turn, { intent, slots, context }: Input<'act'>): Remembered {
  const known = turn.rules.intents.get(intent)
  const unknown = known ? unknownSlots(known, slots) : []
  if (known && unknown.length > 0) throw new ContextError('slots-invalid', `${describeUnknownSlots(known, unknown)}.`)
  const candidate = { intent, slots, score: 1 }
  const ways = waysOf(turn, candidate, context)
  if (ways.length === 0) {
    // A command that cannot be followed says why itself.
    const command = context === undefined ? readCommand(candidate) : null
    if (command) runCommand(turn, command)
    throw noWay(turn, candidate, context)
  }
  const route = decide(turn, ways)
  return { kind: 'act', text: intent, intent: route && intent, slots, context: route?.context ?? null }
}

/** Every way of a candidate. A context that accepts an intent with the name of a command takes it for itself. */
function waysOf(turn: Turn, candidate: IntentCandidate, within?: string): (Way | Route)[] {
  const ways = listWays(turn, candidate, within)
  const command = ways.length === 0 && within === undefined ? commandRoute(turn, candidate) : null
  return command ? [command] : ways
}

function decide(turn: Turn, ways: readonly (Way | Route)[]): Route | null {
  const decision = routed(turn, ways)
  if (decision.kind === 'take') {
    turn.question = null
    return follow(turn, decision.route) ? decision.route : null
  }
  if (decision.kind === 'ask') {
    turn.question = askAbout(turn, decision.routes)
    fallBack(turn, { kind: 'ambiguous', options: turn.question.options })
  } else fallBack(turn, { kind: 'not-understood' })
  return null
}

/** What the router decides. Throws `handler-failed` where it throws, or picks what it was not given. */
function routed({ rules: { name, router } }: Turn, ways: readonly Route[]): RouteDecision {
  let decision: RouteDecision
  try {
    decision = router(ways)
  } catch (cause) {
    throw failed(`The router of ${name} threw: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  const picked = decision.kind === 'take' ? [decision.route] : decision.kind === 'ask' ? decision.routes : []
  if (picked.every((route) => ways.includes(route))) return decision
  throw failed(`The router of ${name} picked what it was not given`)
}

/** Follows a route. Returns whether it did: if no context handles what was not recognised, the user is informed instead. */
function follow(turn: Turn, route: Way | Route): boolean {
  const { intent, context, unrecognised = [] } = route
  const handlesIt = context !== null && turn.rules.contexts.get(context)?.machine.unrecognised
  if (unrecognised.length > 0 && !handlesIt) {
    fallBack(turn, { kind: 'unrecognised', intent, values: unrecognised })
    return false
  }
  if (!('handler' in route)) {
    const command = readCommand(route)
    if (command) runCommand(turn, command)
    return true
  }
  const { handler, openFrame } = route
  // A copy: an effect may put parts of it into its data, and edit them there.
  const given = structuredClone(route.given)
  if (openFrame) handTo(turn, openFrame, intent, handler, given)
  else if (context !== null) open(turn, context, intent, handler, given)
  return true
}

/** The way of an option, where it is still open: the state may have changed since it was offered. */
function wayOf(turn: Turn, { intent, slots, context, frame, unrecognised }: QuestionOption): Way | Route | null {
  const ways = waysOf(turn, { intent, slots, score: 1, unrecognised }, context ?? undefined)
  return ways.find((way) => way.frame === frame) ?? null
}

/** Says what the conversation itself has to say, and asks again what the active context asked. */
function fallBack(turn: Turn, reason: FallbackReason): void {
  sayFallback(turn, reason)
  const active = activeFrame(turn)
  if (active && reason.kind !== 'ambiguous') active.needsPrompt = true
}
