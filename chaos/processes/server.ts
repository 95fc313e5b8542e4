import { fileURLToPath } from 'node:url'
import { type JsonObject, WireError } from '@episodic/protocol'
import { findWireErrorCode } from '@episodic/protocol/internal'
import { request } from 'undici'
import { type Killable, startProcess } from './start-process.ts'

/** The command's entry. */
export const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
/** The module of the ledger's world. */
const LEDGER = fileURLToPath(new URL('../worlds/ledger-world.ts', import.meta.url))

/** The control token of every server here: a server that comes back is the one that clients knew. */
const TOKEN = 'a-control-token-for-chaos-alone'

export interface ServerOptions {
  /** The module of the world. Default: the ledger's. */
  readonly world?: string
  /** Its home, its compiled code, and its folder. */
  readonly folder: string
  /** Of `episodic serve`, besides the world, the port and `--json`. */
  readonly args: readonly string[]
  /** Options of Node itself. Default: none. */
  readonly node?: readonly string[]
  /** Whether it also serves the endpoints of trainers: OpenEnv, NeMo Gym and the Open Reward Standard. Default: no. */
  readonly trainers?: boolean
}

/** `episodic serve` in a process of its own, on one port for as long as it is needed, however often it dies. */
export interface Server extends AsyncDisposable {
  readonly port: number
  /** The ports of the endpoints that have their own; 0 if they are not served. */
  readonly ports: { readonly nemoGym: number; readonly ors: number }
  readonly token: string
  /** The process that serves now. */
  readonly process: Killable
  /** How often it was killed. */
  readonly kills: number
  /** `kill -9`, and another one at the same address. */
  restart(): Promise<void>
  /** Starts it if it ended by itself. */
  start(): Promise<void>
}

/** Starts a server of one world. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { folder, args, world = LEDGER, node = [], trainers = false } = options
  let port = 0
  let ports = { nemoGym: 0, ors: 0 }
  let kills = 0
  const launch = async (): Promise<Killable> => {
    const endpoints = ['--openenv', '--nemo-gym-port', String(ports.nemoGym), '--ors-port', String(ports.ors)]
    const all = [...args, ...(trainers ? endpoints : [])]
    const words = [...node, CLI, 'serve', world, ...all, '--port', String(port), '--json']
    const started = startProcess(process.execPath, words, {
      cwd: folder,
      env: { EPISODIC_HOME: folder, EPISODIC_CONTROL_TOKEN: TOKEN },
    })
    const { trainerUrl, nemoGymUrl, orsUrl } = JSON.parse(await started.line())
    port = portOf(trainerUrl)
    ports = { nemoGym: portOf(nemoGymUrl), ors: portOf(orsUrl) }
    return started
  }
  let running = await launch()
  return {
    port,
    ports,
    token: TOKEN,
    get process() {
      return running
    },
    get kills() {
      return kills
    },
    async restart() {
      kills += 1
      await running[Symbol.asyncDispose]()
      running = await launch()
    },
    async start() {
      running = await launch()
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  }
}

function portOf(url: string | null | undefined): number {
  return url ? Number(new URL(url).port) : 0
}

/** Asks the trainer endpoint of a server, past every proxy. Rejects with the `WireError` of a refusal. */
export async function ask<T>(
  { port, token }: Pick<Server, 'port' | 'token'>,
  method: string,
  params: object,
): Promise<T> {
  const { body } = await request(`http://127.0.0.1:${port}/env`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const message = (await body.json()) as { result?: T; error?: { code: number; message: string; data?: JsonObject } }
  const { error } = message
  if (error)
    throw new WireError(findWireErrorCode(error.code) ?? 'internal', error.message, { details: error.data ?? {} })
  return message.result as T
}
