import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { findRewardCycle, formatCycle } from './reward-cycle.ts'

/** A lamp that is switched on and off, and counts the steps. Only tool calls with `force` are refused. */
function lamp(pays: (before: boolean, after: boolean, steps: number) => number) {
  return defineEnvironment({
    name: 'lamp',
    version: '1.0.0',
    description: 'Switch the lamp on.',
    params: z.object({}),
    limits: { steps: 40 },
    state: { public: z.object({ on: z.boolean(), steps: z.int() }), private: z.object({}) },
    start: () => ({ public: { on: false, steps: 0 }, private: {} }),
    observe: ({ on }) => (on ? 'It is on.' : 'It is off.'),
    tools: ({ tool }) => ({
      press: tool({
        description: 'Press the switch.',
        input: z.object({ force: z.boolean().describe('Whether to press hard.') }),
        play({ state, input, refuse, say }) {
          if (input.force) return refuse('Gently.')
          state.public.on = !state.public.on
          state.public.steps += 1
          return say('Click.')
        },
      }),
    }),
    rewards: {
      light: ({ before, after, refused }) =>
        refused ? 0 : pays(before.public.on, after.public.on, after.public.steps),
    },
  })
}

const search = (environment: ReturnType<typeof lamp>) => {
  const setting = { params: {}, prompt: '', hints: [], steps: 40, task: null }
  return findRewardCycle({ environment }, { setting, seed: 'a' })
}

describe('findRewardCycle', () => {
  it('finds calls that return to the same state and are paid each time, though the state counts steps', async () => {
    const cycle = await search(lamp((before, after) => (after && !before ? 1 : 0)))
    expect(cycle).toMatchObject({
      actions: [
        { tool: 'press', arguments: { force: false } },
        { tool: 'press', arguments: { force: false } },
      ],
      earned: 1,
    })
    expect(cycle && formatCycle(cycle)).toMatch(
      /^for example after \d+ steps: press \{"force":false\}, press \{"force":false\} returns to the same state and earns 1 each time$/,
    )
  })

  it('finds none where a cycle costs as much as it pays, as with a difference of potentials', async () => {
    expect(await search(lamp((before, after) => Number(after) - Number(before)))).toBeNull()
  })

  it('finds none where a reward is paid once', async () => {
    expect(await search(lamp((_, after, steps) => (after && steps === 1 ? 1 : 0)))).toBeNull()
  })
})
