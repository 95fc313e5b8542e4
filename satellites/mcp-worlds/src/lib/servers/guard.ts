import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { GuardedLine, Trace } from './traces.ts'

const GUARDIAN = fileURLToPath(
  import.meta.url.endsWith('.ts')
    ? new URL('../../guardian.ts', import.meta.url)
    : new URL('./guardian.js', import.meta.url),
)

const guarded = new Map<string, Trace>()
let guardian: ChildProcess | null = null

/** Has a server's traces removed if this process is killed: by one process for all servers of this one. */
export function guard(trace: Trace): void {
  guarded.set(trace.mark, trace)
  if (guardian) send(guardian, trace)
  else start()
}

export function unguard({ mark }: Pick<Trace, 'mark'>): void {
  guarded.delete(mark)
  if (guardian) send(guardian, { mark })
}

function start(): void {
  const child = spawn(process.execPath, [GUARDIAN], {
    // Out of reach of what ends this process: its group, its terminal, its options of Node.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env.PATH },
  })
  guardian = child
  const gone = () => {
    if (guardian !== child) return
    guardian = null
    if (guarded.size > 0) start()
  }
  child.on('error', () => {})
  child.on('exit', gone)
  child.stdin?.on('error', () => {})
  // It waits for the end of this process, and not the other way round.
  child.unref()
  ;(child.stdin as unknown as { unref(): void }).unref()
  for (const trace of guarded.values()) send(child, trace)
}

function send({ stdin }: ChildProcess, line: GuardedLine): void {
  if (stdin?.writable) stdin.write(`${JSON.stringify(line)}\n`)
}
