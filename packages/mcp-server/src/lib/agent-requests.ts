import { type EnvironmentInfo, type JsonObject, type LoggedStep, WireError } from '@episodic/protocol'
import type { Caller } from './caller.ts'
import type { Host, StepCall } from './host.ts'
import { unknownEnvironment } from './open-session.ts'

/** A `tools/call` result as MCP says it. */
export type ToolResult = {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
  readonly structuredContent?: JsonObject
  readonly isError?: true
  readonly _meta?: JsonObject
}

/** The part of an answered step that a player may see: no byte of reward, end or control is in it. */
export function toolResult({ observation, report }: LoggedStep): ToolResult {
  const { text, structured } = observation
  const content = [{ type: 'text', text }] as const
  if (report.refused) return { content, isError: true }
  return structured ? { content, structuredContent: structured } : { content }
}

/** Plays one `tools/call` at the agent's door. Faults and ends come back as tool errors, which a model can read. */
export async function actAsAgent(host: Host, caller: Caller & { door: 'agent' }, call: StepCall): Promise<ToolResult> {
  try {
    const { world, principal } = caller
    if (world.by === 'capability') return toolResult((await host.act(world.capability, call)).step)
    if (world.transportId === null)
      throw new WireError('invalid-request', 'Send the Mcp-Session-Id that initialize answered with.')
    return toolResult((await host.actAt(principal, world.transportId, world.environment, call)).step)
  } catch (error) {
    if (WireError.is(error, 'episode-ended'))
      return toolError('This session is over. No further calls are played in it.')
    if (WireError.is(error, 'environment-failed'))
      return toolError(`The environment failed, and the call changed nothing. Reference: ${error.details.reference}.`)
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

function toolError(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
