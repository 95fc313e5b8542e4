import { type Command, defineCommand } from 'just-bash'
import type { VirtualClock } from '../clock/virtual-clock.ts'
import { absolutePath } from '../disk/disk.ts'

export function nodeStart(clock: VirtualClock): string {
  return `(${start})(${Math.floor(clock.random() * 2 ** 32)}, ${JSON.stringify(RUN)})`
}

/** The name under which the engine finds what runs a program. */
const RUN = 'episodic:run'

/** The engine's own parts, which are less than those of Node. */
interface Engine {
  Math: Math
  console: Record<string, (...values: readonly unknown[]) => void>
  process: { argv: string[]; exit(code?: number): never; exitCode?: number }
  [RUN]: (load: () => Promise<unknown>, argv: string[], seed: number) => Promise<void>
}

/** Is sent to the engine as text, so it uses nothing from outside of itself. */
function start(seed: number, run: typeof RUN): void {
  const engine = globalThis as unknown as Engine
  const { process } = engine
  // Its own generator is seeded by the time alone, so this one takes its place (mulberry32).
  const { imul } = Math
  let state = seed
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  engine.Math = Object.defineProperties({}, {
    ...Object.getOwnPropertyDescriptors(Math),
    random: { value: random, writable: true, configurable: true },
  } as PropertyDescriptorMap) as Math
  // The engine prints objects as JSON, and Node does not.
  const shown = (value: unknown) => {
    if (value instanceof Error) return `${value}`
    if (typeof value === 'bigint') return `${value}n`
    if (Object.is(value, -0)) return '-0'
    if ((typeof value === 'object' && value !== null) || typeof value === 'function')
      throw new TypeError('an object cannot be printed here: print JSON.stringify(value)')
    return String(value)
  }
  const printed =
    (print: (text: string) => void) =>
    (first?: unknown, ...rest: readonly unknown[]) => {
      if (typeof first === 'string' && rest.length > 0 && /%[sdifjoOc%]/.test(first))
        throw new TypeError('formats such as %s are not available here: print a template string')
      if (!isOver) print(first === undefined && rest.length === 0 ? '' : [first, ...rest].map(shown).join(' '))
    }
  const { log, error } = engine.console as { log(text: string): void; error(text: string): void }
  const [out, errors] = [printed(log), printed(error)]
  engine.console = { log: out, info: out, debug: out, error: errors, warn: errors }

  // What runs after `exit` prints nothing, as if the process were gone. The engine ends once nothing is left to run.
  const EXIT = Symbol('exit')
  let isOver = false
  const endEngine = process.exit
  process.exit = (code = process.exitCode) => {
    if (!isOver) process.exitCode = Number(code ?? 0) & 255
    isOver = true
    throw EXIT
  }
  engine[run] = async (load, argv, seed) => {
    state = seed
    delete (engine as Partial<Engine>)[run]
    process.argv = argv
    let isDone = false
    load().then(
      () => {
        isDone = true
      },
      (thrown) => {
        isDone = true
        if (isOver || thrown === EXIT) return
        error(thrown instanceof Error ? `${thrown}\n${thrown.stack}`.trimEnd() : `Uncaught ${thrown}`)
        process.exitCode = 1
      },
    )
    // There is no sign that all that waits for promises is done, so it is given many turns.
    for (let i = 0; i < 1_000 && !isOver; i++) await null
    // A module that waits for nothing that will come ends with 13, as in Node.
    endEngine(isDone || isOver ? (process.exitCode ?? 0) : 13)
  }
}

/** Runs a module of JavaScript in the engine in WebAssembly: what it lacks of Node is refused. */
export const node = (clock: VirtualClock): Command =>
  defineCommand('node', async ([first, ...args], { exec, cwd, fs, stdin }) => {
    const failed = (stderr: string, exitCode: number) => ({ stdout: '', stderr: `node: ${stderr}\n`, exitCode })
    if (!exec) return failed('cannot run here', 1)
    const run = (load: string, path: string) => {
      const argv = JSON.stringify(['/usr/bin/node', path, ...args])
      const program = `await globalThis['${RUN}'](async () => {\n${load}\n}, ${argv}, ${clock.random() * 2 ** 32})`
      return exec('js-exec', { args: ['-m', '-c', program], cwd })
    }
    if (first === '-e' || first === '--eval') return run(args.shift() ?? '', '-')
    if (first === '-p' || first === '--print') return run(`console.log(\n${args.shift() ?? ''}\n)`, '-')
    if (first === undefined || first === '-') return run(Buffer.from(stdin as never, 'latin1').toString(), '-')
    if (first.startsWith('-')) return failed(`bad option: ${first} (a simulated node, which runs modules alone)`, 9)
    const path = absolutePath(cwd, first)
    if (!(await fs.exists(path))) return failed(`Cannot find module '${path}'`, 1)
    if (/\.c[jt]s$/.test(path)) return failed(`CommonJS is not available here: write ${path} as a module`, 1)
    return run(`await import(${JSON.stringify(path)})`, path)
  })
