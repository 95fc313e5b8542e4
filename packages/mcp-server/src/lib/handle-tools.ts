import { DEFAULT_SEAT, type EnvironmentInfo, type JsonObject, type ToolInfo, WireError } from '@episodic/protocol'
import type { Acted, Host, Principal, StepCall } from './host.ts'
import type { Answer } from './leak-scan.ts'
import { type ToolResult, toolError } from './tool-result.ts'

/** The names that a world's noun gives: of the tools that make and end a session, and of the argument that names one. */
export function handleNames(noun: string) {
  return { create: `create_${noun}`, destroy: `destroy_${noun}`, argument: `${noun}_id` }
}

/** The tools of a world as a client sees them that names its session in every call. */
export function handleTools({ tools, handle = '' }: EnvironmentInfo, idleSeconds: number): readonly ToolInfo[] {
  const { create, destroy, argument } = handleNames(handle)
  const schema = { type: 'string', description: `What ${create} answered with.` }
  const naming = { type: 'object', properties: { [argument]: schema }, required: [argument] }
  return [
    {
      name: create,
      description: `Begin a new ${handle}, and get the ${argument} that the other tools want. It is kept until ${destroy} ends it, or until ${idleSeconds} seconds pass without a call for it.`,
      inputSchema: { type: 'object', properties: {} },
      outputSchema: naming,
    },
    ...tools.map((tool) => ({ ...tool, inputSchema: withArgument(tool.inputSchema, argument, schema) })),
    {
      name: destroy,
      description: `End a ${handle} for good. One that nobody ends is gone by itself after ${idleSeconds} seconds without a call.`,
      inputSchema: naming,
      outputSchema: null,
    },
  ]
}

/** Plays one call that names its session in its arguments. Rejects with what its session may refuse. */
export async function actByHandle(
  host: Host,
  principal: Principal,
  environment: EnvironmentInfo,
  { action: { tool, arguments: given } }: StepCall,
): Promise<Answer | Acted> {
  const { name, handle, tools } = environment
  if (handle === undefined) return refused(NO_SESSIONS)
  const { create, destroy, argument } = handleNames(handle)
  if (tool === create) return begin(host, principal, name, argument)
  if (tool !== destroy && !tools.some((known) => known.name === tool))
    return refused(
      `There is no tool of that name. The tools are: ${[create, ...tools.map((known) => known.name), destroy].join(', ')}.`,
    )
  const { [argument]: id, ...rest } = given
  if (typeof id !== 'string') return refused(`${tool} needs ${argument}, the text that ${create} answered with.`)
  try {
    if (tool !== destroy) return await host.actAt(principal, id, name, { action: { tool, arguments: rest } })
    await host.endTransport(principal, id, name)
    return { result: { content: [{ type: 'text', text: `This ${handle} is over.` }] }, secrets: null }
  } catch (error) {
    if (!WireError.is(error, 'session-not-found')) throw error
    return refused(
      `There is no ${handle} of this ${argument}: it was ended, or ${host.idleSeconds} seconds passed without a call for it, or it was never made for you here. Make another one with ${create}.`,
    )
  }
}

async function begin(host: Host, principal: Principal, environment: string, argument: string): Promise<Answer> {
  const id = await host.issueTransport(principal)
  const { seats } = await host.beginAt(principal, id, environment)
  const text = `${argument}: ${id}\n${seats[DEFAULT_SEAT]?.observation.text}`
  const result: ToolResult = { content: [{ type: 'text', text }], structuredContent: { [argument]: id } }
  return { result, secrets: await host.secretsOf(principal, id) }
}

function withArgument(inputSchema: JsonObject, argument: string, schema: JsonObject): JsonObject {
  const { properties = {}, required = [] } = inputSchema as { properties?: JsonObject; required?: string[] }
  return { ...inputSchema, properties: { [argument]: schema, ...properties }, required: [argument, ...required] }
}

function refused(text: string): Answer {
  return { result: toolError(text), secrets: null }
}

const NO_SESSIONS =
  'This address keeps no sessions for clients of this version of MCP. Ask whoever runs the server for a session URL (/mcp/s/…) and connect to that, or connect with a version before 2026-07-28.'
