import { createHost, inProcess } from '@episodic/mcp-server'
import type { Action } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { move, walk } from '../fixtures/walk.fixture.ts'
import { withShaping } from './with-shaping.ts'

const task = { seed: 'watched', params: { size: 10 } }

/** A host, a connection to it, and a world there that somebody else plays. */
async function open() {
  const cleanUp = new AsyncDisposableStack()
  const host = cleanUp.use(createHost({ environments: [walk] }))
  const connection = cleanUp.use(await connect(inProcess(host)))
  const watched = cleanUp.use(connection.watched('walk'))
  const act = async (action: Action) =>
    (await host.resolve(null, { by: 'capability', token: watched.capability as string })).step({ action })
  return { connection, watched, act, [Symbol.asyncDispose]: () => cleanUp.disposeAsync() }
}

describe('SessionEnvironment', () => {
  it('resolves with the actions of another client, and their steps are those of an own play', async () => {
    await using world = await open()
    const actions = [move(1), move(-3), { tool: 'fly', arguments: {} }, move(2)]
    await using own = withShaping(world.connection.environment('walk'))
    await own.reset(task)
    const expected = []
    for (const action of actions) expected.push(await own.step(action))

    const watched = withShaping(world.watched)
    await watched.reset(task)
    for (const action of actions) await world.act(action)
    for (const [i, action] of actions.entries()) {
      expect(await world.watched.next({ wait: 0 })).toEqual(action)
      expect(await watched.step(action)).toEqual(expected[i])
    }
    expect(await world.watched.next({ wait: 0 })).toBeNull()
  })

  it('waits for the next action, and stops at an abort', async () => {
    await using world = await open()
    await world.watched.reset(task)
    const next = world.watched.next({ wait: 60 })
    await world.act(move(1))
    expect(await next).toEqual(move(1))
    await world.watched.step(move(1))
    const controller = new AbortController()
    const waiting = world.watched.next({ wait: 60, signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await world.act(move(2))
    expect(await world.watched.next({ wait: 60 })).toEqual(move(2))
  })

  it('starts again with each reset, and has no capability without an episode', async () => {
    await using world = await open()
    expect(world.watched.capability).toBeNull()
    await expect(world.watched.next({ wait: 0 })).rejects.toMatchObject({ code: 'not-playing' })
    await world.watched.reset(task)
    await world.act(move(1))
    await world.watched.reset(task)
    expect(await world.watched.next({ wait: 0 })).toBeNull()
    await world.act(move(3))
    expect(await world.watched.next({ wait: 0 })).toEqual(move(3))
    await world.watched.close()
    expect(world.watched.capability).toBeNull()
  })
})
