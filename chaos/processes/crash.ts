import { execFile } from 'node:child_process'

/**
 * The calls by which a program changes files: what it has done before a crash is what it had done before one of these.
 */
const WRITES = 'write,writev,pwrite64,pwritev,fsync,fdatasync,ftruncate,rename,unlink'

/** Where to crash: at a change of these files. */
export interface CrashPoint {
  readonly paths: readonly string[]
  /** Which one, from 1. Each thread counts its own, and those of each call apart. */
  readonly point: number
  /** The call that makes it. Default: any that changes a file. */
  readonly call?: string
}

/** How a program ended that was to crash. */
export interface Crashed {
  /** It came to its crash point, and was killed there, before the change was made. */
  readonly killed: boolean
  /** Its standard output. */
  readonly out: string
}

/** Runs a program under `strace`, which kills it with SIGKILL at a crash point. */
export async function crashAt(
  { paths, point, call = WRITES }: CrashPoint,
  command: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Crashed> {
  const traced = [
    ...['-f', '-qqq', '-o', '/dev/null', '-e', `trace=${call}`],
    ...paths.flatMap((path) => ['-P', path]),
    ...['-e', `inject=${call}:signal=SIGKILL:when=${point}`, command, ...args],
  ]
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1_048_576 }
    execFile('strace', traced, options, (error, out, err) => {
      if (error?.code === 'ENOENT') reject(new Error('There is no strace. Install it: apt-get install strace.'))
      // strace ends as its program did: by the same signal, if that could be passed on.
      else if (error && error.signal !== 'SIGKILL' && error.code !== 137)
        reject(new Error(`strace: ${error.code} ${err}`))
      else resolve({ killed: error !== null, out })
    })
  })
}

/** Visits every item, two at a time. */
export async function visitAll<Item>(items: readonly Item[], visit: (item: Item) => Promise<void>): Promise<void> {
  const next = items.values()
  const worker = async () => {
    for (const item of next) await visit(item)
  }
  await Promise.all([worker(), worker()])
}

/** Returns the numbers `step`, 2 · `step`, … up to `last`. */
export function eachUpTo(last: number, step = 1): number[] {
  return Array.from({ length: Math.floor(last / step) }, (_, i) => (i + 1) * step)
}
