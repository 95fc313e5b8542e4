import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRng, type Rng, type RngState } from './rng.ts'

/** One draw, as data. */
type Draw = (rng: Rng) => unknown

const anyRange = fc
  .tuple(fc.maxSafeInteger(), fc.maxSafeInteger())
  .map(([a, b]): [number, number] => (a < b ? [a, b] : [b, a]))
const anySmallRange = fc.tuple(fc.integer(), fc.nat(50)).map(([low, width]): [number, number] => [low, low + width])
const anyDraw: fc.Arbitrary<Draw> = fc.oneof(
  anyRange.map(
    ([low, high]) =>
      (rng: Rng) =>
        rng.int(low, high),
  ),
  anySmallRange.map(
    ([low, high]) =>
      (rng: Rng) =>
        rng.int(low, high),
  ),
  fc.constant((rng: Rng) => rng.float()),
  fc.constant((rng: Rng) => rng.chance()),
  fc.array(fc.nat(), { minLength: 1 }).map((items) => (rng: Rng) => rng.pick(items)),
  fc.array(fc.nat()).map((items) => (rng: Rng) => rng.shuffle(items)),
)
const anyStream = fc.constantFrom('main', 'layout', 'weather')
const anyDraws = fc.array(fc.tuple(anyStream, anyDraw), { maxLength: 30 })

const drawAll = (rng: Rng, draws: readonly (readonly [string, Draw])[]) =>
  draws.map(([stream, draw]) => draw(rng.stream(stream)))

describe('createRng', () => {
  it('draws the same for the same seed', () => {
    fc.assert(
      fc.property(fc.string(), anyDraws, (seed, draws) => {
        expect(drawAll(createRng(seed), draws)).toEqual(drawAll(createRng(seed), draws))
      }),
    )
  })

  // Recorded episodes replay from their seeds, so another sequence is another version of every environment.
  it('draws what it has always drawn', () => {
    const rng = createRng('golden')
    expect(Array.from({ length: 6 }, () => rng.int(1, 100))).toEqual([5, 8, 5, 54, 6, 98])
    expect([rng.float(), rng.float()]).toEqual([0.43997832184031105, 0.7389378200780896])
    expect(rng.shuffle([1, 2, 3, 4, 5, 6, 7, 8])).toEqual([2, 7, 4, 5, 3, 6, 1, 8])
    expect([rng.pick(['a', 'b', 'c']), rng.chance()]).toEqual(['c', true])
    expect(rng.int(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).toBe(7082396052291289)
    expect(rng.int(-5e12, 5e12)).toBe(-3516310642130)
    const layout = rng.stream('layout')
    expect(Array.from({ length: 6 }, () => layout.int(0, 9))).toEqual([5, 5, 0, 7, 0, 1])
    expect(rng.save()).toEqual({
      main: [-794631335, -1273218957, 1352507665, -505307527],
      layout: [-997073063, 670975016, -50503938, -1079227920],
    })
  })

  it('keeps streams apart: draws from one never move another', () => {
    fc.assert(
      fc.property(fc.string(), anyDraws, (seed, draws) => {
        const together = createRng(seed)
        const drawn = drawAll(together, draws)
        for (const stream of ['main', 'layout', 'weather']) {
          const own = draws.flatMap((draw, index) => (draw[0] === stream ? [{ draw, drawn: drawn[index] }] : []))
          expect(
            drawAll(
              createRng(seed),
              own.map(({ draw }) => draw),
            ),
          ).toEqual(own.map(({ drawn }) => drawn))
        }
      }),
    )
  })

  it('goes on from where it was saved as if it had never stopped, through JSON too', () => {
    fc.assert(
      fc.property(fc.string(), anyDraws, anyDraws, (seed, before, after) => {
        const rng = createRng(seed)
        drawAll(rng, before)
        const saved: RngState = JSON.parse(JSON.stringify(rng.save()))
        const restored = createRng(seed, saved)
        expect(restored.save()).toEqual(saved)
        expect(drawAll(restored, after)).toEqual(drawAll(rng, after))
        expect(restored.save()).toEqual(rng.save())
      }),
    )
  })

  it('leaves the state that it was given alone', () => {
    const first = createRng('seed')
    first.int(0, 9)
    const saved = first.save()
    const copy = structuredClone(saved)
    const rng = createRng('seed', saved)
    rng.int(0, 9)
    rng.stream('other').float()
    expect(saved).toEqual(copy)
  })

  it('saves nothing for a world without chance', () => {
    const rng = createRng('seed')
    rng.stream('unused')
    expect(rng.save()).toEqual({})
  })

  it('draws differently for seeds and streams whose joined texts are equal', () => {
    const first = (seed: string, stream: string) =>
      createRng(seed)
        .stream(stream)
        .int(0, 2 ** 50)
    expect(first('a/b', 'c')).not.toBe(first('a', 'b/c'))
    expect(first('a', 'b')).not.toBe(first('a/', 'b'))
  })
})

describe('Rng', () => {
  it('draws whole numbers within both bounds, and moves with them', () => {
    fc.assert(
      fc.property(fc.string(), anyRange, (seed, [low, high]) => {
        const drawn = createRng(seed).int(low, high)
        expect(Number.isSafeInteger(drawn)).toBe(true)
        expect(drawn).toBeGreaterThanOrEqual(low)
        expect(drawn).toBeLessThanOrEqual(high)
      }),
    )
    fc.assert(
      fc.property(fc.string(), anySmallRange, (seed, [low, high]) => {
        expect(createRng(seed).int(low, high)).toBe(low + createRng(seed).int(0, high - low))
      }),
    )
  })

  it('reaches every number of a range', () => {
    const rng = createRng('seed')
    const drawn = new Set(Array.from({ length: 200 }, () => rng.int(-2, 3)))
    expect([...drawn].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3])
  })

  it.each([
    [2, 1],
    [0.5, 2],
    [0, Number.POSITIVE_INFINITY],
    [Number.NaN, 1],
    [0, 2 ** 53],
  ])('refuses the range from %d to %d', (low, high) => {
    expect(() => createRng('seed').int(low, high)).toThrow(RangeError)
  })

  it('draws floats from [0, 1) in steps of 2⁻⁵³', () => {
    fc.assert(
      fc.property(fc.string(), (seed) => {
        const drawn = createRng(seed).float()
        expect(drawn).toBeGreaterThanOrEqual(0)
        expect(drawn).toBeLessThan(1)
        expect(Number.isInteger(drawn * 2 ** 53)).toBe(true)
      }),
    )
  })

  it('takes chances of 0 and 1 at their word', () => {
    const rng = createRng('seed')
    const chances = Array.from({ length: 100 }, () => [rng.chance(0), rng.chance(1)])
    expect(chances.every(([never, always]) => !never && always)).toBe(true)
  })

  it('picks an element, and refuses an empty list', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.nat(), { minLength: 1 }), (seed, items) => {
        expect(items).toContain(createRng(seed).pick(items))
      }),
    )
    expect(() => createRng('seed').pick([])).toThrow(RangeError)
  })

  it('shuffles a copy, in which nothing is lost or doubled', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.nat(9)), (seed, items) => {
        const before = [...items]
        const shuffled = createRng(seed).shuffle(items)
        expect(items).toEqual(before)
        expect(shuffled.toSorted()).toEqual(items.toSorted())
      }),
    )
  })

  it('reaches every order of three', () => {
    const rng = createRng('seed')
    const orders = new Set(Array.from({ length: 100 }, () => rng.shuffle(['a', 'b', 'c']).join('')))
    expect([...orders].sort()).toEqual(['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
  })
})
