import { type EnvironmentInfo, WireError } from '@episodic/protocol'
import { agentResult } from '../environment/agent-answer.ts'
import { handleNames } from '../environment/define-environment.ts'
import { renderText, toolError, toolResult } from '../environment/tool-result.ts'
import type { AgentWorld, Caller } from '../host/caller.ts'
import type { Acted, Host, StepCall } from '../host/host.ts'
import { unknownEnvironment } from '../host/open-session.ts'
import { actByHandle } from './handle-arguments.ts'
import type { Answer } from './leak-scan.ts'

/** Plays one `tools/call` of an agent. Faults and ends come back as tool errors, which a model can read. */
export async function actAsAgent(host: Host, caller: Caller & { endpoint: 'agent' }, call: StepCall): Promise<Answer> {
  try {
    return answerOf(await act(host, caller, call), () => howToPlayAgain(host, caller.world))
  } catch (error) {
    if (WireError.is(error, 'episode-ended'))
      return refused(`The episode is over, so this call was not played. ${howToPlayAgain(host, caller.world)}`)
    if (WireError.is(error, 'outcome-unknown')) return refused(error.message)
    if (WireError.is(error, 'too-large'))
      return refused(
        `The record of this session is full. The call changed nothing, and no further calls are played in it. ${howToPlayAgain(host, caller.world)}`,
      )
    if (WireError.is(error, 'environment-failed')) {
      const { reference, sessionFailed } = error.details
      return refused(
        sessionFailed
          ? `The environment failed after an earlier call, so no further calls are played in this session. Reference: ${reference}. ${howToPlayAgain(host, caller.world)}`
          : `The environment failed, and the call changed nothing. Reference: ${reference}.`,
      )
    }
    throw error
  }
}

function act(
  host: Host,
  { world, principal }: Caller & { endpoint: 'agent' },
  call: StepCall,
): Promise<Acted | Answer> {
  if (world.by === 'capability') return host.act(world.capability, call)
  if (world.by === 'handle') return actByHandle(host, principal, handledEnvironment(host, world.environment), call)
  if (world.transportId === null)
    throw new WireError('invalid-request', 'Send the Mcp-Session-Id that initialize answered with.')
  return host.actAt(principal, world.transportId, world.environment, call)
}

/** What an agent has to do for another episode. */
function howToPlayAgain(host: Host, world: AgentWorld): string {
  switch (world.by) {
    case 'capability':
      return 'This address plays one session alone: ask for the address of another one to play again.'
    case 'handle':
      return `Call ${handleNames(handledEnvironment(host, world.environment).handle).create} to play again.`
    case 'transport':
      return 'Each MCP session is one episode here: connect again, or send initialize again, to play again.'
  }
}

/** The environment that an agent's caller plays. */
export async function environmentFor(host: Host, caller: Caller & { endpoint: 'agent' }): Promise<EnvironmentInfo> {
  const { world } = caller
  if (world.by === 'capability') return host.environmentOf(world.capability)
  return namedEnvironment(host, world.environment)
}

export function namedEnvironment(host: Host, name: string): EnvironmentInfo {
  const found = host.environments.find((environment) => environment.name === name)
  if (found) return found
  const served = host.environments.map((environment) => environment.name)
  throw unknownEnvironment(name, served)
}

/**
 * The environment of a caller who names sessions by handle. The caller has checked that the environment has a handle.
 */
export function handledEnvironment(host: Host, name: string): EnvironmentInfo & { readonly handle: string } {
  return namedEnvironment(host, name) as EnvironmentInfo & { readonly handle: string }
}

function answerOf(answered: Acted | Answer, again: () => string): Answer {
  if ('result' in answered) return answered
  const { step, secrets } = answered
  // What the server adds is said in its own words, and repeats what the world said.
  const told = () => renderText(toolResult(step))
  return { result: agentResult(step, step.report.end ? again() : ''), secrets, told }
}

function refused(text: string): Answer {
  return { result: toolError(text), secrets: null }
}
