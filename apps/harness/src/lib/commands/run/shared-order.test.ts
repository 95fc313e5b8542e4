import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { runEpisodes } from '@episodic/play/play/episodes/run-episodes'
import { planEpisodes } from '@episodic/play/play/plan/plan'
import { SharedOrder } from '@episodic/play/play/sets/shared-order'
import { loadWorld } from '@episodic/play/worlds/world'
import { describe, expect, it } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'

async function* rowsOf<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

/** Waits for a condition, and then some turns of the event loop more, in which nothing else may happen. */
async function until(condition: () => boolean): Promise<void> {
  for (let left = 50; left > 0; left -= condition() ? 1 : 0) await new Promise(setImmediate)
}

/** A run of 100 tasks, whose episodes wait for `admit`. */
async function open() {
  const world = await loadWorld(exampleWorld('number-guessing'))
  const stack = new AsyncDisposableStack()
  const host = stack.use(createHost({ environments: [world.environment] }))
  const connection = stack.use(await connect(inProcess(host)))
  const order = new SharedOrder()
  const signal = new AbortController()
  const player = (admit: (begun: number) => Promise<void>) => {
    const place = order.join()
    const state = { begun: 0, sealed: 0, place }
    const policy = {
      name: 'admitted',
      async start(context: Parameters<NonNullable<typeof world.solver>['start']>[0]) {
        state.begun += 1
        await admit(state.begun)
        return world.solver!.start(context)
      },
    }
    const play = async () => {
      using _ = place
      await runEpisodes(
        planEpisodes(rowsOf(generateTasks(world.tasks as TasksDefinition, { seed: '1', count: 100 })), 1),
        {
          run: 'test',
          createEnvironment: () => connection.environment(),
          policy,
          seed: '0',
          discount: 1,
          concurrency: 2,
          order: place,
          signal: signal.signal,
          seal: async () => {
            state.sealed += 1
          },
        },
      )
    }
    return { state, play }
  }
  return { player, signal, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

describe('SharedOrder', () => {
  it('keeps a fast run near the slowest one, until that one ends or is not waited for', async () => {
    await using opened = await open()
    const held = Promise.withResolvers<void>()
    const fast = opened.player(async () => {})
    const slow = opened.player((begun) => (begun > 3 ? held.promise : Promise.resolve()))
    const played = Promise.all([fast.play(), slow.play()])
    await until(() => fast.state.sealed >= 14)
    // Two of its episodes are held, and it asks for the sixth task, which has the position 5.
    expect(slow.state.begun).toBe(5)
    expect(fast.state.begun).toBe(5 + 1 + 8)
    slow.state.place.setWaitedFor(false)
    await until(() => fast.state.sealed === 100)
    slow.state.place.setWaitedFor(true)
    held.resolve()
    await played
    expect([fast.state.sealed, slow.state.sealed]).toEqual([100, 100])
  })

  it('does not keep an aborted run waiting', async () => {
    await using opened = await open()
    const fast = opened.player(async () => {})
    // It has joined, and never starts.
    opened.player(async () => {})
    const played = fast.play()
    await until(() => fast.state.sealed >= 9)
    expect(fast.state.begun).toBe(9)
    opened.signal.abort()
    await played
    expect(fast.state.sealed).toBe(9)
  })
})
