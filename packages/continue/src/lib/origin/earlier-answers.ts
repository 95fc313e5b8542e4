import type { ModelAnswer } from '@episodic/env'
import type { Answer } from '@episodic/models/answers/parse-answer'
import { withTokens } from '@episodic/models/messages/handed-tokens'
import { joinTexts } from '@episodic/models/messages/media-parts'
import { isAction, readCall } from '@episodic/models/messages/read-tool-call'
import { assistant } from '@episodic/models/messages/transcript'
import { reportedAnswers } from '@episodic/models/policy/turn'
import { type EpisodeRecord, type ModelRequest, requestsOf } from '@episodic/protocol'

/**
 * Returns the answers of a model in an episode of one seat, of its steps and then of no step, each with what the model
 * was sent, and as it came. What an agent's program asked by itself is none of them: it need not have led to a step.
 */
export function answersOf(record: EpisodeRecord): ModelAnswer[] {
  const { steps, undecided = [], transcript } = record
  if (transcript && transcript.by !== 'harness') return []
  const requests = requestsOf(record)
  return [...steps.flatMap(({ completions = [] }) => completions), ...undecided].map((completion, i) => {
    const { [i]: request, [i + 1]: next } = requests
    const answer: ModelAnswer = request ? { ...completion, request } : { ...completion }
    reportedAnswers.set(answer, answerAsItCame(answer, next))
    return answer
  })
}

/** Returns an answer as it came from its model, as far as the line or the request after it has that. */
function answerAsItCame(answer: ModelAnswer, next: ModelRequest | null | undefined): Answer {
  const { text, reasoning, calls: made = [], finish = 'nothing', request } = answer
  const calls = made.map(({ played: _, ...call }) => call)
  const readable = calls.filter((call) => isAction(readCall(call)))
  const last = next?.messages.findLast(({ role }) => role === 'assistant')
  // An answer without words and calls may have been left out, so that the last one is of an earlier answer.
  const sentBack = text?.trim() || readable.length > 0 || (last && !request?.messages.includes(last)) ? last : undefined
  const message = withTokens(sentBack ?? assistant(text, readable, reasoning), answer)
  const said = MALFORMED.exec(joinTexts(next?.messages.at(-1)?.content))?.[1]
  return { completion: answer, calls, message, finish, ...(said !== undefined && { malformed: said }) }
}

/** What a model is sent last about a call that its server could not read, with what the server has said of it. */
const MALFORMED = /.*could not be read \((.*)\)\. Call one of the tools again\.$/s
