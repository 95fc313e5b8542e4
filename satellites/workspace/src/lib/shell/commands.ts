import { type Command, defineCommand, type ResolvedCommandContext } from 'just-bash'
import type { VirtualClock } from '../clock/virtual-clock.ts'

/** A language that programs on the disk may be written in. */
export type Language = 'javascript' | 'python'

type Result = Awaited<ReturnType<Command['execute']>>

const said = (stdout: string): Result => ({ stdout, stderr: '', exitCode: 0 })
const failed = (stderr: string, exitCode = 1): Result => ({ stdout: '', stderr: `${stderr}\n`, exitCode })

/** Returns the commands that the shell has beside its library's own. */
export function commands(languages: readonly Language[], clock: VirtualClock): Command[] {
  const more = [mktemp(clock), shuf(clock), uname, yes, nproc]
  return languages.includes('javascript') ? [...more, node] : more
}

const mktemp = (clock: VirtualClock) =>
  defineCommand('mktemp', async (args, { fs }) => {
    const isDirectory = args.includes('-d')
    const template = args.find((arg) => !arg.startsWith('-')) ?? '/tmp/tmp.XXXXXXXXXX'
    const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
    const path = template.replace(/X{3,}$/, (xs) =>
      Array.from(xs, () => letters[Math.floor(clock.random() * letters.length)]).join(''),
    )
    if (path === template) return failed(`mktemp: too few X's in template '${template}'`)
    if (isDirectory) await fs.mkdir(path)
    else await fs.writeFile(path, '')
    return said(`${path}\n`)
  })

const shuf = (clock: VirtualClock) =>
  defineCommand('shuf', async (args, context) => {
    const option = (name: string) => {
      const index = args.indexOf(name)
      return index >= 0 ? args[index + 1] : undefined
    }
    const range = /^(\d+)-(\d+)$/.exec(option('-i') ?? '')
    const echoed = args.indexOf('-e')
    const file = args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-n')
    const lines = range
      ? Array.from({ length: Number(range[2]) - Number(range[1]) + 1 }, (_, index) => String(Number(range[1]) + index))
      : echoed >= 0
        ? args.slice(echoed + 1)
        : linesOf(file ? await context.fs.readFile(context.fs.resolvePath(context.cwd, file)) : stdinOf(context))
    for (let i = lines.length - 1; i > 0; i--) {
      const j = Math.floor(clock.random() * (i + 1))
      ;[lines[i], lines[j]] = [lines[j] as string, lines[i] as string]
    }
    const count = Number(option('-n') ?? lines.length)
    return said(
      lines
        .slice(0, count)
        .map((line) => `${line}\n`)
        .join(''),
    )
  })

const uname = defineCommand('uname', async (args) => {
  if (args.includes('-a')) return said('Linux localhost 6.1.0 #1 SMP x86_64 GNU/Linux\n')
  return said(
    `${args.includes('-r') ? '6.1.0' : args.includes('-m') ? 'x86_64' : args.includes('-n') ? 'localhost' : 'Linux'}\n`,
  )
})

/** A pipe is run command by command, so an endless one has to end. */
const YES_LINES = 10_000

const yes = defineCommand('yes', async (args) => said(`${args.join(' ') || 'y'}\n`.repeat(YES_LINES)))

const nproc = defineCommand('nproc', async () => said('1\n'))

/** Runs JavaScript as a module, in the engine in WebAssembly. */
const node = defineCommand('node', async ([first, ...rest], { exec, cwd, stdin }) => {
  if (!exec) return failed('node: cannot run here')
  if (first === '--version' || first === '-v') return said('v24.0.0\n')
  const isCode = first === '-e' || first === '--eval'
  const source = first === undefined || first === '-' ? [] : [first, ...rest]
  const args = isCode ? ['-c', ...rest] : first?.endsWith('.cjs') ? source : ['-m', ...source]
  return exec('js-exec', { args, cwd, stdin: stdin as unknown as string, stdinKind: 'bytes' })
})

function stdinOf({ stdin }: ResolvedCommandContext): string {
  return Buffer.from(stdin as unknown as string, 'latin1').toString()
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
