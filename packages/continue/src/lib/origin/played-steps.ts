import type { ModelAnswer, PlayedStep } from '@episodic/env'
import type { Answer } from '@episodic/models/answers/parse-answer'
import { withTokens } from '@episodic/models/messages/handed-tokens'
import { joinTexts } from '@episodic/models/messages/media-parts'
import { isAction, readCall } from '@episodic/models/messages/read-tool-call'
import { assistant } from '@episodic/models/messages/transcript'
import { reportedAnswers } from '@episodic/models/policy/turn'
import { type EpisodeRecord, type ModelRequest, type Observation, requestsOf, type Step } from '@episodic/protocol'

/**
 * Returns the first steps of a line as they were played, each answer of a model with what the model was sent, and how
 * it was sent back. What an agent's program asked by itself is no part of them: it need not have led to the step.
 */
export function playedSteps(record: EpisodeRecord, count: number): PlayedStep[] {
  const answers = answersOf(record)
  const data = dataOf(record)
  let answered = 0
  return record.steps.slice(0, count).map(({ action, observation, reward, completions = [], ...rest }, at) => {
    const { potential, refused, stateHash, events, prepared, milliseconds } = rest
    const info: Step['info'] = {
      ...{ seq: at + 1, potential, refused, stateHash, replayed: false },
      ...(events && { events: events.map((event) => ({ ...event, revision: 0 })) }),
      ...(prepared !== undefined && { prepared }),
    }
    const own = answers.slice(answered, answered + completions.length)
    answered += completions.length
    const went = { action, completions: own, milliseconds: milliseconds ?? 0 }
    return {
      observation: shown(observation, data),
      reward,
      end: null,
      info,
      terminated: false,
      truncated: false,
      ...went,
    }
  })
}

/** A line has the bytes of each picture once, and the player was shown them each time. */
function dataOf({ steps }: EpisodeRecord): ReadonlyMap<string, string> {
  const attached = steps.flatMap(({ observation: { attachments = [] } }) => attachments)
  return new Map(attached.flatMap(({ sha256, data }) => (data === undefined ? [] : [[sha256, data] as const])))
}

function shown({ attachments, ...observation }: Observation, known: ReadonlyMap<string, string>): Observation {
  if (!attachments) return observation
  const whole = attachments.map(({ data, ...rest }) => ({ ...rest, data: data ?? known.get(rest.sha256) }))
  return { ...observation, attachments: whole }
}

function answersOf(record: EpisodeRecord): ModelAnswer[] {
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

/** What a model is told of a call that its server could not read, with what the server has said of it. */
const MALFORMED = /could not be read \((.*)\)\. Call one of the tools again\.$/s
