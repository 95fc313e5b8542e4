import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createHost } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { serveNemoGym } from '@episodic/trainer-endpoints/nemo-gym'
import { type Check, checkParts } from '../check-parts.ts'
import { type Exchange, type Fate, type FateOf, startExchangeProxy } from '../exchange-proxy.ts'
import { type LineProgram, startLineProgram } from '../line-program.ts'
import { readOptions } from '../options.ts'
import type { Report } from '../report.ts'
import { playReference } from '../worlds/reference-episode.ts'
import { WORLDS, type World } from '../worlds/world.ts'
import { checkGymnasium, checkSimple, type RolloutResult } from './check-rollout.ts'
import { openNemoGymEnvironment } from './nemo-gym-environment.ts'
import { playCommand } from './play-command.ts'
import { rowOf } from './row-of.ts'

const AGENTS = { simple: checkSimple, gymnasium: checkGymnasium }

const USAGE = `Usage: pnpm interop nemo-gym [--python <command>] [--record] [--json]

Plays the example worlds with the agents of NeMo Gym, simple_agent and gymnasium_agent, and compares every answer, reward
and end with an episode in the process of the host: as they are, and over connections that are cut during every call. Also
runs NeMo Gym's own test of sessions, and its command gym by the files and the commands of docs/play/nemo-gym.md. Creates a
virtual environment of 1.1 GB.

  --python  a Python of 3.13 or newer. Default: the first of python3, python3.13 and python3.14 that is
  --record  also write the exchanges of an episode of each agent for the tests, in interop/nemo-gym/golden
  --json    print nothing but the line of JSON that ends every run

The exit code is 0 if every check passed, 1 if one did not, and 2 if the command is not understood or the package cannot
be installed.`

/** Runs the program from the command line. */
export async function runNemoGym(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { python: { type: 'string' }, record: { type: 'boolean', default: false } })
  if (!options) return null
  const { python, versionOf } = openNemoGymEnvironment(options.python, (text) => console.error(text))
  const { say } = options
  const name = `nemo-gym ${versionOf('nemo-gym')}`
  const parts = [
    ...settingsOf(options.record).map((setting) => ({
      name: setting.name,
      play: (check: Check) => playPart(python, setting, check),
    })),
    { name: 'its own command, as the page says', play: (check: Check) => playCommand(python, check) },
  ]
  return { clients: { [name]: await checkParts(name, parts, say) } }
}

/** What the agents play in one part, and how. */
interface Setting {
  readonly name: string
  readonly worlds: readonly World[]
  readonly seeds: readonly string[]
  readonly fateOf?: () => FateOf
  readonly record?: boolean
}

function settingsOf(record: boolean): readonly Setting[] {
  const guessing = WORLDS.filter(({ name }) => name === 'number-guessing')
  return [
    { name: 'every world', worlds: WORLDS, seeds: ['1', '2', '3'] },
    { name: 'connections that are cut', worlds: guessing, seeds: ['4', '5'], fateOf: cutByTurns },
    ...(record ? [{ name: 'recorded', worlds: guessing, seeds: ['6'], record } as const] : []),
  ]
}

/** By turns, loses a request before it reaches the server, cuts its connection before the answer, and lets it pass. */
function cutByTurns(): FateOf {
  const fates: readonly Fate[] = ['lose', 'drop', 'pass']
  let requests = 0
  return ({ path }) => (['/seed_session', '/reset'].includes(path) ? 'pass' : (fates[requests++ % 3] as Fate))
}

async function playPart(python: string, { worlds, seeds, fateOf, record }: Setting, check: Check): Promise<void> {
  await using host = createHost({ environments: WORLDS.map(({ environment }) => environment) })
  await using server = await serveNemoGym(host)
  const exchanges: Exchange[] = []
  await using proxy = await startExchangeProxy(server.origin, {
    fateOf: fateOf?.(),
    onExchange: (exchange) => exchanges.push(exchange),
  })
  const program = fileURLToPath(new URL('../python/nemo_gym_client.py', import.meta.url))
  await using client = startLineProgram(python, [program, proxy.origin])
  for (const world of worlds)
    for (const seed of seeds) {
      const reference = await playReference(host, world, { seed })
      const calls = reference.steps.map(({ action }) => action)
      for (const [agent, checkAgent] of Object.entries(AGENTS)) {
        exchanges.length = 0
        const result = (await client.ask({ agent, row: rowOf(world, { seed }), calls })) as RolloutResult
        const place = `${agent} agent, ${world.name}, seed ${seed}`
        check(`${place}, the problem`, result.problem, undefined)
        if (result.problem) continue
        checkAgent(result, reference, (what, got, wanted) => check(`${place}, ${what}`, got, wanted))
        if (record) await writeGolden(agent, exchanges)
      }
    }
  if (!fateOf) await checkServer(client, check)
  check('the sessions that are left', (await host.list({ limit: 10 })).total, 0)
}

/** Checks what is not part of a rollout: the metrics, and the sessions of environment servers. */
async function checkServer(client: LineProgram, check: Check): Promise<void> {
  const results = [0, 1].map((reward) => ({ _ng_task_index: 0, _ng_rollout_index: reward, reward }))
  const masked = { _ng_task_index: 1, _ng_rollout_index: 0, reward: 0, mask_sample: true, failure_kind: 'session_lost' }
  const { agent_metrics } = (await client.ask([...results, masked])) as { agent_metrics: JsonObject }
  check('the mean reward', agent_metrics['mean/reward'], 0.5)
  check('the masked rollouts', agent_metrics['coverage/masked_rollouts'], 1)
  const seed = {
    resources_session_id: 'interop',
    episode_id: { rollout_id: 'interop', attempt: 0 },
    task_id: { taskset: 'interop', task_id: '1' },
    task_data: rowOf(WORLDS[0] as World, { seed: '1' }),
  }
  check('sessions by name', await client.ask({ conform: seed }), { conforms: true })
}

/** Writes exchanges with a name in place of the control handle, which differs each time. */
async function writeGolden(agent: string, exchanges: readonly Exchange[]): Promise<void> {
  const lines = exchanges.map((exchange) => JSON.stringify(exchange).replaceAll(/ctl_[\w-]+/g, 'ctl_handle'))
  await writeFile(new URL(`./golden/${agent}.jsonl`, import.meta.url), `${lines.join('\n')}\n`)
}
