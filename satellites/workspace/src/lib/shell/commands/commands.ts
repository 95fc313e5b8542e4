import { type Command, defineCommand } from 'just-bash'
import type { VirtualClock } from '../../clock/virtual-clock.ts'
import { absolutePath, directoryOf } from '../../disk/disk.ts'
import type { EditedDisk } from '../../disk/edited-disk.ts'
import { node } from '../javascript/node-command.ts'
import { dd, head, od, xxd } from './byte-tools.ts'
import { command, failed, linesOf, readInput, said, stdinOf } from './command-line.ts'
import { bc, du, wc } from './counting-tools.ts'
import { cmp, realpath, truncate, whoami } from './file-tools.ts'
import { ls } from './ls.ts'
import { diff, uniq, xargs } from './text-tools.ts'

/** A language that programs on the disk may be written in. */
export type Language = 'javascript' | 'python'

/** Returns the commands that the shell has beside its library's own. */
export function commands(languages: readonly Language[], disk: EditedDisk, clock: VirtualClock): Command[] {
  const more = [
    bc,
    cmp,
    dd,
    diff,
    du,
    head,
    ls,
    mktemp(clock),
    nproc,
    od,
    realpath,
    shuf(clock),
    truncate,
    uname,
    uniq,
    wc,
    whoami,
    xargs,
    xxd,
    yes,
  ]
  if (languages.includes('javascript')) more.push(node(disk))
  if (languages.includes('python')) more.push(python3)
  return more
}

const mktemp = (clock: VirtualClock) =>
  command(
    'mktemp',
    'dp:qtu',
    async ({ operands, has, value }, { fs, cwd }) => {
      const [given] = operands
      const directory = value('p') ?? (given === undefined || has('t') ? '/tmp' : undefined)
      const template = `${directory === undefined ? '' : `${directory}/`}${given ?? 'tmp.XXXXXXXXXX'}`
      const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
      const path = template.replace(/X{3,}$/, (xs) =>
        Array.from(xs, () => letters[Math.floor(clock.random() * letters.length)]).join(''),
      )
      if (path === template) return failed(`mktemp: too few X's in template '${given}'`)
      const at = fs.resolvePath(cwd, path)
      if (has('d')) await fs.mkdir(at)
      else if (!has('u')) await fs.writeFile(at, '')
      return said(`${path}\n`)
    },
    { directory: 'd', tmpdir: 'p', quiet: 'q', 'dry-run': 'u' },
  )

const shuf = (clock: VirtualClock) =>
  command(
    'shuf',
    'ei:n:',
    async ({ operands, has, value }, context) => {
      const range = /^(\d+)-(\d+)$/.exec(value('i') ?? '')
      const lines = range
        ? Array.from({ length: Number(range[2]) - Number(range[1]) + 1 }, (_, index) =>
            String(Number(range[1]) + index),
          )
        : has('e')
          ? [...operands]
          : linesOf(await readInput(operands[0] ?? '-', context))
      for (let i = lines.length - 1; i > 0; i--) {
        const j = Math.floor(clock.random() * (i + 1))
        ;[lines[i], lines[j]] = [lines[j] as string, lines[i] as string]
      }
      const count = Number(value('n') ?? lines.length)
      return said(
        lines
          .slice(0, count)
          .map((line) => `${line}\n`)
          .join(''),
      )
    },
    { echo: 'e', 'input-range': 'i', 'head-count': 'n' },
  )

/** What `uname` says, by its options, in the order in which it says it. */
const MACHINE = { s: 'Linux', n: 'localhost', r: '6.1.0', v: '#1 SMP', m: 'x86_64', o: 'GNU/Linux' }

const uname = command(
  'uname',
  'asnrvmo',
  ({ has }) => {
    const asked = Object.entries(MACHINE).filter(([letter]) => has('a') || has(letter))
    return said(`${asked.map(([, text]) => text).join(' ') || MACHINE.s}\n`)
  },
  { all: 'a', 'kernel-name': 's', nodename: 'n', 'kernel-release': 'r', machine: 'm', 'operating-system': 'o' },
)

/** A pipe is run command by command, so an endless one has to end. */
const YES_LINES = 10_000

const yes = defineCommand('yes', async (args) => said(`${args.join(' ') || 'y'}\n`.repeat(YES_LINES)))

const nproc = defineCommand('nproc', async () => said('1\n'))

/** Where Python finds the disk. */
const DISK = '/host'

/**
 * Runs Python with the directory of its program among those of its modules, as everybody expects; the shell's own
 * command copies the program elsewhere.
 */
const python3 = defineCommand('python3', async (args, context) => {
  const { exec, cwd, fs } = context
  if (!exec) return failed('python3: cannot run here')
  const [first = '-', ...rest] = args
  if (first === '--version' || first === '-V') return said('Python 3.13.2\n')
  const isFile = !['-', '-c', '-m'].includes(first)
  const file = absolutePath(cwd, first)
  if (isFile && !(await fs.exists(file)))
    return failed(`python3: can't open file '${file}': [Errno 2] No such file or directory`, 2)
  const code = [
    'import sys',
    'sys.dont_write_bytecode = True',
    `sys.path[0] = ${pythonText(DISK + (isFile ? directoryOf(file) : cwd))}`,
    `sys.argv = [${(first === '-m' ? rest : first === '-c' ? [first, ...rest.slice(1)] : [first, ...rest]).map(pythonText).join(', ')}]`,
    isFile
      ? `__file__ = ${pythonText(DISK + file)}; exec(compile(open(__file__).read(), __file__, 'exec'))`
      : first === '-m'
        ? // What looks for modules by itself, such as unittest, begins where it is.
          `import os, runpy; os.getcwd = lambda: ${pythonText(DISK + cwd)}; runpy.run_module(${pythonText(rest[0] ?? '')}, run_name='__main__', alter_sys=True)`
        : `exec(compile(${pythonText(first === '-c' ? (rest[0] ?? '') : stdinOf(context))}, '<string>', 'exec'))`,
  ].join('\n')
  const stdin = first === '-' ? '' : (context.stdin as unknown as string)
  const run = await exec('python', { args: ['-c', code], cwd, stdin, stdinKind: 'bytes' })
  // Without the frame of the command, and with the place that the program has on the disk.
  const stderr = run.stderr
    .replace(/ {2}File "\/tmp\/_jb_script\.py".*\n(?: {4}.*\n)*/g, '')
    .replaceAll(`"${DISK}/`, '"/')
  return { stdout: run.stdout, stderr, exitCode: run.exitCode, ...(run.stdoutKind && { stdoutKind: run.stdoutKind }) }
})

/** Returns a text as Python writes it. */
function pythonText(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/gu,
    (letter) => `\\U${(letter.codePointAt(0) as number).toString(16).padStart(8, '0')}`,
  )
}
