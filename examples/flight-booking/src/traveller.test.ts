import { connect, definePolicy, type Policy, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment, solver } from './assistant.ts'

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

  it('loses patience with an assistant that does nothing, sooner the less they have', async () => {
    for (const patience of [1, 4, 7]) {
      const { end, steps } = await serve(always('One moment please.'), { patience }, 'a')
      expect(end).toEqual({ kind: 'terminated', reason: 'out-of-patience' })
      expect(steps).toHaveLength(patience + 1)
    }
  })

  it('makes as many corrections as slips', async () => {
    const corrections = async (slips: number) => {
      const { said } = await serve(solver, { slips, digressions: 0 }, 'slips')
      return said.filter((text) => /^(No|Sorry|Actually|Wait)\b/.test(text)).length
    }
    expect([await corrections(0), await corrections(1), await corrections(3)]).toEqual([0, 1, 3])
  })
})
