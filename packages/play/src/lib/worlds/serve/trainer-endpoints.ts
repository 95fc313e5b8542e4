import type { Host } from '@episodic/mcp-server'
import type { ExtraRoutes, HttpServer, RoutesOptions, RoutesServer } from '@episodic/mcp-server/http'
import { invalidOption } from '@episodic/run/base/harness-error'
import { importNeeded } from '@episodic/run/base/import-needed'
import { countOrFile, countOrFileSchema, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import type { OpenEnvOptions, RewardMode } from '@episodic/trainer-endpoints/openenv'
import { z } from 'zod'
import type { World } from '../world.ts'
import { servedTasks } from './served-tasks.ts'

/** Imports endpoints of trainers, whose package only some users need. */
function importFor<T>(option: string, load: () => Promise<T>): Promise<T> {
  return importNeeded(option, '@episodic/trainer-endpoints', load)
}

export const trainerEndpointOptions = z.object({
  openenv: flag('also serve clients of OpenEnv, at /openenv/<world>, with the tokens of the trainer endpoint'),
  nemoGymPort: option(
    '<port>',
    'also serve agents of NeMo Gym, at the root of this port of 127.0.0.1 and without tokens; 0 for a free one',
    wholeNumber(0, 65_535).optional(),
  ),
  orsPort: option(
    '<port>',
    'also serve clients of the Open Reward Standard, at this port, with the tokens of the trainer endpoint; 0 for a free one',
    wholeNumber(0, 65_535).optional(),
  ),
  orsConfirmCalls: flag(
    'with --ors-port: play a call only once its client has repeated it with its id, half a second later, so that no fault plays it twice',
  ),
  rewards: option(
    '<mode>',
    'of these trainers: a step reports its own reward, or the last one the return',
    z.enum(['steps', 'return'] satisfies RewardMode[]).default('steps'),
  ),
  tasks: option(
    '<file-or-count>',
    'of these trainers: tasks to list, from a dataset or generated for each world',
    countOrFileSchema.default(1_000),
    { text: countOrFile },
  ),
})
type TrainerEndpointFlags = z.infer<typeof trainerEndpointOptions>

/** Throws `option-invalid` if the endpoints that are asked for cannot be served. */
export function checkTrainerEndpoints(
  flags: TrainerEndpointFlags,
  { processes, stdio }: { readonly processes: number; readonly stdio?: boolean | undefined },
): void {
  if (flags.orsConfirmCalls && flags.orsPort === undefined)
    throw invalidOption('--ors-confirm-calls needs --ors-port: it is about the calls that come there.')
  const asked = askedFor(flags)
  if (asked === null) return
  if (stdio) throw invalidOption(`${asked} needs HTTP: a pipe has one client. Leave --stdio out.`)
  if (processes > 1)
    throw invalidOption(
      `${asked} keeps the sessions of its clients in one process, and --processes ${processes} asks for more. Leave one out.`,
    )
}

function askedFor({ openenv, nemoGymPort, orsPort }: TrainerEndpointFlags): string | null {
  if (openenv) return '--openenv'
  if (nemoGymPort !== undefined) return '--nemo-gym-port'
  return orsPort === undefined ? null : '--ors-port'
}

export async function openTrainerEndpoints(
  host: Host,
  worlds: readonly World[],
  { openenv, rewards, tasks }: TrainerEndpointFlags,
  onError: NonNullable<OpenEnvOptions['onError']>,
): Promise<readonly ExtraRoutes[]> {
  if (!openenv) return []
  const { openEnvRoutes } = await importFor('--openenv', () => import('@episodic/trainer-endpoints/openenv'))
  return [openEnvRoutes(host, { rewards, tasks: await servedTasks(worlds, tasks), onError })]
}

export function openEnvUrls(worlds: readonly World[], { openenv }: TrainerEndpointFlags, trainerUrl: string): string[] {
  return openenv ? worlds.map(({ environment: { name } }) => new URL(`/openenv/${name}`, trainerUrl).href) : []
}

/** Trainer endpoints that need the root of an origin, and so a port of their own. */
export interface TrainerPorts extends AsyncDisposable, Pick<HttpServer, 'drain'> {
  /** The origin of each by the name that `serve --json` prints; `null` for one that was not asked for. */
  readonly origins: { readonly nemoGymUrl: string | null; readonly orsUrl: string | null }
}

/** Opens the ports that are asked for. Rejects with `address-in-use`, and with the errors of {@link servedTasks}. */
export async function openTrainerPorts(
  host: Host,
  worlds: readonly World[],
  { nemoGymPort, orsPort, orsConfirmCalls, rewards, tasks }: TrainerEndpointFlags,
  {
    address,
    auth,
    ...options
  }: Pick<RoutesOptions, 'address' | 'auth' | 'allow' | 'connections' | 'onError' | 'onRejected'>,
): Promise<TrainerPorts> {
  await using opening = new AsyncDisposableStack()
  const servers: RoutesServer[] = []
  const open = async (server: Promise<RoutesServer>): Promise<string> => {
    servers.push(opening.use(await server))
    return (servers.at(-1) as RoutesServer).origin
  }
  let nemoGymUrl: string | null = null
  if (nemoGymPort !== undefined) {
    const { serveNemoGym } = await importFor('--nemo-gym-port', () => import('@episodic/trainer-endpoints/nemo-gym'))
    nemoGymUrl = await open(serveNemoGym(host, { ...options, port: nemoGymPort, rewards }))
  }
  let orsUrl: string | null = null
  if (orsPort !== undefined) {
    const { serveOrs } = await importFor('--ors-port', () => import('@episodic/trainer-endpoints/ors'))
    const routes = {
      ...options,
      // Its clients send tokens, so it listens where the server listens.
      ...(address !== undefined && { address }),
      ...(auth && { auth }),
      port: orsPort,
      rewards,
      confirmsCalls: orsConfirmCalls === true,
      tasks: await servedTasks(worlds, tasks),
    }
    orsUrl = await open(serveOrs(host, routes))
  }
  const opened = opening.move()
  return {
    origins: { nemoGymUrl, orsUrl },
    async drain(asked) {
      const left = await Promise.all(servers.map((server) => server.drain(asked)))
      return left.reduce((sum, calls) => sum + calls, 0)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
