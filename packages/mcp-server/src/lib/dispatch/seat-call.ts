import { type Observation, type ToolInfo, WireError } from '@episodic/protocol'
import { withoutDataLine } from '@episodic/protocol/extend'
import { EPISODE_OVER, OBSERVATION } from '../environment/agent-answer.ts'
import { type ToolResult, toolError } from '../environment/tool-result.ts'
import type { SeatTurn, SessionRef, StepCall } from '../host/host.ts'
import type { Answer } from './leak-scan.ts'

/** The tool that the server adds for the player of one of several seats. */
export const WAIT: ToolInfo = {
  name: 'wait',
  description:
    'Wait for your turn. Answers when you may act, when the episode is over, or after a while. It costs no step, and can be called again.',
  inputSchema: { type: 'object', properties: {} },
  outputSchema: null,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}

const CALL_WAIT = `Call ${WAIT.name}, which answers when it is.`
/** The answer to who waits for a turn that has not come. */
export const NOT_YET = `It is not your turn yet. ${CALL_WAIT}`

/**
 * Answers one `tools/call` of the player of one of several seats. A move is committed at once, and its answer is held
 * until the seat may act again: so a model meets an ordinary environment, in which it calls and is answered. `again`
 * says how to play another episode.
 *
 * A call out of turn is answered at once and costs nothing. It is not kept for later, since it would be played on a
 * state that its player has not seen.
 */
export async function callAsSeat(session: SessionRef, call: StepCall, again: string): Promise<Answer> {
  if (call.action.tool === WAIT.name) return describeTurn([], await session.awaitTurn(call.waiting), again)
  try {
    const { step, messages, secrets } = await session.step(call)
    const { observation, report, seat } = step
    const said = [...messages, observation.text]
    if (report.refused) return { result: toolError(said.join('\n')), secrets }
    const waits = report.end === null && report.seats?.turn.includes(seat) === false
    if (waits) return describeTurn(said, await session.awaitTurn(call.waiting), again)
    return { result: resultOf(said, observation, report.end === null ? null : again), secrets }
  } catch (error) {
    if (!WireError.is(error, 'not-your-turn')) throw error
    return { result: toolError(`It is not your turn, so nothing was played. ${CALL_WAIT}`), secrets: null }
  }
}

/** Answers with what a seat knows when its wait is over. `said` is the answer to its own move. */
function describeTurn(said: readonly string[], turn: SeatTurn, again: string): Answer {
  const { mine, observation, messages, end, secrets } = turn
  const now = mine || end !== null ? observation.text : NOT_YET
  return { result: resultOf([...said, ...messages, now], observation, end === null ? null : again), secrets }
}

/** `again` is how to play again if the episode is over, and `null` if it is not. */
function resultOf(said: readonly string[], { structured }: Observation, again: string | null): ToolResult {
  const over = again !== null
  const text = [...said, ...(over ? [`The episode is over. ${again}`] : [])].join('\n')
  return {
    content: [{ type: 'text', text }],
    structuredContent: { ...structured, [OBSERVATION]: withoutDataLine(text, structured), [EPISODE_OVER]: over },
  }
}
