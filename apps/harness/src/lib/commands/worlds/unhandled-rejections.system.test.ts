import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

describe('episodic check', () => {
  it('fails a world that leaves a rejected promise unhandled, and does not crash', async () => {
    const floating = COIN_WORLD.replace('return say(', "void Promise.reject(new Error('not awaited')); return say(")
    writeFileSync(join(workshop.folder, 'floating.ts'), floating)
    const { status, out } = await workshop.run(['check', './floating.ts', '--only', 'hygiene,rewards', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      checks: [
        { name: 'hygiene', outcome: 'warned' },
        {
          name: 'rewards',
          outcome: 'failed',
          findings: [{ what: 'A promise rejection was not handled: not awaited' }],
        },
      ],
    })
    expect(status).toBe(1)
  })
})
