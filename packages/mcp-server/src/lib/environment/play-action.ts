import { type Action, type EpisodeEnd, findNonJson, type JsonObject, type Refusal } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import type { Played } from '@episodic/state'
import type { GameEnvironment } from './decided-move.ts'
import { findUndeclaredKey } from './declared-action.ts'
import type { EnvironmentDefinition } from './environment.ts'
import { ToolCallContext } from './play-context.ts'
import { playMove } from './play-move.ts'
import type { PlayChecks, PlayOutcome, RulesTurn } from './rules-turn.ts'
import { applyPublished, prependEventTexts } from './step-events.ts'
import { ignoreRejection } from './thrown-value.ts'
import { assertSaid, readPrepared, structuredAnswer, textWithData } from './tool-answer.ts'

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
  if (environment.game) return playMove(environment as GameEnvironment, turn, action, scrutiny)
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
  assertSaid(environment, action.tool, tool, answer)
  const effects = context.effects()
  const aftermath = effects.published.length > 0 ? applyPublished(environment, turn, effects) : null
  const given = tool.output ? answer.data : turn.draft.public
  const structured = structuredAnswer(
    environment,
    action.tool,
    tool.output ?? environment.state.public,
    given,
    scrutiny,
  )
  const withEvents = (text: string) => (aftermath ? [text, ...aftermath.said].join('\n') : text)
  const played = settle(environment, turn, action, {
    refusal: null,
    text: withEvents(answer.text),
    ...(tool.output && { shown: withEvents(textWithData(answer, tool.output, structured)) }),
    structured,
    ended: aftermath ? aftermath.ended : effects.ended,
    change: aftermath ? aftermath.change : { state: turn.draft, rng: effects.rng, now: effects.now },
    published: aftermath?.published,
  })
  const undeclared = findUndeclaredKey(given, structured)
  return undeclared === undefined ? played : { ...played, undeclared }
}

const NO_EVENTS: readonly never[] = []

/** The decision of the rules, before rewards. */
interface Decided {
  readonly refusal: Refusal | null
  /** What the rules say, as the history keeps it. */
  readonly text: string
  /** What the player reads of it, with data that the text does not say. Default: the text. */
  readonly shown?: string
  readonly structured: JsonObject | null
  readonly ended: string | null
  readonly change: Played['change']
  readonly published?: Played['published']
}

function settle(environment: EnvironmentDefinition, turn: RulesTurn, action: Action, decided: Decided): Played {
  const { seat } = turn
  const { params, state: before, end: endedBefore, outside } = turn.record
  const events = outside ? outside.pending : NO_EVENTS
  const after = decided.change ? decided.change.state : before
  const end: EpisodeEnd | null =
    decided.ended !== null
      ? { kind: 'terminated', reason: decided.ended }
      : (endedBefore ?? (turn.truncation && { kind: 'truncated', reason: turn.truncation }))
  const transition = {
    before,
    after,
    moved: environment.seats,
    tool: action.tool,
    input: action.arguments,
    params,
    end,
    refused: decided.refusal,
    events,
  }
  const terms = environment.rewards(transition, seat)
  const { shown = decided.text } = decided
  // After a termination there is no state to act on; after a truncation there is.
  const observed = end?.kind === 'terminated' ? shown : `${shown}\n${environment.observe(after, params, seat).text}`
  const text = events.length > 0 ? prependEventTexts(events, observed) : observed
  return {
    change: decided.change,
    end,
    observation: { text, structured: decided.structured },
    terms,
    potential: environment.potential(after, params, seat),
    ...(end && environment.hasSuccess && { success: environment.success({ end, state: after, params }, seat) }),
    refused: decided.refusal,
    published: decided.published,
    remember: environment.history ? { tool: action.tool, arguments: action.arguments, said: decided.text } : undefined,
  }
}
