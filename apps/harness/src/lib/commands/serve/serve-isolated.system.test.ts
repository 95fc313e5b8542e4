import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, openChannel } from '@episodic/env'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  exampleWorld,
  openWorkshop,
  readEpisodes,
  type Serving,
  withoutTimes,
} from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

/** A world that counts, computes until a file exists, or whose rules never return. */
const STUCK_WORLD = `
import { existsSync, writeSync } from 'node:fs'
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
export const environment = defineEnvironment({
  name: 'stuck',
  version: '1.0.0',
  description: 'Count, or never come back.',
  handle: false,
  params: z.object({}),
  state: { public: z.object({ count: z.int() }), private: z.object({}) },
  start: () => ({ public: { count: 0 }, private: {} }),
  observe: ({ count }) => String(count),
  tools: ({ tool }) => ({
    count: tool({
      description: 'Count one.',
      input: z.object({}),
      play({ state, say }) {
        state.public.count += 1
        return say('Counted.')
      },
    }),
    compute: tool({
      description: 'Compute until a file exists.',
      input: z.object({ until: z.string() }),
      play({ input, say }) {
        writeSync(2, 'computing ' + input.until)
        while (!existsSync(input.until));
        return say('Computed.')
      },
    }),
    spin: tool({
      description: 'Never come back.',
      input: z.object({}),
      play({ state }) {
        state.public.count = -1
        for (;;);
      },
    }),
  }),
  rewards: {},
})
`

describe('--worker-threads', () => {
  it.each(['number-guessing', 'frozen-lake', 'warehouse'])(
    'plays %s the same as without it, through every transport (invariant 4)',
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
      expect(await episodesOf('--worker-threads')).toEqual(direct)
      for (const transport of ['http', 'stdio'])
        expect(await episodesOf('--worker-threads', '--transport', transport)).toEqual(direct)
    },
  )

  const trainerOf = ({ url, tokenFile }: Serving) => openChannel({ url, token: readFileSync(tokenFile, 'utf8').trim() })

  it('plays other sessions while the rules of one compute', async () => {
    writeFileSync(join(workshop.folder, 'stuck.ts'), STUCK_WORLD)
    const server = await workshop.serve(['./stuck.ts', '--worker-threads', '--rules-timeout', '600'])
    await using connection = await connect(await trainerOf(server))
    await using busy = connection.environment()
    await using other = connection.environment()
    await busy.reset()
    await other.reset()
    const until = join(workshop.folder, 'enough')
    const computed = busy.step({ tool: 'compute', arguments: { until } })
    await server.until(/computing/)
    for (let count = 1; count <= 20; count++) {
      const { observation } = await other.step({ tool: 'count', arguments: {} })
      expect(observation.text).toBe(`Counted.\n${count}`)
    }
    writeFileSync(until, '')
    expect((await computed).observation.text).toBe('Computed.\n0')
  })

  describe('with rules that never return', () => {
    let server: Serving
    beforeAll(async () => {
      writeFileSync(join(workshop.folder, 'stuck.ts'), STUCK_WORLD)
      server = await workshop.serve(['./stuck.ts', '--worker-threads', '--rules-timeout', '5'])
    })

    it('stops them, and keeps the state of their session', async () => {
      await using connection = await connect(await trainerOf(server))
      await using stuck = connection.environment()
      await stuck.reset()
      await stuck.step({ tool: 'count', arguments: {} })
      await expect(stuck.step({ tool: 'spin', arguments: {} })).rejects.toMatchObject({
        code: 'environment-failed',
        message: expect.stringContaining('The rules ran for more than 5 s and were stopped.'),
      })
      const [, reference] = await server.until(/"reference":"([\w-]+)".*The rules ran for more than 5 s/)
      expect(reference).toMatch(/^[\w-]{16,}$/)
      const { observation, info } = await stuck.step({ tool: 'count', arguments: {} })
      expect([observation.text, info.seq]).toEqual(['Counted.\n2', 2])
    })

    it('returns an error with a reference to the agent', async () => {
      const agent = await openChannel({ url: server.agentUrl })
      const answer = await agent.request('tools/call', { name: 'spin', arguments: {} })
      await agent.close()
      expect(JSON.stringify(answer)).toMatch(
        /The environment failed, and the call changed nothing\. Reference: [\w-]+\./,
      )
      expect(answer).toMatchObject({ isError: true })
    })
  })

  it('is required by --rules-timeout', async () => {
    const { status, err } = await workshop.main(['serve', exampleWorld('warehouse'), '--rules-timeout', '2'])
    expect([status, err]).toEqual([
      2,
      'error: --rules-timeout 2 needs --worker-threads: only rules in worker threads can be stopped. Give both.\n',
    ])
  })
})
