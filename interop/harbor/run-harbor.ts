import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { watch } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Check, checkParts } from '../check-parts.ts'
import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report } from '../report.ts'

const run = promisify(execFile)
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const ROOT = pathOf('../..')
const CLIENT = pathOf('../../clients/python/src')
const PROGRAMS = pathOf('../python')

/** The worlds whose tasks are exported, from `examples/`. */
const WORLDS = ['number-guessing', 'frozen-lake', 'repair-shop', 'on-call']
const TASKS = 3

const USAGE = `Usage: pnpm interop harbor [--python <command>] [--json]

Exports tasks of ${WORLDS.join(', ')} for Harbor, has Harbor lint them, and plays them through its own runner
in sandboxes of bubblewrap: with its agents oracle and nop, with an agent that has an MCP client, with one that looks for
the reward, and with servers that end. Needs bwrap and nsenter. Creates a virtual environment of 370 MB. Where Docker's
command is missing, a stand-in reads the Compose files for the lint.

  --python  a Python of 3.12 or newer. Default: the first of python3, python3.13 and python3.14 that is
  --json    print nothing but the line of JSON that ends every run

The exit code is 0 if every check passed, 1 if one did not, and 2 if the command is not understood or the package cannot
be installed.`

/** Runs the program from the command line. */
export async function runHarbor(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { python: { type: 'string' } })
  if (!options) return null
  const needs = { least: [3, 12] as const, ...(options.python && { command: options.python }) }
  const { python, versionOf } = openPythonEnvironment('harbor.txt', console.error, needs)
  const name = `harbor ${versionOf('harbor')}`
  const folder = mkdtempSync(join(tmpdir(), 'interop-harbor-'))
  try {
    const harbor = await openHarbor(python, folder)
    const parts = [
      { name: 'export and lint', play: (check: Check) => exportAndLint(harbor, check) },
      { name: 'oracle', play: (check: Check) => playOracle(harbor, check) },
      { name: 'nop, after the oracle', play: (check: Check) => playNothing(harbor, check) },
      { name: 'an agent with an MCP client', play: (check: Check) => playAgent(harbor, check) },
      { name: 'an agent that looks for the reward', play: (check: Check) => playIntruder(harbor, check) },
      { name: 'a server that ends', play: (check: Check) => endServer(harbor, check) },
      { name: 'a runner that is killed', play: (check: Check) => killRunner(harbor, check) },
    ]
    let [passed, failed] = [0, 0]
    // One after another: the tasks are those of the first, and the nop comes after the oracle.
    for (const part of parts) {
      const tally = await checkParts(name, [part], options.say)
      passed += tally.passed
      failed += tally.failed
    }
    return { clients: { [name]: { passed, failed } } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Harbor {
  readonly folder: string
  /** The tasks of all worlds. */
  readonly tasks: string
  /** The temporary folder of its processes. */
  readonly temporary: string
  readonly program: string
  readonly env: NodeJS.ProcessEnv
  /** The options of a run that name the environment. */
  readonly environment: readonly string[]
}

async function openHarbor(python: string, folder: string): Promise<Harbor> {
  const [temporary, bin] = [join(folder, 'tmp'), join(folder, 'bin')]
  for (const made of [temporary, bin]) mkdirSync(made)
  const docker = `#!/bin/sh\nexec ${python} ${join(PROGRAMS, 'compose_config.py')} "$@"\n`
  if (!(await hasCompose())) writeFileSync(join(bin, 'docker'), docker, { mode: 0o755 })
  writeFileSync(join(bin, 'episodic'), `#!/bin/sh\nexec ${process.execPath} ${CLI} "$@"\n`)
  chmodSync(join(bin, 'episodic'), 0o755)
  const { stdout: base } = await run(python, ['-c', 'import sys; print(sys.base_prefix, end="")'])
  const readable = [dirname(dirname(python)), base, PROGRAMS].filter((path) => !path.startsWith('/usr'))
  return {
    folder,
    tasks: join(folder, 'tasks'),
    temporary,
    program: join(dirname(python), 'harbor'),
    env: {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      PYTHONPATH: [CLIENT, PROGRAMS].join(delimiter),
      TMPDIR: temporary,
      // Neither reports to its makers, nor waits for a list of prices that this does not use.
      HARBOR_TELEMETRY: 'off',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
    environment: [
      ...['--env', 'episodic_env.harbor:BubblewrapEnvironment', '--ek', `episodic=${join(bin, 'episodic')}`],
      ...['--ek', `readable=${JSON.stringify(readable)}`],
    ],
  }
}

async function hasCompose(): Promise<boolean> {
  return run('docker', ['compose', 'version']).then(
    () => true,
    () => false,
  )
}

/** Runs Harbor. Resolves with its exit code and output. */
async function harborRuns(
  { program, env }: Harbor,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<{ status: number; out: string }> {
  // Worlds are found from the root of the repository.
  const options = { env: { ...env, ...more }, cwd: ROOT, maxBuffer: 2 ** 26 }
  return run(program, [...args], options).then(
    ({ stdout, stderr }) => ({ status: 0, out: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ status: Number(code), out: `${stdout}${stderr}` }),
  )
}

function failureOf({ status, out }: { readonly status: number; readonly out: string }): string | null {
  return status === 0 ? null : `exit code ${status}: ${out}`
}

async function exportAndLint(harbor: Harbor, check: Check): Promise<void> {
  mkdirSync(harbor.tasks)
  for (const world of WORLDS) {
    const out = join(harbor.folder, world)
    const { stdout } = await run(
      process.execPath,
      [CLI, 'export', world, '--format', 'harbor', '--tasks', String(TASKS), '--out', out, '--json'],
      { cwd: ROOT },
    )
    check(`${world}: tasks and solutions`, JSON.parse(stdout), { tasks: TASKS, solutions: TASKS })
    const names = readdirSync(out)
    const lint = await harborRuns(harbor, ['lint', ...names.map((name) => join(out, name))])
    check(`${world}: lint`, failureOf(lint), null)
    for (const name of names) await run('mv', [join(out, name), harbor.tasks])
  }
  const dry = ['run', '--dry-run', '-p', harbor.tasks, '-a', 'oracle', '-y', ...harbor.environment]
  check('dry run', failureOf(await harborRuns(harbor, dry)), null)
}

/** A trial, as Harbor's result has it. */
interface Trial {
  readonly folder: string
  /** The name of the task's folder. */
  readonly task: string
  readonly rewards: Readonly<Record<string, number>> | null
  readonly exception: string | null
}

/** Plays tasks with an agent. Resolves with the trials, and checks that nothing of them is left. */
async function playJob(
  harbor: Harbor,
  check: Check,
  { job, agent, only }: { readonly job: string; readonly agent: string; readonly only?: string },
  more: NodeJS.ProcessEnv = {},
): Promise<readonly Trial[]> {
  const jobs = join(harbor.folder, 'jobs')
  const chosen = only === undefined ? [] : ['-i', `*${only}*`]
  const args = [
    'run',
    '-p',
    harbor.tasks,
    '-a',
    agent,
    ...harbor.environment,
    '-o',
    jobs,
    '--job-name',
    job,
    '-y',
    '-q',
  ]
  check('the job', failureOf(await harborRuns(harbor, [...args, ...chosen, '-n', '2'], more)), null)
  check('what is left', [readdirSync(harbor.temporary), processesOf(harbor)], [[], []])
  return readdirSync(join(jobs, job), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(jobs, job, entry.name, 'result.json')))
    .map(({ name }) => readTrial(join(jobs, job, name)))
}

function readTrial(folder: string): Trial {
  const result = JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8'))
  return {
    folder,
    task: String(result.task_name).split('/').at(-1) as string,
    rewards: result.verifier_result?.rewards ?? null,
    exception: result.exception_info?.exception_type ?? null,
  }
}

/** The processes that have the folder of the program in their command. */
function processesOf({ temporary }: Harbor): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(temporary)
    } catch {
      // It has ended.
      return false
    }
  })
}

async function playOracle(harbor: Harbor, check: Check): Promise<void> {
  const trials = await playJob(harbor, check, { job: 'oracle', agent: 'oracle' })
  check('trials', trials.length, WORLDS.length * TASKS)
  for (const { task, rewards, exception } of trials) {
    const file = readFileSync(join(harbor.tasks, task, 'task.toml'), 'utf8')
    const solved = Number(/^solution_return = (.*)$/m.exec(file)?.[1])
    const { reward, success, truncated, ...terms } = rewards ?? {}
    // On slippery ice the solver may lose.
    const wanted = { exception: null, reward: solved, success: Number(solved > 0), truncated: 0 }
    check(task, { exception, reward, success, truncated }, wanted)
    const sum = Object.values(terms).reduce((total, term) => total + term, 0)
    check(`${task}: its terms are columns, and add up`, Math.abs(sum - solved) < 1e-9, true)
  }
}

async function playNothing(harbor: Harbor, check: Check): Promise<void> {
  const trials = await playJob(harbor, check, { job: 'nop', agent: 'nop' })
  check('trials', trials.length, WORLDS.length * TASKS)
  for (const { task, rewards, exception } of trials) {
    const { reward, success, truncated, ...terms } = rewards ?? {}
    const floor = { exception: null, reward: 0, success: 0, truncated: 1, terms: [0] }
    check(task, { exception, reward, success, truncated, terms: [...new Set(Object.values(terms))] }, floor)
  }
}

async function playAgent(harbor: Harbor, check: Check): Promise<void> {
  const guessing = { job: 'guessing', agent: 'harbor_agents:Guessing', only: 'number-guessing' }
  const trials = await playJob(harbor, check, guessing)
  check('trials', trials.length, TASKS)
  for (const { task, rewards, exception } of trials) {
    const { solved, success, truncated, reward = 0 } = rewards ?? {}
    check(task, { exception, solved, success, truncated }, { exception: null, solved: 1, success: 1, truncated: 0 })
    check(`${task}: each guess costs`, reward > 0 && reward < 1, true)
  }
}

async function playIntruder(harbor: Harbor, check: Check): Promise<void> {
  const outside = createServer().listen(0, '127.0.0.1')
  await once(outside, 'listening')
  const { port } = outside.address() as { readonly port: number }
  const places = [harbor.tasks, harbor.temporary, ROOT, join(process.env.HOME ?? '/root', '.episodic')]
  const job = { job: 'intruding', agent: 'harbor_agents:Intruding', only: 'number-guessing' }
  const trials = await playJob(harbor, check, job, { INTEROP_OUTSIDE: JSON.stringify({ port, places }) })
  outside.close()
  check('trials', trials.length, TASKS)
  for (const { task, folder, rewards, exception } of trials) {
    check(task, [exception, rewards?.reward], [null, 0])
    const found = JSON.parse(readFileSync(join(folder, 'agent', 'found.json'), 'utf8'))
    // The root of the repository is there, as the folder that the programs are in.
    const files = found.files.filter((place: string) => place !== ROOT)
    const nothing = { trainer: 401, session: 404, network: false, files: [], processes: [] }
    check(`${task}: what it found`, { ...found, files }, nothing)
  }
}

async function endServer(harbor: Harbor, check: Check): Promise<void> {
  const job = { job: 'killing', agent: 'harbor_agents:Killing', only: 'frozen-lake' }
  const trials = await playJob(harbor, check, job)
  check('trials', trials.length, TASKS)
  for (const { task, rewards, exception } of trials)
    check(task, { rewards, failed: exception !== null }, { rewards: null, failed: true })
}

async function killRunner(harbor: Harbor, check: Check): Promise<void> {
  const begun = join(harbor.folder, 'begun')
  mkdirSync(begun)
  const args = ['run', '-p', harbor.tasks, '-a', 'harbor_agents:Waiting', ...harbor.environment, '-y', '-q', '-n', '1']
  const watching = new AbortController()
  const seen = watch(begun, watching)[Symbol.asyncIterator]().next()
  const child = spawn(harbor.program, [...args, '-i', '*frozen-lake*', '-o', join(harbor.folder, 'killed')], {
    cwd: ROOT,
    env: { ...harbor.env, INTEROP_BEGUN: join(begun, 'one') },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await Promise.race([seen, ended])
  watching.abort()
  check('the trial runs', processesOf(harbor).length > 0, true)
  child.kill('SIGKILL')
  await ended
  // The kernel ends what was started with it, a little later.
  const deadline = Date.now() + 30_000
  while (processesOf(harbor).length > 0 && Date.now() < deadline) await new Promise((done) => setTimeout(done, 50))
  check('what is left', processesOf(harbor), [])
}
