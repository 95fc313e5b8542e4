import { type EnvironmentInfo, EXTENSION } from '@episodic/protocol'
import { WIRE_VERSION } from '@episodic/protocol/extend'
import { agentTool } from '../environment/agent-answer.ts'
import { handleNames } from '../environment/define-environment.ts'
import type { AgentWorld, Caller } from '../host/caller.ts'
import type { Host, Presented } from '../host/host.ts'
import { environmentFor } from './agent-call.ts'
import { handleTools } from './handle-arguments.ts'
import type { Advertisement } from './sdk-discovery.ts'
import { STATE_URI, stateTemplate } from './state-resource.ts'

/** The name and the version of whoever answers. */
export type Identity = Pick<Advertisement, 'name' | 'version'>

const TRAINER: Identity = { name: 'episodic', version: WIRE_VERSION }

/** As whom an endpoint answers this caller. */
export async function identify(host: Host, caller: Caller): Promise<Identity> {
  if (caller.endpoint === 'trainer') return TRAINER
  const { name, version } = await environmentFor(host, caller)
  return { name, version }
}

/** What an endpoint says of itself to this caller, who asks for it by `method`. */
export async function advertise(host: Host, caller: Caller, method: string): Promise<Advertisement> {
  if (caller.endpoint === 'agent') {
    const environment = await environmentFor(host, caller)
    const { name, version, handle } = environment
    const presented = INSTRUCTING.has(method) ? await present(host, caller) : null
    const named = caller.world.by === 'handle' && handle !== undefined
    return {
      name,
      title: titleOf(name),
      version,
      instructions: instruct(environment, caller.world, presented),
      presented,
      tools: named ? handleTools(environment, host.idleSeconds) : environment.tools.map(agentTool),
      state: named ? stateTemplate(handle) : STATE_URI,
      extension: null,
    }
  }
  const names = host.environments.map(({ name, version }) => `${name} ${version}`).join(', ')
  const [only] = host.environments
  return {
    ...TRAINER,
    title: 'Episodic environments',
    instructions: `Environments for training and evaluation: ${names}.`,
    tools: host.environments.length === 1 && only ? only.tools : [],
    presented: null,
    state: null,
    extension: EXTENSION,
  }
}

/** The methods whose answers have the instructions in them. */
const INSTRUCTING = new Set(['initialize', 'server/discover', 'prompts/get'])

/** How the caller's session stands, or will stand when it begins; `null` where it has none yet. */
function present(host: Host, { principal, world }: Caller & { endpoint: 'agent' }): Promise<Presented | null> {
  if (world.by === 'capability') return host.present(world.capability)
  if (world.by === 'handle' || world.transportId === null) return Promise.resolve(null)
  return host.presentAt(principal, world.transportId, world.environment)
}

/**
 * What a client may show its model before the first call, so that it makes no move without having seen how things
 * stand.
 */
function instruct({ description, handle }: EnvironmentInfo, world: AgentWorld, presented: Presented | null): string {
  if (presented) return `${description}\n\n${presented.observation}`
  if (world.by !== 'handle' || handle === undefined) return description
  const { create, argument } = handleNames(handle)
  return `${description}\n\nBegin with ${create}: it costs no step, says how things stand, and answers with the ${argument} that the other tools need.`
}

/** A name as clients show it: "number-guessing" as "Number guessing". */
function titleOf(name: string): string {
  const words = name.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
