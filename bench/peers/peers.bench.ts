/**
 * number-guessing served by the server of OpenEnv, by FastMCP and by a resources server of NeMo Gym, each beside
 * `episodic serve`, with the same client and the same protocol: the server's CPU for a step, and steps a second. An
 * episode is opened, played to its end in 29 steps by halving the range, and closed, over 32 connections. Then 2,048
 * sessions of OpenEnv that are open at once.
 *
 *   pnpm bench peers --python /path/to/python3.13     for NeMo Gym, if none of the Pythons on the PATH is new enough
 *
 * Makes the Python environments of `pnpm interop`, of 2 GB together.
 */
import { openNemoGymEnvironment } from '../../interop/nemo-gym/nemo-gym-environment.ts'
import { openPythonEnvironment } from '../../interop/python-environment.ts'
import { mebibytes, median, ratio, report, round2 } from '../figures.ts'
import { needProc, needPython } from '../needs.ts'
import { readOptions } from '../options.ts'
import { readCpu } from '../process-tree.ts'
import { playCrowd } from './crowd.ts'
import { createMcpPlayer } from './mcp-player.ts'
import { createNemoGymPlayer } from './nemo-gym-player.ts'
import { connectOpenEnv } from './open-env-player.ts'
import type { Player } from './player.ts'
import { type MeasuredServer, startOurs, startPython, TOKEN } from './start-server.ts'

const options = readOptions({ python: { type: 'string' } })

const ROUNDS = 3
const CONNECTIONS = 32
const SESSIONS = 2_048
/** Seconds until the sessions that are left count as failed. */
const LONGEST = 150
/** How many times as much CPU a step has to take the others. */
const FLOORS = { 'OpenEnv MCPEnvironment': 8, FastMCP: 20, 'NeMo Gym': 2 }
const HEADERS = { Authorization: `Bearer ${TOKEN}` }

/** A way to play one server. */
interface Contender {
  /** Of a round: as many as take about as long as those of the others. */
  readonly episodes: number
  start(): Promise<Started>
}

interface Started {
  readonly server: MeasuredServer
  readonly connect: () => Player | Promise<Player>
}

const uvicorn = (app: string) => (port: string) => [
  ...['-m', 'uvicorn', `${app}:app`],
  ...['--host', '127.0.0.1', '--port', port, '--log-level', 'warning'],
]
const say = (text: string) => console.error(`  ${text}`)
needProc()
// Without it there is nothing to compare with.
needPython('openenv.txt')
const pythonOf = (requirements: string) => openPythonEnvironment(requirements, say).python
const OURS = '/openenv/number-guessing/ws'

function openEnv(app: string, episodes: number): Contender {
  return {
    episodes,
    async start() {
      const server = await startPython(pythonOf('openenv.txt'), uvicorn(app))
      return { server, connect: () => connectOpenEnv(`ws://127.0.0.1:${server.port}/ws`, HEADERS) }
    },
  }
}

/** The others, and the protocol over which ours is compared with them. */
const CONTENDERS = {
  'ours, OpenEnv': {
    episodes: 400,
    async start() {
      const server = await startOurs()
      return { server, connect: () => connectOpenEnv(`ws://127.0.0.1:${server.port}${OURS}`, HEADERS) }
    },
  },
  'OpenEnv Environment': openEnv('openenv_environment', 200),
  'OpenEnv MCPEnvironment': openEnv('openenv_tools', 32),
  'ours, MCP': {
    episodes: 400,
    async start() {
      const server = await startOurs()
      return { server, connect: () => createMcpPlayer(server.port) }
    },
  },
  FastMCP: {
    episodes: 40,
    async start() {
      const server = await startPython(pythonOf('fastmcp.txt'), (port) => ['fastmcp_server.py', port])
      return { server, connect: () => createMcpPlayer(server.port) }
    },
  },
  'ours, NeMo Gym': {
    episodes: 160,
    async start() {
      const server = await startOurs()
      return { server, connect: () => createNemoGymPlayer(server.nemoGymPort) }
    },
  },
  'NeMo Gym': {
    episodes: 64,
    async start() {
      const { python } = openNemoGymEnvironment(options.python, say)
      const server = await startPython(python, (port) => ['nemo_gym_server.py', port])
      return { server, connect: () => createNemoGymPlayer(server.port) }
    },
  },
} satisfies Record<string, Contender>

type Name = keyof typeof CONTENDERS

const PAIRS: readonly (readonly [ours: Name, theirs: Name])[] = [
  ['ours, OpenEnv', 'OpenEnv Environment'],
  ['ours, OpenEnv', 'OpenEnv MCPEnvironment'],
  ['ours, MCP', 'FastMCP'],
  ['ours, NeMo Gym', 'NeMo Gym'],
]

interface Round {
  readonly stepsPerSecond: number
  readonly microsecondsPerStep: number
}

/** Plays episodes over as many connections, and resolves with what their steps took. */
async function play({ server, connect }: Started, episodes: number): Promise<Round> {
  const players = await Promise.all(Array.from({ length: CONNECTIONS }, connect))
  const cpuBefore = readCpu(server.pid)
  const began = performance.now()
  let [begun, steps] = [0, 0]
  await Promise.all(
    players.map(async (player) => {
      while (begun < episodes) {
        begun += 1
        const played = await player.play(begun)
        steps += played
      }
    }),
  )
  for (const player of players) player.close()
  return {
    stepsPerSecond: (steps * 1_000) / (performance.now() - began),
    microsecondsPerStep: ((readCpu(server.pid) - cpuBefore) * 1e6) / steps,
  }
}

/** Measures all in turn, round after round. What cannot be started is reported with the reason. */
async function measureAll() {
  const missing: Partial<Record<Name, string>> = {}
  const rounds: Partial<Record<Name, Round[]>> = {}
  await using servers = new AsyncDisposableStack()
  const started: (Started & { readonly name: Name; readonly episodes: number })[] = []
  for (const [name, { start, episodes }] of Object.entries(CONTENDERS) as [Name, Contender][])
    try {
      const one = await start()
      servers.use(one.server)
      started.push({ ...one, name, episodes })
      rounds[name] = []
    } catch (error) {
      missing[name] = (error as Error).message
      say(`${name} is left out: ${missing[name]}`)
    }
  for (let round = 0; round <= ROUNDS; round++)
    for (const { name, episodes, ...one } of started) {
      const figures = await play(one, episodes)
      const shown = `${Math.round(figures.microsecondsPerStep)} µs of CPU, ${Math.round(figures.stepsPerSecond)} steps/s`
      say(`${round === 0 ? 'warm-up' : `round ${round}`}  ${name.padEnd(24)} ${shown}`)
      if (round > 0) rounds[name]?.push(figures)
    }
  return { rounds, missing }
}

/** Opens many sessions of OpenEnv at once on a server of their own. */
async function crowdOf(path: string, start: () => Promise<MeasuredServer>) {
  await using server = await start()
  const crowd = await playCrowd(server, `ws://127.0.0.1:${server.port}${path}`, HEADERS, SESSIONS, LONGEST)
  const figures = {
    succeeded: crowd.succeeded,
    seconds: round2(crowd.seconds),
    serverCpuSeconds: round2(crowd.serverCpuSeconds),
    mebibytes: mebibytes(crowd.resident),
    mebibytesOfSessions: mebibytes(crowd.resident - crowd.residentBefore),
  }
  say(JSON.stringify(figures))
  return figures
}

const { rounds, missing } = await measureAll()
const pairs = PAIRS.flatMap(([ours, theirs]) => {
  const [a, b] = [rounds[ours], rounds[theirs]]
  if (!a || !b) return []
  const of = (of: readonly Round[], key: keyof Round) => of.map((round) => round[key])
  const pair = {
    theirs,
    microsecondsPerStep: [
      Math.round(median(of(a, 'microsecondsPerStep'))),
      Math.round(median(of(b, 'microsecondsPerStep'))),
    ],
    stepsPerSecond: [Math.round(median(of(a, 'stepsPerSecond'))), Math.round(median(of(b, 'stepsPerSecond')))],
    cpuRatio: ratio(of(b, 'microsecondsPerStep'), of(a, 'microsecondsPerStep')),
    rateRatio: ratio(of(a, 'stepsPerSecond'), of(b, 'stepsPerSecond')),
  }
  return [pair]
})
const crowds: Record<string, Awaited<ReturnType<typeof crowdOf>> | string> = {}
crowds.ours = await crowdOf(OURS, startOurs)
for (const [name, app] of [
  ['OpenEnv Environment', 'openenv_environment'],
  ['OpenEnv MCPEnvironment', 'openenv_tools'],
] as const)
  crowds[name] = missing[name] ?? (await crowdOf('/ws', () => startPython(pythonOf('openenv.txt'), uvicorn(app))))

report('peers', {
  ok:
    pairs.every(({ theirs, cpuRatio }) => cpuRatio >= ((FLOORS as Partial<Record<Name, number>>)[theirs] ?? 0)) &&
    crowds.ours.succeeded === SESSIONS,
  pairs,
  sessions: SESSIONS,
  crowds,
  missing,
})
