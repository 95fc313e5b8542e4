import { spawn } from 'node:child_process'
import { createSign, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openChannel } from '@episodic/env'
import { type Channel, META, METHOD_SCHEMAS, METHODS, type OpenResult } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI, exampleWorld, openWorkshop, type Serving } from '../../fixtures/episodic.fixture.ts'

/** A world that counts, answers with a text of the requested length, and throws errors that contain secrets. */
const COUNTING_WORLD = `
import { defineEnvironment } from '${import.meta.resolve('@episodic/mcp-server')}'
import { z } from '${import.meta.resolve('zod')}'
export const environment = defineEnvironment({
  name: 'counting',
  version: '1.0.0',
  description: 'Count.',
  params: z.object({}),
  state: { public: z.object({ count: z.int() }), private: z.object({}) },
  limits: { steps: 1_000_000 },
  start: () => ({ public: { count: 0 }, private: {} }),
  observe: ({ count }) => String(count),
  tools: ({ tool }) => ({
    count: tool({
      description: 'Count one up.',
      input: z.object({ pad: z.int().default(0) }),
      play({ state, input, say }) {
        state.public.count += 1
        return say('x'.repeat(input.pad))
      },
    }),
    leak: tool({
      description: 'Break, and tell.',
      input: z.object({}),
      play() { throw new Error('The token is ' + process.env.EPISODIC_CONTROL_TOKEN) },
    }),
  }),
  rewards: {},
})
`
const OPERATOR = 'the-token-of-the-operator'

const workshop = openWorkshop()
const world = './counting.ts'
beforeAll(() => writeFileSync(join(workshop.folder, 'counting.ts'), COUNTING_WORLD))
afterAll(() => workshop[Symbol.dispose]())
const serve = (...options: string[]) =>
  workshop.serve([world, ...options], { env: { EPISODIC_CONTROL_TOKEN: OPERATOR } })

async function trainer(server: Pick<Serving, 'url'>, token = OPERATOR): Promise<Channel> {
  return openChannel({ url: server.url, token })
}

async function open(channel: Channel, environment = 'counting'): Promise<OpenResult> {
  return METHOD_SCHEMAS.open.result.parse(
    await channel.request(METHODS.open, { environment, requestKey: crypto.randomUUID() }),
  )
}

function step(channel: Channel, session: string, seq: number, pad = 0): Promise<unknown> {
  const _meta = { [META.session]: session, [META.seq]: seq }
  return channel.request('tools/call', { name: 'count', arguments: { pad }, _meta })
}

/** The messages that a server logged, as objects. */
function logged(err: string): { level: string; msg: string; [fact: string]: unknown }[] {
  return err
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

describe('SIGTERM', () => {
  it('answers the requests in flight, and loses or repeats no step (invariant 2)', async () => {
    const first = await serve('--store', 'sqlite:drained.db')
    const channel = await trainer(first)
    const sessions = await Promise.all(Array.from({ length: 40 }, () => open(channel)))
    const acked = sessions.map(() => 0)
    let stopping = false
    const refusals: unknown[] = []
    const play = async ({ session }: OpenResult, i: number) => {
      for (;;) {
        try {
          await step(channel, session, acked[i] as number)
          acked[i] = (acked[i] as number) + 1
        } catch (refusal) {
          refusals.push(refusal)
          return
        }
        if (!stopping && acked.reduce((sum, count) => sum + count) >= 400) {
          stopping = true
          first.kill('SIGTERM')
        }
      }
    }
    await Promise.all(sessions.map(play))
    const { status, err } = await first.ended
    expect(status).toBe(0)
    expect(logged(err).map(({ msg }) => msg)).toEqual(['listening', 'stopping', 'stopped'])
    // A late client was asked to retry or could not connect. A client that retries gets the same error for both.
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'connection-failed' })

    const second = await serve('--store', 'sqlite:drained.db')
    const again = await trainer(second)
    for (const [i, { session }] of sessions.entries())
      expect(await again.request(METHODS.state, { session })).toMatchObject({
        seats: { agent: { seq: acked[i] } },
        state: { public: { count: acked[i] } },
      })
    await again.close()
    second.kill('SIGTERM')
    expect((await second.ended).status).toBe(0)
  })

  it('ends a stdio server when it has answered what it has read', async () => {
    const server = spawn(process.execPath, [CLI, 'serve', world, '--stdio'], { cwd: workshop.folder })
    server.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    const [answer] = await once(server.stdout, 'data')
    expect(String(answer)).toContain('"id":1')
    server.kill('SIGTERM')
    expect(await once(server, 'exit')).toEqual([0, null])
  })
})

describe('what a server logs', () => {
  it('is JSON, names rejections and faults, and contains no secret', async () => {
    const server = await serve('--log-level', 'debug')
    const channel = await trainer(server)
    const { session, id } = await open(channel)
    const _meta = { [META.session]: session }
    await expect(channel.request('tools/call', { name: 'leak', arguments: {}, _meta })).rejects.toMatchObject({
      code: 'environment-failed',
    })
    const forged = `ctl_${'0'.repeat(44)}`
    await expect(channel.request(METHODS.state, { session: forged })).rejects.toThrow(/no such session/)
    await expect(trainer(server, 'wrong-but-long-enough-token')).rejects.toThrow(/401|token/i)
    server.kill('SIGTERM')
    const { err } = await server.ended
    const lines = logged(err)
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'error', msg: 'an environment failed', environment: 'counting', session: id }),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'info',
        msg: 'refused',
        endpoint: 'trainer',
        principal: 'control',
        code: 'session-not-found',
      }),
    )
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'refused', principal: null, code: 'http-401' }))
    expect(err).toContain('The token is [hidden]')
    for (const secret of [OPERATOR, session, forged, 'wrong-but-long-enough-token']) expect(err).not.toContain(secret)
  })
})

describe('the caller of the trainer endpoint', () => {
  const ANNA = 'anna-has-a-long-bearer-token'
  const listOf = async (channel: Channel) =>
    METHOD_SCHEMAS.sessions.result.parse(await channel.request(METHODS.sessions, {})).sessions.map(({ owner }) => owner)

  it('is a principal of each --control-token, with sessions and a quota of its own', async () => {
    const ben = 'ben-has-a-longer-bearer-token'
    const server = await serve(
      '--control-token',
      `anna=${ANNA}`,
      '--control-token',
      `ben=${ben}`,
      '--sessions-per-principal',
      '1',
    )
    const [annas, bens, operator] = [await trainer(server, ANNA), await trainer(server, ben), await trainer(server)]
    const opened = await open(annas)
    await open(bens)
    await expect(open(annas)).rejects.toMatchObject({ code: 'capacity' })
    await expect(bens.request(METHODS.state, { session: opened.session })).rejects.toMatchObject({
      code: 'session-not-found',
    })
    expect(await listOf(annas)).toEqual(['anna'])
    expect((await listOf(operator)).sort()).toEqual(['anna', 'ben'])
    server.kill('SIGTERM')
    expect((await server.ended).err).not.toContain(ANNA)
  })

  it('is the subject of a JSON Web Token, checked by keys in a file', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'key', alg: 'ES256' }]
    writeFileSync(join(workshop.folder, 'keys.json'), JSON.stringify({ keys }))
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const issue = (aud: string) => {
      const claims = { iss: 'https://login.example.com', aud, sub: 'carla', exp: Math.floor(Date.now() / 1_000) + 600 }
      const signed = `${part({ alg: 'ES256', kid: 'key' })}.${part(claims)}`
      const signature = createSign('sha256').update(signed).sign({ key: privateKey, dsaEncoding: 'ieee-p1363' })
      return `${signed}.${signature.toString('base64url')}`
    }
    const server = await serve(
      ...['--jwt-issuer', 'https://login.example.com', '--jwks', 'keys.json'],
      ...['--jwt-audience', 'trainer=trainers', '--jwt-audience', 'agent=agents'],
    )
    const carla = await trainer(server, issue('trainers'))
    await open(carla)
    expect(await listOf(carla)).toEqual(['carla'])
    await expect(trainer(server, issue('agents'))).rejects.toThrow(/401|token/i)
    server.kill('SIGTERM')
    expect((await server.ended).status).toBe(0)
  })

  it.each([
    [['--jwt-issuer', 'x'], /need --jwt-issuer, --jwt-audience and --jwks together/],
    [['--jwt-issuer', 'x', '--jwks', 'none.json', '--jwt-audience', 'agent=x'], /--jwks none\.json cannot be read/],
    [['--jwt-issuer', 'x', '--jwks', 'none.json', '--jwt-audience', 'x'], /--jwt-audience x: write agent=/],
    [['--control-token', 'anna'], /--control-token anna: write <name>=<token>/],
    [['--log-level', 'loud'], /Allowed choices are silent, fatal/],
  ])('is rejected with the reason if it is configured wrongly: %j', async (options, message) => {
    const ended = await workshop.main(['serve', exampleWorld('number-guessing'), '--port', '0', ...options])
    expect([ended.status, ended.err]).toEqual([2, expect.stringMatching(message)])
  })
})
