/**
 * The adapters of the Python package `episodic-env` play over a network that loses, cuts and doubles messages, with a
 * server that is killed. A rollout that counts has the return and the steps of one without faults; any other is an
 * error.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findPythonEnvironment, openPythonEnvironment } from '../../interop/python-environment.ts'
import { type Faults, startCuttingProxy } from '../network/cutting-proxy.ts'
import { startServer } from '../processes/server.ts'
import { startProcess } from '../processes/start-process.ts'
import { openStore } from '../processes/store.ts'
import { tableOf } from '../table.ts'
import { runTrial } from '../trial.ts'

const STORM: Faults = { requestsLost: 0.04, repliesLost: 0.05, repliesCut: 0.05 }
/** Of clients that number their steps. */
const COPIED = 0.05

const PLAYER = fileURLToPath(new URL('../players/adapter-player.py', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../clients/python/', import.meta.url))
const SMALL = 'episodic-env.txt'
const CLASSICS = ['cart-pole']

interface Adapter {
  readonly name: string
  /** The file of its requirements. */
  readonly requirements: string
  /** Rollouts, in the quick form and in the whole. */
  readonly rollouts: readonly [quick: number, whole: number]
  /** Its episodes are those of this one, so that they need not be played without faults. */
  readonly like?: string
}

const ADAPTERS: readonly Adapter[] = [
  { name: 'client', requirements: SMALL, rollouts: [8, 200] },
  { name: 'client-websocket', requirements: SMALL, rollouts: [8, 200] },
  { name: 'attached', requirements: SMALL, rollouts: [8, 100] },
  { name: 'gymnasium', requirements: SMALL, rollouts: [8, 200] },
  { name: 'classics', requirements: SMALL, rollouts: [4, 60] },
  { name: 'trl', requirements: SMALL, rollouts: [8, 200] },
  { name: 'inspect', requirements: 'episodic-env-inspect.txt', rollouts: [8, 60], like: 'client' },
  // Its harness is a process for each rollout, which takes seconds to start: not in the quick form.
  { name: 'verifiers', requirements: 'episodic-env-verifiers.txt', rollouts: [0, 16], like: 'client' },
]

/**
 * A client of plain MCP that repeats what is lost, without numbers: what the network does to it shows that it does
 * anything.
 */
const NAIVE: Adapter = { name: 'naive', requirements: SMALL, rollouts: [8, 60], like: 'client' }

/** A rollout, as the player reports it. */
interface Rollout {
  readonly key: string
  /** The return, the steps and what was seen; `null` for one that failed. */
  readonly result: unknown
  readonly error?: string
}

interface Found {
  readonly rollouts: number
  readonly ok: number
  readonly wrong: number
  readonly failed: number
  readonly requests: number
  readonly lost: number
  readonly kills: number
}

await runTrial('adapters', { store: 'sqlite' }, async ({ rng, quick, options, folder, stack }) => {
  const store = stack.use(await openStore(options.store, folder))
  const [world = '', ...classics] = [
    '@episodic-world/number-guessing',
    ...CLASSICS.map((name) => `@episodic/classics/${name}`),
  ].map((name) => fileURLToPath(import.meta.resolve(name)))
  const args = ['--store', store.address, ...classics]
  const server = stack.use(await startServer({ folder, world, args }))

  /** Plays all rollouts of an adapter at a port. */
  const play = async (adapter: Adapter, python: string, port: number): Promise<readonly Rollout[]> => {
    const scheme = adapter.name === 'client-websocket' ? 'ws' : 'http'
    const home = join(folder, `${adapter.name}-${port}`)
    mkdirSync(home)
    const count = String(adapter.rollouts[quick ? 0 : 1])
    const player = startProcess(python, [PLAYER, adapter.name, `${scheme}://127.0.0.1:${port}/env`, count], {
      cwd: home,
      env: {
        EPISODIC_CONTROL_TOKEN: server.token,
        EPISODIC_HOME: home,
        PYTHONPATH: [join(PACKAGE, 'src'), join(PACKAGE, 'tests')].join(':'),
      },
    })
    stack.use(player)
    return JSON.parse(await player.line()) as Rollout[]
  }

  const breaches: string[] = []
  const skipped: string[] = []
  const expected = new Map<string, ReadonlyMap<string, unknown>>()
  const found: [string, Found][] = []
  for (const adapter of [...ADAPTERS, NAIVE]) {
    const { name, requirements, rollouts, like = name } = adapter
    // The small one is always made in CI, so that something is shown there.
    const asFound = quick && !(process.env.CI && requirements === SMALL)
    const python = asFound
      ? findPythonEnvironment(requirements)
      : openPythonEnvironment(requirements, (text) => console.error(text)).python
    if (rollouts[quick ? 0 : 1] === 0) {
      skipped.push(name)
      console.error(`– ${name}: only without --quick.`)
      continue
    }
    if (python === null) {
      skipped.push(name)
      console.error(`– ${name}: its packages are not installed. pnpm chaos adapters, without --quick, installs them.`)
      continue
    }
    if (like === name) {
      const undisturbed = await play(adapter, python, server.port)
      const failed = undisturbed.find(({ result }) => result === null)
      if (failed) throw new Error(`${name} fails without any fault: ${failed.error}`)
      expected.set(name, new Map(undisturbed.map(({ key, result }) => [key, result])))
    }
    const killing = rng.stream(`kills of ${name}`)
    const kills = server.kills
    let requests = 0
    let next = name === NAIVE.name ? Number.POSITIVE_INFINITY : killing.int(10, 25)
    let striking: Promise<unknown> = Promise.resolve()
    const onRequest = () => {
      requests += 1
      if (requests < next) return
      next = quick ? Number.POSITIVE_INFINITY : requests + killing.int(100, 300)
      striking = striking.then(() => server.restart())
    }
    const faults = name === NAIVE.name ? STORM : { ...STORM, copied: COPIED }
    const network = { faults, rng: rng.stream(`network of ${name}`), onRequest }
    const proxy = stack.use(await startCuttingProxy(server.port, network))
    const played = await play(adapter, python, proxy.port)
    await striking
    const wrong = played.filter(({ key, result }) => {
      const wanted = JSON.stringify(expected.get(like)?.get(key))
      return result !== null && JSON.stringify(result) !== wanted
    })
    const failed = played.filter(({ result }) => result === null)
    const { requestsLost, repliesLost, repliesCut } = proxy.counts
    const counts: Found = {
      rollouts: played.length,
      ok: played.length - failed.length - wrong.length,
      wrong: wrong.length,
      failed: failed.length,
      requests,
      lost: requestsLost + repliesLost + repliesCut,
      kills: server.kills - kills,
    }
    found.push([name, counts])
    console.error(`${name}: ${JSON.stringify(counts)}`)
    if (name === NAIVE.name) {
      if (wrong.length === 0) breaches.push('The network harms no client without numbers, so it shows nothing.')
      continue
    }
    for (const { key, result } of wrong)
      breaches.push(
        `${name}: rollout ${key} is ${JSON.stringify(result)}, and not ${JSON.stringify(expected.get(like)?.get(key))}.`,
      )
    // The store outlives the server, and every adapter waits for it.
    for (const { key, error } of failed) breaches.push(`${name}: rollout ${key} failed: ${error}`)
  }
  console.error(tableOf(found.map(([adapter, counts]) => ({ adapter, ...counts }))))
  return { breaches, figures: { kills: server.kills, skipped, adapters: Object.fromEntries(found) } }
})
