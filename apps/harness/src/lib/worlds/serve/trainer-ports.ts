import type { Host } from '@episodic/mcp-server'
import type { HttpServer, RoutesOptions, RoutesServer } from '@episodic/mcp-server/http'
import { importNeeded } from '@episodic/runs/base/import-needed'
import type { World } from '../world.ts'
import { servedTasks } from './served-tasks.ts'
import { TRAINER_PACKAGE, type TrainerEndpointFlags } from './trainer-endpoints.ts'

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
    const { serveNemoGym } = await importNeeded(
      '--nemo-gym-port',
      TRAINER_PACKAGE,
      () => import('@episodic/trainer-endpoints/nemo-gym'),
    )
    nemoGymUrl = await open(serveNemoGym(host, { ...options, port: nemoGymPort, rewards }))
  }
  let orsUrl: string | null = null
  if (orsPort !== undefined) {
    const { serveOrs } = await importNeeded(
      '--ors-port',
      TRAINER_PACKAGE,
      () => import('@episodic/trainer-endpoints/ors'),
    )
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
