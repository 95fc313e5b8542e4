import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COIN_WORLD, openWorkshop } from '../episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

describe('episodic check', () => {
  it('fails a world that leaves a rejected promise behind, instead of ending with it', async () => {
    const floating = COIN_WORLD.replace('return say(', "void Promise.reject(new Error('nobody waits')); return say(")
    writeFileSync(join(workshop.folder, 'floating.ts'), floating)
    const { status, out } = await workshop.run(['check', './floating.ts', '--only', 'hygiene,rewards', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      checks: [
        { name: 'hygiene', outcome: 'warned' },
        {
          name: 'rewards',
          outcome: 'failed',
          findings: [{ what: 'A promise was rejected and nobody waited for it: nobody waits' }],
        },
      ],
    })
    expect(status).toBe(1)
  })
})
