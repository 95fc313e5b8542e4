import { type EnvironmentInfo, type JsonObject, type ToolInfo, WireError } from '@episodic/protocol'
import { agentTool, EPISODE_OVER, OBSERVATION, OBSERVATION_FIELDS } from '../environment/answer/agent-answer.ts'
import type { ToolResult } from '../environment/answer/tool-result.ts'
import { handleNames } from '../environment/definition/define-environment.ts'
import type { AgentCaller, Principal } from '../host/access/caller.ts'
import type { Host, SessionRef, StepCall } from '../host/host.ts'
import { createGame, gameTools, joinGame, refused } from './join-game.ts'
import type { ScannedAnswer } from './leak-scan.ts'
import { WAIT } from './wait-tool.ts'

/** Returns the tools whose calls name their session: the same list for every protocol version and transport. */
export function handleTools(environment: EnvironmentInfo, idleSeconds: number): readonly ToolInfo[] {
  const { handle = '', seats } = environment
  const { create, destroy, argument } = handleNames(handle)
  const noun = spoken(handle)
  const schema = { type: 'string', description: `Which ${noun}: the ${argument} that ${create} answered with.` }
  const creating: ToolInfo = {
    name: create,
    description: `Begin a new ${noun}. Call this first: it costs no step, returns the first observation, and answers with the ${argument} that the other tools need. A ${noun} is kept until ${destroy} ends it, or until ${idleSeconds} seconds pass without a call for it.`,
    inputSchema: { type: 'object', properties: {} },
    outputSchema: {
      type: 'object',
      properties: { [argument]: schema, ...OBSERVATION_FIELDS },
      required: [argument, OBSERVATION, EPISODE_OVER],
    },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  }
  return [
    ...(seats ? gameTools(environment, creating, schema) : [creating]),
    ...playedTools(environment).map((tool) => ({
      ...agentTool(tool),
      inputSchema: withArgument(tool.inputSchema, argument, schema),
    })),
    {
      name: destroy,
      description: `End a ${noun} for good${seats ? ', for all its players; only who created it can' : ''}. A ${noun} that is not ended is removed after ${idleSeconds} seconds without a call for it.`,
      inputSchema: { type: 'object', properties: { [argument]: schema }, required: [argument] },
      outputSchema: null,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
  ]
}

export function howToCreate({ handle }: EnvironmentInfo & { readonly handle: string }): string {
  return `Call ${handleNames(handle).create} to play again.`
}

function playedTools({ tools, seats }: EnvironmentInfo): readonly ToolInfo[] {
  return seats ? [...tools, WAIT] : tools
}

export async function callByArgument(
  host: Host,
  { principal, address: { hold } }: AgentCaller,
  info: EnvironmentInfo & { readonly handle: string },
  { action: { tool, arguments: given }, ...call }: StepCall,
  play: (session: SessionRef, call: StepCall) => Promise<ScannedAnswer>,
): Promise<ScannedAnswer> {
  const { name: environment, handle, seats } = info
  const { create, join, destroy, argument } = handleNames(handle)
  const noun = spoken(handle)
  if (tool === create && !seats) return createSession(host, principal, environment, argument)
  if (tool === create) return createGame(host, { principal, environment: info, arguments: given })
  if (tool === join && seats) return joinGame(host, { principal, environment: info, arguments: given })
  const played = playedTools(info).map(({ name }) => name)
  if (tool !== destroy && !played.includes(tool))
    return refused(
      `There is no tool of that name. The tools are: ${[create, ...(seats ? [join] : []), ...played, destroy].join(', ')}.`,
    )
  const { [argument]: token, ...rest } = given
  if (typeof token !== 'string')
    return refused(`${argument} is missing: ${tool} needs the text that ${create} answered with. Call ${create} first.`)
  try {
    const session = await host.resolve(principal, { by: 'argument', token, environment, hold })
    if (tool !== destroy) return await play(session, { ...call, action: { tool, arguments: rest } })
    await session.close()
    return { result: { content: [{ type: 'text', text: `The ${noun} is over.` }] }, secrets: null }
  } catch (error) {
    if (WireError.is(error, 'unauthorized')) return refused(`Only who created this ${noun} can end it.`)
    if (!WireError.is(error, 'session-not-found')) throw error
    return refused(
      `There is no ${noun} with this ${argument}: it was ended, or ${host.idleSeconds} seconds passed without a call for it, or it was never created for you here. Create another one with ${create}.`,
    )
  }
}

async function createSession(
  host: Host,
  principal: Principal,
  environment: string,
  argument: string,
): Promise<ScannedAnswer> {
  const token = await host.connections.issue(principal)
  const session = await host.resolve(principal, { by: 'argument', token, environment })
  const { secrets } = await session.view()
  const observed = await session.observe()
  // Opening the session has observed it, so its code answers differently when asked again.
  if (!observed)
    throw new WireError('internal', `The environment ${environment} opened a session that it cannot observe.`)
  const { observation } = observed
  const result: ToolResult = {
    content: [{ type: 'text', text: `${argument}: ${token}\n${observation}` }],
    structuredContent: { [argument]: token, [OBSERVATION]: observation, [EPISODE_OVER]: false },
  }
  return { result, secrets, worldText: () => observation }
}

function withArgument(inputSchema: JsonObject, argument: string, schema: JsonObject): JsonObject {
  const { properties = {}, required = [] } = inputSchema as { properties?: JsonObject; required?: string[] }
  return { ...inputSchema, properties: { [argument]: schema, ...properties }, required: [argument, ...required] }
}

function spoken(handle: string): string {
  return handle.replaceAll('_', ' ')
}
