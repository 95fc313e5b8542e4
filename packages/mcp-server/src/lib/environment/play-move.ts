import { type Action, findNonJson, type JsonObject, type Refusal } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import { ServerError } from '../server-error.ts'
import { type Absence, absenceOf } from './absence.ts'
import { concludeMove } from './conclude-move.ts'
import { type DecidedMove, type GameEnvironment, playingSeats } from './decided-move.ts'
import { findUndeclaredKey } from './declared-action.ts'
import { hasTool } from './define-game.ts'
import type { Refused, Said, Tool } from './environment.ts'
import { freezeAll } from './frozen.ts'
import type { SealedContext } from './game.ts'
import { GameCall } from './game-call.ts'
import type { PlayChecks, PlayOutcome, RulesTurn } from './rules-turn.ts'
import { ignoreRejection } from './thrown-value.ts'
import { assertSaid, readPrepared, structuredAnswer, textWithData } from './tool-answer.ts'

/**
 * Plays one action of one seat by the rules: pure and synchronous, as `playAction` is for one seat. The session has
 * checked that the seat may act.
 */
export function playMove(
  environment: GameEnvironment,
  given: RulesTurn,
  action: Action,
  checks?: PlayChecks,
): PlayOutcome {
  // Rules for an absent seat decide what one loses that has no steps left, when it would have to act again.
  const spent = environment.game.absent !== null && given.truncation === 'step-limit'
  const turn = spent ? { ...given, truncation: null } : given
  const cause = absenceOf(action)
  const decided = cause ? playAbsence(environment, turn, cause, checks) : decideMove(environment, turn, action, checks)
  const played = concludeMove(environment, turn, action, decided)
  const { undeclared } = decided
  return undeclared === undefined ? played : { ...played, undeclared }
}

function decideMove(
  environment: GameEnvironment,
  turn: RulesTurn,
  action: Action,
  checks: PlayChecks | undefined,
): DecidedMove {
  const { record, seat, truncation } = turn
  const refuse = (refusal: Refusal, text: string): DecidedMove => ({
    refusal,
    text,
    change: null,
    effects: null,
    moved: [seat],
  })
  if (truncation === 'time-limit')
    return refuse('time', 'The time of this session has run out. The call changed nothing.')
  const found = Object.hasOwn(environment.tools, action.tool) ? environment.tools[action.tool] : undefined
  const tool = found && hasTool(found, seat) ? found : undefined
  if (!tool) {
    const names = Object.keys(environment.tools).filter((name) => hasTool(environment.tools[name] as Tool, seat))
    return refuse('tool', `There is no tool "${action.tool}". The tools are: ${names.join(', ')}.`)
  }
  const input = tool.input.safeParse(action.arguments)
  // A -0 would come back from the store as 0, or be reported as a fault of the rules.
  const problem = input.success
    ? findNonJson(action.arguments, 'arguments')
    : formatZodError(input.error, action.arguments)
  if (!input.success || problem) return refuse('arguments', `Invalid arguments for ${action.tool}: ${problem}.`)
  const inTurn = seatsInTurn(environment, record)
  if (environment.game.settle && !tool.sealed && inTurn.length > 1)
    return refuse('rules', `${action.tool} cannot be called while several seats move at once.`)

  const call = { tool, name: action.tool, input: input.data, checks }
  const decided = tool.sealed ? sealMove(environment, turn, call, inTurn) : playTool(environment, turn, call)
  return 'kind' in decided ? refuse('rules', decided.text) : decided
}

/** A call of a tool, with valid arguments. */
interface ToolCall {
  readonly tool: Tool
  readonly name: string
  readonly input: unknown
  readonly checks: PlayChecks | undefined
}

function playTool(environment: GameEnvironment, turn: RulesTurn, called: ToolCall): DecidedMove | Refused {
  const { tool, name, input, checks } = called
  const { seat, draft } = turn
  const call = new GameCall({
    environment,
    turn,
    seat,
    moved: [seat],
    playing: playingSeats(turn.record),
    input,
    prepared: tool.preparation ? readPrepared(environment, name, tool.preparation, turn.prepared) : undefined,
    checks,
  })
  const answer = (tool.play as unknown as (context: GameCall) => Said<unknown> | Refused)(call)
  if (answer instanceof Promise) ignoreRejection(answer)
  if (isRefused(answer)) return answer
  assertSaid(environment, name, tool, answer)
  const effects = call.effects()
  const structured = tool.output && structuredAnswer(environment, name, tool.output, answer.data, checks)
  const said = tool.output && structured ? textWithData(answer, tool.output, structured) : answer.text
  return {
    refusal: null,
    text: [said, ...(effects.messages[seat] ?? [])].join('\n'),
    ...(structured && { structured, undeclared: findUndeclaredKey(answer.data, structured) }),
    change: { state: draft, rng: effects.rng, now: effects.now },
    effects,
    moved: [seat],
  }
}

/** Keeps a sealed move, and plays the round if it was the last one. */
function sealMove(
  environment: GameEnvironment,
  turn: RulesTurn,
  { tool, name, input, checks }: ToolCall,
  inTurn: readonly string[],
): DecidedMove | Refused {
  const { record, seat, draft } = turn
  const context: SealedContext<string, JsonObject, JsonObject, JsonObject, unknown> = {
    seat,
    public: freezeAll(record.state.public),
    own: draft.own?.[seat] as JsonObject,
    input,
    params: record.params,
    refuse: (text) => ({ kind: 'refused', text }),
  }
  const answer = (tool.play as unknown as (given: typeof context) => Refused | undefined)(context)
  if (answer instanceof Promise) ignoreRejection(answer)
  if (isRefused(answer)) return answer
  if (answer !== undefined)
    throw new ServerError(
      'rules-failed',
      `The sealed tool ${name} of ${environment.name} returned an answer. Return nothing, or refuse(…): \`settle\` plays the move.`,
    )
  if (record.turn?.some((other) => other !== seat))
    return {
      refusal: null,
      text: 'Your move is sealed until every seat in turn has moved.',
      change: { state: draft, rng: record.rng, now: record.now },
      effects: null,
      moved: [],
    }
  // The same for every order in which the moves came: only then do rewards not depend on it.
  const before = structuredClone(draft)
  const call = new GameCall({
    environment,
    turn,
    seat,
    moved: inTurn,
    playing: playingSeats(record),
    input: undefined,
    prepared: undefined,
    checks,
  })
  ignoreRejection(environment.game.settle?.(call))
  const effects = call.effects()
  return {
    refusal: null,
    text: ['All have moved.', ...(effects.messages[seat] ?? [])].join('\n'),
    change: { state: draft, rng: effects.rng, now: effects.now },
    effects,
    moved: inTurn,
    before,
  }
}

/**
 * Plays the step of a seat that does not act. In a round of sealed moves it has then made none: the others go on, and
 * what they have sealed is played if they waited for this seat alone.
 */
function playAbsence(
  environment: GameEnvironment,
  turn: RulesTurn,
  cause: Absence,
  checks: PlayChecks | undefined,
): DecidedMove {
  const { record, seat, draft } = turn
  const { absent, settle } = environment.game
  const inTurn = record.turn ?? []
  const moved = seatsInTurn(environment, record).filter((name) => !inTurn.includes(name))
  const waiting = inTurn.filter((name) => name !== seat)
  const call = new GameCall({
    environment,
    turn,
    seat,
    moved,
    playing: playingSeats(record),
    input: undefined,
    prepared: undefined,
    cause,
    checks,
  })
  if (absent) ignoreRejection(absent(call))
  const settles = absent !== null && settle !== null && moved.length > 0 && waiting.length === 0
  if (settles && call.effects().ended === null) ignoreRejection(settle(call))
  const effects = call.effects()
  const stays = effects.ended === null && effects.left[seat] === undefined
  const left = stays && absent && cause !== 'turn-limit' ? { ...effects.left, [seat]: cause } : effects.left
  return {
    refusal: null,
    text: `The seat ${seat} did not act (${cause}).`,
    change: { state: draft, rng: effects.rng, now: effects.now },
    effects: { ...effects, left },
    moved: settles ? moved : [],
    ...(settle && waiting.length > 0 && { waiting }),
    ...(!absent && { truncation: 'turn-limit' as const }),
  }
}

function isRefused(answer: unknown): answer is Refused {
  const { kind, text } = (answer ?? {}) as Partial<Refused>
  return kind === 'refused' && typeof text === 'string'
}

/** Returns the seats in turn, those with a sealed move included. */
function seatsInTurn(environment: GameEnvironment, record: RulesTurn['record']): readonly string[] {
  const playing = playingSeats(record)
  return environment.game.turn(record.state, record.params).filter((seat) => playing.includes(seat))
}
