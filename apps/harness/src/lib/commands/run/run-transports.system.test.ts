import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, withoutTimes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

describe('run --transport', () => {
  it.each(['number-guessing', 'frozen-lake', 'warehouse'])(
    'plays %s the same through every transport (invariant 4)',
    async (name) => {
      const played = ['run', exampleWorld(name), '--tasks', '6', '--policy', 'random', '--max-steps', '40']
      const episodesOf = async (...options: string[]) => {
        const out = `${name}${options.join('')}`
        const { status, err } = await workshop.main([...played, '--out', out, ...options])
        expect([status, err]).toEqual([0, expect.any(String)])
        return withoutTimes(readEpisodes(join(workshop.folder, out)))
      }
      const direct = await episodesOf()
      expect(direct).toHaveLength(6)
      for (const transport of ['http', 'stdio']) expect(await episodesOf('--transport', transport)).toEqual(direct)
    },
  )
})
