import { type EnvironmentInfo, META, type ToolInfo, WireError } from '@episodic/protocol'
import { WIRE_ERROR_NUMBERS, WIRE_VERSION } from '@episodic/protocol/internal'
import { agentTool } from '../environment/answer/agent-answer.ts'
import { handleNames } from '../environment/definition/define-environment.ts'
import type { AgentAddress, Caller } from '../host/access/caller.ts'
import type { Host, PresentedState, SessionRef } from '../host/host.ts'
import { environmentFor } from './agent-call.ts'
import { handleTools } from './handle-arguments.ts'
import { STATE_URI, stateTemplate } from './state-resource.ts'
import { WAIT } from './wait-tool.ts'

export interface Advertisement {
  readonly name: string
  readonly title: string
  readonly version: string
  readonly instructions: string
  /** The observation of the caller's session, if the instructions contain it; `null` otherwise. */
  readonly presented: PresentedState | null
  readonly tools: readonly ToolInfo[]
  /** Whether the tools change while the caller plays. */
  readonly toolsChange: boolean
  /** The URI of the session's state, or its template; `null` at the trainer endpoint, which has a method for it. */
  readonly state: string | null
}

export const AT_AGENTS = { resources: { subscribe: true }, prompts: {} }

export type Identity = Pick<Advertisement, 'name' | 'version'>

const TRAINER: Identity = { name: 'episodic', version: WIRE_VERSION }

export function identify(host: Host, caller: Caller, session: SessionRef | null): Identity | Promise<Identity> {
  return caller.endpoint === 'trainer' ? TRAINER : environmentFor(host, caller.address, session)
}

export async function advertise(
  host: Host,
  caller: Caller,
  session: SessionRef | null,
  method: string,
): Promise<Advertisement> {
  if (caller.endpoint === 'agent') {
    const { address } = caller
    const environment = await environmentFor(host, address, session)
    const { name, version, handle } = environment
    const named = address.by === 'argument' && handle !== undefined
    const toolsChange = environment.offers === true && !named
    const asks = INSTRUCTING.has(method) || (toolsChange && method === 'tools/list')
    const presented = session && asks ? await session.observe() : null
    const has = ({ name }: ToolInfo) => presented?.tools?.includes(name) ?? true
    return {
      name,
      title: titleOf(name),
      version,
      instructions: instruct(environment, address, presented),
      presented,
      tools: named
        ? handleTools(environment, host.idleSeconds)
        : [...environment.tools.filter(has).map(agentTool), ...(environment.seats ? [WAIT] : [])],
      toolsChange,
      state: named ? stateTemplate(handle) : STATE_URI,
    }
  }
  const names = host.environments.map(({ name, version }) => `${name} ${version}`).join(', ')
  const [only] = host.environments
  return {
    ...TRAINER,
    title: 'Episodic environments',
    instructions: `Environments for training and evaluation: ${names}.`,
    tools: host.environments.length === 1 && only ? only.tools : [],
    toolsChange: false,
    presented: null,
    state: null,
  }
}

const INSTRUCTING = new Set(['initialize', 'server/discover', 'prompts/get'])

/** Returns what a client may show its model before the first call, so that the model acts on an observation. */
function instruct(environment: EnvironmentInfo, address: AgentAddress, presented: PresentedState | null): string {
  const { description: about, handle, seats } = environment
  const seat = address.by === 'capability' ? seats?.[0] : undefined
  const description = seat
    ? `${about}\n\nYou play the seat ${seat.name}. When it is not your turn, call ${WAIT.name}, which answers when it is.`
    : about
  if (presented) return `${description}\n\n${presented.observation}`
  if (address.by !== 'argument' || handle === undefined) return description
  return `${description}\n\n${howToBegin(environment, handle)}`
}

function howToBegin({ seats }: EnvironmentInfo, handle: string): string {
  const { create, join, argument } = handleNames(handle)
  const begin = `Begin with ${create}: it costs no step, returns the first observation, and answers with the ${argument} that the other tools need.`
  if (!seats) return begin
  const names = seats.map(({ name }) => name).join(', ')
  return `The seats are: ${names}. ${begin} It also answers with an invitation to each other seat, for its player. If you were given an invitation, begin with ${join}. When it is not your turn, call ${WAIT.name}, which answers when it is.`
}

function titleOf(name: string): string {
  const words = name.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function toolOnTheWire({ name, description, inputSchema, outputSchema, annotations, speech }: ToolInfo) {
  return {
    name,
    description,
    inputSchema: inputSchema as { type: 'object' },
    ...(outputSchema && { outputSchema: outputSchema as { type: 'object' } }),
    ...(annotations && { annotations }),
    ...(speech && { _meta: { [META.speech]: speech } }),
  }
}

/** Runs a handler of an MCP SDK and rethrows a `WireError` with its number, which is all that the SDK understands. */
export function numbered<T>(answer: () => T): T {
  try {
    return answer()
  } catch (error) {
    if (!WireError.is(error)) throw error
    throw Object.assign(new Error(error.message), { code: WIRE_ERROR_NUMBERS[error.code] })
  }
}
