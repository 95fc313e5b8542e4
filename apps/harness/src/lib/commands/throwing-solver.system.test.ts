import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, openWorkshop, readEpisodes, type Workshop } from '../fixtures/episodic.fixture.ts'

const SOLVER = `
function decide(memory) {
  return memory.next.tool
}
export const solver = {
  name: 'hasty',
  start: () => (_observation, { last }) => decide({ last }),
}
`

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
  writeFileSync(join(workshop.folder, 'hasty.ts'), COIN_WORLD + SOLVER)
})
afterAll(() => workshop[Symbol.dispose]())

const line = COIN_WORLD.split('\n').length + SOLVER.slice(0, SOLVER.indexOf('memory.next')).split('\n').length - 1
const MESSAGE = `The policy "solver" (hasty) threw: TypeError: Cannot read properties of undefined (reading 'tool')`
const FRAME = `at decide (hasty.ts:${line}:22)`

describe('a solver that throws', () => {
  it('fails its episodes, with its name, file and line', async () => {
    const { status, out, err } = await workshop.main(['run', './hasty.ts', '--tasks', '3', '--out', 'hasty'])
    expect(status).toBe(1)
    const [record] = readEpisodes(join(workshop.folder, 'hasty'))
    expect(record?.outcome).toMatchObject({ kind: 'failed', error: { code: 'policy-failed' } })
    const message = record?.outcome.kind === 'failed' ? record.outcome.error.message : ''
    const [words, first, ...callers] = message.split('\n')
    expect([words, first?.trim()]).toEqual([MESSAGE, FRAME])
    // The report shows only the solver's own frames of the stack.
    for (const frame of callers) expect(frame).toMatch(/^ {4}at .*hasty\.ts:\d+:\d+\)?$/)
    for (const shown of [out, err]) {
      expect(shown).toContain('The policy "solver" (hasty) threw: TypeError')
      expect(shown).toContain(FRAME)
    }
  })

  it('is named as the cause by a check, not the rules', async () => {
    const { status, out } = await workshop.main(['check', './hasty.ts', '--pairs', '20'])
    expect(status).toBe(1)
    expect(out).toContain(MESSAGE)
    expect(out).toContain(FRAME)
    expect(out).toContain('fix: Make the solver return an action for every observation of every task.')
    expect(out).not.toMatch(/The (rules|world) failed/)
  })
})
