import { setImmediate } from 'node:timers'
import { rehearseEpisode } from '@episodic/check/rehearsed-episode'
import { definePolicy } from '@episodic/env'
import { monotonic } from '@episodic/protocol/internal'
import { expect, it } from 'vitest'
import { guessing } from '../../evaluate/contracts/guessing.fixture.ts'

it('gives the event loop a turn during the episode of a slow player', async () => {
  let turns = 0
  const seen: number[] = []
  const slow = definePolicy(guessing, {
    name: 'slow',
    start: () => () => {
      seen.push(turns)
      setImmediate(() => {
        turns += 1
      })
      const began = monotonic()
      while (monotonic() - began < 110);
      return { tool: 'guess', arguments: { value: 0 } }
    },
  })
  const setting = { prompt: '', hints: [], params: {}, steps: 3, task: null }
  await rehearseEpisode({ environment: guessing, setting, seed: '1', policy: slow })
  expect(seen).toEqual([0, 1, 2])
})
