import type { Host } from '@episodic/mcp-server'
import type { HttpServer, RoutesOptions, RoutesServer } from '@episodic/mcp-server/http'
import { serveNemoGym } from '@episodic/trainer-endpoints/nemo-gym'
import type { TrainerEndpointFlags } from './trainer-endpoints.ts'

/** Trainer endpoints that need the root of an origin, and so a port of their own. */
export interface TrainerPorts extends AsyncDisposable, Pick<HttpServer, 'drain'> {
  /** The origin of each by the name that `serve --json` prints; `null` for one that was not asked for. */
  readonly origins: { readonly nemoGymUrl: string | null }
}

/** Opens the ports that are asked for. Rejects with `address-in-use`. */
export async function openTrainerPorts(
  host: Host,
  { nemoGymPort, rewards }: TrainerEndpointFlags,
  options: Pick<RoutesOptions, 'allow' | 'connections' | 'onError' | 'onRejected'>,
): Promise<TrainerPorts> {
  await using opening = new AsyncDisposableStack()
  const servers: RoutesServer[] = []
  const open = async (server: Promise<RoutesServer>): Promise<string> => {
    servers.push(opening.use(await server))
    return (servers.at(-1) as RoutesServer).origin
  }
  const nemoGymUrl =
    nemoGymPort === undefined ? null : await open(serveNemoGym(host, { ...options, port: nemoGymPort, rewards }))
  const opened = opening.move()
  return {
    origins: { nemoGymUrl },
    async drain(asked) {
      const left = await Promise.all(servers.map((server) => server.drain(asked)))
      return left.reduce((sum, calls) => sum + calls, 0)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
