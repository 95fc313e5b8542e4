import { connect, definePolicy, type Policy, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { type Action, createRng, type JsonObject } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment, solver } from './assistant.ts'
import { mistype } from './traveller.ts'

/** Lets a policy play the assistant for one traveller, and gives what was said. */
async function serve(policy: Policy, params: JsonObject, seed: string) {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const createEnvironment = () => connection.environment()
  const episode = await runEpisode({ createEnvironment, policy, task: { params }, seed })
  if (episode.kind !== 'finished') throw episode.cause
  const said = episode.steps.flatMap(
    ({ observation: { structured } }) => (structured?.said as string | undefined) ?? [],
  )
  return { ...episode, said }
}

/** An assistant that always does the same. */
const always = (text: string) =>
  definePolicy({ name: text, start: () => () => ({ tool: 'reply', arguments: { text } }) })

/** An assistant that books what nobody asked for. */
const hasty = definePolicy({
  name: 'hasty',
  start() {
    const slots = { from: 'LHR', to: 'CDG', date: '2026-01-08', passengers: 1 }
    const actions: Action[] = [
      { tool: 'book-flight', arguments: slots },
      { tool: 'confirm', arguments: {} },
      { tool: 'reply', arguments: { text: 'Booked.' } },
    ]
    return () => actions.shift() ?? { tool: 'reply', arguments: { text: 'Done.' } }
  },
})

describe('the traveller', () => {
  it('leaves satisfied with the right booking, with any digressions, slips and typing errors', async () => {
    const anyParams = fc.record({
      digressions: fc.integer({ min: 0, max: 4 }),
      constraints: fc.integer({ min: 0, max: 3 }),
      slips: fc.integer({ min: 0, max: 3 }),
      typos: fc.boolean(),
      trouble: fc.constantFrom('none', 'sold-out', 'price-changed'),
    })
    await fc.assert(
      fc.asyncProperty(anyParams, fc.string({ minLength: 1 }), async (params, seed) => {
        const { end } = await serve(solver, { ...params, patience: 8 }, seed)
        expect(end).toEqual({ kind: 'terminated', reason: 'satisfied' })
      }),
      { seed: 23, numRuns: 60 },
    )
  })

  it('says the same for the same seed, and something else for another', async () => {
    const params = { digressions: 2, slips: 2, typos: true }
    const [first, again, other] = [
      await serve(solver, params, 'a'),
      await serve(solver, params, 'a'),
      await serve(solver, params, 'b'),
    ]
    expect(again.said).toEqual(first.said)
    expect(other.said).not.toEqual(first.said)
  })

  it('loses patience with an assistant that does nothing, sooner the less they have', async () => {
    for (const patience of [1, 4, 7]) {
      const { end, steps } = await serve(always('One moment please.'), { patience }, 'a')
      expect(end).toEqual({ kind: 'terminated', reason: 'out-of-patience' })
      expect(steps).toHaveLength(patience + 1)
    }
  })

  it('does not accept a flight that does not fit the goal', async () => {
    const { end, steps } = await serve(hasty, {}, 'a')
    expect(end).toEqual({ kind: 'terminated', reason: 'wrong-booking' })
    expect(steps.at(-1)?.reward.terms).toMatchObject({ success: 0, inVain: -2 })
  })

  it('makes as many corrections as slips', async () => {
    const corrections = async (slips: number) => {
      const { said } = await serve(solver, { slips, digressions: 0 }, 'slips')
      return said.filter((text) => /^(No|Sorry|Actually|Wait)\b/.test(text)).length
    }
    expect([await corrections(0), await corrections(1), await corrections(3)]).toEqual([0, 1, 3])
  })

  it('starts without revealing the goal', async () => {
    const starts = await Promise.all(
      Array.from(
        { length: 12 },
        async (_, i) => (await serve(always('?'), { patience: 1 }, `${i}`)).start.observation.text,
      ),
    )
    expect(new Set(starts).size).toBeLessThanOrEqual(4)
  })
})

describe('mistype', () => {
  it('swaps two letters inside one longer word, and leaves the rest', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, seed) => {
        const wrong = mistype(text, createRng(seed))
        expect([...wrong].sort()).toEqual([...text].sort())
        expect(wrong.length).toBe(text.length)
      }),
    )
    expect(mistype('to Dubai', createRng('a'))).toMatch(/^to D(buai|uabi|ubia)$/)
    expect(mistype('a to b', createRng('a'))).toBe('a to b')
  })
})
