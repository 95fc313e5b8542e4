import { type EnvironmentInfo, type JsonObject, type Observation, WireError } from '@episodic/protocol'
import { withoutDataLine } from '@episodic/protocol/internal'
import { EPISODE_OVER, OBSERVATION } from '../environment/answer/agent-answer.ts'
import type { Secrets } from '../environment/answer/secrets.ts'
import { contentOf, renderText, type ToolResult, toolError } from '../environment/answer/tool-result.ts'
import type { AgentAddress } from '../host/access/caller.ts'
import type { Host, SeatTurn, SessionRef, StepCall, StepOutcome } from '../host/host.ts'
import { unknownEnvironment } from '../host/open/open-session.ts'
import { callByArgument, howToCreate } from './handle-arguments.ts'
import type { ScannedAnswer } from './leak-scan.ts'
import type { AgentAsker } from './message.ts'
import { NOT_YET, NOT_YOURS, WAIT } from './wait-tool.ts'

/** Answers one `tools/call` of an agent. Faults and ends are tool errors, which a model can read. */
export function callAsAgent({ host, caller, session }: AgentAsker, call: StepCall): Promise<ScannedAnswer> {
  const { address, principal } = caller
  if (address.by === 'argument') {
    const environment = handledEnvironment(host, address.environment)
    return callByArgument(host, caller, environment, call, (named, rest) => play(named, rest, howToCreate(environment)))
  }
  return play(session ?? host.resolve(principal, address), call, PLAY_AGAIN[address.by])
}

/**
 * Plays one step. `again` is the sentence that says how to play another episode.
 *
 * A step of one of several seats is committed at once, and its answer is held until the seat may act again: so a model
 * meets an ordinary environment, in which it calls and is answered. A call out of turn is answered at once and costs
 * nothing. It is not kept for later, since it would be played on a state that its player has not seen.
 */
async function play(found: SessionRef | Promise<SessionRef>, call: StepCall, again: string): Promise<ScannedAnswer> {
  const session = found instanceof Promise ? await found : found
  const awaitTurn = async (outcome: StepOutcome | null) =>
    answerTurn(outcome, await session.awaitTurn(call.waiting), again)
  try {
    if (call.action.tool === WAIT.name && (await session.environment()).seats) return await awaitTurn(null)
    const playing = session.step(call)
    const outcome = playing instanceof Promise ? await playing : playing
    const { report, seat } = outcome.step
    if (report.refused === null && report.end === null && report.seats?.turn.includes(seat) === false)
      return await awaitTurn(outcome)
    return answerStep(outcome, again)
  } catch (error) {
    const text = failureText(error, again)
    if (text === null) throw error
    return { result: toolError(text), secrets: null }
  }
}

function answerStep(outcome: StepOutcome, again: string): ScannedAnswer {
  const { step, secrets } = outcome
  const said = saidIn(outcome)
  const isOver = step.report.end !== null
  if (step.report.refused) {
    // Without structured content, so that every client shows its text.
    const result = toolError(isOver ? withEnd(said, again) : said)
    return { result, secrets, worldText: () => said }
  }
  const { structured, attachments, resources } = step.observation
  return answerOf(said, structured, { isOver, again, secrets, attachments, resources })
}

function answerTurn(outcome: StepOutcome | null, turn: SeatTurn, again: string): ScannedAnswer {
  const { mine, observation, messages, end, secrets } = turn
  const isOver = end !== null
  const now = mine || isOver ? observation.text : NOT_YET
  const said = outcome ? saidIn(outcome) : ''
  const text = [...(said === '' ? [] : [said]), ...messages, now].join('\n')
  const attachments = outcome?.step.observation.attachments
  return answerOf(text, observation.structured, { isOver, again, secrets, attachments })
}

function saidIn({ step: { observation }, messages }: StepOutcome): string {
  return messages.length > 0 ? [...messages, observation.text].join('\n') : observation.text
}

interface AnswerParts extends Pick<Observation, 'attachments' | 'resources'> {
  readonly isOver: boolean
  readonly again: string
  readonly secrets: Secrets
}

/** Returns an answer without reward, end reason or control. `again` is used if the episode is over. */
function answerOf(
  said: string,
  structured: JsonObject | null,
  { isOver, again, secrets, attachments, resources }: AnswerParts,
): ScannedAnswer {
  const text = isOver ? withEnd(said, again) : said
  const content = contentOf({ text, attachments, resources })
  const fields = { [OBSERVATION]: withoutDataLine(text, structured), [EPISODE_OVER]: isOver }
  const own = structured ? { structuredContent: structured } : {}
  return {
    result: { content, structuredContent: { ...structured, ...fields } } satisfies ToolResult,
    secrets,
    // What the server adds is in its own words, and repeats what the world said.
    worldText: () => renderText({ content: contentOf({ text: said, attachments, resources }), ...own }),
  }
}

function withEnd(said: string, again: string): string {
  return `${said}\nThe episode is over. ${again}`
}

const PLAY_AGAIN: Readonly<Record<'capability' | 'transport', string>> = {
  capability: 'This address plays one session alone: ask for the address of another one to play again.',
  transport: 'Each MCP session is one episode here: connect again, or send initialize again, to play again.',
}

/** What a model reads about a step that was not played; `null` for an error of the protocol. */
function failureText(error: unknown, again: string): string | null {
  if (!WireError.is(error)) return null
  const { reference, sessionFailed } = error.details
  switch (error.code) {
    case 'episode-ended':
      return `The episode is over, so this call was not played. ${again}`
    case 'not-your-turn':
      return NOT_YOURS
    case 'outcome-unknown':
      return error.message
    case 'too-large':
      return `The record of this session is full. The call changed nothing, and no further calls are played in it. ${again}`
    case 'state-lost':
      if (!sessionFailed) return null
      return `A part of this session is gone, so no further calls are played in it. Reference: ${reference}. ${again}`
    case 'not-recorded':
      return `This world answers what was recorded, and this call was not, so no further calls are played in it. Reference: ${reference}. ${again}`
    case 'environment-failed':
      return sessionFailed
        ? `The environment failed after an earlier call, so no further calls are played in this session. Reference: ${reference}. ${again}`
        : `The environment failed, and the call changed nothing. Reference: ${reference}.`
    default:
      return null
  }
}

/** The environment that an agent plays. Throws, or rejects with, `session-not-found` and `unknown-environment`. */
export function environmentFor(
  host: Host,
  address: AgentAddress,
  session: SessionRef | null,
): EnvironmentInfo | Promise<EnvironmentInfo> {
  if (address.by !== 'capability') return namedEnvironment(host, address.environment)
  if (session) return session.environment()
  throw new TypeError('The session of a capability is resolved before its environment is asked for.')
}

export function namedEnvironment(host: Host, name: string): EnvironmentInfo {
  const found = host.environments.find((environment) => environment.name === name)
  if (found) return found
  const served = host.environments.map((environment) => environment.name)
  throw unknownEnvironment(name, served)
}

/** The environment of a caller who names sessions in arguments, and has checked that it has a handle. */
export function handledEnvironment(host: Host, name: string): EnvironmentInfo & { readonly handle: string } {
  return namedEnvironment(host, name) as EnvironmentInfo & { readonly handle: string }
}
