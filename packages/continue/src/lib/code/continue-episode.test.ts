import { connect, definePolicy, type Episode, runEpisode, scriptedPolicy } from '@episodic/env'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { sealEpisode } from '@episodic/play/play/record/seal-episode'
import type { EpisodeRecord, Task } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { continueEpisode } from './continue-episode.ts'

/** Each roll adds a number of chance; it ends above 12. */
const environment = defineEnvironment({
  name: 'dice',
  version: '1.0.0',
  description: 'Roll.',
  state: { public: z.object({ sum: z.int() }), private: z.object({}) },
  start: () => ({ public: { sum: 0 }, private: {} }),
  observe: ({ sum }) => `The sum is ${sum}.`,
  tools: ({ tool }) => ({
    roll: tool({
      description: 'Roll.',
      input: z.object({ dice: z.int().min(1).max(3).default(1) }),
      play({ state, input, rng, end, say }) {
        for (let i = 0; i < input.dice; i++) state.public.sum += rng.int(1, 6)
        if (state.public.sum > 12) end('over')
        return say('Rolled.')
      },
    }),
  }),
  rewards: { rolled: () => 1 },
})
const roll = { tool: 'roll', arguments: { dice: 1 } }
const policy = definePolicy({ name: 'rolling', start: () => () => roll })

async function played(): Promise<EpisodeRecord> {
  await using host = createHost({ environments: [environment] })
  await using connection = await connect(inProcess(host))
  const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy, seed: 'one' })
  const { name, version } = environment
  const task: Task = {
    ...{
      id: 'a',
      environment: { name, version },
      tools: ['roll'],
      prompt: 'Roll.',
      hints: [],
      params: {},
      seed: 'one',
    },
    ...{ difficulty: 0, limits: {}, split: 'test', tags: [], metadata: {} },
  }
  const by = { run: 'r', policy: { name: 'rolling', seed: '' }, discount: 1, time: { started: 0, ended: 1 } }
  return JSON.parse(JSON.stringify(sealEpisode(episode, { task, attempt: 0 }, by)))
}

const textsOf = ({ steps }: Episode) => steps.map(({ observation }) => observation.text)

describe('continueEpisode', async () => {
  const record = await played()
  const texts = record.steps.map(({ observation }) => observation.text)

  it('plays on from every step as the episode went on, if nothing is changed', async () => {
    expect(record.steps.length).toBeGreaterThan(2)
    for (const step of record.steps.keys()) {
      const [episode, ...more] = await continueEpisode({ environment, record, step, policy })
      expect(more).toEqual([])
      expect(textsOf(episode as Episode)).toEqual(texts.slice(step))
    }
  })

  it('plays as many as are asked for, each with chance of its own if a seed is given, and the same again', async () => {
    const asked = { environment, record, step: 1, policy, count: 8, changes: { seed: 's' } }
    const episodes = (await continueEpisode(asked)).map(textsOf)
    expect(new Set(episodes.map(([first]) => first)).size).toBeGreaterThan(1)
    expect((await continueEpisode(asked)).map(textsOf)).toEqual(episodes)
    const plain = await continueEpisode({ ...asked, changes: {}, count: 2 })
    expect(plain.map(textsOf)).toEqual([texts.slice(1), texts.slice(1)])
  })

  it('hands the player what came before, with each change', async () => {
    const seen: unknown[] = []
    const looking = definePolicy({
      name: 'looking',
      start: () => () => roll,
      resume:
        ({ task, tools }, earlier) =>
        (observation) => {
          seen.push([task.prompt, tools[0]?.description, earlier.length, observation.text])
          return roll
        },
    })
    const changes = { answer: 'Nothing.', prompt: 'Go on.', describe: { roll: 'Roll one die.' } }
    await continueEpisode({ environment, record, step: 2, policy: looking, changes })
    expect(seen[0]).toEqual(['Go on.', 'Roll one die.', 2, 'Nothing.'])
    const call = { tool: 'roll', arguments: { dice: 3 } }
    const [called] = await continueEpisode({ environment, record, step: 0, policy, changes: { call } })
    expect(called?.steps[0]?.action).toEqual(call)
    const [failed] = await continueEpisode({ environment, record, step: 0, policy: scriptedPolicy([]) })
    expect(failed?.kind).toBe('failed')
  })

  it('refuses a line that was changed, a step that there is not, and names the step that the rules play otherwise', async () => {
    const asked = { environment, record, step: 2, policy }
    const [first, ...rest] = record.steps
    const edited = { ...record, steps: [{ ...first, observation: { text: '', structured: null } }, ...rest] }
    const refused = (options: object, code: string, message: RegExp) =>
      expect(continueEpisode({ ...asked, ...options })).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      })
    await refused({ record: edited }, 'run-invalid', /Task a, attempt 0 was changed since it was sealed/)
    await refused({ record: { ...record, task: { ...record.task, prompt: 'Win.' } } }, 'run-invalid', /was changed/)
    await refused({ record: 'line' }, 'option-invalid', /no line of an environment with one seat/)
    await refused({ step: 99 }, 'option-invalid', /has \d steps/)
    await refused({ changes: { call: { tool: 'shout', arguments: {} } } }, 'option-invalid', /no tool "shout"/)
    const now = { ...environment, observe: () => ({ text: 'Look.', structured: null }) } as typeof environment
    await refused({ environment: now }, 'replay-diverged', /the start differs in observation.text/)
  })
})
