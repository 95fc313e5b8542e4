import { type Action, findNonJson, type Json, type JsonObject, type Refusal } from '@episodic/protocol'
import { formatZodError, isObject, withDataLine } from '@episodic/protocol/internal'
import type { Change } from '@episodic/state'
import { settled } from '@episodic/state/internal'
import type { z } from 'zod'
import { rulesFailed } from '../../server-error.ts'
import { ABSENT, absenceOf } from '../definition/absent-action.ts'
import { findUndeclared } from '../definition/declared-action.ts'
import type { EnvironmentDefinition, Preparation, Refused, Said, Tool } from '../definition/environment.ts'
import { namesOf } from '../definition/offered-tools.ts'
import { ignoreRejection } from '../definition/thrown-value.ts'
import { concludeStep } from './conclude-step.ts'
import type { Decided, ToolCall } from './decided.ts'
import { isRefused, PlayCall } from './play-context.ts'
import { playAbsence, sealMove } from './play-round.ts'
import { type PlayChecks, type PlayOutcome, type RulesTurn, seatsInTurn } from './rules-turn.ts'
import { outcomeOf } from './step-events.ts'

/**
 * Plays one action of one seat by the rules: pure and synchronous. Everything that an environment's own code decides is
 * here. The session has checked that the seat may act, and `action` has only what its tool declares; see
 * `declaredAction`.
 */
export function playAction(
  environment: EnvironmentDefinition,
  given: RulesTurn,
  action: Action,
  checks?: PlayChecks,
): PlayOutcome {
  const { multiplayer } = environment
  // Rules for an absent seat decide what one loses that has no steps left, when it would have to act again.
  const spent = multiplayer && environment.absent && given.truncation === 'step-limit'
  const turn = spent ? { ...given, truncation: null } : given
  // Of an episode that an event has ended, every step only reports that.
  const absence = multiplayer && !given.record.end ? absenceOf(action) : null
  const left = absence ? playAbsence(environment, turn, absence, checks) : decide(environment, turn, action, checks)
  const change = left.change && settleChange(left.change)
  const decided = change === left.change ? left : { ...left, change }
  const played = concludeStep(environment, turn, action, decided)
  const { undeclared } = decided
  return undeclared === undefined ? played : { ...played, undeclared }
}

/** Returns a change as rewards read it, with a large state read-only. What is no JSON stays, and is reported later. */
function settleChange(change: Change): Change {
  try {
    const state = settled(change.state)
    return state === change.state ? change : { ...change, state }
  } catch {
    return change
  }
}

const UNPLAYED = { change: null, effects: null, called: true } as const

function decide(
  environment: EnvironmentDefinition,
  turn: RulesTurn,
  { tool: name, arguments: args }: Action,
  checks: PlayChecks | undefined,
): Decided {
  const { record, seat, truncation } = turn
  const refuse = (refusal: Refusal, text: string): Decided => ({ refusal, text, ...UNPLAYED, moved: [seat] })
  if (record.end) return refuse('ended', 'The episode was over before this call, which changed nothing.')
  if (truncation === 'time-limit') {
    const late = refuse('time', 'The time of this session has run out. The call changed nothing.')
    const left = playAbsent(environment, turn, checks)
    return left ? { ...left, refusal: late.refusal, text: late.text, shown: late.text } : late
  }
  const left = environment.absent && absenceOf({ tool: name, arguments: args }) && playAbsent(environment, turn, checks)
  if (left) return { ...left, truncation: 'closed' }
  const tool = Object.hasOwn(environment.tools, name) ? environment.tools[name] : undefined
  const offered = environment.offers?.(record.state, record.params, seat)
  if (!tool || tool.seats?.includes(seat) === false || offered?.includes(name) === false) {
    const names = offered ?? namesOf(environment.tools, seat)
    return refuse('tool', `There is no tool "${name}". The tools are: ${names.join(', ')}.`)
  }
  const input = tool.input.safeParse(args)
  // A -0 would come back from the store as 0, or be reported as a fault of the rules.
  const problem = input.success ? findNonJson(args, 'arguments') : formatZodError(input.error, args)
  if (!input.success || problem) return refuse('arguments', `Invalid arguments for ${name}: ${problem}.`)
  if (environment.settle && !tool.sealed && seatsInTurn(environment, record).length > 1)
    return refuse('rules', `${name} cannot be called while several seats move at once.`)

  const call = { environment, turn, name, input: input.data, checks }
  const decided = tool.sealed ? sealMove(call, tool) : playTool(call, tool)
  return 'kind' in decided ? refuse('rules', decided.text) : decided
}

/** Calls the tool for the only player that has left or is late. A step recorded before has nothing prepared. */
function playAbsent(environment: EnvironmentDefinition, turn: RulesTurn, checks: PlayChecks | undefined) {
  const { absent } = environment
  if (!absent || (absent.preparation && turn.prepared === undefined)) return null
  const decided = playTool({ environment, turn, name: ABSENT, input: {}, checks }, absent)
  return 'kind' in decided ? null : decided
}

function playTool({ environment, turn, name, input, checks }: ToolCall, tool: Tool): Decided | Refused {
  const { seat, draft } = turn
  const prepared = tool.preparation ? readPrepared(environment, name, tool.preparation, turn.prepared) : undefined
  const moved = [seat]
  const call = new PlayCall({ environment, turn, rule: `Tool ${name}`, seat, moved, input, prepared, checks })
  const answer = tool.play(call)
  const left = call.effects()
  if (answer instanceof Promise) ignoreRejection(answer)
  if (isRefused(answer)) return answer
  assertSaid(environment, name, tool, answer)
  // Most calls publish no event.
  const { change, effects, published } =
    left.published.length > 0
      ? outcomeOf(environment, turn, call)
      : { change: { state: draft, rng: left.rng, now: left.now }, effects: left, published: undefined }
  // A seat of several is answered with its view, and the only one with the public state.
  const schema = tool.output ?? (environment.multiplayer ? null : environment.state.public)
  const structured = schema
    ? structuredAnswer(environment, name, schema, tool.output ? answer.data : draft.public, checks)
    : null
  const said = tool.dataFollows && structured ? withDataLine(answer.text, structured.data) : answer.text
  const added = effects.messages[seat]
  // Each member by its name: a part that is spread costs as much as a small rule.
  return {
    refusal: null,
    text: added ? [answer.text, ...added].join('\n') : answer.text,
    shown: added ? [said, ...added].join('\n') : said,
    structured: structured?.data,
    undeclared: structured?.undeclared,
    attachments: effects.attachments.length > 0 ? effects.attachments : undefined,
    resources: answer.resources,
    change,
    effects,
    published,
    moved,
    called: true,
  }
}

/** Returns the prepared input for `play`, parsed again, since a replay reads it from a record that may be edited. */
function readPrepared(
  { name }: EnvironmentDefinition,
  tool: string,
  { schema }: Preparation,
  value: Json | undefined,
): unknown {
  if (value === undefined)
    throw rulesFailed(
      `Tool ${tool} of ${name} prepares its steps, and this one comes with nothing prepared. Hand \`prepared\` to it.`,
    )
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw rulesFailed(`What was prepared for ${tool} of ${name} is wrong: ${formatZodError(parsed.error)}.`)
}

function assertSaid(
  { name }: EnvironmentDefinition,
  tool: string,
  { output }: Pick<Tool, 'output'>,
  answer: Partial<Said<unknown> | Refused> | null | undefined,
): asserts answer is Said<unknown> {
  if (typeof answer?.text !== 'string' || answer.kind !== 'said')
    throw rulesFailed(`Tool ${tool} of ${name} returned no answer. Return say(…) or refuse(…).`)
  if (!output && answer.text === '' && isObject((answer as Said<unknown>).data))
    throw rulesFailed(
      `Tool ${tool} of ${name} answers with data alone, and declares no output. Declare its \`output\`, or say a text.`,
    )
}

function structuredAnswer(
  environment: EnvironmentDefinition,
  name: string,
  schema: z.ZodType,
  given: unknown,
  checks: PlayChecks | undefined,
): { readonly data: JsonObject; readonly undeclared: string | undefined } {
  const parsed = schema.safeParse(given)
  if (!parsed.success)
    throw rulesFailed(`Tool ${name} of ${environment.name} gave a wrong answer: ${formatZodError(parsed.error)}.`)
  const undeclared = checks?.strict && findUndeclared(given, parsed.data)
  if (undeclared)
    throw rulesFailed(
      `Tool ${name} of ${environment.name} says "${undeclared}", which its output does not declare. Declare it, or leave it out.`,
    )
  const data = parsed.data as JsonObject
  return { data, undeclared: findUndeclaredKey(given, data) }
}

/** Returns the first key of `given` that is not in `kept`, at the top level only: cheap enough for every step. */
function findUndeclaredKey(given: unknown, kept: object): string | undefined {
  for (const key in given as object) if (!Object.hasOwn(kept, key)) return key
  return undefined
}
