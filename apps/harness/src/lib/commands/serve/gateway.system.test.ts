import { existsSync, readFileSync, statSync } from 'node:fs'
import OpenAI from 'openai'
import { afterAll, describe, expect, it } from 'vitest'
import { startTokenEngine, type TokenEngine } from '../../../../../../interop/gateway/token-engine.ts'
import { openWorkshop, type Started } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

const TOKEN = 'of-the-trainer-and-nobody-else'
const TRAINER = { authorization: `Bearer ${TOKEN}` }

/** Starts the command over the folder `kept`. Resolves when it listens. */
async function start(engine: TokenEngine): Promise<Started & { readonly url: string }> {
  const args = ['gateway', 'kept', '--base-url', engine.url, '--port', '0', '--model-option', 'top_p=1']
  const started = workshop.start(args, { env: { EPISODIC_CONTROL_TOKEN: TOKEN, OPENAI_API_KEY: 'engine' } })
  const [, url = ''] = await started.until(/POST (\S+)\/sessions/)
  return { ...started, url }
}

/** Opens the session of these tests, or opens it again. Resolves with its key. */
async function open(url: string): Promise<string> {
  const body = JSON.stringify({ session_id: 'one' })
  const answer = await fetch(`${url}/sessions`, { method: 'POST', headers: TRAINER, body })
  return ((await answer.json()) as { api_key: string }).api_key
}

async function ask(url: string, apiKey: string): Promise<string | null | undefined> {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1` })
  const messages = [{ role: 'user' as const, content: 'Hm?' }]
  const { choices } = await client.chat.completions.create({ model: 'm', temperature: 0.5, messages })
  return choices[0]?.message.content
}

describe('episodic gateway', () => {
  it('goes on after a kill with the answers that it had, and sends the fields that it was given', async () => {
    await using engine = await startTokenEngine((_, number) => ({ content: `Answer ${number}.` }))
    const first = await start(engine)
    const key = await open(first.url)
    expect(await ask(first.url, key)).toBe('Answer 0.')
    first.kill('SIGKILL')
    await first.ended
    const second = await start(engine)
    expect(await ask(second.url, key)).toBe('Answer 0.')
    expect(await ask(second.url, key)).toBe('Answer 1.')
    expect(await open(second.url)).toBe(key)
    const answer = await fetch(`${second.url}/sessions/one/trace`, { headers: TRAINER })
    const { turns } = (await answer.json()) as { turns: { completion_token_ids: number[]; metadata: object }[] }
    expect(turns.map((turn) => turn.completion_token_ids)).toEqual(engine.sampled.map(({ ids }) => ids))
    expect(turns[0]!.metadata).toMatchObject({ temperature: 0.5, role: 'agent' })
    expect(engine.requests).toMatchObject([
      { top_p: 1, temperature: 0.5 },
      { top_p: 1, temperature: 0.5 },
    ])
    second.kill('SIGTERM')
    expect(await second.ended).toMatchObject({ status: 0 })
  })

  it('makes a token for trainers, which it keeps in a file for as long as it runs', async () => {
    await using engine = await startTokenEngine(() => ({ content: 'Yes.' }))
    const started = workshop.start(['gateway', 'own', '--base-url', engine.url, '--port', '0'], { env: {} })
    const [, url = ''] = await started.until(/POST (\S+)\/sessions/)
    const [, file = ''] = await started.until(/control token in (\S+)/)
    const asked = async (headers: Record<string, string>) =>
      (await fetch(`${url}/sessions`, { method: 'POST', headers, body: '{}' })).status
    expect(await asked({})).toBe(401)
    expect(await asked({ authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` })).toBe(200)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    started.kill('SIGTERM')
    expect(await started.ended).toMatchObject({ status: 0 })
    expect(existsSync(file)).toBe(false)
  })

  it.each([
    [[], { OPENAI_BASE_URL: '' }, 2, /No engine is named/],
    [['--base-url', 'http://127.0.0.1:1/v1', '--address', '0.0.0.0'], {}, 1, /List the host names/],
    [['--base-url', 'http://127.0.0.1:1/v1'], { EPISODIC_CONTROL_TOKEN: 'short' }, 1, /at least 22 characters/],
  ])('says what is missing: %s', async (options, env, code, message) => {
    const { status, err } = await workshop.main(['gateway', 'other', ...options], { env })
    expect([status, err]).toEqual([code, expect.stringMatching(message)])
  })
})
