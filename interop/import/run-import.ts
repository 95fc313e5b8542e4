import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Check, checkParts } from '../check-parts.ts'
import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report, Tally } from '../report.ts'
import { checkCounting, type System } from './check-counting.ts'
import { checkEcho } from './check-echo.ts'
import { playRun } from './play-run.ts'
import { startPythonServer } from './python-server.ts'

/** A package with a server, and the environments that it serves. */
interface Server {
  readonly package: string
  readonly requirements: string
  readonly system: System
  readonly environments: readonly Served[]
}

interface Served {
  readonly name: string
  /** Arguments of `interop/python/<system>_server.py`. */
  readonly args: readonly string[]
  readonly isEcho?: true
}

const USAGE = `Usage: pnpm interop import [--echo <folder>] [--json]

Plays environments of the servers of OpenEnv and of the Open Reward Standard with "episodic run", and checks every
observation, reward and end, and what the report says of the server. Creates virtual environments.

  --echo <folder>  also play OpenEnv's own echo environment: the folder envs/echo_env in a checkout of OpenEnv
  --json           print nothing but the line of JSON that ends every run

The exit code is 0 if every check passed, 1 if one did not, and 2 if the command is not understood or a server cannot
be installed.`

/** Runs the program from the command line. */
export async function runImport(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { echo: { type: 'string' } })
  if (!options) return null
  const { say } = options
  const clients: Record<string, Tally> = {}
  for (const server of serversOf(options.echo)) {
    const { python, versionOf } = openPythonEnvironment(server.requirements, (line) => console.error(line))
    const name = `${server.package} ${versionOf(server.package)}`
    const parts = server.environments.map((served) => ({
      name: served.name,
      play: (check: Check) => playServed(python, server.system, served, check),
    }))
    clients[name] = await checkParts(name, parts, say)
  }
  return { clients }
}

function serversOf(echo: string | undefined): readonly Server[] {
  const echoes: Served[] =
    echo === undefined ? [] : [{ name: 'its echo environment', args: ['echo', echo], isEcho: true }]
  return [
    {
      package: 'openenv',
      requirements: 'openenv.txt',
      system: 'openenv',
      environments: [{ name: 'actions of a class', args: ['typed'] }, { name: 'tools', args: ['tools'] }, ...echoes],
    },
    {
      package: 'openreward',
      requirements: 'openreward.txt',
      system: 'ors',
      environments: [{ name: 'tasks', args: ['openreward'] }],
    },
    {
      package: 'ors-sdk',
      requirements: 'ors-sdk.txt',
      system: 'ors',
      environments: [{ name: 'tasks', args: ['ors'] }],
    },
  ]
}

async function playServed(python: string, system: System, { args, isEcho }: Served, check: Check): Promise<void> {
  await using server = await startPythonServer(python, `${system}_server.py`, args)
  const folder = await mkdtemp(join(tmpdir(), 'episodic-import-'))
  try {
    const run = await playRun(`${system}:${server.origin}`, { folder, policy: isEcho ? 'echo' : 'counting' })
    if (isEcho) checkEcho(run, check)
    else checkCounting(run, system, check)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
