import { execFile } from 'node:child_process'

/**
 * The calls by which a program changes files: what it has done before a crash is what it had done before one of these.
 */
const WRITES = 'write,writev,pwrite64,pwritev,fsync,fdatasync,ftruncate,rename,unlink'

/** Where to crash: at the `point`th change, from 1, of one of these files. */
export interface CrashPoint {
  readonly paths: readonly string[]
  readonly point: number
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
  { paths, point }: CrashPoint,
  command: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Crashed> {
  const traced = [
    ...['-f', '-qqq', '-o', '/dev/null', '-e', `trace=${WRITES}`],
    ...paths.flatMap((path) => ['-P', path]),
    ...['-e', `inject=${WRITES}:signal=SIGKILL:when=${point}`, command, ...args],
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

/** Points from one number to another. */
export interface Points {
  readonly count: number
  /** Visits all of them, two at a time. */
  inTurn(visit: (point: number) => Promise<void>): Promise<void>
}

/** The points `step`, 2 · `step`, … up to `last`. */
export function isEach(step: number, last: number): Points {
  const count = Math.floor(last / step)
  return {
    count,
    async inTurn(visit) {
      let next = step
      const worker = async () => {
        for (; next <= last; ) {
          const point = next
          next += step
          await visit(point)
        }
      }
      await Promise.all([worker(), worker()])
    },
  }
}
