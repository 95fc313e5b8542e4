import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Answering,
  bisecting,
  type ChatServer,
  saying,
  startChatServer,
} from '@episodic/models/chat-server.fixture'
import { type EpisodeRecord, requestsOf } from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  exampleWorld,
  openWorkshop,
  readEpisodes,
  readMatches,
  type Workshop,
} from '../../fixtures/episodic.fixture.ts'

const AGENT = fileURLToPath(new URL('../../fixtures/agents/openai-agent.fixture.ts', import.meta.url))
const WORLD = exampleWorld('number-guessing')
const KEY = 'sk-nobody-may-read-this'

let workshop: Workshop
beforeAll(() => {
  workshop = openWorkshop()
})
afterAll(() => workshop[Symbol.dispose]())

let server: ChatServer
afterEach(() => server[Symbol.asyncDispose]())

interface Played {
  readonly status: number | null
  readonly err: string
  readonly episodes: readonly EpisodeRecord[]
  /** The sealed lines, as text. */
  readonly lines: string
}

async function play(
  out: string,
  answer: Answering,
  { options = [], env = {}, command = `node ${AGENT}` }: { options?: string[]; env?: object; command?: string } = {},
): Promise<Played> {
  server = await startChatServer(answer)
  const args = ['run', WORLD, '--policy', `process:${command}`, '--record-models', '--tasks', '3', '--out', out]
  const environment = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: KEY, ...env }
  const { status, err } = await workshop.main([...args, ...options], { env: environment })
  const folder = join(workshop.folder, out)
  return {
    status,
    err,
    episodes: readEpisodes(folder) as EpisodeRecord[],
    lines: readFileSync(join(folder, 'episodes.jsonl'), 'utf8'),
  }
}

/** Thinks, speaks and guesses, with ids of calls that differ. */
const thinking: Answering = (request, number) => {
  const guess = bisecting(request) as { choices: [{ message: { tool_calls: [{ id: string }] } }] }
  const [call] = guess.choices[0].message.tool_calls
  const calls = [{ ...call, id: `call_${number}` }]
  const message = { role: 'assistant', content: `Guess ${number}.`, reasoning: 'The half of it.', tool_calls: calls }
  const tokens = { token_ids: [4, number], logprobs: { content: [{ logprob: -0.5 }, { logprob: -0.25 }] } }
  return {
    ...saying(message, 'tool_calls', { choice: tokens }),
    prompt_token_ids: [1, 2],
    sglext: { weight_version: '7' },
  }
}

/** What the server received, in the order of the texts. */
function received(): string[] {
  return server.requests.map(({ messages, tools }) => JSON.stringify({ messages, tools })).toSorted()
}

async function replayed(out: string): Promise<object> {
  const replay = await workshop.main(['replay', out, '--world', WORLD, '--json'])
  return JSON.parse(replay.out)
}

describe('episodic run --record-models', () => {
  it.each(['', 'yes'])('records what a program asks with the client of OpenAI (streams: "%s")', async (STREAM) => {
    const out = `recorded-${STREAM}`
    const { status, episodes, lines } = await play(out, thinking, { env: { STREAM } })
    expect(status).toBe(0)
    expect(episodes).toHaveLength(3)
    for (const episode of episodes) {
      const { steps, transcript, undecided } = episode
      expect(transcript?.by).toBe('proxy')
      expect(undecided).toBeUndefined()
      for (const { action, completions } of steps) {
        expect(completions).toHaveLength(1)
        const [{ text, calls, ...completion }] = completions as [NonNullable<typeof completions>[number]]
        expect(completion).toMatchObject({
          model: 'served-model',
          asked: 'small',
          responseId: 'chat_1',
          reasoning: 'The half of it.',
          promptTokens: 1_000,
          completionTokens: 10,
          finish: 'tool_calls',
          promptTokenIds: [1, 2],
          tokenIds: [4, expect.any(Number)],
          logProbabilities: [-0.5, -0.25],
          policyVersion: '7',
          time: { milliseconds: expect.any(Number), waited: 0 },
        })
        expect(text).toBe(`Guess ${calls![0]!.id.replace('call_', '')}.`)
        expect(calls).toEqual([
          { id: expect.any(String), name: 'guess', arguments: JSON.stringify(action.arguments), played: true },
        ])
      }
    }
    const rebuilt = episodes.flatMap((episode) => requestsOf(episode).map((request) => JSON.stringify(request)))
    expect(rebuilt.toSorted()).toEqual(received())
    expect(lines).not.toContain(KEY)
    expect(await replayed(out)).toMatchObject({ replayed: 3, diverged: 0 })
    const { tokens } = JSON.parse(readFileSync(join(workshop.folder, out, 'summary.json'), 'utf8'))
    expect(tokens).toMatchObject({ episodes: 3, requests: server.requests.length })
  })

  it('keeps the key of a program in no line, nor where models and failures repeat it', async () => {
    const own = 'sk-only-this-program-knows-it'
    const leaking: Answering = ({ messages }, number, _, { headers }) => {
      const content = `You sent ${headers.authorization}.`
      if (messages.length > 2) return saying({ role: 'assistant', content })
      const message = {
        role: 'assistant',
        content,
        tool_calls: [
          { id: `a${number}`, type: 'function', function: { name: 'guess', arguments: '{"value":1}' } },
          { id: `b${number}`, type: 'function', function: { name: 'guess', arguments: '{"value":2}' } },
        ],
      }
      return saying(message, 'tool_calls')
    }
    const command = `OPENAI_API_KEY=$CANARY node ${AGENT}; echo "the key was $CANARY" >&2; exit 3`
    const { episodes, lines } = await play('leaked', leaking, { command, env: { CANARY: own } })
    expect(episodes).toHaveLength(3)
    for (const { outcome, undecided } of episodes) {
      expect(outcome).toMatchObject({ error: { message: 'The agent ended with status 3: the key was [key]' } })
      expect(undecided).toMatchObject([{ text: 'You sent Bearer [key].' }])
    }
    for (const secret of [own, KEY]) expect(lines).not.toContain(secret)
    // Both calls of an answer are played, one after another.
    const [first, second] = episodes[0]!.steps
    expect(first!.completions![0]!.calls).toMatchObject([{ played: true }, { played: true }])
    expect(second).not.toHaveProperty('completions')
  })

  it('is refused where no agent plays', async () => {
    server = await startChatServer(bisecting)
    const { status, err } = await workshop.main(['run', WORLD, '--policy', 'random', '--record-models'])
    expect(status).toBe(2)
    expect(err).toContain('--record-models is for process:<command> and agent:<file>.')
  })
})

/** The body of an agent that guesses 1, after what comes before it. */
const guessing = (before: string) => `${before}
  await client.callTool({ name: 'guess', arguments: { value: 1 } })`

describe('an agent in TypeScript', () => {
  /** Writes a module with an agent. Returns the options that play with it. */
  function written(file: string, body: string, world = WORLD): string[] {
    const source = `import { defineAgent } from '${import.meta.resolve('@episodic/harness')}'
import { Client } from '${import.meta.resolve('@modelcontextprotocol/sdk/client/index.js')}'
import { StreamableHTTPClientTransport } from '${import.meta.resolve('@modelcontextprotocol/sdk/client/streamableHttp.js')}'
export const agent = defineAgent({ name: 'written', async play({ url, modelUrl, record }) {
  const client = new Client({ name: 'agent', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  ${body}
  await client.close()
} })
`
    writeFileSync(join(workshop.folder, file), source)
    return ['run', world, '--policy', `agent:${file}`, '--tasks', '2', '--out', file.replace('.mjs', '')]
  }

  it('records completions itself, in the place of a proxy', async () => {
    server = await startChatServer(() => saying({ role: 'assistant', content: 'Unused.' }))
    const body = `
      await fetch(modelUrl + '/chat/completions', { method: 'POST', body: '{"model":"m","messages":[]}' }).then((answer) => answer.text())
      const request = { messages: [{ role: 'user', content: 'Guess.' }] }
      const calls = [{ id: 'c', name: 'guess', arguments: '{"value":1}' }]
      record({ model: 'mine', promptTokens: 7, text: 'One.', reasoning: 'Low.', calls, request })`
    const args = [...written('records.mjs', guessing(body)), '--record-models']
    expect(await workshop.main(args, { env: { OPENAI_BASE_URL: server.url } })).toMatchObject({ status: 0 })
    expect(server.requests).toHaveLength(2)
    for (const episode of readEpisodes(join(workshop.folder, 'records')) as EpisodeRecord[]) {
      expect(episode.transcript).toEqual({ by: 'agent', messages: [{ role: 'user', content: 'Guess.' }], tools: [] })
      expect(episode.steps[0]!.completions).toMatchObject([
        { model: 'mine', promptTokens: 7, completionTokens: 0, cost: null, text: 'One.', calls: [{ played: true }] },
      ])
      expect(requestsOf(episode)).toEqual([{ messages: [{ role: 'user', content: 'Guess.' }], tools: [] }])
    }
    expect(await replayed('records')).toMatchObject({ replayed: 2, diverged: 0 })
  })

  it('is recorded in each seat of a match, by its own steps', async () => {
    server = await startChatServer(({ messages }) =>
      saying({ role: 'assistant', content: `Said to ${messages[0]!.content}.` }),
    )
    const body = `
      const ask = (content) => fetch(modelUrl + '/chat/completions', { method: 'POST',
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }) }).then((answer) => answer.text())
      const call = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent
      let view = await call('wait', {})
      const { seat } = view
      for (let turn = 0; view.stones > 0 && view.turn.includes(seat); turn++) {
        await ask(seat + ' at ' + turn)
        view = await call('take', { count: 1 })
      }
      await ask(seat + ' at the end')`
    const nim = fileURLToPath(new URL('../../fixtures/nim.fixture.ts', import.meta.url))
    const args = [...written('seated.mjs', body, nim), '--record-models']
    expect(await workshop.main(args, { env: { OPENAI_BASE_URL: server.url } })).toMatchObject({ status: 0 })
    const matches = readMatches(join(workshop.folder, 'seated'))
    expect(matches).toHaveLength(2)
    for (const match of matches) {
      for (const seat of ['ann', 'bob']) {
        const { steps, transcript } = seatRecordOf(match, seat)
        expect(transcript!.by).toBe('proxy')
        const said = steps.map(({ completions = [] }) => completions.map(({ text }) => text))
        const expected = steps.map((_, turn) => [`Said to ${seat} at ${turn}.`])
        expected.at(-1)!.push(`Said to ${seat} at the end.`)
        // An agent may return a little after its match is over.
        expect(said).toEqual(expected)
      }
      expect(match).not.toHaveProperty('undecided')
    }
    expect(await workshop.main(['replay', 'seated'])).toMatchObject({ status: 0 })
  })
})
