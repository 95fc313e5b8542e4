import { type ChildProcess, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { InstalledServer } from './install-servers.ts'

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
/** The module of the player. */
export const PLAYER = fileURLToPath(new URL('./player.ts', import.meta.url))

/** The folder of one server: its tasks, its score, its runs, and what its processes have for temporary files. */
export interface ServerFolder extends Disposable {
  readonly path: string
  /** Starts a command there. */
  start(args: readonly string[], variables?: Readonly<Record<string, string>>): ChildProcess
  /** The options that play the server in `tasks` episodes at once. */
  options(tasks: number): string[]
  /** Takes the program of the server away. */
  removeServer(): void
}

/** How a command has ended. */
export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** Makes the folder of a server. `launched`: a shell starts the server, and stays. */
export function openServerFolder(server: InstalledServer, page: string, launched: boolean): ServerFolder {
  // Chromium makes sockets there, whose paths have to be short.
  const path = mkdtempSync(join(tmpdir(), 'mcps-'))
  for (const name of ['tmp', 'home']) mkdirSync(join(path, name))
  const program = join(path, server.program)
  symlinkSync(server.path, program)
  const line = server.command(program)
  const command = launched ? `sh -c '${line.replace(/^sh -c '(.*)'$/, '$1').replace('&& exec', '&&')}; exit $?'` : line
  writeFileSync(
    join(path, 'score.ts'),
    `const find = async ({ call: ask, transcript }) => {
  const call = async (tool, args) => (await ask(tool, args)).text
  return ${server.found}
}
export const score = async (episode) => {
  const values = new Set((await find(episode)).match(/value-\\d+/g))
  return values.size === 1 && values.has(episode.params.value)
}
`,
  )
  return {
    path,
    start: (args, variables = {}) =>
      spawn(process.execPath, [CLI, ...args], {
        cwd: path,
        env: { PATH: process.env.PATH, HOME: join(path, 'home'), TMPDIR: join(path, 'tmp'), ...variables },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    options(tasks) {
      const rows = Array.from({ length: tasks }, (_, i) => {
        const value = `value-${i}`
        return JSON.stringify({ prompt: `Keep ${value}.`, value, calls: server.calls(value, page) })
      })
      writeFileSync(join(path, 'tasks.jsonl'), rows.join('\n'))
      const playing = ['--tasks', 'tasks.jsonl', '--score', 'score.ts', '--policy', PLAYER, '--concurrency', `${tasks}`]
      return ['--mcp', command, ...playing]
    },
    removeServer: () => unlinkSync(program),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** Resolves once a command has ended. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  // What a player that was killed has left holds its pipes for a moment.
  const [out, err, status] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    ended,
  ])
  return { status, out, err }
}

/** A sealed line, as far as this program reads it. */
export interface SealedLine {
  readonly outcome: {
    readonly kind: string
    readonly error?: { readonly code: string; readonly message: string }
  }
  readonly returns?: { readonly total: number }
  readonly steps: readonly { readonly observation: { readonly text: string } }[]
}

/** Returns the sealed lines of a run. */
export function linesOf(run: string): SealedLine[] {
  return readFileSync(join(run, 'episodes.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** Returns the steps of the first episode of a run; none if there is no episode. */
export function stepsOf(run: string): SealedLine['steps'] {
  return existsSync(join(run, 'episodes.jsonl')) ? (linesOf(run)[0]?.steps ?? []) : []
}
