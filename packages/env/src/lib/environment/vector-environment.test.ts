import { inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { createWalkHost } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import { delegate } from './environment.ts'
import { createVectorEnvironment, type Settled, type VectorEnvironment } from './vector-environment.ts'

async function withPlaces(size: number, run: (vector: VectorEnvironment) => Promise<void>): Promise<void> {
  await using host = createWalkHost()
  await using connection = await connect(inProcess(host))
  await using vector = createVectorEnvironment(() => connection.environment(), size)
  await run(vector)
}

function settledValue<T>(settled: Settled<T> | null | undefined): T {
  if (settled?.kind !== 'ok') throw new Error('This place has no value.', { cause: settled })
  return settled.value
}

describe('createVectorEnvironment', () => {
  it('plays each place by itself', () =>
    withPlaces(3, async (vector) => {
      const starts = await vector.reset([{ seed: 'a' }, { seed: 'b' }, { seed: 'a' }])
      expect(starts.map((start) => settledValue(start).info.seed)).toEqual(['a', 'b', 'a'])
      const [first, , third] = await vector.step([move(1), move(2), move(1)])
      expect(settledValue(third)).toEqual(settledValue(first))
    }))

  it('leaves a place alone that is given nothing', () =>
    withPlaces(2, async (vector) => {
      expect(await vector.reset([null, {}])).toEqual([null, expect.objectContaining({ kind: 'ok' })])
      await vector.reset([{}, null])
      await vector.step([null, move(0)])
      const [first, second] = await vector.step([move(0), move(0)])
      expect([settledValue(first).info.seq, settledValue(second).info.seq]).toEqual([1, 2])
    }))

  it('keeps the failure of one place from the others', () =>
    withPlaces(3, async (vector) => {
      await vector.reset([{}, {}, null])
      const [first, second, third] = await vector.step([{ tool: 'break', arguments: {} }, move(0), move(0)])
      expect(first).toMatchObject({ kind: 'failed', cause: { code: 'environment-failed' } })
      expect(settledValue(second).info.seq).toBe(1)
      expect(third).toMatchObject({ kind: 'failed', cause: { code: 'not-playing' } })
    }))

  it('keeps even a failure that is thrown at once from the others', async () => {
    await using host = createWalkHost()
    await using connection = await connect(inProcess(host))
    const vector = createVectorEnvironment(
      (place) =>
        delegate(
          connection.environment(),
          place === 0
            ? {
                step() {
                  throw new Error('At once.')
                },
              }
            : {},
        ),
      2,
    )
    await vector.reset([{}, {}])
    const [first, second] = await vector.step([move(0), move(0)])
    expect(first).toMatchObject({ kind: 'failed' })
    expect(settledValue(second).info.seq).toBe(1)
  })

  it('rejects a batch of another size', () =>
    withPlaces(2, async (vector) => {
      await expect(vector.reset([{}])).rejects.toThrow(RangeError)
      await expect(vector.step([null, null, null])).rejects.toThrow(RangeError)
    }))

  it('needs a whole number of places', () => {
    for (const size of [0, -1, 1.5, Number.NaN])
      expect(() =>
        createVectorEnvironment(() => {
          throw new Error('No place is made.')
        }, size),
      ).toThrow(RangeError)
  })

  it('closes every place, and says which did not', async () => {
    await using host = createWalkHost()
    await using connection = await connect(inProcess(host))
    const vector = createVectorEnvironment(
      (place) =>
        delegate(connection.environment(), place === 1 ? { close: () => Promise.reject(new Error('Stuck.')) } : {}),
      3,
    )
    await vector.reset([{}, {}, {}])
    await expect(vector.close()).rejects.toMatchObject({ errors: [expect.objectContaining({ message: 'Stuck.' })] })
    expect((await host.list({ limit: 10 })).total).toBe(1)
  })
})
