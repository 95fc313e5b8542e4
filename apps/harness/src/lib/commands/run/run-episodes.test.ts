import { join } from 'node:path'
import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { connect, EnvError, type Environment, type Policy } from '@episodic/env'
import { createHost, inProcess, rehearse } from '@episodic/mcp-server'
import { type RunEpisodesOptions, runEpisodes } from '@episodic/play/play/episodes/run-episodes'
import { planEpisodes } from '@episodic/play/play/plan/plan'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import type { EpisodeRecord } from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { machineClock } from '@episodic/run/base/waiting-clock'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, nameOf } from '../../fixtures/episodic.fixture.ts'

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

/** Environments whose server is lost before `reset`, or after it. */
function lostAt(moment: 'reset' | 'step'): () => Environment {
  const lost = async () => {
    throw new EnvError('connection-failed', 'No answer.')
  }
  return () => around(createEnvironment(), { [moment]: lost })
}

describe('runEpisodes', () => {
  it('seals every episode of the plan once', async () => {
    const { sealed, failure } = await play(plan(20))
    expect(failure).toBeNull()
    expect(new Set(sealed.map(nameOf)).size).toBe(40)
    expect(sealed).toHaveLength(40)
  })

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

  it('drops episodes in flight when aborted, and keeps the sealed ones', async () => {
    const abort = new AbortController()
    let begun = 0
    const policy = watched(() => {
      begun += 1
      if (begun === 10) abort.abort()
    })
    const { sealed, failure } = await play(plan(50), { policy, signal: abort.signal })
    expect(failure).toBeNull()
    expect(sealed.length).toBeLessThan(10)
    expect(sealed.every(({ outcome }) => outcome.kind === 'finished')).toBe(true)
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

  it('seals the failure of a policy with its cause, and continues', async () => {
    let begun = 0
    const policy = watched(() => {
      begun += 1
      if (begun === 3) throw new Error('I give up')
    })
    const { sealed } = await play(plan(5), { policy })
    const failures = sealed.filter(({ outcome }) => outcome.kind === 'failed')
    expect(sealed).toHaveLength(10)
    expect(failures).toMatchObject([
      { outcome: { error: { code: 'unexpected', message: 'I give up' } }, returns: null, steps: [] },
    ])
  })

  it('stops without a server, and leaves unstarted episodes unsealed', async () => {
    const { sealed, failure } = await play(plan(100), { createEnvironment: lostAt('reset') })
    expect(failure).toMatchObject({ code: 'server-failed' })
    expect(sealed).toEqual([])
  })

  it('seals an episode that loses its server midway as failed', async () => {
    const { sealed, failure } = await play(plan(2), { createEnvironment: lostAt('step') })
    expect(failure).toBeNull()
    expect(sealed).toHaveLength(4)
    for (const { outcome, returns } of sealed) {
      expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'connection-failed' } })
      expect(returns).toBeNull()
    }
  })

  it('seals episodes that can be replayed from their seed, parameters and actions', async () => {
    const { sealed } = await play(plan(20), { policy: world.policies.careless as Policy })
    expect(new Set(sealed.map(({ seed }) => seed)).size).toBe(20)
    for (const { params, seed, start, steps } of sealed) {
      const again = rehearse(world.environment, { params, seed })
      expect(start?.observation).toEqual(again.start.observation)
      for (const { action, observation, reward } of steps) {
        const { observation: seen, terms } = again.play(action.tool, action.arguments)
        expect({ observation, terms: reward.terms }).toEqual({ observation: seen, terms })
      }
    }
  })

  it('earns on slippery ice the value that value iteration computes', async () => {
    const lake = await loadWorld(exampleWorld('frozen-lake'))
    const { references } = await import(join(exampleWorld('frozen-lake'), 'src/index.ts'))
    await using host = createHost({ environments: [lake.environment] })
    await using connection = await connect(inProcess(host))
    const [task] = generateTasks(lake.tasks as TasksDefinition, { seed: 'ice', count: 1 })
    const episodes = Array.from({ length: 200 }, (_, i) => ({
      task: { ...task!, id: `ice-${i}`, params: { map: '4x4', slippery: true }, seed: `ice-${i}` },
      attempt: 0,
    }))
    const { sealed, failure } = await play(toAsync(episodes), {
      createEnvironment: () => connection.environment(),
      policy: lake.solver!,
    })
    expect(failure).toBeNull()
    const optimum: number = references.find(({ id }: { id: string }) => id === '4x4-slippery/optimal').value
    const mean = sealed.reduce((sum, { returns }) => sum + (returns?.total ?? Number.NaN), 0) / sealed.length
    // Returns are 0 or 1: the 99.9 % interval of a share. The seeds are fixed, so this passes always or never.
    expect(Math.abs(mean - optimum)).toBeLessThan(3.29 * Math.sqrt((optimum * (1 - optimum)) / sealed.length))
  })
})
