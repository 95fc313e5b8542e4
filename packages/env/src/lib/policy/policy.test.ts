import { describe, expect, expectTypeOf, it } from 'vitest'
import { walk } from '../fixtures/walk.fixture.ts'
import { definePolicy, type PolicyContext } from './policy.ts'

const context: PolicyContext = { task: { prompt: '', hints: [], params: {} }, tools: [], seed: '1' }
const view = { last: null }
const observation = { text: '', structured: null }

describe('definePolicy', () => {
  it('has the actions and answers of an environment that is named first', async () => {
    const policy = definePolicy(walk, {
      name: 'walker',
      start: () => (observation) => {
        expectTypeOf(observation.structured?.at).toEqualTypeOf<number | undefined>()
        return { tool: 'move', arguments: { by: 1 } }
      },
    })
    expect((await policy.start(context))(observation, view)).toEqual({ tool: 'move', arguments: { by: 1 } })
    // A tool without arguments, in one branch of several.
    definePolicy(walk, {
      name: 'breaker',
      start:
        () =>
        (_observation, { last }) =>
          last ? { tool: 'break', arguments: {} } : { tool: 'move', arguments: { by: 1 } },
    })
    // @ts-expect-error: It has no arguments.
    definePolicy(walk, { name: 'lost', start: () => () => ({ tool: 'break', arguments: { by: 1 } }) })
    // @ts-expect-error: There is no such tool.
    definePolicy(walk, { name: 'lost', start: () => () => ({ tool: 'mov', arguments: { by: 1 } }) })
    // @ts-expect-error: It is called `by`.
    definePolicy(walk, { name: 'lost', start: () => () => ({ tool: 'move', arguments: { buy: 1 } }) })
  })

  it('leaves out arguments that are undefined, nested ones too', async () => {
    const written = { tool: 'go', arguments: { to: 'hall', by: undefined, at: [{ x: undefined, y: 1 }] } }
    const { start, resume } = definePolicy({ name: 'p', start: () => () => written, resume: () => async () => written })
    const action = { tool: 'go', arguments: { to: 'hall', at: [{ y: 1 }] } }
    const player = await start(context)
    expect(player(observation, view)).toStrictEqual(action)
    const resumed = await resume?.(context, [])
    expect(await resumed?.(observation, view)).toStrictEqual(action)
  })

  it('returns an action without undefined arguments as it is, synchronously if the player is synchronous', async () => {
    const action = { tool: 'go', arguments: { to: { x: null } } }
    const player = await definePolicy({ name: 'p', start: async () => () => action }).start(context)
    expect(player(observation, view)).toBe(action)
  })

  it('has no resume if the definition has none', () => {
    expect(definePolicy({ name: 'p', start: () => () => ({ tool: 'go', arguments: {} }) })).not.toHaveProperty('resume')
  })
})
