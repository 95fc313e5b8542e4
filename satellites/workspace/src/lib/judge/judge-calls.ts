import { isDeepStrictEqual } from 'node:util'
import { createDisk } from '../disk/create-disk.ts'
import { directoryOf, type ReadOnlyDisk } from '../disk/disk.ts'
import { quoted } from '../quoted.ts'
import { type CommandOptions, runOver } from '../tools/run-command.ts'
import { shown } from './judge.ts'
import { type Judgement, toJudgement } from './judgement.ts'

/** A call of a function, and what it has to do. Values are compared as JSON says them. */
export interface CallTest {
  /** Default: the call itself. */
  readonly name?: string
  /** The name of a function that the module exports. */
  readonly call: string
  readonly args: readonly unknown[]
  /** What it has to return, or what its promise has to resolve with. Default: nothing. */
  readonly returns?: unknown
  /** The message of the error that it has to throw. */
  readonly throws?: string
}

export interface JudgeCallsOptions extends Omit<CommandOptions, 'files' | 'stdin'> {
  /** The absolute path of a module of JavaScript, or of Python if it ends in `.py`, which needs a machine. */
  readonly module: string
  readonly tests: readonly CallTest[]
}

/** What a line with an answer begins with. It is no secret: who prints one gives an answer, right or wrong. */
const MARK = '::answer '

/** Calls the functions and prints what they answer. It knows no right answer, since the module could read it. */
const CALLERS = {
  mjs: (file: string, calls: string) => `const { log } = console, { stringify } = JSON, calls = ${calls}
const module = await import(${JSON.stringify(`./${file}`)})
for (const [i, [name, args]] of calls.entries()) {
  let answer
  try {
    const value = module[name](...args)
    answer = { value: typeof value?.then === 'function' ? await value : value }
  } catch (error) {
    answer = { error: String(error?.message ?? error) }
  }
  log('\\n${MARK}' + stringify([i, answer]))
}
`,
  py: (file: string, calls: string) => `import importlib, json
calls = json.loads(${JSON.stringify(calls)})
module = importlib.import_module(${JSON.stringify(file.slice(0, -3))})
for i, (name, args) in enumerate(calls):
    try:
        answer = {"value": getattr(module, name)(*args)}
    except Exception as error:
        answer = {"error": str(error)}
    print("\\n${MARK}" + json.dumps([i, answer]), flush=True)
`,
}

/**
 * Judges a module by what its functions return: a process without tests and right answers calls them and prints what
 * they answer, and that is compared outside, as by {@link judge}. All calls are made in one process, one
 * after another, in the directory of the module unless `cwd` is given.
 *
 * Throws a `TypeError` without tests, and for Python without a machine.
 */
export async function judgeCalls(
  disk: ReadOnlyDisk,
  { module, tests, ...options }: JudgeCallsOptions,
): Promise<Judgement> {
  const [folder, file] = [directoryOf(module), module.slice(module.lastIndexOf('/') + 1)]
  const kind = file.endsWith('.py') ? 'py' : 'mjs'
  if (kind === 'py' && !options.machine)
    throw new TypeError(
      `${module} is a module of Python, which needs a machine. Give \`machine\`, such as bubblewrap().`,
    )
  const caller = `${folder === '/' ? '' : folder}/judge_calls.${kind}`
  const calls = JSON.stringify(tests.map(({ call, args }) => [call, args]))
  const ran = await runOver(disk, `${kind === 'py' ? 'python3' : 'node'} ${quoted(caller)}`, {
    cwd: folder,
    languages: ['javascript'],
    ...options,
    files: createDisk({ [caller]: CALLERS[kind](file, calls) }),
  })
  const answers = answersIn(ran.stdout)
  return toJudgement(
    tests.map(({ name, call, args, returns, throws }, i) => {
      const wanted = JSON.parse(JSON.stringify(throws === undefined ? { value: returns } : { error: throws }))
      const answer = answers.get(i)
      const isRight = isDeepStrictEqual(answer, wanted)
      const why = answer === undefined ? `no answer. ${shown(ran)}` : JSON.stringify(answer)
      return [
        name ?? `${call}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`,
        isRight ? null : `Not ${JSON.stringify(wanted)}: ${why}`,
      ] as const
    }),
  )
}

function answersIn(stdout: string): Map<unknown, unknown> {
  const answers = new Map<unknown, unknown>()
  for (const line of stdout.split('\n')) {
    if (!line.startsWith(MARK)) continue
    try {
      const [i, answer] = JSON.parse(line.slice(MARK.length))
      answers.set(i, answer)
    } catch {
      // The module printed it.
    }
  }
  return answers
}
