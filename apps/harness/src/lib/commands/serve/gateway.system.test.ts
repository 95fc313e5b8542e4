import OpenAI from 'openai'
import { afterAll, describe, expect, it } from 'vitest'
import { startTokenEngine, type TokenEngine } from '../../../../../../interop/gateway/token-engine.ts'
import { openWorkshop, type Started } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())

const TRAINER = { authorization: 'Bearer of-the-trainer' }

/** Starts the command over the folder `kept`. Resolves when it listens. */
async function start(engine: TokenEngine): Promise<Started & { readonly url: string }> {
  const args = ['gateway', 'kept', '--base-url', engine.url, '--port', '0', '--model-option', 'top_p=1']
  const started = workshop.start(args, { env: { EPISODIC_CONTROL_TOKEN: 'of-the-trainer', OPENAI_API_KEY: 'engine' } })
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

  it.each([
    [[], { OPENAI_BASE_URL: '' }, /No engine is named/],
    [['--base-url', 'http://127.0.0.1:1/v1', '--address', '0.0.0.0'], {}, /anybody could read sessions/],
  ])('says what is missing: %s', async (options, env, message) => {
    const { status, err } = await workshop.main(['gateway', 'other', ...options], { env })
    expect([status, err]).toEqual([2, expect.stringMatching(message)])
  })
})
