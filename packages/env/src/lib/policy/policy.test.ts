import { describe, expect, it } from 'vitest'
import { definePolicy, type PolicyContext } from './policy.ts'

const context: PolicyContext = { task: { prompt: '', hints: [], params: {} }, tools: [], seed: '1' }
const view = { last: null }
const start = { text: '', structured: null }

describe('definePolicy', () => {
  it('leaves out arguments that are undefined, nested ones too', async () => {
    const written = { tool: 'go', arguments: { to: 'hall', by: undefined, at: [{ x: undefined, y: 1 }] } }
    const { begin, resume } = definePolicy({ name: 'p', begin: () => () => written, resume: () => async () => written })
    const action = { tool: 'go', arguments: { to: 'hall', at: [{ y: 1 }] } }
    const player = await begin(context)
    expect(player(start, view)).toStrictEqual(action)
    const resumed = await resume?.(context, [])
    expect(await resumed?.(start, view)).toStrictEqual(action)
  })

  it('gives back an action without any as it is, at once where it was given at once', async () => {
    const action = { tool: 'go', arguments: { to: { x: null } } }
    const player = await definePolicy({ name: 'p', begin: async () => () => action }).begin(context)
    expect(player(start, view)).toBe(action)
  })

  it('has no resume where the definition has none', () => {
    expect(definePolicy({ name: 'p', begin: () => () => ({ tool: 'go', arguments: {} }) })).not.toHaveProperty('resume')
  })
})
