import {
  type Connection,
  connect,
  type Environment,
  type Game,
  type Target,
  withLimits,
  withShaping,
  withWeights,
} from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import type { EnvironmentInfo } from '@episodic/protocol'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import type { StepTimes } from '@episodic/run/folder/record/step-times'
import { openStore } from '../../worlds/serve/open-store.ts'
import { startServer, stdioTarget } from '../../worlds/serve/start-server.ts'
import type { World } from '../../worlds/world.ts'
import { RETRY_TIMEOUT, type Transport } from '../run-settings.ts'
import { containRules } from './contain-rules.ts'

/** A connection, and everything that was started for it. Disposing it stops that too. */
export interface Opened extends AsyncDisposable {
  readonly connection: Connection
  /** The agent endpoint, to which `/s/<capability>` is added; `null` if it has no HTTP address. */
  readonly agentUrl: string | null
}

interface OpenWorldOptions {
  readonly transport: Transport
  readonly sessions: number
  /** Where sessions are stored, as in `episodic serve --store`. Default: `memory`. */
  readonly store?: string
  readonly retryTimeout?: number
  /** Receives the times of steps over a connection. */
  readonly times?: StepTimes | undefined
  /** Gets what tools of a world in this process report while a call waits for them. */
  readonly onProgress?: (message: string) => void
}

/** Serves a world for one run, and connects to it. */
export async function openWorld(reference: string, world: World, options: OpenWorldOptions): Promise<Opened> {
  const { transport, sessions, store = 'memory', retryTimeout = RETRY_TIMEOUT, times } = options
  await using cleanUp = new AsyncDisposableStack()
  const containment = cleanUp.use(containRules())
  let target: Target
  let agentUrl: string | null = null
  if (transport === 'http' || transport === 'websocket') {
    const server = cleanUp.use(await startServer(reference, { sessions, store }))
    const { url } = server.target
    target = transport === 'http' ? server.target : { ...server.target, url: url.replace(/^http/, 'ws') }
    agentUrl = server.agentUrl
  } else if (transport === 'stdio') target = stdioTarget(reference, { sessions, store })
  else {
    const host = createHost({
      environments: [world.environment],
      store: cleanUp.use(await openStore({ store, durability: 'process', idle: 900 })),
      bounds: { sessions },
      containment,
    })
    target = inProcess(cleanUp.use(host), undefined, { ...(options.onProgress && { onProgress: options.onProgress }) })
  }
  const connection = cleanUp.use(
    await connect(target, connectionOptions(retryTimeout, transport === 'in-process' ? undefined : times)),
  )
  const owned = cleanUp.move()
  return { connection, agentUrl, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Connects to a running server. Once connected, it may be unreachable for up to `retryTimeout` seconds. */
export async function openTarget(target: Target, retryTimeout = RETRY_TIMEOUT, times?: StepTimes): Promise<Opened> {
  await using cleanUp = new AsyncDisposableStack()
  // Policies are played here, too.
  cleanUp.use(containRules())
  const connection = cleanUp.use(await connect(target, connectionOptions(retryTimeout, times)))
  const owned = cleanUp.move()
  return { connection, agentUrl: agentUrlOf(target), [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The agent endpoint of the server whose trainer endpoint this is; `null` unless that is at an address. */
function agentUrlOf(target: Target): string | null {
  const url = typeof target === 'string' ? target : 'url' in target ? target.url : null
  // Agents play over HTTP, whatever the run does.
  return url && /^(http|ws)s?:.*\/env\/?$/.test(url) ? url.replace(/\/env\/?$/, '/mcp').replace(/^ws/, 'http') : null
}

function connectionOptions(retryTimeout: number, times: StepTimes | undefined): Parameters<typeof connect>[1] {
  return {
    // After the first few attempts pauses last at least a second, so that the time is the bound.
    retry: { seconds: retryTimeout, attempts: 8 + retryTimeout },
    onStepTimed: times && ((step) => times.add(step)),
  }
}

/**
 * Returns a function that opens an environment of the connection, or takes one, and applies the limits, weights and
 * shaping of the configuration.
 *
 * Throws at once, before anything is played, if the server has no such environment or another version of it, or if
 * there are weights for unknown terms.
 */
export function environmentFactory(
  { environment, maxSteps, weights, shaping, discount }: RunConfiguration,
  connection: Connection,
): (environment?: Environment) => Environment {
  const create = (scored = connection.environment(environment.name)): Environment => {
    if (maxSteps !== null) scored = withLimits(scored, { steps: maxSteps })
    if (Object.keys(weights).length > 0) scored = withWeights(scored, weights)
    return shaping ? withShaping(scored, { discount }) : scored
  }
  assertVersion(create().info, environment.version)
  return create
}

/**
 * Returns a function that opens a game of the connection. Throws at once, before anything is played, if the server has
 * no such game or another version of it, or if there are weights for unknown terms.
 */
export function gameFactory({ environment, weights }: RunConfiguration, connection: Connection): () => Game {
  const { info } = connection.game(environment.name)
  assertVersion(info, environment.version)
  const unknown = Object.keys(weights).find((term) => !info.terms.includes(term))
  if (unknown !== undefined)
    throw invalidOption(`${info.name} has no reward term "${unknown}". It has: ${info.terms.join(', ')}.`)
  return () => connection.game(environment.name)
}

function assertVersion({ name, version }: EnvironmentInfo, wanted: string): void {
  if (version === wanted) return
  throw new HarnessError(
    'server-failed',
    `The server plays ${name} ${version}, and this run plays ${wanted}. Serve that version, or play the server's.`,
  )
}
