import { createHash } from 'node:crypto'
import { connect, type Policy, runEpisode, scriptedPolicy } from '@episodic/env'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { inProcess } from '../../dispatch/in-process.ts'
import { OFFICIAL_CLIENTS } from '../../fixtures/official-clients.fixture.ts'
import { createTestHost, serve } from '../../fixtures/testbed.fixture.ts'
import { createHost } from '../../host/create-host.ts'
import { defineEnvironment } from '../definition/define-environment.ts'
import { defineGame } from '../definition/define-game.ts'
import { rehearse } from '../rehearse/rehearse.ts'

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
const WAV = Buffer.from('RIFF\u0004\0\0\0WAVEfmt ').toString('base64')
const SECRET = 'a-secret-in-a-picture'

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const picture = { type: 'image', mimeType: 'image/png', data: Buffer.from(PNG).toString('base64') }
const sound = { type: 'audio', mimeType: 'audio/wav', data: WAV }
const attachments = [
  { ...picture, sha256: hashOf(PNG), bytes: PNG.length },
  { ...sound, sha256: hashOf(Buffer.from(WAV, 'base64')), bytes: 16 },
]

const gallery = defineEnvironment({
  name: 'gallery',
  version: '1.0.0',
  description: 'Ask for pictures.',
  state: { public: z.object({ seen: z.int() }), private: z.object({ secret: z.string() }) },
  start: () => ({ public: { seen: 0 }, private: { secret: SECRET } }),
  observe: ({ seen }) => `${seen} seen.`,
  secrets: ({ private: { secret } }) => [secret],
  tools: ({ tool }) => ({
    show: tool({
      description: 'Show a picture and a sound.',
      input: z.object({}),
      play({ state, attach, say }) {
        state.public.seen += 1
        attach(PNG)
        attach(WAV)
        return say('Here.')
      },
    }),
    give: tool({
      description: 'Attach what is given.',
      input: z.object({ data: z.string(), type: z.string().optional(), times: z.int().default(1) }),
      play({ input: { data, type, times }, attach, say, refuse }) {
        for (let i = 0; i < times; i++) attach(data, type)
        return times === 2 ? refuse('Not two.') : say('Given.')
      },
    }),
    large: tool({
      description: 'Show a picture that is too large.',
      input: z.object({}),
      play({ attach, say }) {
        attach(Uint8Array.from({ length: 900_000 }, (_, i) => PNG[i] ?? 0))
        return say('Here.')
      },
    }),
    leak: tool({
      description: 'Hide a secret in a picture.',
      input: z.object({}),
      play({ state, attach, say }) {
        attach(Buffer.concat([PNG, Buffer.from(state.private.secret)]))
        return say('Nothing here.')
      },
    }),
  }),
  rewards: { one: () => 0 },
})

describe('pictures and sounds of an answer', () => {
  it('are part of the observation, with their type, hash and size', () => {
    const { play } = rehearse(gallery)
    expect(play('show', {}).observation).toEqual({ text: 'Here.\n1 seen.', structured: { seen: 1 }, attachments })
    expect(play('give', { data: `data:image/svg+xml;base64,${btoa('<svg/>')}`, type: 'image/svg+xml' })).toMatchObject({
      observation: { attachments: [{ mimeType: 'image/svg+xml', bytes: 6 }] },
    })
  })

  it('are not shown by a call that is refused', () => {
    const { play } = rehearse(gallery)
    expect(play('give', { data: picture.data, times: 2 }).observation).toEqual({
      text: 'Not two.\n0 seen.',
      structured: null,
    })
  })

  it.each<[string, object, RegExp]>([
    ['no base64', { data: 'a picture' }, /no picture or sound\. Give bytes or base64 of PNG/],
    ['of no known kind', { data: btoa('something') }, /no picture or sound/],
    ['nothing', { data: '', type: 'image/png' }, /no picture or sound/],
    ['of another type', { data: picture.data, type: 'text/html' }, /no picture or sound/],
    ['too many', { data: picture.data, times: 17 }, /more than 16 pictures, sounds and files/],
  ])('are a fault of the rules if they are %s', (_, args, message) => {
    expect(() => rehearse(gallery).play('give', args as never)).toThrow(message)
  })

  it('are bounded as answers are, with the limit in the error', async () => {
    await using host = createHost({ environments: [gallery] })
    await using connection = await connect(inProcess(host))
    const environment = connection.environment('gallery')
    await environment.reset()
    await expect(environment.step({ tool: 'large', arguments: {} })).rejects.toThrow(
      /The answer has 12\d{5} bytes, and the limit of one answer is 1048576\. Say less, attach smaller pictures/,
    )
  })

  it('are never written with a listed secret in their bytes', () => {
    expect(() => rehearse(gallery, { strict: true }).play('leak', {})).toThrow(/what `secrets` lists/)
  })

  it.each(Object.entries(OFFICIAL_CLIENTS))('reach an agent as parts of their own: %s', async (_, connectClient) => {
    const { host } = createTestHost({ environments: [gallery] })
    const server = await serve(host)
    const client = await connectClient(server.agentUrl)
    const created = await client.callTool({ name: 'create_gallery', arguments: {} })
    const { gallery_id } = created.structuredContent as { readonly gallery_id: string }
    const { content } = await client.callTool({ name: 'show', arguments: { gallery_id } })
    expect(content).toEqual([{ type: 'text', text: 'Here.\n1 seen.' }, picture, sound])
    const leaking = await client
      .callTool({ name: 'leak', arguments: { gallery_id } })
      .catch((error: Error) => error.message)
    expect(JSON.stringify(leaking)).not.toContain('image')
  })

  it('reach a policy at the trainer endpoint', async () => {
    await using host = createHost({ environments: [gallery] })
    await using connection = await connect(inProcess(host))
    const policy: Policy = scriptedPolicy([{ tool: 'show', arguments: {} }])
    const { steps } = await runEpisode({
      createEnvironment: () => connection.environment('gallery'),
      policy,
      task: { limits: { steps: 1 } },
    })
    expect(steps[0]?.observation.attachments).toEqual(attachments)
  })

  it('are shown to the seat of a game that moves', () => {
    const { play } = rehearse(painters)
    expect(play('paint', {}, { seat: 'one' }).observation.attachments).toEqual(attachments.slice(0, 1))
  })
})

const painters = defineGame({
  name: 'painters',
  version: '1.0.0',
  description: 'Paint in turn.',
  seats: ['one', 'two'],
  utility: 'general',
  state: { public: z.object({ painted: z.int() }), own: z.object({}), private: z.object({}) },
  start: () => ({ public: { painted: 0 }, own: { one: {}, two: {} }, private: {} }),
  turn: ({ painted }) => (painted % 2 === 0 ? 'one' : 'two'),
  observe: ({ public: { painted } }) => `${painted} painted.`,
  tools: ({ tool }) => ({
    paint: tool({
      description: 'Paint.',
      input: z.object({}),
      play({ state, attach, say }) {
        state.public.painted += 1
        attach(PNG)
        return say('Painted.')
      },
    }),
  }),
  rewards: { one: () => 0 },
})
