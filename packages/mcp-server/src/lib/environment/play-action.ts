import {
  type Action,
  createRng,
  type EpisodeEnd,
  findNonJson,
  type Json,
  type JsonObject,
  type Observation,
  type Refusal,
  type RngState,
} from '@episodic/protocol'
import { formatZodError, type SavableRng } from '@episodic/protocol/extend'
import type { Played, SessionRecord, SessionState, Turn } from '@episodic/state'
import { ServerError } from '../server-error.ts'
import { findUndeclared, findUndeclaredKey } from './declared-action.ts'
import type { EnvironmentDefinition, Preparation, Tool, WorldState } from './environment.ts'
import { ToolCallContext } from './play-context.ts'
import { applyPublished, prependEventTexts } from './step-events.ts'
import { ignoreRejection } from './thrown-value.ts'

/** The observation of a state, and its potential for the trainer. */
export interface ObservedState {
  readonly observation: Observation
  readonly potential: number | null
}

/** The state, random streams and observation before the first step. */
export interface InitialState extends ObservedState {
  readonly state: SessionState
  readonly rng: RngState
}

/** Returns the observation and the potential of a state. Throws what the environment's code throws. */
export function observeState(
  environment: EnvironmentDefinition,
  state: SessionState,
  params: JsonObject,
): ObservedState {
  return {
    observation: { text: environment.observe(state.public, params), structured: state.public },
    potential: environment.potential(state, params),
  }
}

/**
 * Starts a world from parameters that passed its schema. The same parameters and seed give the same start, so it
 * can be asked for again at any time.
 */
export function startEnvironment(environment: EnvironmentDefinition, params: JsonObject, seed: string): InitialState {
  const rng = createRng(seed)
  const started = environment.start({ params, rng })
  ignoreRejection(started)
  const state = { public: startedPart('public'), private: startedPart('private') }
  return { state, rng: rng.save(), ...observeState(environment, state, params) }

  /** Returns a part of the initial state as its schema parses it, so without undeclared keys. */
  function startedPart(part: 'public' | 'private'): JsonObject {
    const parsed = environment.state[part].safeParse(started[part])
    const problem = parsed.success ? findNonJson(parsed.data) : formatZodError(parsed.error)
    if (problem)
      throw new ServerError(
        'rules-failed',
        `The start of ${environment.name} gave a ${part} state that cannot be kept: ${problem}.`,
      )
    return parsed.data as JsonObject
  }
}

/** Additional checks of an environment's code, for checks, replays and tests. */
export interface PlayChecks {
  /** Throws for keys that a schema would drop silently. Default `false`. */
  readonly strict?: boolean
  /** Called with each value that a tool reveals. */
  readonly onReveal?: (value: Json) => void
  /** Replaces the random streams of the session. */
  readonly rng?: SavableRng
}

/** The part of a session that the rules see. The outcome of an action depends on nothing else. */
export interface RulesTurn extends Pick<Turn, 'draft' | 'truncation' | 'prepared'> {
  readonly record: Pick<SessionRecord, 'params' | 'seed' | 'rng' | 'now' | 'state' | 'history' | 'end' | 'outside'>
}

/** The outcome of an action. */
export interface PlayOutcome extends Played {
  /**
   * A key that the tool said and its output does not declare, so it was left out. Undeclared keys inside other objects
   * are left out too, and not reported.
   */
  readonly undeclared?: string
}

/**
 * Plays one action by the rules: pure and synchronous. Everything that an environment's own code decides is here.
 * `action` has only what its tool declares; see `declaredAction`.
 */
export function playAction(
  environment: EnvironmentDefinition,
  turn: RulesTurn,
  action: Action,
  scrutiny?: PlayChecks,
): PlayOutcome {
  const { record, truncation } = turn
  const refuse = (refusal: Refusal, text: string): Played =>
    settle(environment, turn, action, { refusal, text, structured: null, ended: null, change: null })

  if (record.end) return refuse('ended', 'The episode was over before this call, which changed nothing.')
  if (truncation === 'time-limit')
    return refuse('time', 'The time of this session has run out. The call changed nothing.')
  const tool = Object.hasOwn(environment.tools, action.tool) ? environment.tools[action.tool] : undefined
  if (!tool)
    return refuse(
      'tool',
      `There is no tool "${action.tool}". The tools are: ${Object.keys(environment.tools).join(', ')}.`,
    )
  const input = tool.input.safeParse(action.arguments)
  // A -0 would come back from the store as 0, or be reported as a fault of the rules.
  const problem = input.success
    ? findNonJson(action.arguments, 'arguments')
    : formatZodError(input.error, action.arguments)
  if (!input.success || problem) return refuse('arguments', `Invalid arguments for ${action.tool}: ${problem}.`)

  const prepared = tool.preparation
    ? readPrepared(environment, action.tool, tool.preparation, turn.prepared)
    : undefined
  const context = new ToolCallContext({
    environment,
    tool: action.tool,
    record,
    draft: turn.draft,
    input: input.data,
    prepared,
    onReveal: scrutiny?.onReveal,
    rng: scrutiny?.rng,
  })
  const answer = tool.play(context)
  if (answer instanceof Promise) ignoreRejection(answer)
  if (typeof answer?.text === 'string' && answer.kind === 'refused') return refuse('rules', answer.text)
  if (typeof answer?.text !== 'string' || answer.kind !== 'said')
    throw new ServerError(
      'rules-failed',
      `Tool ${action.tool} of ${environment.name} returned no answer. Return say(…) or refuse(…).`,
    )
  const effects = context.effects()
  const aftermath = effects.published.length > 0 ? applyPublished(environment, turn, effects) : null
  const given = tool.output ? answer.data : turn.draft.public
  const structured = structuredAnswer(environment, action.tool, tool, given, scrutiny)
  const played = settle(environment, turn, action, {
    refusal: null,
    text: aftermath ? [answer.text, ...aftermath.said].join('\n') : answer.text,
    structured,
    ended: aftermath ? aftermath.ended : effects.ended,
    change: aftermath ? aftermath.change : { state: turn.draft, rng: effects.rng, now: effects.now },
    published: aftermath?.published,
  })
  const undeclared = findUndeclaredKey(given, structured)
  return undeclared === undefined ? played : { ...played, undeclared }
}

/**
 * Returns the prepared input for `play`. It is parsed again, since a replay reads it from a record that may be edited.
 */
function readPrepared(
  { name }: EnvironmentDefinition,
  tool: string,
  { schema }: Preparation,
  value: Json | undefined,
): unknown {
  if (value === undefined)
    throw new ServerError(
      'rules-failed',
      `Tool ${tool} of ${name} prepares its steps, and this one comes with nothing prepared. Hand \`prepared\` to it.`,
    )
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new ServerError(
    'rules-failed',
    `What was prepared for ${tool} of ${name} is wrong: ${formatZodError(parsed.error)}.`,
  )
}

const NO_EVENTS: readonly never[] = []

/** The decision of the rules, before rewards. */
interface Decided {
  readonly refusal: Refusal | null
  readonly text: string
  readonly structured: JsonObject | null
  readonly ended: string | null
  readonly change: Played['change']
  readonly published?: Played['published']
}

function settle(environment: EnvironmentDefinition, turn: RulesTurn, action: Action, decided: Decided): Played {
  const { params, state: before, end: endedBefore, outside } = turn.record
  const events = outside ? outside.pending : NO_EVENTS
  const after = decided.change ? decided.change.state : before
  const end: EpisodeEnd | null =
    decided.ended !== null
      ? { kind: 'terminated', reason: decided.ended }
      : (endedBefore ?? (turn.truncation && { kind: 'truncated', reason: turn.truncation }))
  const transition = {
    before: before as WorldState<JsonObject, JsonObject>,
    after: after as WorldState<JsonObject, JsonObject>,
    tool: action.tool,
    input: action.arguments,
    params,
    end,
    refused: decided.refusal,
    events,
  }
  const terms = environment.rewards(transition)
  // After a termination there is no state to act on; after a truncation there is.
  const observed =
    end?.kind === 'terminated' ? decided.text : `${decided.text}\n${environment.observe(after.public, params)}`
  const text = events.length > 0 ? prependEventTexts(events, observed) : observed
  return {
    change: decided.change,
    end,
    observation: { text, structured: decided.structured },
    terms,
    potential: environment.potential(transition.after, params),
    ...(end && environment.hasSuccess && { success: environment.success({ end, state: transition.after, params }) }),
    refused: decided.refusal,
    published: decided.published,
    remember: environment.history ? { tool: action.tool, arguments: action.arguments, said: decided.text } : undefined,
  }
}

/** Returns the structured answer: the data of `say`, or else the public state, without undeclared keys. */
function structuredAnswer(
  environment: EnvironmentDefinition,
  name: string,
  tool: Tool,
  given: unknown,
  scrutiny: PlayChecks | undefined,
): JsonObject {
  const parsed = (tool.output ?? environment.state.public).safeParse(given)
  if (!parsed.success)
    throw new ServerError(
      'rules-failed',
      `Tool ${name} of ${environment.name} gave a wrong answer: ${formatZodError(parsed.error)}.`,
    )
  const undeclared = scrutiny?.strict && findUndeclared(given, parsed.data)
  if (undeclared)
    throw new ServerError(
      'rules-failed',
      `Tool ${name} of ${environment.name} says "${undeclared}", which its output does not declare. Declare it, or leave it out.`,
    )
  return parsed.data as JsonObject
}
