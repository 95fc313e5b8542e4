import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { createHost, rehearse } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import { openEnvRoutes } from '@episodic/trainer-endpoints/openenv'
import { readOptions } from '../options.ts'
import { openPythonEnvironment } from '../python-environment.ts'
import type { Report, Tally } from '../report.ts'
import type { Action } from '../worlds/player.ts'
import { WORLDS, type World } from '../worlds/world.ts'

/**
 * The versions that are tried: the newest, one for the second version of the MCP SDK, and the last of the older name.
 */
const CLIENTS = [
  { name: 'openenv', requirements: 'openenv.txt', package: 'openenv' },
  { name: 'openenv-0.4.1', requirements: 'openenv-0.4.1.txt', package: 'openenv' },
  { name: 'openenv-core', requirements: 'openenv-core.txt', package: 'openenv-core' },
] as const

const USAGE = `Usage: pnpm interop openenv [--only <client,…>] [--episodes <count>] [--json]

Plays the example worlds with the clients of OpenEnv, and compares every step with the rules of the world.
The clients get virtual environments of their own, of 450 MB each.

  --only      clients: ${CLIENTS.map(({ name }) => name).join(', ')}
  --episodes  episodes of each world and way of playing (default: 10)
  --json      print nothing but the line of JSON that ends every run`

const TOKEN = 'the-control-token-of-interop'
/** No episode is as long. */
const MOST_STEPS = 500

/** A step, as the rules play it. */
interface ExpectedStep {
  readonly text: string
  readonly data: JsonObject | null
  readonly reward: number
  readonly done: boolean
}

/** An episode to play, and what it has to show. */
interface Episode {
  readonly reset: JsonObject
  readonly calls: readonly Action[]
  readonly steps: readonly ExpectedStep[]
}

/** What the clients have shown of one world. */
interface Played {
  readonly valid: boolean
  readonly 'one socket': readonly (readonly ShownStep[])[]
  readonly 'concurrent sockets': readonly (readonly ShownStep[])[]
  readonly tools: readonly { readonly tools: string[]; readonly data: unknown[]; readonly steps: number }[]
  readonly rejected: boolean
}

interface ShownStep extends ExpectedStep {
  /** Versions before 0.10 drop it. */
  readonly metadata: { readonly seq: number; readonly end: { readonly kind: string } | null } | null
}

/** Runs the clients from the command line. */
export async function runOpenEnv(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { only: { type: 'string' }, episodes: { type: 'string', default: '10' } })
  if (!options) return null
  const names = options.only?.split(',') ?? CLIENTS.map(({ name }) => name)
  const unknown = names.filter((name) => !CLIENTS.some((client) => client.name === name))
  if (unknown.length > 0) throw new Error(`There is no client ${unknown.join(', ')}.\n${USAGE}`)
  const { say } = options
  const clients: Record<string, Tally> = {}
  for (const client of CLIENTS.filter(({ name }) => names.includes(name))) {
    const { python, versionOf } = openPythonEnvironment(client.requirements, (line) => console.error(line))
    const name = `${client.package} ${versionOf(client.package)}`
    const tally = { passed: 0, failed: 0 }
    for (const [check, ok] of await checkClient(python, Number(options.episodes))) {
      tally[ok ? 'passed' : 'failed'] += 1
      if (ok) say(`✓ ${name}: ${check}`)
      else console.error(`✗ ${name}: ${check}`)
    }
    clients[name] = tally
  }
  return { clients }
}

/** Plays all worlds with the clients of a Python environment, and resolves with the checks and whether they passed. */
async function checkClient(python: string, count: number): Promise<[check: string, ok: boolean][]> {
  await using host = createHost({ environments: WORLDS.map(({ environment }) => environment) })
  await using server = await serveHttp(host, { auth: { controlToken: TOKEN }, extraRoutes: openEnvRoutes(host) })
  const origin = `http://127.0.0.1:${server.port}`
  const plans = WORLDS.map((world) => ({
    world,
    episodes: Array.from({ length: count }, (_, seed) => planEpisode(world, seed)),
  }))
  const play = (token: string | null) =>
    runClient(python, {
      token,
      worlds: plans.map(({ world: { name }, episodes }) => ({
        url: token === null ? `${origin}/openenv/token/${TOKEN}/${name}` : `${origin}/openenv/${name}`,
        openUrl: `${origin}/openenv/${name}`,
        episodes: episodes.map(({ reset, calls }) => ({ reset, calls })),
      })),
    })
  const inPath = await play(null)
  const checks = checksOf('the token in the path', plans, inPath.worlds)
  if (!inPath.takesHeaders) return checks
  return [...checks, ...checksOf('a header', plans, (await play(TOKEN)).worlds)]
}

function checksOf(
  how: string,
  plans: readonly { readonly world: World; readonly episodes: readonly Episode[] }[],
  worlds: readonly Played[],
): [check: string, ok: boolean][] {
  return plans.flatMap(({ world, episodes }, i): [string, boolean][] => {
    const played = worlds[i] as Played
    const expected = episodes.map(({ steps }) => steps)
    const here = (check: string) => `${world.name} with ${how}: ${check}`
    const ways = (['one socket', 'concurrent sockets'] as const).map((way): [string, boolean] => [
      here(`${episodes.length} episodes over ${way} are as the rules play them`),
      isDeepStrictEqual(
        played[way].map((steps) => steps.map(({ metadata: _, ...step }) => step)),
        expected,
      ),
    ])
    return [
      [here('openenv validate passes'), played.valid],
      ...ways,
      [here('each step has its number and its end, if the client shows them'), played['one socket'].every(isNumbered)],
      [
        here('MCPToolClient plays the same episodes'),
        played.tools.every(({ data, steps }, episode) => {
          const shown = expected[episode]?.map((step) => step.data ?? step.text)
          return isDeepStrictEqual(data, shown) && steps === shown?.length
        }),
      ],
      [
        here('MCPToolClient lists the tools'),
        played.tools.every(({ tools }) => isDeepStrictEqual(tools, Object.keys(world.environment.tools))),
      ],
      [here('a wrong token is rejected'), played.rejected],
    ]
  })
}

function isNumbered(steps: readonly ShownStep[]): boolean {
  return steps.every(
    ({ metadata, done }, i) => metadata === null || (metadata.seq === i + 1 && (metadata.end !== null) === done),
  )
}

/** Plays an episode by the rules alone, with the reference player of the world. */
function planEpisode({ environment, begin }: World, seed: number): Episode {
  const rehearsal = rehearse(environment, { seed: String(seed) })
  const player = begin()
  const [calls, steps]: [Action[], ExpectedStep[]] = [[], []]
  for (let shown = rehearsal.observation.text; !rehearsal.end && calls.length < MOST_STEPS; ) {
    const action = player(shown)
    const { observation, terms, end } = rehearsal.play(action.tool, action.arguments)
    calls.push(action)
    steps.push({
      text: observation.text,
      data: observation.structured,
      reward: Object.values(terms).reduce((sum, term) => sum + term, 0),
      done: end !== null,
    })
    shown = observation.text
  }
  return { reset: { seed }, calls, steps }
}

/** Runs the program of the clients, with one JSON in and one out. */
async function runClient(
  python: string,
  request: object,
): Promise<{ readonly takesHeaders: boolean; readonly worlds: readonly Played[] }> {
  const program = fileURLToPath(new URL('../python/openenv_client.py', import.meta.url))
  // The clients read the mode from this variable.
  const { OPENENV_CLIENT_MODE: _, ...environment } = process.env
  const child = spawn(python, [program], { stdio: ['pipe', 'pipe', 'inherit'], env: environment })
  const ended = once(child, 'exit')
  child.stdin.end(JSON.stringify(request))
  const answer = await text(child.stdout)
  const [status] = await ended
  if (status !== 0) throw new Error(`The client of OpenEnv ended with status ${status}.`)
  return JSON.parse(answer)
}
