import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRouter, type Route } from './router.ts'

/** A command counts as a route of the active context. */
const kinds = fc.constantFrom('own', 'other', 'command')

const routes = fc
  .uniqueArray(
    fc.record({
      score: fc.integer({ min: 0, max: 100 }),
      kind: kinds,
      intent: fc.string({ minLength: 1, maxLength: 3 }),
    }),
    {
      maxLength: 6,
      selector: ({ intent }) => intent,
    },
  )
  .map((drawn) =>
    drawn
      .map(
        ({ score, kind, intent }): Route => ({
          intent,
          score: score / 100,
          slots: {},
          context: kind === 'command' ? null : 'any',
          frame: kind === 'own' ? 1 : null,
          active: kind !== 'other',
        }),
      )
      .sort((a, b) => b.score - a.score),
  )

describe('createRouter', () => {
  const router = createRouter({ threshold: 0.5, margin: 0.1 })
  const route = (intent: string, score: number, active: boolean): Route => ({
    intent,
    score,
    slots: {},
    context: 'any',
    frame: active ? 1 : null,
    active,
  })

  it.each<[string, Route[], string]>([
    ['nothing where nothing is good enough', [route('a', 0.4, true), route('b', 0.3, false)], 'none'],
    ['the active context where it is as good', [route('b', 0.8, false), route('a', 0.75, true)], 'take a'],
    ['another context where it is better by the margin', [route('b', 0.9, false), route('a', 0.6, true)], 'take b'],
    ['another context where the active one has nothing', [route('b', 0.6, false)], 'take b'],
    ['neither of two of the active context', [route('a', 0.8, true), route('b', 0.75, true)], 'ask a b'],
    [
      'no command that competes with another context',
      [route('b', 0.8, false), { ...route('c', 0.75, true), context: null }],
      'ask b c',
    ],
    ['neither of two others', [route('a', 0.8, false), route('b', 0.75, false), route('c', 0.55, false)], 'ask a b'],
  ])('takes %s', (_, given, expected) => {
    const decision = router(given)
    const meant = decision.kind === 'take' ? [decision.route] : decision.kind === 'ask' ? decision.routes : []
    expect([decision.kind, ...meant.map(({ intent }) => intent)].join(' ')).toBe(expected)
  })

  it('never guesses between equals, and never takes an unlikely route', () => {
    fc.assert(
      fc.property(routes, (given) => {
        const decision = router(given)
        const likely = given.filter(({ score }) => score >= 0.5)
        if (decision.kind === 'none') {
          expect(likely).toEqual([])
          return
        }
        const meant = decision.kind === 'take' ? [decision.route] : decision.routes
        for (const one of meant) expect(likely).toContain(one)
        const [best] = meant as [Route]
        const equals = likely.filter(({ score }) => Math.abs(best.score - score) < 0.1)
        const ofOneSide = equals.filter(({ active }) => active === best.active)
        const withCommand = equals.some(({ context }) => context === null)
        if (decision.kind === 'take') expect(ofOneSide).toEqual([best])
        if (decision.kind === 'take' && withCommand) expect(equals).toEqual([best])
        if (decision.kind === 'ask') expect(ofOneSide.length > 1 || withCommand).toBe(true)
        // No route is left out that is better than the chosen one by the margin.
        expect(likely.every(({ score }) => score - best.score < 0.1)).toBe(true)
      }),
      { seed: 1, numRuns: 2_000 },
    )
  })

  it('rejects an invalid bound', () => {
    expect(() => createRouter({ margin: 2 })).toThrow(expect.objectContaining({ code: 'definition-invalid' }))
    expect(() => createRouter({ threshold: Number.NaN })).toThrow('threshold of a router is NaN')
  })
})
