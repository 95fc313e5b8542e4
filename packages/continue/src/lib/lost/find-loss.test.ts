import { createRng, type Rng, seedFor } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { findLoss, type Loss } from './find-loss.ts'

/** An episode whose value after each number of steps is known, and draws that come to it. */
interface Case {
  readonly values: readonly number[]
  readonly end?: number
  readonly budget?: number
  readonly rollouts?: number
}

async function search(name: string, { values, end, budget = 400, rollouts = 16 }: Case) {
  const asked: [step: number, count: number][] = []
  const loss = await findLoss({
    steps: values.length,
    from: 0,
    end: end ?? null,
    budget,
    rollouts,
    outcomesAt: async (step, count) => {
      const rng = createRng(seedFor(name, 'look', asked.length))
      asked.push([step, count])
      return Array.from({ length: count }, () => Number(rng.float() < (values[step] as number)))
    },
  })
  return { loss, asked, played: asked.reduce((sum, [, count]) => sum + count, 0) }
}

/** From 5 to 60 steps, as in episodes of agents. */
const lengthOf = (rng: Rng) => rng.int(5, 60)
const within = (rng: Rng, low: number, high: number) => low + (high - low) * rng.float()
const constant = (steps: number, value: number) => Array.from({ length: steps }, () => value)
const dropped = (steps: number, at: number, before: number, after: number) => [
  ...constant(at, before),
  ...constant(steps - at, after),
]
const slope = (steps: number, from: number, to: number) =>
  Array.from({ length: steps }, (_, step) => from + ((to - from) * step) / (steps - 1))
const nameOf = (loss: Loss) => (loss.kind === 'lost' ? `step ${loss.step}` : loss.why)

describe('findLoss', () => {
  it('names the step of at least 18 of 20 planted mistakes, and no wrong step', async () => {
    const found: string[] = []
    for (let i = 0; i < 20; i++) {
      const rng = createRng(seedFor('planted', i))
      const steps = lengthOf(rng)
      const at = rng.int(1, steps - 1)
      // Of every second one success is less likely after it, and of the others impossible.
      const after = i % 2 === 0 ? 0 : within(rng, 0.05, 0.25)
      const { loss } = await search(`planted ${i}`, { values: dropped(steps, at, within(rng, 0.5, 0.95), after) })
      if (loss.kind === 'lost') found.push(loss.step === at ? 'right' : 'wrong')
    }
    expect(found.filter((one) => one === 'right').length).toBeGreaterThanOrEqual(18)
    expect(found).not.toContain('wrong')
  })

  it('names no step of 20 episodes without a mistake, and says why', async () => {
    const whys: string[] = []
    for (let i = 0; i < 20; i++) {
      const steps = lengthOf(createRng(seedFor('none', i)))
      const values = i < 9 ? constant(steps, (i + 1) / 10) : i < 11 ? constant(steps, 0) : slope(steps, 0.9, 0.1)
      whys.push(nameOf((await search(`none ${i}`, { values })).loss))
    }
    expect(whys.filter((why) => why.startsWith('step'))).toEqual([])
    expect(new Set(whys.slice(9, 11))).toEqual(new Set(['no-chance']))
    expect(whys.slice(0, 9).filter((why) => why === 'not-lost').length).toBeGreaterThanOrEqual(8)
    expect(whys.slice(11).filter((why) => why === 'gradual').length).toBeGreaterThanOrEqual(8)
  })

  it('names a step of at most 5 % of 1,000 episodes whose value is the same at every step', async () => {
    let named = 0
    for (let i = 0; i < 1_000; i++) {
      const rng = createRng(seedFor('null', i))
      const { loss } = await search(`null ${i}`, { values: constant(lengthOf(rng), rng.float()) })
      if (loss.kind === 'lost') named += 1
    }
    expect(named).toBeLessThanOrEqual(50)
  })

  it.each([
    { budget: 400, least: 950, most: 0 },
    { budget: 200, least: 860, most: 3 },
    { budget: 100, least: 680, most: 3 },
  ])('names the right step of so many of 1,000 with a budget of $budget, and its drop', async (given) => {
    const { budget, least, most } = given
    let [right, wrong, held] = [0, 0, 0]
    for (let i = 0; i < 1_000; i++) {
      const rng = createRng(seedFor('drop', i))
      const [steps, before, after] = [lengthOf(rng), within(rng, 0.5, 0.95), within(rng, 0, 0.25)]
      const at = rng.int(1, steps - 1)
      const { loss } = await search(`drop ${i}`, { values: dropped(steps, at, before, after), budget })
      if (loss.kind === 'cannot-tell') continue
      if (loss.step !== at) wrong += 1
      else {
        right += 1
        held += Number(loss.drop.low <= before - after && before - after <= loss.drop.high)
      }
    }
    expect(right).toBeGreaterThanOrEqual(least)
    expect(wrong).toBeLessThanOrEqual(most)
    expect(held / right).toBeGreaterThanOrEqual(0.94)
  })

  it('names the last step of an episode that could still be won before it', async () => {
    const { loss } = await search('last', { values: constant(12, 0.9), end: 0 })
    expect(loss).toMatchObject({ kind: 'lost', step: 12, after: { step: 12, rate: 0 } })
  })

  it('names a mistake before the end, though the episode was lost for good only there', async () => {
    const { loss } = await search('before', { values: dropped(30, 11, 0.9, 0.2), end: 0 })
    expect(loss).toMatchObject({ kind: 'lost', step: 11 })
  })

  it('finds the one step of an episode of one', async () => {
    expect(nameOf((await search('one', { values: [0.8], end: 0 })).loss)).toBe('step 1')
    expect(nameOf((await search('one', { values: [0.8], end: 1 })).loss)).toBe('not-lost')
  })

  it('finds a mistake after steps that made success more likely', async () => {
    const { loss } = await search('risen', { values: [...slope(20, 0.3, 0.95), ...constant(20, 0)] })
    expect(loss).toMatchObject({ kind: 'lost', step: 20 })
  })

  it('never asks for more than its budget, and says that it was too small', async () => {
    for (const budget of [1, 9, 10, 25, 100]) {
      const { loss, played } = await search('poor', { values: dropped(60, 31, 0.6, 0.3), budget })
      expect(played).toBeLessThanOrEqual(budget)
      if (budget <= 10) expect(loss).toMatchObject({ kind: 'cannot-tell' })
    }
    expect(nameOf((await search('poor', { values: [1], budget: 9 })).loss)).toBe('budget')
  })

  it('spends a tenth of its budget on an episode without a chance', async () => {
    const { played } = await search('hopeless', { values: constant(50, 0) })
    expect(played).toBe(80)
  })

  it('asks the same of the same outcomes, and gives every value that it measured', async () => {
    const values = dropped(40, 17, 0.8, 0.1)
    const [one, other] = [await search('again', { values }), await search('again', { values })]
    expect(one).toEqual(other)
    const steps = [...new Set(one.asked.map(([step]) => step))].sort((a, b) => a - b)
    expect(one.loss.curve.map(({ step }) => step)).toEqual(steps)
    expect(one.loss.curve.reduce((sum, { count }) => sum + count, 0)).toBe(one.played)
  })

  it('takes returns between 0 and 1 for outcomes', async () => {
    const rng = createRng('returns')
    const loss = await findLoss({
      ...{ steps: 20, from: 0, end: 0.2, budget: 400, rollouts: 16 },
      outcomesAt: async (step, count) =>
        Array.from({ length: count }, () => (step < 8 ? within(rng, 0.6, 1) : within(rng, 0.1, 0.3))),
    })
    expect(loss).toMatchObject({ kind: 'lost', step: 8 })
  })
})
