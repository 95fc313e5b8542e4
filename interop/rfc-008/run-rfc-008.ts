import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { openEnvRoutes } from '@episodic/trainer-endpoints/openenv'
import { environment } from '@episodic-world/number-guessing'
import { type Check, checkParts } from '../check-parts.ts'
import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report } from '../report.ts'

const run = promisify(execFile)
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const ROOT = pathOf('../..')

/** The worlds that are checked, how many of the 34 ids are answered with evidence, and which of them fail. */
const WORLDS = [
  { name: 'number-guessing', reference: 'examples/number-guessing', only: null, answered: 29, failed: [] },
  // The whole check of a workspace takes long.
  { name: 'on-call', reference: 'examples/on-call', only: 'determinism,hygiene,rewards', answered: 18, failed: [] },
  { name: 'kuhn-poker', reference: 'kuhn-poker', only: null, answered: 6, failed: [], unsupported: ['multi-agent'] },
  {
    name: 'telling',
    reference: 'interop/rfc-008/telling-world.ts',
    only: null,
    answered: 26,
    failed: ['semantic.no_solution_leakage'],
  },
] as const

/** What OpenEnv measures itself at a served world. */
const MEASURED = [
  'static.manifest',
  'runtime.startup',
  'runtime.observation_schema',
  'runtime.reward_well_formed',
  'runtime.state_contract',
]

const USAGE = `Usage: pnpm interop rfc-008 [--json]

Writes reports of ${WORLDS.map(({ name }) => name).join(', ')} with "episodic check --report", and judges them with
the JSON Schema, the models and the policy of OpenEnv's own package. Validates number-guessing as "episodic serve
--openenv" serves it, with run_validation of OpenEnv, without and with the graders of episodic-env. Creates a virtual
environment.

  --json  print nothing but the line of JSON that ends every run

The exit code is 0 if every check passed, 1 if one did not, and 2 if the command is not understood or the package cannot
be installed.`

/** Runs the program from the command line. */
export async function runRfc008(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {})
  if (!options) return null
  const { python, versionOf } = openPythonEnvironment('openenv.txt', (line) => console.error(line))
  const folder = mkdtempSync(join(tmpdir(), 'episodic-rfc-008-'))
  try {
    for (const { name, reference, only } of WORLDS) await writeReport(reference, only, join(folder, name))
    await using host = createHost({ environments: [environment] })
    await using server = await serveHttp(host, { extraRoutes: openEnvRoutes(host) })
    const { origin } = new URL(server.trainerUrl)
    const url = `${origin}/openenv/token/${server.controlToken}/number-guessing`
    const packages = WORLDS.map(({ name }) => join(folder, name))
    const { stdout } = await run(python, [pathOf('../python/validate_reports.py'), url, ...packages], {
      env: { ...process.env, PYTHONPATH: pathOf('../../clients/python/src') },
    })
    const judged = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const parts = WORLDS.map((world, i) => ({
      name: `${world.name}: ${judged[i].answered} of 34 ids answered, verdict ${judged[i].verdict}`,
      play: async (check: Check) => checkJudged(world, judged[i], check),
    }))
    const client = `openenv ${versionOf('openenv')}`
    return { clients: { [client]: await checkParts(client, parts, options.say) } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Makes a package of OpenEnv's format in a folder: the report of a world, and what it proposes to declare. */
async function writeReport(reference: string, only: string | null, folder: string): Promise<void> {
  const file = join(folder, 'validation', 'episodic.json')
  // A world that fails ends the command with 1, and has a report all the same.
  const args = [CLI, 'check', reference, '--quick', '--report', file, ...(only ? ['--only', only] : [])]
  await run(process.execPath, args, { cwd: ROOT }).catch(() => null)
  const declared = file.replace('.json', '.openenv.yaml')
  if (!existsSync(declared)) return
  renameSync(declared, join(folder, 'openenv.yaml'))
  const plan = {
    plan_schema_version: '1',
    reset: { episode_id: 'probe-1', seed: 7, options: {} },
    actions: [50, 25, 75].map((value) => ({ type: 'call_tool', tool_name: 'guess', arguments: { value } })),
  }
  writeFileSync(join(folder, 'validation', 'runtime.json'), JSON.stringify(plan))
}

function checkJudged(world: (typeof WORLDS)[number], judged: Record<string, unknown>, check: Check): void {
  check('the ids that are answered', Number(judged.answered) >= world.answered, true)
  check('the ids that fail', judged.failed, [...world.failed])
  check('all ids of the policy, in its order', judged.hasAllIds, true)
  check('a reason or evidence for each', judged.hasReasons, true)
  check("the verdict is the policy's", judged.hasVerdictOfPolicy, true)
  if ('unsupported' in world) {
    check('what OpenEnv refuses', judged.unsupported, [...world.unsupported])
    return
  }
  check('openenv validate --level static', judged.static, 'pass')
  check('openenv.yaml is read as it was proposed', judged.isProposed, true)
  if (judged.served === undefined) return
  const { measured, bare, left, ours, passedWithOurs, stillMissing, loads } = judged.served as Record<string, unknown>
  check('what OpenEnv measures', measured, MEASURED)
  check('its verdict', [bare, ours], ['warn', 'warn'])
  check('ids without a grader of its own', (left as unknown[]).length, 16)
  check('ids without any grader', stillMissing, [])
  check('the entry points are loaded', loads, true)
  check('ids that pass with ours', Number(passedWithOurs) >= 28, true)
}
