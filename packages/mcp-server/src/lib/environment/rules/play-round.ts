import type { JsonObject } from '@episodic/protocol'
import { copyOfDraft, freezeAll, isLarge } from '@episodic/state/internal'
import { rulesFailed } from '../../server-error.ts'
import type { Absence } from '../definition/absent-action.ts'
import type { EnvironmentDefinition, Refused, Tool } from '../definition/environment.ts'
import type { SealedContext } from '../definition/game.ts'
import { ignoreRejection } from '../definition/thrown-value.ts'
import type { Decided, ToolCall } from './decided.ts'
import { isRefused, PlayCall } from './play-context.ts'
import { type PlayChecks, type RulesTurn, seatsInTurn } from './rules-turn.ts'
import { outcomeOf } from './step-events.ts'

export function sealMove({ environment, turn, name, input, checks }: ToolCall, tool: Tool): Decided | Refused {
  const { record, seat, draft } = turn
  const context: SealedContext<string, JsonObject, JsonObject, JsonObject, unknown> = {
    seat,
    public: isLarge(record.state) ? record.state.public : freezeAll(record.state.public),
    own: draft.own?.[seat] as JsonObject,
    input,
    params: record.params,
    refuse: (text) => ({ kind: 'refused', text }),
  }
  const answer = (tool.play as unknown as (given: typeof context) => Refused | undefined)(context)
  if (answer instanceof Promise) ignoreRejection(answer)
  if (isRefused(answer)) return answer
  if (answer !== undefined)
    throw rulesFailed(
      `The sealed tool ${name} of ${environment.name} returned an answer. Return nothing, or refuse(…): \`settle\` plays the move.`,
    )
  if (record.turn?.some((other) => other !== seat))
    return {
      refusal: null,
      text: 'Your move is sealed until every seat in turn has moved.',
      change: { state: draft, rng: record.rng, now: record.now },
      effects: null,
      moved: [],
      called: true,
    }
  // The same for every order in which the moves came: only then do rewards not depend on it.
  const before = copyOfDraft(draft)
  const moved = seatsInTurn(environment, record)
  const call = new PlayCall({ environment, turn, rule: '`settle`', seat, moved, checks })
  ignoreRejection(environment.settle?.(call))
  const outcome = outcomeOf(environment, turn, call)
  return {
    refusal: null,
    text: ['All have moved.', ...(outcome.effects.messages[seat] ?? [])].join('\n'),
    ...outcome,
    moved,
    called: false,
    before,
  }
}

/** Plays an absent seat's step. In a round of sealed moves it has made none, and may be the last one waited for. */
export function playAbsence(
  environment: EnvironmentDefinition,
  turn: RulesTurn,
  cause: Absence,
  checks: PlayChecks | undefined,
): Decided {
  const { record, seat } = turn
  const { absent, settle } = environment
  const inTurn = record.turn ?? []
  const moved = seatsInTurn(environment, record).filter((name) => !inTurn.includes(name))
  const waiting = inTurn.filter((name) => name !== seat)
  const call = new PlayCall({ environment, turn, rule: '`absent`', seat, moved, cause, checks })
  if (absent) ignoreRejection(absent.play(call))
  const settles = absent !== null && settle !== null && moved.length > 0 && waiting.length === 0
  if (settles && call.effects().ended === null) ignoreRejection(settle(call))
  const { change, effects, published } = outcomeOf(environment, turn, call)
  const stays = effects.ended === null && effects.left[seat] === undefined
  const left = stays && absent && cause !== 'turn-limit' ? { ...effects.left, [seat]: cause } : effects.left
  return {
    refusal: null,
    text: `The seat ${seat} did not act (${cause}).`,
    change,
    effects: { ...effects, left },
    published,
    moved: settles ? moved : [],
    called: false,
    ...(settle && waiting.length > 0 && { waiting }),
    ...(!absent && { truncation: 'turn-limit' as const }),
  }
}
