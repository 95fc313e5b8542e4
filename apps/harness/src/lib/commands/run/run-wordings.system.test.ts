import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Answering,
  bisecting,
  type ChatServer,
  saying,
  startChatServer,
} from '@episodic/models/chat-server.fixture'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const HINT = 'Guess the middle of what is left.'

/** A model that bisects if the description of its tool says so, and guesses 1 otherwise. */
const reading: Answering = (request) => {
  if (JSON.stringify((request as unknown as { tools: unknown }).tools).includes(HINT)) return bisecting(request)
  const call = { id: 'call_0', type: 'function', function: { name: 'guess', arguments: '{"value":1}' } }
  return saying({ role: 'assistant', content: '', tool_calls: [call] }, 'tool_calls')
}

const workshop = openWorkshop()
let server: ChatServer
beforeAll(async () => {
  server = await startChatServer(reading)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  workshop[Symbol.dispose]()
})

const run = (...more: string[]) =>
  workshop.main(['run', exampleWorld('number-guessing'), '--base-url', server.url, '--tasks', '12', ...more], {
    env: { OPENAI_API_KEY: 'none' },
  })
const write = (name: string, content: unknown) =>
  writeFileSync(join(workshop.folder, name), typeof content === 'string' ? content : JSON.stringify(content))

describe('episodic run --wordings', () => {
  it('plays every model with every wording, and compare says which helped, corrected for how many were tried', async () => {
    write('hint.txt', HINT)
    write('wordings.json', [
      { name: 'usual' },
      { name: 'kind', systemPrompt: 'Please play well.' },
      { name: 'hint', describe: { guess: '@hint.txt' } },
    ])
    const set = ['--policy', 'llm:a', '--policy', 'llm:b', '--policy', 'random', '--wordings', 'wordings.json']
    const { status, out } = await run(...set, '--set', 'words')
    expect([status, out]).toEqual([0, expect.stringMatching(/llm:b hint +100\.0 %/)])
    const compared = await workshop.main(['compare', 'runs/words', '--json'])
    const { runs, factors } = JSON.parse(compared.out)
    expect(runs).toHaveLength(7)
    expect(factors.effects).toMatchObject([
      { factor: 'prompt', pairs: 2, tests: 2 },
      { factor: 'tools', level: `guess “${HINT.slice(0, 31)}…”`, base: 'usual tools', pairs: 2, tests: 2 },
    ])
    const [kind, hint] = factors.effects
    expect([kind.difference.mean, hint.difference.mean > 0.5, hint.holm < 0.05]).toEqual([0, true, true])
    const again = await run('--resume', 'runs/words')
    expect(again.status).toBe(2)
    expect((await workshop.main(['run', '--resume', 'runs/words'], { env: { OPENAI_API_KEY: 'none' } })).status).toBe(0)
  })

  it.each([
    [[{ name: 'x', describe: { guss: 'a' } }], ['--policy', 'llm:a'], /has no tool "guss" to describe: guess/],
    [[{ name: 'x' }], ['--policy', 'random'], /no player is llm:<model>, which reads it/],
    [[{ prompt: 'x' }], ['--policy', 'llm:a'], /--wordings wrong\.json: .*prompt/s],
  ])('refuses %j of %j', async (wordings, players, message) => {
    write('wrong.json', wordings)
    const { status, err } = await run(...players, '--wordings', 'wrong.json', '--set', 'wrong')
    expect([status, err]).toEqual([2, expect.stringMatching(message)])
  })
})
