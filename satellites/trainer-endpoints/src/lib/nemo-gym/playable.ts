import type { Host } from '@episodic/mcp-server'
import { WireError } from '@episodic/protocol'

/** Paths of this endpoint, and names that NeMo Gym reserves. */
const RESERVED = new Set([
  'seed_session',
  'verify',
  'close_session',
  'aggregate_metrics',
  'reverify_mode',
  'reset',
  'step',
  'close',
  'mcp',
])

/** What a model can call as a function, and what can be a path. */
const FUNCTION_NAME = /^[\w-]{1,64}$/

/** Throws `invalid-params` for an unplayable world: each tool is a path of its own, and a function's name. */
export function assertPlayable(host: Host, environment: string): void {
  const tools = host.environments.find(({ name }) => name === environment)?.tools ?? []
  const unfit = tools.find(({ name }) => RESERVED.has(name) || !FUNCTION_NAME.test(name))
  if (!unfit) return
  throw new WireError(
    'invalid-params',
    `${environment} cannot be played over NeMo Gym: its tool "${unfit.name}" ${RESERVED.has(unfit.name) ? 'has the name of a route' : 'has a name that is no path and no function of a model'}. Rename it, or use another endpoint.`,
  )
}
