import { readOptions } from '../options.ts'
import type { Report, Tally } from '../report.ts'
import { AGENT_CLIENTS } from './agent-clients.ts'
import { type Comparison, compareClient } from './compare-client.ts'
import { nemoGymClients } from './nemo-gym-client.ts'
import { orsClients } from './ors-client.ts'
import type { ParityClient } from './parity-client.ts'
import { PARITY_WORLDS, type ParityWorld } from './parity-world.ts'
import { openEnvClients, pythonClient } from './python-clients.ts'
import { playReferences } from './reference.ts'
import { TRAINER_CLIENTS } from './trainer-clients.ts'

const CLIENTS = [
  'in-process',
  'http',
  'websocket',
  'mcp-2025',
  'mcp-2026',
  'python',
  'gymnasium',
  'openenv',
  'openenv-0.4.1',
  'openenv-core',
  'nemo-gym',
  'openreward',
  'ors-sdk',
] as const

const USAGE = `Usage: pnpm interop parity [--episodes <count>] [--only <client,…>] [--world <name,…>] [--python <command>] [--json]

Plays the same episodes of each world through every endpoint and client, and compares each with the same episode in the
process of its host: what the client shows of observations, rewards and ends, and the session as its server keeps it, byte by
byte, with its hash chain. The episodes are by turns those of the solver, of the solver with mistakes, at random, cut by a
limit, left before the end, and with calls of tools that do not exist. Clients play those that their protocol has: the Open
Reward Standard has no step of an unknown tool, and OpenEnv's client of tools raises what is refused. Clients of NeMo Gym and of
the Open Reward Standard also play a few episodes over connections that are cut during every call. Where a client has an own
validator, it is run before. Clients in Python get virtual environments.

  --episodes  of each world (default: 200)
  --only      clients: ${CLIENTS.join(', ')}
  --world     worlds: ${PARITY_WORLDS.map(({ name }) => name).join(', ')}
  --python    a Python of 3.13 or newer for nemo-gym. Default: the first of python3, python3.13 and python3.14 that is
  --json      print nothing but the line of JSON that ends every run

The exit code is 0 if all episodes are equal, 1 if one is not, and 2 if the command is not understood or a client cannot be
installed.`

/** Runs the comparison from the command line. */
export async function runParity(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    episodes: { type: 'string', default: '200' },
    only: { type: 'string', default: CLIENTS.join(',') },
    world: { type: 'string', default: PARITY_WORLDS.map(({ name }) => name).join(',') },
    python: { type: 'string' },
  })
  if (!options) return null
  const names = chosen('client', options.only, CLIENTS)
  const worlds = chosen(
    'world',
    options.world,
    PARITY_WORLDS.map(({ name }) => name),
  ).map(worldOf)
  const count = Number(options.episodes)
  if (!Number.isInteger(count) || count < 1) throw new Error(`--episodes is a whole number from 1 up.\n${USAGE}`)
  const { say } = options
  const clients = names.flatMap((name) => createClients(name, options.python))
  const references = (await Promise.all(worlds.map((world) => playReferences(world, count)))).flat()
  say(
    rowOf(
      'equal episodes',
      worlds.map(({ name }) => name),
      'steps',
    ),
  )
  const comparisons: Comparison[] = []
  const tallies: Record<string, Tally> = {}
  for (const client of clients) {
    const compared = await compareClient(client, references)
    comparisons.push(...compared)
    const cells = worlds.map(({ name }) => cellOf(compared.find(({ world }) => world === name)))
    say(rowOf(client.title, cells, String(sumOf(compared, 'steps'))))
    for (const comparison of compared) if (comparison.first) console.error(problemOf(client, comparison))
    tallies[client.title] = { passed: sumOf(compared, 'equal'), failed: sumOf(compared, 'different') }
  }
  return { clients: tallies, details: { comparisons } }
}

function chosen<Name extends string>(what: string, list: string, all: readonly Name[]): readonly Name[] {
  const names = list.split(',')
  const unknown = names.filter((name) => !(all as readonly string[]).includes(name))
  if (unknown.length > 0) throw new Error(`There is no ${what} ${unknown.join(', ')}.\n${USAGE}`)
  return all.filter((name) => names.includes(name))
}

function worldOf(name: string): ParityWorld {
  return PARITY_WORLDS.find((world) => world.name === name) as ParityWorld
}

function createClients(name: (typeof CLIENTS)[number], python: string | undefined): readonly ParityClient[] {
  const onMake = (text: string) => console.error(text)
  switch (name) {
    case 'python':
      return [pythonClient('client', onMake)]
    case 'gymnasium':
      return [pythonClient('gymnasium', onMake)]
    case 'openenv':
    case 'openenv-0.4.1':
    case 'openenv-core':
      return openEnvClients(name, onMake)
    case 'nemo-gym':
      return nemoGymClients(python, onMake)
    case 'openreward':
      return orsClients({ module: 'openreward', name }, onMake)
    case 'ors-sdk':
      return orsClients({ module: 'ors', name }, onMake)
    default:
      return [...TRAINER_CLIENTS, ...AGENT_CLIENTS].filter((client) => client.name === name)
  }
}

function rowOf(title: string, cells: readonly string[], last: string): string {
  return [title.padEnd(40), ...cells.map((cell) => cell.padStart(15)), last.padStart(8)].join('  ')
}

function cellOf(compared: Comparison | undefined): string {
  if (!compared) return '–'
  const { equal, episodes } = compared
  return equal === episodes ? String(equal) : `${equal} of ${episodes} ✗`
}

function problemOf({ title }: ParityClient, { world, first }: Comparison): string {
  return `  ${title}, ${world}, episode ${first?.episode}: ${first?.where}
    got    ${JSON.stringify(first?.got)}
    wanted ${JSON.stringify(first?.wanted)}`
}

function sumOf(comparisons: readonly Comparison[], field: 'steps' | 'equal' | 'different'): number {
  return comparisons.reduce((sum, comparison) => sum + comparison[field], 0)
}
