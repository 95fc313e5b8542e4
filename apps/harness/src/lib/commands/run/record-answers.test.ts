import { type Connection, connect, type Policy } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import {
  type Answering,
  bisecting,
  type ChatServer,
  calling,
  saying,
  startChatServer,
} from '@episodic/models/chat-server.fixture'
import { DEFAULT_OPTIONS } from '@episodic/models/model-options'
import { createLlmPolicy } from '@episodic/models/policy/llm-policy'
import { createRunTask, type OneSeat, type RolloutOptions } from '@episodic/play/play/episodes/rollout'
import { loadWorld } from '@episodic/play/worlds/world'
import {
  DEFAULT_SEAT,
  type EpisodeRecord,
  type MatchRecord,
  parseSealedRecord,
  requestsOf,
  type SealedRecord,
  sealOf,
  type Task,
} from '@episodic/protocol'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import { createRecording, type Recording } from '@episodic/run/folder/record/recording'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'
import { environment as nim } from '../../fixtures/nim.fixture.ts'

const KEY = 'sk-nobody-may-read-this'
const cleanUp = new AsyncDisposableStack()
let connection: Connection
beforeAll(async () => {
  vi.stubEnv('OPENAI_API_KEY', KEY)
  const { environment } = await loadWorld(exampleWorld('number-guessing'))
  const host = cleanUp.use(createHost({ environments: [environment, nim] }))
  connection = cleanUp.use(await connect(inProcess(host)))
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await cleanUp.disposeAsync()
})

let server: ChatServer | null = null
afterEach(() => server?.[Symbol.asyncDispose]())

const task: Task = {
  id: 'find',
  environment: { name: 'number-guessing', version: '1.1.0' },
  tools: [],
  prompt: 'Find it.',
  hints: [],
  params: {},
  seed: 'world',
  difficulty: 0,
  limits: {},
  split: 'train',
  tags: [],
  metadata: {},
}
const context = { run: 'r', signal: new AbortController().signal, now: () => 0 }

async function policyOver(answer: Answering): Promise<Policy> {
  server = await startChatServer(answer)
  return createLlmPolicy('llm:test', 'test', { ...DEFAULT_OPTIONS, baseUrl: server.url })
}

/** Plays one rollout, and returns its lines as they are read. */
async function play(
  answer: Answering,
  { branch = [], ...options }: Partial<RolloutOptions> & Pick<OneSeat, 'branch'> = {},
): Promise<EpisodeRecord[]> {
  const policy = await policyOver(answer)
  const createEnvironment = () => connection.environment('number-guessing')
  const players = { [DEFAULT_SEAT]: policy }
  const runTask = createRunTask({ play: { createEnvironment, branch }, players, seed: 's', discount: 1, ...options })
  return (await runTask({ task, attempt: 0 }, context)).map((record) => read(record) as EpisodeRecord)
}

function read(record: SealedRecord): SealedRecord {
  const line = parseSealedRecord(JSON.parse(JSON.stringify(record))).data as SealedRecord
  expect(line.seal).toBe(sealOf(line))
  return line
}

/** What the server received, as text. */
function received(): string[] {
  return server!.requests.map(({ messages, tools }) => JSON.stringify({ messages, tools }))
}

function rebuilt(episode: EpisodeRecord): string[] {
  return requestsOf(episode).map((request) => JSON.stringify(request))
}

/** Answers that are mistakes of every kind, and calls, of which some have several tools or are refused. */
const ANSWERS: readonly ((number: number) => object)[] = [
  () => saying({ role: 'assistant', content: 'I think it is 50.' }),
  () => calling('guess', '{"value": 50'),
  (number) => calling('guess', { value: number }),
  () => saying({ role: 'assistant', content: null }, 'length'),
  () => calling('peek', {}),
  (number) => {
    const call = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'guess', arguments: `{"value": ${number}}` },
    })
    return saying({ role: 'assistant', content: 'Two.', tool_calls: [call('a'), call('b')] }, 'tool_calls')
  },
  () => calling('guess', { value: 7 }),
  () => calling('guess', { value: 7 }),
]

describe('the transcript of a line', () => {
  it('gives every request again, byte for byte, with mistakes and corrections', async () => {
    const [episode] = await play((_, number) => ANSWERS[number % ANSWERS.length]!(number))
    expect(received().length).toBeGreaterThan(8)
    expect(rebuilt(episode!)).toEqual(received())
    const roles = new Set(
      episode!.transcript!.messages.map((message) => ('from' in message ? message.from : message.role)),
    )
    expect(roles).toEqual(new Set(['system', 'user', 'completion', 'step']))
  })

  it('gives the requests of an episode whose player stopped, and whose last answers led to no step', async () => {
    const [episode] = await play((_, number) =>
      number === 0 ? calling('guess', { value: 1 }) : saying({ role: 'assistant', content: `No ${number}.` }),
    )
    expect(episode!.outcome).toMatchObject({ kind: 'finished', stopped: { reason: 'no-action' } })
    expect(episode!.undecided).toHaveLength(3)
    expect(rebuilt(episode!)).toEqual(received())
  })

  it('gives the requests of a long conversation, from which the oldest messages are dropped', async () => {
    const long = 'So. '.repeat(15_000)
    const [episode] = await play((_, number) =>
      number % 2 === 0 ? saying({ role: 'assistant', content: long }) : calling('guess', { value: number }),
    )
    expect(received().some((request, i) => i > 0 && request.length < received()[i - 1]!.length)).toBe(true)
    expect(rebuilt(episode!)).toEqual(received())
  })

  it('holds each message once: as references where the line has it already', async () => {
    const [episode] = await play((_, number) => calling('guess', { value: number + 1 }))
    const { messages, tools } = episode!.transcript!
    const { steps } = episode!
    expect(messages).toHaveLength(2 * steps.length)
    expect(messages.slice(2)).toEqual(
      steps.slice(1).flatMap((_, index) => [
        { from: 'completion', index },
        { from: 'step', index },
      ]),
    )
    expect(tools).toHaveLength(1)
    for (const { completions } of steps) expect(completions![0]!.prompt!.messages).toHaveLength(1)
  })

  it('gives the requests of every line of a tree', async () => {
    const leaves = await play(bisecting, { branch: [{ lines: 3, at: 2 }] })
    expect(leaves).toHaveLength(3)
    expect(new Set(leaves.flatMap(rebuilt))).toEqual(new Set(received()))
  })

  it('is kept for each seat of a match that a model plays', async () => {
    const policy = await policyOver(() => calling('take', { count: 1 }))
    const runTask = createRunTask({
      play: { createGame: () => connection.game('nim'), maxSteps: null, weights: {} },
      players: { ann: policy, bob: policy },
      seed: 's',
      discount: 1,
      accept: (action) => action,
    })
    const { name, version } = nim
    const [played] = await runTask({ task: { ...task, environment: { name, version } }, attempt: 0 }, context)
    const match = read(played!) as MatchRecord
    expect(match.outcome.kind).toBe('finished')
    const requests = ['ann', 'bob'].flatMap((seat) => rebuilt(seatRecordOf(match, seat)))
    expect(requests.toSorted()).toEqual(received().toSorted())
  })
})

describe('what a line keeps of a model', () => {
  const secretive: Answering = (_, number, __, { headers }) => ({
    ...calling('guess', { value: number + 1 }),
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          content: `My key is ${headers.authorization} and the other ${process.env.DATABASE_PASSWORD}.`,
          reasoning: `I know ${process.env.DATABASE_PASSWORD}, and customer 4711.`,
          tool_calls: [
            { id: 'a', function: { name: 'guess', arguments: JSON.stringify({ value: number + 1 }) } },
            {
              id: 'b',
              function: { name: 'guess', arguments: JSON.stringify([{ note: process.env.DATABASE_PASSWORD }]) },
            },
          ],
        },
      },
    ],
  })

  it('has no key and no secret of the environment, and nothing that the given expression matches', async () => {
    vi.stubEnv('DATABASE_PASSWORD', 'correct "horse" battery staple')
    const [episode] = await play(secretive, { recording: createRecording('full', /customer \d+/gu) })
    const line = JSON.stringify(episode)
    for (const secret of [KEY, 'horse', 'customer 4711']) expect(line).not.toContain(secret)
    const [completion] = episode!.steps[0]!.completions!
    expect(completion).toMatchObject({
      text: 'My key is Bearer [key] and the other [redacted].',
      reasoning: 'I know [redacted], and [redacted].',
      calls: [{ played: true }, { arguments: '[{"note":"[redacted]"}]' }],
    })
    expect(requestsOf(episode!).at(-1)!.messages[2]).toMatchObject({ role: 'assistant', content: completion!.text })
  })

  it.each<[Recording['keep'], object]>([
    ['answers', { text: 'Hm.', finish: 'tool_calls' }],
    ['none', { text: null, finish: 'tool_calls', promptTokens: 1_000 }],
  ])('with "%s" is no more than that', async (keep, kept) => {
    const call = { id: 'a', type: 'function', function: { name: 'guess', arguments: '{"value":1}' } }
    const message = { role: 'assistant', content: 'Hm.', reasoning: 'So.', tool_calls: [call] }
    const [episode] = await play(() => saying(message, 'tool_calls'), { recording: createRecording(keep) })
    const [completion] = episode!.steps[0]!.completions!
    expect(completion).toMatchObject(kept)
    expect(episode).not.toHaveProperty('transcript')
    expect(completion).not.toHaveProperty('prompt')
    expect('reasoning' in completion! || 'calls' in completion!).toBe(keep === 'answers')
  })

  it('is cut in the middle of long texts, the reasoning first, and says how much is missing', async () => {
    const reasoning = 'r'.repeat(3_000_000)
    const text = 't'.repeat(250_000)
    const calls = [{ id: 'a', type: 'function', function: { name: 'guess', arguments: '{"value":1}' } }]
    const [episode] = await play(() =>
      saying({ role: 'assistant', content: text, reasoning, tool_calls: calls }, 'tool_calls'),
    )
    expect(Buffer.byteLength(JSON.stringify(episode))).toBeLessThan(8 * 1024 ** 2)
    const [completion] = episode!.steps[0]!.completions!
    expect(completion!.text).toBe(text)
    expect(completion!.cut).toBe(3_000_000 - 256 * 1024)
    expect(completion!.reasoning).toMatch(/^r+ \[2737856 characters cut\] r+$/)
  })
})
