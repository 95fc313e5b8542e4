import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@episodic/env'
import { openChannel } from '@episodic/env/extend'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes, type Serving, withoutTimes } from '../episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

/** A world that counts, or whose rules never return. */
const STUCK_WORLD = `
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
        const { status, err } = await workshop.run([...played, '--out', out, ...options])
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

  describe('with rules that never return', () => {
    let server: Serving
    beforeAll(async () => {
      writeFileSync(join(workshop.folder, 'stuck.ts'), STUCK_WORLD)
      server = await workshop.serve(['./stuck.ts', '--worker-threads', '--rules-timeout', '1'])
    })
    const trainer = () => openChannel({ url: server.url, token: readFileSync(server.tokenFile, 'utf8').trim() })

    it('stops them, keeps the state of their session, and plays other sessions meanwhile', async () => {
      await using connection = await connect(await trainer())
      await using stuck = connection.environment()
      await using other = connection.environment()
      await stuck.reset()
      await other.reset()
      await stuck.step({ tool: 'count', arguments: {} })
      let over = false
      const spun = stuck.step({ tool: 'spin', arguments: {} }).then(
        () => null,
        (error: unknown) => {
          over = true
          return error
        },
      )
      // How many are answered in that second depends on the machine.
      let answeredMeanwhile = 0
      for (let count = 1; count <= 20 && !over; count++) {
        const { observation } = await other.step({ tool: 'count', arguments: {} })
        expect(observation.text).toBe(`Counted.\n${count}`)
        if (!over) answeredMeanwhile += 1
      }
      expect(answeredMeanwhile).toBeGreaterThan(0)
      expect(await spun).toMatchObject({
        code: 'environment-failed',
        message: expect.stringContaining('The rules ran for more than 1 s and were stopped.'),
      })
      const [, reference] = await server.until(/"reference":"([\w-]+)".*The rules ran for more than 1 s/)
      expect(reference).toMatch(/^[\w-]{16,}$/)
      const { observation, info } = await stuck.step({ tool: 'count', arguments: {} })
      expect([observation.text, info.seq]).toEqual(['Counted.\n2', 2])
    })

    it('returns an error with a reference to the agent', async () => {
      const { status, out } = await workshop.run(['call', 'spin', '--url', server.agentUrl])
      expect(status).toBe(1)
      expect(out).toMatch(/The environment failed, and the call changed nothing\. Reference: [\w-]+\./)
    })
  })

  it('is required by --rules-timeout', async () => {
    const { status, err } = await workshop.run(['serve', exampleWorld('warehouse'), '--rules-timeout', '2'])
    expect([status, err]).toEqual([
      2,
      'error: --rules-timeout 2 needs --worker-threads: only rules in worker threads can be stopped. Give both.\n',
    ])
  })
})
