import type { JsonObject } from '@episodic/protocol'
import { ContextError, handlerFailed, handlerThrew } from '../model/context-error.ts'
import type { FallbackReason } from '../model/conversation.ts'
import type { ConversationInput } from '../model/conversation-input.ts'
import type { ConversationRecord, QuestionOption } from '../model/conversation-record.ts'
import { formatUnknownSlots, unknownSlots } from '../model/intent-slots.ts'
import type { Route, RouteDecision } from '../model/router.ts'
import type { TurnResult } from '../model/turn-result.ts'
import { inputProblem } from './check-input.ts'
import { impossibleCommand, readCommand, runCommand } from './commands.ts'
import { type ContextRoute, findRoutes, noRouteError } from './find-routes.ts'
import { deliver, finishInput } from './finish-input.ts'
import type { InputEntry } from './next-record.ts'
import { askAbout, readChoice } from './question.ts'
import { sayFallback } from './reply.ts'
import { handleIntent, open } from './stack.ts'
import { activeFrame, type ConversationRules, startTurn, type Turn } from './turn.ts'

type Input<Kind extends ConversationInput['kind']> = Extract<ConversationInput, { kind: Kind }>

/** Pure: the record is not edited. */
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
  const turn = startTurn(rules, record, input.now)
  try {
    return finishInput(turn, take(turn, input), input.kind === 'event' ? input.id : null)
  } catch (error) {
    if (ContextError.is(error) && !FAULTS.has(error.code)) return refuse(record, error)
    throw error
  }
}

/** Codes of mistakes in the definition or the record, which are thrown. All others are refusals. */
const FAULTS: ReadonlySet<string> = new Set(['definition-invalid', 'handler-failed', 'record-invalid'])

function refuse(record: ConversationRecord, { code, message, details }: ContextError): TurnResult {
  return { ...unchanged(record), refused: { code: code as never, message, details } }
}

export function unchanged(record: ConversationRecord): TurnResult {
  return { record, replies: [], transitions: [], revealed: [], intent: null, refused: null, duplicate: false }
}

function take(turn: Turn, input: ConversationInput): InputEntry {
  switch (input.kind) {
    case 'utterance':
      return takeUtterance(turn, input)
    case 'act':
      return takeAct(turn, input)
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

function takeUtterance(turn: Turn, { text, interpreted }: Input<'utterance'>): InputEntry {
  const route = routeUtterance(turn, text, interpreted)
  return {
    kind: 'utterance',
    text: text.toWellFormed(),
    intent: route?.intent ?? null,
    slots: route?.slots ?? {},
    context: route?.context ?? null,
  }
}

function routeUtterance(
  turn: Turn,
  text: string,
  { candidates, problem }: Input<'utterance'>['interpreted'],
): Route | null {
  const choice = turn.question && readChoice(turn.question, text, candidates)
  if (choice === 'unclear' && turn.question)
    return replyFallback(turn, { kind: 'ambiguous', options: turn.question.options })
  if (choice === 'none') {
    turn.question = null
    return replyFallback(turn, { kind: 'declined' })
  }
  if (choice && choice !== 'unclear') {
    turn.question = null
    const route = routeOfOption(turn, choice)
    return route ? follow(turn, route) : replyFallback(turn, { kind: 'not-understood' })
  }
  if (problem !== null) return replyFallback(turn, { kind: 'interpreter-failed', problem })
  const routes = candidates.flatMap((candidate) => findRoutes(turn, candidate)).sort((a, b) => b.score - a.score)
  const [best] = candidates
  if (best && routes.length === 0) {
    const command = impossibleCommand(best)
    if (command && decide(turn, [command]).kind === 'take')
      return replyFallback(turn, { kind: 'nothing-open', command: command.intent })
    if (best.unrecognised?.length)
      return replyFallback(turn, { kind: 'unrecognised', intent: best.intent, values: best.unrecognised })
  }
  return routeBest(turn, routes)
}

function takeAct(turn: Turn, { intent, slots, context }: Input<'act'>): InputEntry {
  const known = turn.rules.intents.get(intent)
  const unknown = known ? unknownSlots(known, slots) : []
  if (known && unknown.length > 0) throw new ContextError('slots-invalid', `${formatUnknownSlots(known, unknown)}.`)
  const candidate = { intent, slots, score: 1 }
  const routes = findRoutes(turn, candidate, context)
  if (routes.length === 0) {
    // An impossible command throws its own refusal.
    const command = context === undefined ? readCommand(candidate) : null
    if (command) runCommand(turn, command)
    throw noRouteError(turn, candidate, context)
  }
  const route = routeBest(turn, routes)
  return { kind: 'act', text: intent, intent: route && intent, slots, context: route?.context ?? null }
}

function routeBest(turn: Turn, routes: readonly (ContextRoute | Route)[]): Route | null {
  const decision = decide(turn, routes)
  if (decision.kind === 'take') {
    turn.question = null
    return follow(turn, decision.route)
  }
  if (decision.kind === 'none') return replyFallback(turn, { kind: 'not-understood' })
  turn.question = askAbout(turn, decision.routes)
  return replyFallback(turn, { kind: 'ambiguous', options: turn.question.options })
}

function decide({ rules: { name, router } }: Turn, routes: readonly Route[]): RouteDecision {
  let decision: RouteDecision
  try {
    decision = router(routes)
  } catch (cause) {
    throw handlerThrew(`The router of ${name}`, cause)
  }
  const picked = decision.kind === 'take' ? [decision.route] : decision.kind === 'ask' ? decision.routes : []
  if (picked.every((route) => routes.includes(route))) return decision
  throw handlerFailed(`The router of ${name} picked what it was not given`)
}

/** Follows a route and returns it; `null` if its context has no hook for unrecognised phrases: the reply names them. */
function follow(turn: Turn, route: ContextRoute | Route): Route | null {
  const { intent, context, unrecognised = [] } = route
  const handlesPhrases = context !== null && turn.rules.contexts.get(context)?.machine.unrecognised
  if (unrecognised.length > 0 && !handlesPhrases)
    return replyFallback(turn, { kind: 'unrecognised', intent, values: unrecognised })
  if (!('handler' in route)) {
    const command = readCommand(route)
    if (command) runCommand(turn, command)
    return route
  }
  const { handler, openFrame } = route
  // A copy: an effect may put parts of it into its data, and edit them there.
  const given = structuredClone(route.given)
  if (openFrame) handleIntent(turn, openFrame, { on: intent, handler, given })
  else if (context !== null) open(turn, context, intent, handler, given)
  return route
}

function routeOfOption(
  turn: Turn,
  { intent, slots, context, frame, unrecognised }: QuestionOption,
): ContextRoute | Route | null {
  const routes = findRoutes(turn, { intent, slots, score: 1, unrecognised }, context ?? undefined)
  return routes.find((route) => route.frame === frame) ?? null
}

function replyFallback(turn: Turn, reason: FallbackReason): null {
  sayFallback(turn, reason)
  const active = activeFrame(turn)
  if (active && reason.kind !== 'ambiguous') active.needsPrompt = true
  return null
}
