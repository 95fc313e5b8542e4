import cluster, { type Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { HarnessError } from '../harness-error.ts'
import { isShared } from './open-store.ts'
import { CLI } from './start-server.ts'

export interface ProcessesOptions {
  readonly processes: number
  readonly port: number
  readonly address: string
  readonly store: string
  readonly stdio?: true
  readonly socket?: string
}

/** A process that ended and was not asked to. */
export interface EndedProcess {
  readonly ended: number | undefined
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
}

/** What a process says once it listens. */
const listeningSchema = z.object({ agentUrl: z.string(), trainerUrl: z.string() })
type Listening = z.infer<typeof listeningSchema>

/** Where the processes are reached, all behind the same addresses. */
export interface ServingProcesses extends Listening, AsyncDisposable {
  readonly port: number
  readonly controlToken: string
}

/** Milliseconds until a process that was asked to stop is made to: more than it may take to finish its calls. */
const STOP_TIMEOUT = 12_000
/** The longest pause before a process that did not come up is started again, in milliseconds. */
const LONGEST_PAUSE = 5_000

/** Whether this process is one of several that serve behind one port. */
export const isOneOfSeveral: boolean = cluster.isWorker

/** Tells the process that started this one where it listens. */
export function tellListening({ agentUrl, trainerUrl }: Listening): void {
  process.send?.({ agentUrl, trainerUrl })
}

/**
 * Resolves when the process that started this one asks it to stop. Ctrl-C reaches both, and is for that one to pass on:
 * it would start another in this one's place.
 */
export async function askedToStop(): Promise<void> {
  process.on('SIGINT', () => {})
  await once(process, 'SIGTERM')
}

/** Lets go of the process that started this one, which would otherwise keep this one from ending. */
export function leave(): void {
  cluster.worker?.disconnect()
}

/**
 * Starts several processes of `episodic serve` behind one port, and puts another in the place of each that dies.
 *
 * Any of them serves any session: what a session is stands in the store, and what proves the right to it is derived from
 * the store's own key. Connections are handed out in turn, and nothing sticks. Disposing asks each to finish its calls.
 * Throws `option-invalid` for a store that processes cannot share, and `server-failed` where one does not start.
 */
export async function serveProcesses(
  args: readonly string[],
  options: ProcessesOptions,
  onReplace: (ended: EndedProcess) => void,
): Promise<ServingProcesses> {
  checkShared(options)
  const port = options.port || (await freePort(options.address))
  const controlToken = process.env.EPISODIC_CONTROL_TOKEN || randomBytes(16).toString('base64url')
  cluster.setupPrimary({ exec: CLI, args: [...args, '--port', String(port)] })
  const fork = () => cluster.fork({ EPISODIC_CONTROL_TOKEN: controlToken })
  const stopping = new AbortController()
  const kept: Promise<void>[] = []

  const keep = async (worker: Worker): Promise<void> => {
    let failures = 0
    for (let current = worker; ; ) {
      await exitOf(current)
      if (stopping.signal.aborted) return
      const { pid, exitCode: status, signalCode: signal } = current.process
      onReplace({ ended: pid, status, signal })
      if (failures > 0) await backOff(Math.min(LONGEST_PAUSE, 50 * 2 ** failures), stopping.signal)
      if (stopping.signal.aborted) return
      current = fork()
      failures = (await listening(current)) ? 0 : failures + 1
    }
  }
  const stop = async (): Promise<void> => {
    stopping.abort()
    const workers = Object.values(cluster.workers ?? {}) as Worker[]
    for (const worker of workers) worker.process.kill('SIGTERM')
    const late = setTimeout(() => {
      for (const worker of workers) worker.process.kill('SIGKILL')
    }, STOP_TIMEOUT)
    await Promise.all([...kept, ...workers.map(exitOf)])
    clearTimeout(late)
  }

  try {
    // One after the other, so that what is wrong with the port or the store is told of once.
    const urls = await start()
    for (let i = 1; i < options.processes; i++) await start()
    return { ...urls, port, controlToken, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function start(): Promise<Listening> {
    const worker = fork()
    const urls = await listening(worker)
    if (!urls) throw new HarnessError('server-failed', 'A server process did not start. It says above why.')
    kept.push(keep(worker))
    return urls
  }
}

function checkShared({ processes, store, stdio, socket }: ProcessesOptions): void {
  if (stdio)
    throw new HarnessError('option-invalid', `--processes ${processes} serves over HTTP: one pipe has one process.`)
  if (socket !== undefined)
    throw new HarnessError(
      'option-invalid',
      `--processes ${processes} serves over HTTP and WebSockets: the socket ${socket} has one process. Leave one of them out.`,
    )
  if (!isShared(store))
    throw new HarnessError(
      'option-invalid',
      `--processes ${processes} needs a store that processes can share, and ${store} is held by one. Give --store redis://<host>:<port>.`,
    )
}

/** Where a process listens, once it does; `null` where it ends before. */
async function listening(worker: Worker): Promise<Listening | null> {
  const said = once(worker, 'message').then(([message]) => listeningSchema.parse(message))
  return Promise.race([said, exitOf(worker).then(() => null)])
}

async function exitOf(worker: Worker): Promise<void> {
  if (!worker.isDead()) await once(worker, 'exit')
}

async function backOff(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, null, { signal }).catch(() => {})
}

/** A port that nobody uses: the processes must find the same one again when all of them are replaced. */
async function freePort(address: string): Promise<number> {
  const probe = createServer().listen(0, address)
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
