import { DEFAULT_SEAT, type EnvironmentInfo, type JsonObject, type ToolInfo, WireError } from '@episodic/protocol'
import { agentTool, EPISODE_OVER, OBSERVATION, OBSERVATION_FIELDS } from '../environment/agent-answer.ts'
import { handleNames } from '../environment/define-environment.ts'
import { type ToolResult, toolError } from '../environment/tool-result.ts'
import type { Acted, Host, Principal, StepCall } from '../host/host.ts'
import type { Answer } from './leak-scan.ts'

/**
 * The tools of a world whose sessions are named in each call: the same list for every version of MCP and over every
 * transport, so that what a model sees does not depend on what its client has negotiated.
 */
export function handleTools({ tools, handle = '' }: EnvironmentInfo, idleSeconds: number): readonly ToolInfo[] {
  const { create, destroy, argument } = handleNames(handle)
  const noun = spoken(handle)
  const schema = { type: 'string', description: `Which ${noun}: the ${argument} that ${create} answered with.` }
  return [
    {
      name: create,
      description: `Begin a new ${noun}. Call this first: it costs no step, says how things stand, and answers with the ${argument} that the other tools need. A ${noun} is kept until ${destroy} ends it, or until ${idleSeconds} seconds pass without a call for it.`,
      inputSchema: { type: 'object', properties: {} },
      outputSchema: {
        type: 'object',
        properties: { [argument]: schema, ...OBSERVATION_FIELDS },
        required: [argument, OBSERVATION, EPISODE_OVER],
      },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    ...tools.map((tool) => ({ ...agentTool(tool), inputSchema: withArgument(tool.inputSchema, argument, schema) })),
    {
      name: destroy,
      description: `End a ${noun} for good. A ${noun} that is not ended is removed after ${idleSeconds} seconds without a call for it.`,
      inputSchema: { type: 'object', properties: { [argument]: schema }, required: [argument] },
      outputSchema: null,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
  ]
}

/** Plays one call that names its session in its arguments. Rejects with what its session may refuse. */
export async function actByHandle(
  host: Host,
  principal: Principal,
  { name, handle, tools }: EnvironmentInfo & { readonly handle: string },
  { action: { tool, arguments: given }, waiting }: StepCall,
): Promise<Answer | Acted> {
  const { create, destroy, argument } = handleNames(handle)
  const noun = spoken(handle)
  if (tool === create) return begin(host, principal, name, argument)
  if (tool !== destroy && !tools.some((known) => known.name === tool))
    return refused(
      `There is no tool of that name. The tools are: ${[create, ...tools.map((known) => known.name), destroy].join(', ')}.`,
    )
  const { [argument]: id, ...rest } = given
  if (typeof id !== 'string')
    return refused(`${argument} is missing: ${tool} needs the text that ${create} answered with. Call ${create} first.`)
  try {
    if (tool !== destroy) return await host.actAt(principal, id, name, { action: { tool, arguments: rest }, waiting })
    await host.endTransport(principal, id, name)
    return { result: { content: [{ type: 'text', text: `The ${noun} is over.` }] }, secrets: null }
  } catch (error) {
    if (!WireError.is(error, 'session-not-found')) throw error
    return refused(
      `There is no ${noun} with this ${argument}: it was ended, or ${host.idleSeconds} seconds passed without a call for it, or it was never created for you here. Create another one with ${create}.`,
    )
  }
}

async function begin(host: Host, principal: Principal, environment: string, argument: string): Promise<Answer> {
  const id = await host.issueTransport(principal)
  const { seats } = await host.beginAt(principal, id, environment)
  const observation = seats[DEFAULT_SEAT]?.observation.text as string
  const result: ToolResult = {
    content: [{ type: 'text', text: `${argument}: ${id}\n${observation}` }],
    structuredContent: { [argument]: id, [OBSERVATION]: observation, [EPISODE_OVER]: false },
  }
  return { result, secrets: await host.secretsOf(principal, id), told: () => observation }
}

function withArgument(inputSchema: JsonObject, argument: string, schema: JsonObject): JsonObject {
  const { properties = {}, required = [] } = inputSchema as { properties?: JsonObject; required?: string[] }
  return { ...inputSchema, properties: { [argument]: schema, ...properties }, required: [argument, ...required] }
}

/** A handle as a word in a sentence. */
function spoken(handle: string): string {
  return handle.replaceAll('_', ' ')
}

function refused(text: string): Answer {
  return { result: toolError(text), secrets: null }
}
