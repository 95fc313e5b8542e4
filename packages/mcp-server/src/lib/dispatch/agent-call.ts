import { type EnvironmentInfo, type LoggedStep, WireError } from '@episodic/protocol'
import { withoutDataLine } from '@episodic/protocol/extend'
import { EPISODE_OVER, OBSERVATION } from '../environment/agent-answer.ts'
import { renderText, type ToolResult, toolError, toolResult } from '../environment/tool-result.ts'
import type { AgentAddress, AgentCaller } from '../host/caller.ts'
import type { Host, SessionRef, StepCall } from '../host/host.ts'
import { unknownEnvironment } from '../host/open-session.ts'
import { callByArgument, howToCreate } from './handle-arguments.ts'
import type { Answer } from './leak-scan.ts'
import { callAsSeat } from './seat-call.ts'

/** Answers one `tools/call` of an agent. Faults and ends are tool errors, which a model can read. */
export async function callAsAgent(
  host: Host,
  caller: AgentCaller,
  session: SessionRef | null,
  call: StepCall,
): Promise<Answer> {
  const { address, principal } = caller
  if (address.by === 'argument') {
    const environment = handledEnvironment(host, address.environment)
    return callByArgument(host, caller, environment, call, (named, rest) => play(named, rest, howToCreate(environment)))
  }
  return await play(session ?? (await host.resolve(principal, address)), call, PLAY_AGAIN[address.by])
}

/** Plays one step. `again` is the sentence that says how to play another episode. */
async function play(session: SessionRef, call: StepCall, again: string): Promise<Answer> {
  try {
    const seated = session.hasSeats()
    if (seated instanceof Promise ? await seated : seated) return await callAsSeat(session, call, again)
    const { step, secrets } = await session.step(call)
    // What the server adds is in its own words, and repeats what the world said.
    return {
      result: agentResult(step, step.report.end ? again : ''),
      secrets,
      worldText: () => renderText(toolResult(step)),
    }
  } catch (error) {
    const text = failureText(error, again)
    if (text === null) throw error
    return { result: toolError(text), secrets: null }
  }
}

/**
 * Returns the answer to an agent's step, without reward, end reason or control. `again` says how to play another
 * episode, and is used if this one is over. A refused step has no structured content, so that every client shows its
 * text.
 */
function agentResult({ observation, report }: LoggedStep, again: string): ToolResult {
  const over = report.end !== null
  const text = over ? `${observation.text}\nThe episode is over. ${again}` : observation.text
  if (report.refused) return toolError(text)
  return {
    content: [{ type: 'text', text }],
    structuredContent: {
      ...observation.structured,
      [OBSERVATION]: withoutDataLine(text, observation.structured),
      [EPISODE_OVER]: over,
    },
  }
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
    case 'outcome-unknown':
      return error.message
    case 'too-large':
      return `The record of this session is full. The call changed nothing, and no further calls are played in it. ${again}`
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

/**
 * The environment of a caller who names sessions in arguments. The caller has checked that the environment has a
 * handle.
 */
export function handledEnvironment(host: Host, name: string): EnvironmentInfo & { readonly handle: string } {
  return namedEnvironment(host, name) as EnvironmentInfo & { readonly handle: string }
}
