/**
 * Clients of OpenEnv, NeMo Gym and the Open Reward Standard play over a network that loses and cuts messages, and
 * doubles them where the protocol can detect it, with a server that is killed again and again. An episode is the one
 * that it would have been without faults, or says that it has failed.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Rng } from '@episodic/protocol'
import {
  playGymnasiumAgent,
  playSimpleAgent,
  playTurnsWithFirstCookie,
  playWithFirstCookie,
} from '../../testing/players/nemo-gym-player.ts'
import { playGenericClient, playToolClient } from '../../testing/players/openenv-player.ts'
import { playOrs } from '../../testing/players/ors-player.ts'
import type { PlayRollout } from '../../testing/players/rollout.ts'
import { type Faults, startCuttingProxy } from '../network/cutting-proxy.ts'
import { ledgerEpisode, openReference, type RolloutFigures, RolloutOracle } from '../oracles/rollout-oracle.ts'
import { type Server, startServer } from '../processes/server.ts'
import { openStore } from '../processes/store.ts'
import { tableOf } from '../table.ts'
import { runTrial } from '../trial.ts'

/** A client that repeats what is lost. */
const STORM: Faults = { requestsLost: 0.03, repliesLost: 0.03, repliesCut: 0.02 }
/** Copies of requests, at once and late. */
const COPIES = { copied: 0.03, copiedLate: 0.05 }
/** A client to which every fault is the end of an episode. */
const GUSTS: Faults = { requestsLost: 0.008, repliesLost: 0.008, repliesCut: 0.008 }

/** An endpoint, with the client that plays there. */
interface Endpoint {
  readonly name: string
  readonly play: PlayRollout
  /** Default: 8. */
  readonly players?: number
  readonly portOf: (server: Server) => number
  readonly faults: Faults
  /** Whether its protocol detects a request that arrives twice: then some do. Default: no. */
  readonly detectsCopies?: boolean
  /** Whether its server plays a call of the Open Reward Standard only once that has come with its id. */
  readonly confirmsCalls?: boolean
  /** As for {@link RolloutOracle}. */
  readonly masksLate?: boolean
  /** As in {@link CuttingProxyOptions}. */
  readonly arrives?: (reply: Buffer) => number
}

/** The bytes of a stream up to the end of its first event, which has the id of the call. */
function firstEventOf(reply: Buffer): number {
  const end = reply.indexOf('\n\n')
  return end < 0 ? 0 : end + 2
}

const ENDPOINTS: readonly Endpoint[] = [
  { name: 'openenv', play: playGenericClient, portOf: ({ port }) => port, faults: GUSTS },
  { name: 'openenv-mcp', play: playToolClient, portOf: ({ port }) => port, faults: GUSTS },
  ...[
    // What `verify` masks is compared in the end: a late copy may be taken for a step before.
    { name: 'nemo-gym', play: playSimpleAgent, masksLate: true },
    { name: 'nemo-gym-first-cookie', play: playWithFirstCookie, masksLate: true },
    { name: 'nemo-gym-gymnasium', play: playGymnasiumAgent },
    { name: 'nemo-gym-gymnasium-first-cookie', play: playTurnsWithFirstCookie },
  ].map((endpoint) => ({
    ...endpoint,
    portOf: ({ ports }: Server) => ports.nemoGym,
    faults: STORM,
    detectsCopies: true,
  })),
  {
    name: 'ors',
    play: playOrs,
    portOf: ({ ports }) => ports.ors,
    // Without the first event of a lost stream, its client repeats a call that may have been played.
    faults: { ...STORM, repliesLost: 0, repliesCut: STORM.repliesLost + STORM.repliesCut },
    arrives: firstEventOf,
    players: 16,
  },
  {
    name: 'ors-confirm-calls',
    play: playOrs,
    portOf: ({ ports }) => ports.ors,
    faults: STORM,
    confirmsCalls: true,
    detectsCopies: true,
    // Each of them waits for half a second before each step.
    players: 32,
  },
]

/** Steps of an episode. */
const LENGTH = 8
/** The largest amount of a step. So few make many a step the same as the one before it. */
const AMOUNT = 3
/**
 * The endpoints whose episodes are judged by a request of their own, in the order in which their servers are killed
 * before it.
 */
const JUDGED = ['nemo-gym-first-cookie', 'nemo-gym']
/** What came of one endpoint. */
interface Found extends RolloutFigures, Required<Faults> {
  /** How often its server was killed. */
  readonly kills: number
}

await runTrial('endpoints', { store: 'sqlite', network: 'cuts' }, async ({ rng, quick, options, folder, stack }) => {
  // How often both servers are killed, and the steps that each endpoint plays before each time and after the last.
  const [rounds, steps] = quick ? [1, 40] : [20, 200]
  const reference = stack.use(await openReference())
  const start = async (name: string, more: readonly string[]) => {
    const home = join(folder, name)
    mkdirSync(home)
    const store = stack.use(await openStore(options.store, home))
    return stack.use(await startServer({ folder: home, args: ['--store', store.address, ...more], trainers: true }))
  }
  const [server, confirming] = await Promise.all([start('plain', []), start('confirming', ['--ors-confirm-calls'])])

  // Kills come after so many steps, not after so much time: a slow machine gets as many.
  const killing = rng.stream('kills')
  let struck = 0
  /** Whether the next kill is due: it comes when an episode has had its last step, and is not judged yet. */
  let due = false
  let striking: Promise<unknown> | null = null
  let over = false
  const progress = ENDPOINTS.map(() => 0)
  const onStep = (place: number) => {
    progress[place] = (progress[place] as number) + 1
    if (due || striking || Math.min(...progress) < steps) return
    over = struck === rounds
    due = !over
  }
  const strike = () => {
    due = false
    struck += 1
    const kill = (one: Server) => pause(killing.int(0, 10)).then(() => one.restart())
    striking = Promise.all([server, confirming].map(kill)).finally(() => {
      progress.fill(0)
      striking = null
    })
    return striking
  }
  // Those that come later wait too, so that they are judged by the server that has not seen them play.
  const beforeVerdict = async (name: string) => {
    if (due && name === JUDGED[struck % JUDGED.length]) await strike()
    else await striking
  }

  const breaches: string[] = []
  const found = await Promise.all(
    ENDPOINTS.map(
      async (
        { name, play, players = 8, portOf, faults, confirmsCalls, detectsCopies, masksLate = false, arrives },
        place,
      ): Promise<[string, Found]> => {
        const draws = rng.stream(name)
        const own = confirmsCalls ? confirming : server
        const copies = detectsCopies || options.network === 'doubles' ? COPIES : {}
        const network = { faults: { ...faults, ...copies }, rng: draws.stream('network'), ...(arrives && { arrives }) }
        const proxy = stack.use(await startCuttingProxy(portOf(own), network))
        const oracle = new RolloutOracle(name, reference, { masksLate })
        const setting = {
          url: `http://127.0.0.1:${proxy.port}`,
          token: server.token,
          onStep: () => onStep(place),
          beforeVerdict: () => beforeVerdict(name),
        }
        const playOn = async (amounts: Rng) => {
          while (!over) {
            // A trainer does not begin what has no server.
            await striking
            const drawn = Array.from({ length: LENGTH }, () => amounts.int(1, AMOUNT))
            await play(setting, ledgerEpisode(drawn)).then(
              (rollout) => oracle.check(drawn, rollout),
              (error) => oracle.untyped(error),
            )
          }
        }
        await Promise.all(Array.from({ length: players }, (_, player) => playOn(draws.stream(`player ${player}`))))
        breaches.push(...oracle.breaches)
        if (oracle.figures.finished === 0) breaches.push(`${name}: no episode was finished: nothing was shown.`)
        return [name, { ...oracle.figures, ...proxy.counts, kills: own.kills }]
      },
    ),
  )
  console.error(figuresOf(found))
  return { breaches, figures: { kills: server.kills + confirming.kills, endpoints: Object.fromEntries(found) } }
})

/** The figures as a table, for people. */
function figuresOf(found: readonly (readonly [string, Found])[]): string {
  const sumOf = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, one) => all + one, 0)
  const rows = found.map(([name, { errors, masked, ...counts }]) => ({
    endpoint: name,
    episodes: counts.episodes,
    steps: counts.steps,
    'lost requests': counts.requestsLost,
    'lost replies': counts.repliesLost,
    'cut replies': counts.repliesCut,
    'copies at once': counts.copied,
    'late copies': counts.copiedLate,
    kills: counts.kills,
    doubled: counts.doubled,
    lost: counts.lost,
    wrong: counts.wrong,
    'typed errors': sumOf(errors),
    masked: sumOf(masked),
  }))
  return tableOf(rows)
}
