import type { Command, SecureFetch } from 'just-bash'
import { defineCommand } from 'just-bash'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import { absolutePath } from '../disk/disk.ts'
import { type EditedDisk, FULL_ACCESS } from '../disk/edited-disk.ts'
import { toText } from '../disk/file-content.ts'

/** The disk as a program of the world has it: all of it, hidden and read-only paths included. */
export interface ProgramDisk {
  /** Returns the text of a file; `null` if there is none, or if it is not a text. */
  read(path: string): string | null
  write(path: string, content: string | Uint8Array): void
  /** Removes a file, or a directory with what is in it; nothing if it is not there. */
  remove(path: string): void
  /** Returns the names in a directory, sorted; none if there is no such directory. */
  list(path: string): string[]
}

export interface ProgramContext {
  readonly disk: ProgramDisk
  /** The directory that relative paths are in. */
  readonly cwd: string
  readonly variables: Readonly<Record<string, string>>
  /** Milliseconds since 1970, in virtual time. */
  readonly now: number
  sleep(milliseconds: number): void
  random(): number
}

/** What a program did. A text alone is its standard output. */
export type ProgramResult = string | { readonly stdout?: string; readonly stderr?: string; readonly exitCode?: number }

export type Program = (
  call: ProgramContext & { readonly args: readonly string[]; readonly stdin: string },
) => ProgramResult

/** What `curl` sends to a service. */
export interface ServiceRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a service answers: a text, or anything else as JSON; with a status other than 200 in this form. */
export type ServiceAnswer = string | object
export type Service = (
  request: ServiceRequest,
  context: ProgramContext,
) => ServiceAnswer | { readonly status: number; readonly body: ServiceAnswer }

export interface ProgramModule {
  readonly commands?: Readonly<Record<string, Program>>
  /** By origin, such as `http://billing.internal`. */
  readonly services?: Readonly<Record<string, Service>>
}

/** Keeps what a program of the world throws: it is a fault of the world, and the agent reads nothing of it. */
export class ProgramFaults {
  #first: Error | null = null

  guard<T>(run: () => T): T {
    try {
      return run()
    } catch (thrown) {
      this.#first ??= thrown instanceof Error ? thrown : new Error(String(thrown))
      throw new Error('failed')
    }
  }

  rethrow(): void {
    if (this.#first) throw this.#first
  }
}

export function programCommands(
  { commands = {} }: ProgramModule,
  disk: EditedDisk,
  clock: VirtualClock,
  faults: ProgramFaults,
): Command[] {
  return Object.entries(commands).map(([name, program]) =>
    defineCommand(name, async (args, { cwd, env, stdin }) => {
      const input = Buffer.from(stdin as unknown as string, 'latin1').toString()
      const context = contextFor(disk, clock, cwd, Object.fromEntries(env))
      const result = faults.guard(() => program(Object.assign(context, { args, stdin: input })))
      const { stdout = '', stderr = '', exitCode = 0 } = typeof result === 'string' ? { stdout: result } : result
      return { stdout, stderr, exitCode }
    }),
  )
}

/** Returns what fetches from the services of a world; `undefined` if it has none. */
export function serviceFetch(
  { services = {} }: ProgramModule,
  disk: EditedDisk,
  clock: VirtualClock,
  faults: ProgramFaults,
): SecureFetch | undefined {
  if (Object.keys(services).length === 0) return undefined
  return async (address, { method = 'GET', headers = {}, body = '' } = {}) => {
    const url = new URL(address)
    const service = services[url.origin]
    if (!service) throw new Error(`Could not resolve host: ${url.hostname}`)
    const { pathname: path, searchParams: query } = url
    const request = { method, path, query, headers: Object.fromEntries(new Headers(headers)), body }
    const answer = faults.guard(() => service(request, contextFor(disk, clock, '/', {})))
    const { status, body: said } =
      typeof answer === 'object' && 'status' in answer && 'body' in answer
        ? (answer as { readonly status: number; readonly body: ServiceAnswer })
        : { status: 200, body: answer }
    const isText = typeof said === 'string'
    return {
      status,
      statusText: status < 400 ? 'OK' : 'Error',
      headers: { 'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json' },
      body: new TextEncoder().encode(isText ? said : `${JSON.stringify(said)}\n`),
      url: address,
    }
  }
}

function contextFor(
  disk: EditedDisk,
  clock: VirtualClock,
  cwd: string,
  variables: Readonly<Record<string, string>>,
): ProgramContext {
  const all = disk.withAccess(FULL_ACCESS)
  const at = (path: string) => absolutePath(cwd, path)
  const isThere = (path: string) => all.at(all.resolve(path, 'stat')) !== null
  return {
    disk: {
      read: (path) => (all.at(all.resolve(at(path), 'open'))?.kind === 'file' ? toText(all.read(at(path))) : null),
      write(path, content) {
        all.makeDirectory(absolutePath(at(path), '..'), true)
        all.write(at(path), content)
      },
      remove(path) {
        if (isThere(at(path))) all.remove(at(path), true)
      },
      list: (path) => (all.at(all.resolve(at(path), 'scandir'))?.kind === 'directory' ? all.list(at(path)) : []),
    },
    ...{ cwd, variables, sleep: (milliseconds) => clock.sleep(milliseconds), random: () => clock.random() },
    get now() {
      return clock.now
    },
  }
}
