import { createHost } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { serveNemoGym } from '@episodic/trainer-endpoints/nemo-gym'
import { driverOf } from '../../testing/players/drivers.ts'
import { type Check, checkParts } from '../check-parts.ts'
import { startLineProgram } from '../line-program.ts'
import { readOptions } from '../options.ts'
import { rowOf } from '../parity/row-of.ts'
import type { Report } from '../report.ts'
import { WORLDS, type World } from '../worlds/world.ts'
import { openNemoGymEnvironment } from './nemo-gym-environment.ts'
import { playCommand } from './play-command.ts'

const USAGE = `Usage: pnpm interop nemo-gym [--python <command>] [--json]

Runs NeMo Gym's own test of sessions, asks for the metrics of rollouts, and runs its command gym by the files and the commands
of docs/play/nemo-gym.md. Its agents play in pnpm interop parity. Creates a virtual environment of 1.1 GB.

  --python  a Python of 3.13 or newer. Default: the first of python3, python3.13 and python3.14 that is
  --json    print nothing but the line of JSON that ends every run

The exit code is 0 if every check passed, 1 if one did not, and 2 if the command is not understood or the package cannot
be installed.`

/** Runs the program from the command line. */
export async function runNemoGym(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { python: { type: 'string' } })
  if (!options) return null
  const { python, versionOf } = openNemoGymEnvironment(options.python, (text) => console.error(text))
  const name = `nemo-gym ${versionOf('nemo-gym')}`
  const parts = [
    { name: 'metrics and sessions', play: (check: Check) => checkServer(python, check) },
    { name: 'its own command, as the page says', play: (check: Check) => playCommand(python, check) },
  ]
  return { clients: { [name]: await checkParts(name, parts, options.say) } }
}

/** Checks what is not part of a rollout: the metrics, and the sessions of environment servers. */
async function checkServer(python: string, check: Check): Promise<void> {
  await using host = createHost({ environments: WORLDS.map(({ environment }) => environment) })
  await using server = await serveNemoGym(host)
  await using client = startLineProgram(python, [driverOf('nemo_gym'), server.origin])
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
  check('the sessions that are left', (await host.list({ limit: 10 })).total, 0)
}
