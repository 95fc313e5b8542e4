import { describe, expect, it } from 'vitest'
import { checkWorld } from './check-world.ts'
import { type Retail, retail } from './retail.fixture.ts'

const LARGE = 120

async function check(given: Retail, only?: Parameters<typeof checkWorld>[1]) {
  const { ok, checks } = await checkWorld(retail(given), { pairs: 20, ...only })
  return { ok, checks, names: checks.flatMap(({ findings }) => findings.map(({ name }) => name)) }
}

describe('the checks of a world whose private state is a database', () => {
  it('pass, and say in how many of the values canaries were planted', async () => {
    const { ok, checks, names } = await check({ rows: LARGE })
    expect({ ok, names }).toEqual({ ok: true, names: [] })
    const { summary } = checks.find(({ name }) => name === 'canaries') ?? {}
    expect(summary).toMatch(/^\d+ canaries in values that the moves read, of 3,\d\d\d hidden ones: nothing/)
  })

  it.each([
    ['shared by all starts', { rows: LARGE }],
    ['made for each start', { rows: LARGE, shared: false }],
    ['small', { rows: 8 }],
  ])('find one field that is said of a row, and a whole row: %s', async (_, given) => {
    const column = await check({ ...given, leak: 'column' }, { only: ['canaries'] })
    expect(column.names).toEqual(['secret-sent:db.orders.*.note'])
    const row = await check({ ...given, leak: 'row' }, { only: ['canaries'] })
    expect(row.names).toHaveLength(5)
    for (const name of row.names) expect(name).toMatch(/^secret-sent:db\.orders\.\*\./)
  })

  it('find what a tool reads while it prepares its step', async () => {
    const { names } = await check({ rows: LARGE, leak: 'prepared' }, { only: ['canaries'] })
    expect(names).toEqual(['secret-sent:db.orders.*.note'])
  })

  it.each([true, false])(
    'find nothing in what agents may read, and what is not (shared by all starts: %s)',
    async (shared) => {
      const given = { rows: LARGE, shared, readable: true, leak: 'row' } as const
      expect((await check(given)).names).toEqual([])
      // What is left to hide is drawn from nine numbers, so no canary of it is in an answer by chance.
      const { ok } = await check(given, { only: ['non-interference'], pairs: 60 })
      expect(ok).toBe(true)
    },
  )

  it('find by pairs that differ in what is read that an answer depends on it', async () => {
    const { names } = await check(
      { rows: LARGE, shared: false, leak: 'column' },
      { only: ['non-interference'], pairs: 60 },
    )
    expect(names).toContain('answer-differs:read_order')
    const { ok } = await check({ rows: LARGE, shared: false }, { only: ['non-interference'] })
    expect(ok).toBe(true)
  })
})
