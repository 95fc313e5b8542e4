import { EXTENSION, WIRE_VERSION } from '@episodic/protocol'
import { environmentFor } from './agent-requests.ts'
import type { Caller } from './caller.ts'
import { handleTools } from './handle-tools.ts'
import type { Host } from './host.ts'
import type { Advertisement } from './sdk-discovery.ts'
import { STATE_URI, stateTemplate } from './session-resource.ts'

/** The name and the version of whoever answers. */
export type Identity = Pick<Advertisement, 'name' | 'version'>

const TRUSTED: Identity = { name: 'episodic', version: WIRE_VERSION }

/** As whom a door answers this caller. */
export async function identify(host: Host, caller: Caller): Promise<Identity> {
  if (caller.door === 'trusted') return TRUSTED
  const { name, version } = await environmentFor(host, caller)
  return { name, version }
}

/** What a door says of itself to this caller. */
export async function advertise(host: Host, caller: Caller): Promise<Advertisement> {
  if (caller.door === 'agent') {
    const environment = await environmentFor(host, caller)
    const { name, version, description, handle } = environment
    const named = caller.world.by === 'handle' && handle !== undefined
    const tools = named ? handleTools(environment, host.idleSeconds) : environment.tools
    // Without a name for its session, a caller of the era that has none plays no session here.
    const state = caller.world.by !== 'handle' ? STATE_URI : handle === undefined ? null : stateTemplate(handle)
    return { name, title: description, version, instructions: description, tools, state, extension: null }
  }
  const names = host.environments.map(({ name, version }) => `${name} ${version}`).join(', ')
  const [only] = host.environments
  return {
    ...TRUSTED,
    title: 'Episodic environments',
    instructions: `Environments for training and evaluation: ${names}.`,
    tools: host.environments.length === 1 && only ? only.tools : [],
    state: null,
    extension: EXTENSION,
  }
}
