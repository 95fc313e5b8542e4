import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calling, saying, startChatServer } from '@episodic/models/chat-server.fixture'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { playEpisode, recordedModel } from '../../../vitest.ts'
import { guessing } from './guessing.fixture.ts'
import type { RecordedModelOptions } from './recorded-model.ts'

const KEY = 'a-key-that-is-long-enough'

beforeEach(() => {
  vi.stubEnv('EPISODIC_RECORDINGS', undefined)
  vi.stubEnv('CI', undefined)
  vi.stubEnv('OPENAI_API_KEY', undefined)
  vi.stubEnv('OPENAI_BASE_URL', undefined)
})

/** A server whose model guesses 1, then 2 and so on, and a file for its answers. */
async function model({ first = 1 }: { readonly first?: number } = {}) {
  const server = await startChatServer(({ messages }) =>
    calling('guess', { value: first + messages.filter(({ role }) => role === 'assistant').length }),
  )
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'recorded-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const play = (options: RecordedModelOptions, target = 3) =>
  playEpisode(guessing, { policy: recordedModel('small', options), params: { target } })

describe('recordedModel', () => {
  it('asks what is not recorded, and then plays the same episode without the model, which needs no key', async () => {
    const file = join(folder(), 'small.json')
    const server = await model()
    const live = await play({ file, baseUrl: server.url })
    expect(live).toEndWith('found')
    expect(server.requests).toHaveLength(3)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      model: 'small',
      answers: [{ messages: [{ role: 'system' }, { role: 'user' }] }, { after: 0, messages: [{}, {}] }, { after: 1 }],
    })
    for (const recordings of ['auto', 'strict'] as const) {
      const played = await play({ file, recordings })
      const calls = (episode: typeof played) => episode.steps.map(({ action, observation }) => [action, observation])
      expect(calls(played)).toEqual(calls(live))
    }
    expect(server.requests).toHaveLength(3)
  })

  it('is strict in CI: what is not recorded is an error, which says what has changed', async () => {
    const file = join(folder(), 'small.json')
    vi.stubEnv('CI', 'true')
    await expect(play({ file })).rejects.toMatchObject({
      code: 'not-recorded',
      message: expect.stringMatching(/Nothing is recorded there\. Record it anew with EPISODIC_RECORDINGS=record/),
    })
    const server = await model()
    await play({ file, baseUrl: server.url, recordings: 'auto' })
    const policy = recordedModel('small', { file })
    await expect(
      playEpisode(guessing, { policy, params: { target: 3 }, prompt: 'Find another number.' }),
    ).rejects.toThrow(/Message 2 of 2 is .*Find another number.*Find a number from 1 to 10.* was recorded/)
    await expect(play({ file, temperature: 1 })).rejects.toThrow(/recorded with other tools, settings or another seed/)
    await expect(playEpisode(guessing, { policy: recordedModel('large', { file }) })).rejects.toThrow(
      /has the answers of small, and large is played/,
    )
    const passed = expect({ environment: guessing }).toPass({ policy, rate: 0.5, tasks: 10 })
    await expect(passed).rejects.toMatchObject({ code: 'not-recorded' })
  })

  it('keeps the answers of each test in a file of its own beside it', async () => {
    const { testPath } = expect.getState()
    const beside = join(testPath as string, '..', '__episodes__')
    onTestFinished(() => rmSync(beside, { recursive: true, force: true }))
    await playEpisode(guessing, {
      policy: recordedModel('small', { baseUrl: (await model()).url }),
      params: { target: 1 },
    })
    const [name, ...more] = readdirSync(join(beside, 'recorded-model.system.test.ts'))
    expect(more).toEqual([])
    expect(name).toMatch(
      /^recordedmodel-keeps-the-answers-of-each-test-in-a-file-of-its-own-beside-it-[0-9a-f]{6}\.json$/,
    )
  })

  it('writes no key: it is taken out of what was asked, and an answer that has it is an error', async () => {
    vi.stubEnv('OPENAI_API_KEY', KEY)
    const file = join(folder(), 'small.json')
    const server = await model()
    const policy = recordedModel('small', { file, baseUrl: server.url })
    await playEpisode(guessing, { policy, params: { target: 1 }, prompt: `The key is ${KEY}.` })
    expect(readFileSync(file, 'utf8')).not.toContain(KEY)
    vi.stubEnv('MY_SECRET', 'what-nobody-may-know')
    const leaking = await startChatServer(() => saying({ role: 'assistant', content: 'It is what-nobody-may-know.' }))
    onTestFinished(() => leaking[Symbol.asyncDispose]())
    const episode = await play({ file: join(folder(), 'other.json'), baseUrl: leaking.url })
    expect(episode).toMatchObject({ kind: 'failed', cause: { code: 'secret-found' } })
  })

  it('refuses a file that is no recording, and options that cannot be', async () => {
    const file = join(folder(), 'small.json')
    writeFileSync(file, '{"answers": 1}')
    expect(await play({ file })).toMatchObject({ kind: 'failed', cause: { code: 'run-invalid' } })
    expect(() => recordedModel('small', { temperature: -1 })).toThrow(/recordedModel of small/)
  })
})
