import cluster, { type Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { backOff } from '@episodic/run/base/back-off'
import { freePort } from '@episodic/run/base/free-port'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { z } from 'zod'
import { CLI } from '../own-command.ts'
import { isShared } from './open-store.ts'

export interface ProcessesOptions {
  readonly processes: number
  readonly port: number
  readonly address: string
  readonly store: string
  readonly stdio?: boolean | undefined
}

export interface EndedProcess {
  readonly ended: number | undefined
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
}

const listeningSchema = z.object({ agentUrl: z.string(), trainerUrl: z.string() })
export type Listening = z.infer<typeof listeningSchema>

/** Milliseconds after which a process that was asked to stop is killed: more than it may take to finish its calls. */
const STOP_TIMEOUT = 12_000

export const isServerWorker: boolean = cluster.isWorker

export function reportListening({ agentUrl, trainerUrl }: Listening): void {
  process.send?.({ agentUrl, trainerUrl })
}

/**
 * Resolves when the process that started this one asks it to stop. Ctrl-C reaches both processes and is ignored here:
 * the other one would replace this process if it ended by itself.
 */
export async function stopRequested(): Promise<void> {
  process.on('SIGINT', () => {})
  await once(process, 'SIGTERM')
}

/** Closes the channel to the process that started this one, which would otherwise keep this process alive. */
export function disconnectWorker(): void {
  cluster.worker?.disconnect()
}

/**
 * Starts several processes of `episodic serve` behind one port, and replaces each that ends. Resolves with the
 * addresses that all of them share.
 *
 * Every process can serve every session: sessions are in the store, and their tokens are derived from the store's key.
 * Connections are distributed in turn, without affinity. Disposing asks each process to finish its calls. Rejects with
 * `option-invalid` for a store that processes cannot share, and with `server-failed` if one does not start.
 */
export async function serveProcesses(
  args: readonly string[],
  options: ProcessesOptions,
  onReplace: (ended: EndedProcess) => void,
) {
  checkShared(options)
  const { port, controlToken, fork } = await prepareForks(args, options)
  const stopping = new AbortController()
  const supervised: Promise<void>[] = []

  const supervise = async (worker: Worker): Promise<void> => {
    let failures = 0
    for (let current = worker; ; ) {
      await untilExit(current)
      if (stopping.signal.aborted) return
      const { pid, exitCode: status, signalCode: signal } = current.process
      onReplace({ ended: pid, status, signal })
      await backOff(failures, stopping.signal)
      if (stopping.signal.aborted) return
      current = fork()
      failures = (await hasListened(current)) ? 0 : failures + 1
    }
  }
  const stop = async (): Promise<void> => {
    stopping.abort()
    await Promise.all([...supervised, ...forked().map(endProcess)])
  }

  try {
    // One after another, so that a problem with the port or the store is reported once.
    const urls = await start()
    for (let i = 1; i < options.processes; i++) await start()
    return { ...urls, port, controlToken, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function start(): Promise<Listening> {
    const worker = fork()
    const urls = await hasListened(worker)
    if (!urls) throw new HarnessError('server-failed', 'A server process did not start. Its error is printed above.')
    supervised.push(supervise(worker))
    return urls
  }
}

/** Returns what starts processes with a command line, behind one port and with one control token. */
export async function prepareForks(args: readonly string[], at: Pick<ProcessesOptions, 'port' | 'address'>) {
  // A fixed port, so that a replacement finds the same one even if all processes ended.
  const port = at.port || (await freePort(at.address))
  const controlToken = process.env.EPISODIC_CONTROL_TOKEN || randomBytes(16).toString('base64url')
  cluster.setupPrimary({ exec: CLI, args: [...args, '--port', String(port)] })
  // One whose rules never end would not see that this process is gone.
  process.on('exit', () => {
    for (const worker of forked()) worker.process.kill('SIGKILL')
  })
  return { port, controlToken, fork: () => cluster.fork({ EPISODIC_CONTROL_TOKEN: controlToken }) }
}

function checkShared({ processes, store, stdio }: ProcessesOptions): void {
  if (stdio)
    throw invalidOption(
      `--processes ${processes} needs HTTP: a pipe has one process. Leave --stdio or --processes out.`,
    )
  if (!isShared(store))
    throw invalidOption(
      `--processes ${processes} needs a store that processes can share, and ${store} belongs to one process. Give --store redis://<host>:<port>.`,
    )
}

export async function hasListened(worker: Worker): Promise<Listening | null> {
  const said = once(worker, 'message').then(([message]) => listeningSchema.parse(message))
  return Promise.race([said, untilExit(worker).then(() => null)])
}

function forked(): Worker[] {
  return Object.values(cluster.workers ?? {}) as Worker[]
}

/** Asks a process to stop, and kills it if it does not: rules that never end let it read no signal. */
export async function endProcess(worker: Worker): Promise<void> {
  worker.process.kill('SIGTERM')
  const late = setTimeout(() => worker.process.kill('SIGKILL'), STOP_TIMEOUT)
  await untilExit(worker)
  clearTimeout(late)
}

export async function untilExit(worker: Worker): Promise<void> {
  if (!worker.isDead()) await once(worker, 'exit')
}
