import {
  type Connection,
  connect,
  type Environment,
  type RetryOptions,
  type Target,
  withLimits,
  withShaping,
  withWeights,
} from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { createWorkerPool } from '@episodic/mcp-server/workers'
import { HarnessError } from '../harness-error.ts'
import { openStore } from '../serve/open-store.ts'
import { startServer, stdioTarget } from '../serve/start-server.ts'
import type { World } from '../world.ts'
import type { RunConfiguration } from './configuration.ts'

/** How a run reaches a world that it serves itself. */
export type Transport = 'in-process' | 'http' | 'stdio'

/** A connection with whatever had to be started for it. Disposing of it stops that too. */
export interface Opened extends AsyncDisposable {
  readonly connection: Connection
  /** Where agents play, to which `/s/<capability>` is added; `null` where there is no such address. */
  readonly agentUrl: string | null
}

interface OpenWorldOptions {
  readonly transport: Transport
  readonly sessions: number
  /** Plays the rules in threads. */
  readonly workerThreads?: boolean
  /** Where sessions live, as `episodic serve --store` names it. Default: `memory`. */
  readonly store?: string
  readonly retryTimeout?: number
}

/** Seconds that a call which gets no answer is made again, unless it is said otherwise. */
export const RETRY_TIMEOUT = 15

/** Serves a world for one run, over the transport that was asked for, and connects to it. */
export async function openWorld(
  reference: string,
  world: World,
  { transport, sessions, workerThreads = false, store = 'memory', retryTimeout = RETRY_TIMEOUT }: OpenWorldOptions,
): Promise<Opened> {
  await using cleanUp = new AsyncDisposableStack()
  let target: Target
  let agentUrl: string | null = null
  if (transport === 'http') {
    const server = cleanUp.use(await startServer(reference, { sessions, workerThreads, store }))
    target = server.target
    agentUrl = server.agentUrl
  } else if (transport === 'stdio') target = stdioTarget(reference, { sessions, workerThreads, store })
  else {
    const rules = workerThreads && cleanUp.use(createWorkerPool({ modules: [world.url] }))
    const host = createHost({
      environments: [world.environment],
      store: cleanUp.use(await openStore({ store, durability: 'process', idle: 900 })),
      bounds: { sessions },
      ...(rules && { rules }),
    })
    target = inProcess(cleanUp.use(host))
  }
  const connection = cleanUp.use(await connect(target, { retry: retryFor(retryTimeout) }))
  const owned = cleanUp.move()
  return { connection, agentUrl, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Connects to a server that is there already, and that may be away for so many seconds once it was found. */
export async function openTarget(target: Target, retryTimeout = RETRY_TIMEOUT): Promise<Opened> {
  const connection = await connect(target, { retry: retryFor(retryTimeout) })
  return { connection, agentUrl: agentUrlOf(target), [Symbol.asyncDispose]: () => connection.close() }
}

/** The agent endpoint of the server whose trainer endpoint this is; `null` unless it is HTTP. */
function agentUrlOf(target: Target): string | null {
  const url = typeof target === 'string' ? target : 'url' in target ? target.url : null
  return url && /^https?:.*\/env\/?$/.test(url) ? url.replace(/\/env\/?$/, '/mcp') : null
}

function retryFor(retryTimeout: number): Pick<RetryOptions, 'attempts' | 'seconds'> {
  // Pauses last a second at least once there have been a few, so that the time bounds the calls.
  return { seconds: retryTimeout, attempts: 8 + retryTimeout }
}

/**
 * Makes the environments that a configuration scores with: those of the connection, or one that is given, scored so.
 *
 * Throws at once, before anything is played, where the server has no such environment, or another version of it, or
 * where there are weights for terms that it does not have.
 */
export function scoredBy(
  { environment, maxSteps, weights, shaping, discount }: RunConfiguration,
  connection: Connection,
): (environment?: Environment) => Environment {
  const create = (scored = connection.environment(environment.name)): Environment => {
    if (maxSteps !== null) scored = withLimits(scored, { steps: maxSteps })
    if (Object.keys(weights).length > 0) scored = withWeights(scored, weights)
    return shaping ? withShaping(scored, { discount }) : scored
  }
  const { name, version } = create().info
  if (version !== environment.version)
    throw new HarnessError(
      'server-failed',
      `The server plays ${name} ${version}, and this run plays ${environment.version}. Serve that version, or play the server's.`,
    )
  return create
}
