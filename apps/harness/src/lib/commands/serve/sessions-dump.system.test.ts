import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@episodic/env'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'

const PASSWORD = 'open-sesame-now'
const CAPABILITY = `cap_${'x'.repeat(30)}`
const SEED = 'the-seed-of-this-game'
const WORLD = `
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
export const environment = defineEnvironment({
  name: 'safe',
  version: '1.0.0',
  description: 'A safe.',
  params: z.object({ password: z.string() }),
  state: {
    public: z.object({ notes: z.array(z.string()), places: z.record(z.string(), z.int()) }),
    private: z.object({ password: z.string(), weakness: z.string() }),
  },
  start: ({ params }) => ({ public: { notes: [], places: {} }, private: { password: params.password, weakness: 'the hinge' } }),
  observe: ({ notes }) => notes.join(' '),
  secrets: ({ private: { password } }) => [password],
  tools: ({ tool }) => ({
    note: tool({
      description: 'Takes a note.',
      input: z.object({ text: z.string() }),
      play({ state, input, say }) {
        state.public.places[input.text] = state.public.notes.push(input.text)
        return say('Noted.')
      },
    }),
  }),
  rewards: { notes: () => 0 },
})
`

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
let server: Serving
let id: string
let token: string

beforeAll(async () => {
  writeFileSync(join(workshop.folder, 'safe.ts'), WORLD)
  server = await workshop.serve(['./safe.ts', '--store', 'sqlite:sessions.db'])
  token = readFileSync(server.tokenFile, 'utf8').trim()
  const connection = await connect({ url: server.url, token })
  const safe = connection.environment()
  const { info } = await safe.reset({ params: { password: PASSWORD } }, { seed: SEED })
  id = info.id as string
  for (const text of ['first', CAPABILITY, 'third', 'fourth', `say ${PASSWORD}`])
    await safe.step({ tool: 'note', arguments: { text } })
})

const dump = (...args: string[]) => workshop.main(['sessions', 'dump', ...args])

/** What is hidden in every dump. */
function expectNoSecret(out: string): void {
  for (const secret of [PASSWORD, CAPABILITY, token]) expect(out).not.toContain(secret)
}

describe('episodic sessions dump', () => {
  it('writes record, state and step log of an open session, without private or secret values', async () => {
    const { status, out } = await dump(id, '--url', server.url)
    expect(status).toBe(0)
    expectNoSecret(out)
    for (const hidden of [SEED, 'the hinge']) expect(out).not.toContain(hidden)
    const { format, session, log } = JSON.parse(out)
    expect({ format, session }).toMatchObject({
      format: 1,
      session: {
        id,
        environment: { name: 'safe', version: '1.0.0' },
        seed: '[hidden]',
        rng: '[hidden]',
        state: {
          public: {
            notes: ['first', 'cap_[hidden]', 'third', 'fourth', 'say [hidden]'],
            places: { first: 1, 'cap_[hidden]': 2, third: 3, fourth: 4, 'say [hidden]': 5 },
          },
          private: '[hidden]',
        },
      },
    })
    expect(log).toHaveLength(5)
    expect(log[0]).toMatchObject({
      action: { tool: 'note', arguments: { text: 'first' } },
      observation: { text: expect.stringContaining('Noted.') },
      report: { seq: 1, terms: { notes: 0 }, stateHash: '[hidden]' },
    })
  })

  it('includes private state if requested, but never what the world lists as secret', async () => {
    const { status, out } = await dump(id, '--url', server.url, '--private')
    expect(status).toBe(0)
    expectNoSecret(out)
    expect(JSON.parse(out)).toMatchObject({
      session: { seed: SEED, state: { private: { password: '[hidden]', weakness: 'the hinge' } } },
      log: [{ report: { stateHash: expect.stringMatching(/^[0-9a-f]+$/) } }, {}, {}, {}, {}],
    })
  })

  it('rejects invalid arguments with the reason', async () => {
    const cases: readonly [readonly string[], number, RegExp][] = [
      [['unknown', '--url', server.url], 1, /no such session|session/i],
      [[id, '--url', server.agentUrl], 2, /Only the trainer endpoint dumps sessions/],
      [[id], 2, /No server given\. Give --url/],
    ]
    for (const [args, status, message] of cases) {
      const ended = await dump(...args)
      expect([args, ended.status, ended.out]).toEqual([args, status, ''])
      expect(ended.err).toMatch(message)
    }
    // The list of sessions takes its options as before.
    expect(await workshop.main(['sessions', '--url', server.url, '--json'])).toMatchObject({ status: 0 })
  })

  it('dumps what a server left in its store, from a server that is started for it', async () => {
    server.kill('SIGTERM')
    await server.ended
    server = await workshop.serve(['./safe.ts', '--store', 'sqlite:sessions.db'])
    const { status, out } = await dump(id, '--url', server.url, '--private')
    expect(status).toBe(0)
    expectNoSecret(out)
    expect(JSON.parse(out)).toMatchObject({ session: { id, state: { private: { weakness: 'the hinge' } } } })
  })
})
