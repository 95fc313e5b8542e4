import { type Action, canonicalJson, type LoggedStep, WireError } from '@episodic/protocol'
import { rewardOf } from '../episode/play-step.ts'
import { readSteps } from '../episode/read-steps.ts'
import type { RewardMode } from '../episode/reward-mode.ts'
import type { FunctionCall } from './function-calls.ts'
import type { RolloutSession } from './rollout-session.ts'
import { isSameCall } from './same-call.ts'
import { addTerms, type Terms } from './tally.ts'
import { errorAnswer, stepAnswer } from './tool-answer.ts'
import type { Turn, TurnAnswer } from './turn.ts'

/**
 * Plays each call of a turn as one step, or returns the stored answer if the turn is a repeated one: of this process by
 * its id, and of another one by the cookie and the step log.
 *
 * Rejects with `seq-reused` if the id was sent with other calls, and as `playStep` does. What was played by then is not
 * played again when the turn is repeated.
 */
export async function answerTurn(session: RolloutSession, turn: Turn, rewards: RewardMode): Promise<TurnAnswer> {
  const calls = canonicalJson(turn.calls.map((call) => ({ ...call })))
  const known = turn.id !== null && session.turn?.id === turn.id ? session.turn : null
  if (known && known.calls !== calls)
    throw new WireError('seq-reused', 'This step id was sent before, with another turn. Make a new id.')
  if (known?.answer) return known.answer
  const first = known?.first ?? (await findFirstStep(session, turn))
  const begun = turn.id === null ? null : { id: turn.id, calls, first, answer: null }
  if (turn.id !== null) session.turnIds.set(turn.id, true)
  session.turn = begun
  const answer = await playFrom(session, turn.calls, first, rewards)
  if (begun) session.turn = { ...begun, answer }
  return answer
}

/**
 * Returns the number of answered steps at which a turn begins, or began if it is a repeated one. Throws `seq-conflict`
 * for a late one: its client has been answered another since, or does not say what it has been answered.
 */
async function findFirstStep(session: RolloutSession, { id, calls, sent }: Turn): Promise<number> {
  const { played } = session.tally
  if (sent > played) throw new WireError('state-lost', 'The store lost steps of this session.')
  session.returnsCookies ||= sent > 0
  if (sent === played) return played
  if (session.returnsCookies) {
    const later = await stepsAfter(session, sent)
    const actions = calls.flatMap(({ tool, arguments: args }) => (args === null ? [] : [{ tool, arguments: args }]))
    const isRepeated =
      later.length <= actions.length && later.every((step, i) => isSameCall(actions[i] as Action, step, session.tools))
    if (isRepeated) return sent
  }
  // Without cookies, the id of a turn is all that distinguishes it from another; those of this process are known.
  if (id !== null && session.turn !== null && !session.returnsCookies && !session.turnIds.has(id)) return played
  throw new WireError('seq-conflict', 'This turn came after the answer to a later one, so it was not played.')
}

async function playFrom(
  session: RolloutSession,
  calls: readonly FunctionCall[],
  first: number,
  rewards: RewardMode,
): Promise<TurnAnswer> {
  const before = first < session.tally.played ? await stepsAfter(session, first) : []
  const outputs: { call_id: string; output: string }[] = []
  let reply: string | null = null
  let terms: Terms = {}
  let earned = 0
  let next = 0
  for (const { callId, tool, arguments: args, isSpoken } of calls) {
    const answer = async () => {
      if (args === null) return errorAnswer(422, 'The arguments are no JSON object, so this call was not played.')
      const stored = before[next]
      if (!stored && session.tally.end) return errorAnswer(409, 'The episode is over, so this call was not played.')
      const step = stored ?? (await session.play({ tool, arguments: args }))
      next += 1
      terms = addTerms(terms, step.report.terms)
      earned += rewardOf(step)
      return isSpoken ? { text: step.observation.text } : stepAnswer(step)
    }
    const { text } = await answer()
    if (isSpoken) reply = text
    else outputs.push({ call_id: callId, output: text })
  }
  const { end, reward, success } = session.tally
  return {
    observation: calls.length === 0 && !end ? 'No tool was called. Call a tool to go on.' : reply,
    reward: rewards === 'steps' ? earned : end ? reward : 0,
    terminated: end?.kind === 'terminated',
    truncated: end?.kind === 'truncated',
    info: { tool_outputs: outputs, terms, end, ...(success !== undefined && { success }) },
  }
}

async function stepsAfter({ ref }: RolloutSession, played: number): Promise<LoggedStep[]> {
  const steps = await readSteps(ref)
  return steps.filter(({ report }) => report.seq > played)
}
