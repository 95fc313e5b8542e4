import { environment as lake } from '@episodic/classics/frozen-lake'
import { connect, delegate } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { createVectorEnvironment, type VectorEnvironment } from './vector-environment.ts'

const createLake = () => createHost({ environments: [lake] })
const move = () => ({ tool: 'move', arguments: { direction: 'up' } })

async function withPlaces(size: number, run: (vector: VectorEnvironment) => Promise<void>): Promise<void> {
  await using host = createLake()
  await using connection = await connect(inProcess(host))
  await using vector = createVectorEnvironment(() => connection.environment(), size)
  await run(vector)
}

function settledValue<T>(settled: { kind: 'ok'; value: T } | { kind: 'failed' } | null | undefined): T {
  if (settled?.kind !== 'ok') throw new Error('This place has no value.', { cause: settled })
  return settled.value
}

describe('createVectorEnvironment', () => {
  it('plays each place by itself', () =>
    withPlaces(3, async (vector) => {
      const starts = await vector.reset([{ seed: 'a' }, { seed: 'b' }, { seed: 'a' }])
      expect(starts.map((start) => settledValue(start).info.seed)).toEqual(['a', 'b', 'a'])
      const [first, , third] = await vector.step([move(), move(), move()])
      expect(settledValue(third)).toEqual(settledValue(first))
    }))

  it('leaves a place alone that is given nothing', () =>
    withPlaces(2, async (vector) => {
      expect(await vector.reset([null, {}])).toEqual([null, expect.objectContaining({ kind: 'ok' })])
      await vector.reset([{}, null])
      await vector.step([null, move()])
      const [first, second] = await vector.step([move(), move()])
      expect([settledValue(first).info.seq, settledValue(second).info.seq]).toEqual([1, 2])
    }))

  it('keeps even a failure that is thrown at once from the others', async () => {
    await using host = createLake()
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
    const [first, second] = await vector.step([move(), move()])
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
    await using host = createLake()
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
