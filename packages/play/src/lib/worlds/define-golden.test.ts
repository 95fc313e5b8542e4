import { generateTasks } from '@episodic/dataset'
import { scriptedPolicy } from '@episodic/env'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineGolden } from './define-golden.ts'

const wait = { tool: 'wait', arguments: {} }
const leave = { tool: 'leave', arguments: {} }
const { tasks, policies } = defineGolden({
  environment: { name: 'room', version: '1.0.0', tools: ['wait', 'leave'], params: z.object({ exits: z.int() }) },
  players: {
    'Wait.': { policy: scriptedPolicy([wait], 'waiting') },
    'Leave.': { policy: scriptedPolicy([leave], 'leaving'), limits: { seconds: 1 } },
  },
  params: (round) => ({ exits: round + 1 }),
  limits: { steps: 4 },
})

describe('defineGolden', () => {
  it('lets every player play once a round, in order, with its own limits', () => {
    const rows = [...generateTasks(tasks, { seed: '0', count: 4 })]
    expect(rows.map(({ prompt, params, limits }) => [prompt, params, limits])).toEqual([
      ['Wait.', { exits: 1 }, { steps: 4 }],
      ['Leave.', { exits: 1 }, { steps: 4, seconds: 1 }],
      ['Wait.', { exits: 2 }, { steps: 4 }],
      ['Leave.', { exits: 2 }, { steps: 4, seconds: 1 }],
    ])
  })

  const start = async (prompt: string) =>
    policies.golden.start({ task: { prompt, hints: [], params: {} }, tools: [], seed: '0' })

  it('plays each task with the player of its prompt', async () => {
    const player = await start('Leave.')
    expect(await player({ text: 'A room.', structured: null }, { last: null })).toEqual(leave)
  })

  it.each(['Dance.', 'constructor'])('plays no other task, such as %s', async (prompt) => {
    await expect(start(prompt)).rejects.toMatchObject({
      code: 'dataset-invalid',
      message: expect.stringContaining('Wait., Leave.'),
    })
  })
})
