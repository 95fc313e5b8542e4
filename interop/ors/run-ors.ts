import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Check, checkParts } from '../check-parts.ts'
import { type Exchange, type FateOf, startExchangeProxy } from '../exchange-proxy.ts'
import { startLineProgram } from '../line-program.ts'
import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report, Tally } from '../report.ts'
import { playReference } from '../worlds/reference-episode.ts'
import { WORLDS, type World } from '../worlds/world.ts'
import { playSession } from './play-session.ts'
import { serveTasks, TOKEN } from './serve-tasks.ts'
import { idIn } from './session-id.ts'

/** The clients: the name of the module, the package that has it, and what an environment needs for it. */
const CLIENTS = [
  { module: 'openreward', package: 'openreward', requirements: 'openreward.txt' },
  { module: 'ors', package: 'ors-sdk', requirements: 'ors-sdk.txt' },
] as const
type Client = (typeof CLIENTS)[number]

const USAGE = `Usage: pnpm interop ors [--record] [--json]

Plays the example worlds with the clients of the Open Reward Standard, openreward and ors-sdk, and compares every
observation, reward and end with an episode in the process of the host: as they are, with the return in the last step, and
over connections that are cut during every call, and that lose every other answer while calls are confirmed. Creates virtual environments.

  --record  also write the exchanges of an episode for the tests, in interop/ors/golden
  --json    print nothing but the line of JSON that ends every run

The exit code is 0 if every check passed, 1 if one did not, and 2 if the command is not understood or a client cannot be
installed.`

/** Runs the program from the command line. */
export async function runOrs(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { record: { type: 'boolean', default: false } })
  if (!options) return null
  const { say } = options
  const checked = CLIENTS.map(async (client): Promise<[name: string, tally: Tally]> => {
    const { python, versionOf } = openPythonEnvironment(client.requirements, (text) => console.error(text))
    const name = `${client.package} ${versionOf(client.package)}`
    const parts = settingsOf(options.record).map((setting) => ({
      name: setting.name,
      play: (check: Check) => playPart(client, python, setting, check),
    }))
    return [name, await checkParts(name, parts, say)]
  })
  return { clients: Object.fromEntries(await Promise.all(checked)) }
}

/** What a client plays in one part, and how. */
interface Setting {
  readonly name: string
  readonly rewards: 'steps' | 'return'
  readonly worlds: readonly World[]
  /** Tasks of each world. */
  readonly episodes: number
  readonly fateOf?: () => FateOf
  readonly confirmsCalls?: boolean
  readonly record?: boolean
}

function settingsOf(record: boolean): readonly Setting[] {
  const guessing = WORLDS.filter(({ name }) => name === 'number-guessing')
  return [
    { name: 'every world', rewards: 'steps', worlds: WORLDS, episodes: 3 },
    { name: 'the return with the last step', rewards: 'return', worlds: guessing, episodes: 1 },
    { name: 'connections that are cut', rewards: 'steps', worlds: guessing, episodes: 2, fateOf: cutEveryCall },
    {
      name: 'answers that are lost, of calls that are confirmed',
      rewards: 'steps',
      worlds: guessing,
      episodes: 1,
      fateOf: dropEveryOther,
      confirmsCalls: true,
    },
    ...(record ? [{ name: 'recorded', rewards: 'steps', worlds: guessing, episodes: 1, record } as const] : []),
  ]
}

/** By turns, loses a call before it reaches the server, and cuts its answer after the id. What is sent again passes. */
function cutEveryCall(): FateOf {
  let calls = 0
  return ({ path, body }) => {
    if (!path.endsWith('/call') || body.includes('"task_id"')) return 'pass'
    calls += 1
    return calls % 2 === 0 ? 'cut' : 'lose'
  }
}

/** Loses the whole answer of every other call, with its id or without. */
function dropEveryOther(): FateOf {
  let calls = 0
  return ({ path }) => (path.endsWith('/call') && calls++ % 2 === 0 ? 'drop' : 'pass')
}

async function playPart(
  { module }: Client,
  python: string,
  { rewards, worlds, episodes, fateOf, confirmsCalls = false, record }: Setting,
  check: Check,
): Promise<void> {
  await using served = await serveTasks(rewards, confirmsCalls)
  const exchanges: Exchange[] = []
  await using proxy = await startExchangeProxy(served.origin, {
    fateOf: fateOf?.(),
    onExchange: (exchange) => exchanges.push(exchange),
  })
  const program = fileURLToPath(new URL('../python/ors_client.py', import.meta.url))
  await using client = startLineProgram(python, [program, module, proxy.origin, TOKEN])
  for (const world of worlds) {
    const tasks = served.tasksOf(world)
    for (let index = 0; index < episodes; index++) {
      const task = tasks[index]
      if (!task) throw new Error(`${world.name} has no task ${index}.`)
      const reference = await playReference(served.host, world, task)
      await playSession({ client, world, tasks, index, rewards, reference }, (what, got, wanted) =>
        check(`${world.name}, task ${index}, ${what}`, got, wanted),
      )
    }
  }
  if (record) await writeGolden(module, exchanges)
}

/** Writes exchanges with names in place of the ids of sessions, which differ each time. */
async function writeGolden(module: string, exchanges: readonly Exchange[]): Promise<void> {
  const ids = exchanges.filter(({ path }) => path === '/create_session').map(({ answer }) => idIn(answer))
  const lines = exchanges.map((exchange) =>
    ids.reduce((line, id, place) => line.replaceAll(id, `session-${place}`), JSON.stringify(exchange)),
  )
  await writeFile(new URL(`./golden/${module}.jsonl`, import.meta.url), `${lines.join('\n')}\n`)
}
