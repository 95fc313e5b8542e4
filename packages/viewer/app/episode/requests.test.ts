import { type Completion, type EpisodeRecord, requestsOf, type Transcript } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { answersOf, firstTools, type SentRequest, sentRequest } from './requests.ts'
import { requestItems } from './sent-tab.tsx'

const answer = (text: string, messages: [number, number][] | null): Completion => ({
  model: 'm',
  promptTokens: 1,
  completionTokens: 1,
  cost: null,
  text,
  calls: [{ id: text, name: 'guess', arguments: '{}', played: true }],
  ...(messages && { prompt: { messages, tools: [[0, 1]] } }),
})

const transcript: Transcript = {
  by: 'harness',
  messages: [
    { role: 'system', content: 'rules' },
    { role: 'user', content: 'task' },
    { from: 'completion', index: 0 },
    { from: 'step', index: 0 },
    { role: 'system', content: 'other rules' },
  ],
  tools: [{ type: 'function', function: { name: 'guess' } }],
}

function episode(completions: readonly (readonly Completion[])[], undecided?: readonly Completion[]): EpisodeRecord {
  return {
    format: 3,
    run: 'run',
    task: { id: 'task', prompt: '', difficulty: 0, split: 'train', tags: [] },
    attempt: 0,
    try: 0,
    environment: { name: 'w', version: '1' },
    params: {},
    seed: 's',
    chain: 'c',
    seal: null,
    time: { started: 0, ended: 1 },
    policy: { name: 'llm:m', seed: 's' },
    branch: null,
    start: { observation: { text: 'seen', structured: null }, potential: null },
    steps: completions.map((some, i) => ({
      action: { tool: 'guess', arguments: {} },
      observation: { text: `result ${i}`, structured: null },
      reward: { total: 0, terms: {}, shaping: 0 },
      potential: null,
      refused: null,
      stateHash: null,
      milliseconds: 1,
      completions: some,
    })),
    outcome: { kind: 'finished', end: { kind: 'terminated', reason: 'done' } },
    returns: { total: 0, unshaped: 0, discounted: 0 },
    transcript,
    ...(undecided && { undecided }),
  }
}

const statesOf = (request: SentRequest | null | undefined) => request?.messages.map(({ id, state }) => `${id} ${state}`)
const window = answer('c', [
  [1, 2],
  [4, 5],
])
const record = episode([[answer('a', [[0, 2]])], [answer('b', [[0, 4]]), window]], [answer('d', null)])
const answers = answersOf(record)
const requests = answers.map(({ completion }) => sentRequest(record, completion))

describe('answersOf', () => {
  it('gives each answer its step, those that led to none too', () => {
    expect(answers.map(({ completion, step }) => [completion.text, step])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 1],
      ['d', null],
    ])
  })

  it('finds what was sent for the first time and stands nowhere else', () => {
    const added = answers.map((one) => one.added?.map(({ message }) => message.content) ?? null)
    expect(added).toEqual([['rules', 'task'], [], ['other rules'], null])
  })
})

describe('sentRequest', () => {
  it('marks what is new in a request and what was left out of it, in their places', () => {
    expect(requests.map(statesOf)).toEqual([
      ['0 new', '1 new'],
      ['0 sent', '1 sent', '2 new', '3 new'],
      ['0 left-out', '1 sent', '2 left-out', '3 left-out', '4 new'],
      undefined,
    ])
    expect(requests[1]?.messages.map(({ message }) => message.content)).toEqual(['rules', 'task', 'a', 'result 0'])
  })

  it('has the messages that the protocol returns', () => {
    requestsOf(record).forEach((request, i) => {
      const sent = requests[i]?.messages.filter(({ state }) => state !== 'left-out').map(({ message }) => message)
      expect(sent).toEqual(request?.messages)
      expect(requests[i]?.tools).toEqual(request?.tools)
    })
    expect(firstTools(record, window)).toEqual(transcript.tools)
  })
})

describe('requestItems', () => {
  it('lists what was left out together, and a message with the one that it replaces', () => {
    const request = requests[2] as SentRequest
    expect(requestItems(request).map(({ kind }) => kind)).toEqual(['left-out', 'message', 'left-out', 'message'])
    const systems = request.messages.filter(({ id }) => id === 0 || id === 4)
    const replaced = requestItems({ ...request, messages: systems })
    expect(replaced.map((item) => item.kind === 'replaced' && item.before.message.content)).toEqual(['rules'])
  })
})
