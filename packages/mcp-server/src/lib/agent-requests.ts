import { type EnvironmentInfo, WireError } from '@episodic/protocol'
import type { Caller } from './caller.ts'
import { actByHandle } from './handle-tools.ts'
import type { Acted, Host, StepCall } from './host.ts'
import type { Answer } from './leak-scan.ts'
import { unknownEnvironment } from './open-session.ts'
import { toolError, toolResult } from './tool-result.ts'

/** Plays one `tools/call` at the agent's door. Faults and ends come back as tool errors, which a model can read. */
export async function actAsAgent(host: Host, caller: Caller & { door: 'agent' }, call: StepCall): Promise<Answer> {
  try {
    const { world, principal } = caller
    if (world.by === 'capability') return toldOf(await host.act(world.capability, call))
    if (world.by === 'handle')
      return toldOf(await actByHandle(host, principal, namedEnvironment(host, world.environment), call))
    if (world.transportId === null)
      throw new WireError('invalid-request', 'Send the Mcp-Session-Id that initialize answered with.')
    return toldOf(await host.actAt(principal, world.transportId, world.environment, call))
  } catch (error) {
    if (WireError.is(error, 'episode-ended')) return refused('This session is over. No further calls are played in it.')
    if (WireError.is(error, 'outcome-unknown')) return refused(error.message)
    if (WireError.is(error, 'too-large'))
      return refused(
        'The record of this session is full. The call changed nothing, and no further calls are played in it.',
      )
    if (WireError.is(error, 'environment-failed'))
      return refused(`The environment failed, and the call changed nothing. Reference: ${error.details.reference}.`)
    throw error
  }
}

/** The environment that an agent's caller plays. */
export async function environmentFor(host: Host, caller: Caller & { door: 'agent' }): Promise<EnvironmentInfo> {
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

function toldOf(answered: Acted | Answer): Answer {
  if ('result' in answered) return answered
  return { result: toolResult(answered.step), secrets: answered.secrets }
}

function refused(text: string): Answer {
  return { result: toolError(text), secrets: null }
}
