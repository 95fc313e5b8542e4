import { expect, it } from 'vitest'
import { leverWorld } from '../lever-world.fixture.ts'
import { rehearseEpisode } from '../rehearsed-episode.ts'
import { findWrongForks } from './forks.ts'

it('compares forks with their session, and not with each other', async () => {
  let pulls = 0
  const { environment } = leverWorld({
    fixed: true,
    onPull: ({ state }) => {
      state.public.board = pulls++ === 1 ? 'session' : 'fork'
    },
  })
  const setting = { params: {}, steps: 6, hints: [], prompt: '', task: null }
  const policy = { name: 'right', start: () => () => ({ tool: 'pull', arguments: { left: false } }) }
  const episode = await rehearseEpisode({ environment, setting, seed: '0', policy: policy as never })
  pulls = 0
  const { forks, findings } = await findWrongForks(episode)
  expect(forks).toBe(3)
  expect(findings.map(({ name }) => name)).toContain('fork-differs')
})
