import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { connect, type Environment, type Policy } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { type RunEpisodesOptions, runEpisodes } from '@episodic/play/play/episodes/run-episodes'
import { planEpisodes } from '@episodic/play/play/plan/plan'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import type { EpisodeRecord } from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { machineClock } from '@episodic/run/base/waiting-clock'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'

let world: World
const cleanUp = new AsyncDisposableStack()
let createEnvironment: () => Environment

beforeAll(async () => {
  world = await loadWorld(exampleWorld('number-guessing'))
  const host = cleanUp.use(createHost({ environments: [world.environment] }))
  const connection = cleanUp.use(await connect(inProcess(host)))
  createEnvironment = () => connection.environment()
})
afterAll(() => cleanUp.disposeAsync())

function plan(count: number): AsyncIterable<PlannedEpisode> {
  const { tasks } = world as { tasks: TasksDefinition }
  return planEpisodes(toAsync(generateTasks(tasks, { seed: 'plan', count })), 2)
}

async function* toAsync<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

/** Plays, and returns what was sealed. */
async function play(episodes: AsyncIterable<PlannedEpisode>, options: Partial<RunEpisodesOptions> = {}) {
  const sealed: EpisodeRecord[] = []
  const asked: RunEpisodesOptions = {
    run: 'test',
    createEnvironment,
    policy: world.solver!,
    seed: '0',
    discount: 1,
    concurrency: 4,
    seal: async (record) => void sealed.push(seatRecordOf(record)),
    ...options,
  }
  const failure = await runEpisodes(episodes, asked).then(
    () => null,
    (error: unknown) => error,
  )
  return { sealed, failure }
}

/** The world's solver, with a callback before each episode. */
function watched(onBegin: () => void | Promise<void>): Policy {
  return {
    name: 'watched',
    async start(context) {
      await onBegin()
      return world.solver!.start(context)
    },
  }
}

/** An environment with some of its methods replaced. */
function around(environment: Environment, changes: Partial<Environment>): Environment {
  return {
    info: environment.info,
    reset: (...args) => environment.reset(...args),
    step: (...args) => environment.step(...args),
    publish: (...args) => environment.publish(...args),
    snapshot: (...args) => environment.snapshot(...args),
    restore: (...args) => environment.restore(...args),
    fork: (...args) => environment.fork(...args),
    close: () => environment.close(),
    [Symbol.asyncDispose]: () => environment.close(),
    ...changes,
  }
}

/** Environments that count how many are open at once, and call back around the close of each. */
function counted(beforeClose: () => Promise<void>, afterClose: () => void = () => {}) {
  const open = new Set<object>()
  const counts = { most: 0 }
  const create = () => {
    const environment = createEnvironment()
    open.add(environment)
    counts.most = Math.max(counts.most, open.size)
    return around(environment, {
      async close() {
        await beforeClose()
        await environment.close()
        open.delete(environment)
        afterClose()
      },
    })
  }
  return { counts, create }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('runEpisodes', () => {
  it('never exceeds its concurrency, and reads the plan only as far as it plays', async () => {
    let [read, sealed, ahead] = [0, 0, 0]
    async function* readPlan() {
      for await (const planned of plan(30)) {
        read += 1
        ahead = Math.max(ahead, read - sealed)
        yield planned
      }
    }
    // As with a server of its own, whose answer is an event of this process.
    const { counts, create } = counted(nextTurn)
    const { failure } = await play(readPlan(), {
      concurrency: 5,
      createEnvironment: create,
      async seal() {
        sealed += 1
      },
    })
    expect(failure).toBeNull()
    expect(sealed).toBe(60)
    expect(counts.most).toBe(5)
    expect(ahead).toBeLessThanOrEqual(7)
  })

  it('plays episodes that never wait one after the other, and seals them together', async () => {
    let [unsealed, mostUnsealed] = [0, 0]
    const { counts, create } = counted(
      async () => {},
      () => {
        mostUnsealed = Math.max(mostUnsealed, ++unsealed)
      },
    )
    const { failure } = await play(plan(30), {
      concurrency: 5,
      createEnvironment: create,
      // By this clock no turn is long, however slow the machine is.
      clock: { ...machineClock, now: () => 0 },
      async seal() {
        await nextTurn()
        unsealed -= 1
      },
    })
    expect(failure).toBeNull()
    expect(unsealed).toBe(0)
    expect(counts.most).toBeLessThan(5)
    expect(mostUnsealed).toBe(5)
  })

  it('stops if an episode cannot be sealed', async () => {
    const full = new Error('no room')
    let tried = 0
    const { failure } = await play(plan(50), {
      async seal() {
        tried += 1
        if (tried >= 3) throw full
      },
    })
    expect(failure).toBe(full)
    expect(tried).toBeLessThanOrEqual(3 + 4)
  })

  it('stops the episodes in flight before it throws for a plan that cannot be read', async () => {
    const torn = new Error('torn')
    async function* broken() {
      let count = 0
      for await (const planned of plan(10)) {
        if (count++ === 6) throw torn
        yield planned
      }
    }
    let inFlight = 0
    const policy = watched(() => {
      inFlight += 1
    })
    const { failure, sealed } = await play(broken(), { policy })
    const after = sealed.length
    await new Promise(setImmediate)
    expect(failure).toBe(torn)
    expect(inFlight).toBeLessThanOrEqual(6)
    expect(sealed).toHaveLength(after)
  })
})
