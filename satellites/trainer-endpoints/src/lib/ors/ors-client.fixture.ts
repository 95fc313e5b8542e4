import type { Json, JsonObject, Task } from '@episodic/protocol'
import { request } from 'undici'
import type { CallAnswer } from './call-answer.ts'

/** JSON whose fields a test reads as it expects them. */
// biome-ignore lint/suspicious/noExplicitAny: a wrong expectation fails the test
type ReadJson = any

/** A response: its status and JSON, or the events of a stream. */
export interface Answer {
  readonly status: number
  readonly body: ReadJson
  readonly events: readonly { readonly event: string; readonly data: string }[]
}

/** A client of the protocol that hides nothing: each method is one request. */
export function orsClient(origin: string, key: string | null) {
  const ask = async (method: 'GET' | 'POST', path: string, body?: Json, session?: string): Promise<Answer> => {
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(`${origin}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(key !== null && { 'x-api-key': key }),
        ...(session !== undefined && { 'x-session-id': session }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    const streamed = String(headers['content-type']).startsWith('text/event-stream')
    return { status: statusCode, body: streamed ? null : JSON.parse(text), events: streamed ? eventsOf(text) : [] }
  }
  const call = async (session: string, name: string, input: JsonObject, taskId?: string) => {
    const { status, body, events } = await ask(
      'POST',
      '/call',
      { name, input, ...(taskId !== undefined && { task_id: taskId }) },
      session,
    )
    const json = events.filter(({ event }) => event === 'chunk' || event === 'end').map(({ data }) => data.trimStart())
    return {
      status,
      body,
      taskId: events.find(({ event }) => event === 'task_id')?.data,
      error: events.find(({ event }) => event === 'error')?.data,
      answer: json.length > 0 ? (JSON.parse(json.join('')) as CallAnswer & { output: ReadJson }) : null,
      chunks: json.length,
    }
  }
  return {
    ask,
    call,
    /** Opens a session of its own id. */
    async open(creation: JsonObject): Promise<string> {
      const created = await ask('POST', '/create_session', {})
      const session = created.events[0]?.data as string
      const { status, body } = await ask('POST', '/create', creation, session)
      if (status !== 200) throw new Error(JSON.stringify(body))
      return session
    },
  }
}

/** Reads events as the clients do: spaces that a line of data starts with are lost. */
function eventsOf(text: string): Answer['events'] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('event:'))
    .map((event) => {
      const [, name = '', data = ''] = /^event:\s*(.*)\ndata:[^\S\n]*(.*)$/.exec(event) ?? []
      return { event: name, data }
    })
}

/** A task of number-guessing, between two numbers. */
export function guessingTask(index: number, split: Task['split'] = 'train'): Task {
  return {
    id: `${split}-${index}`,
    environment: { name: 'number-guessing', version: '1.0.0' },
    tools: ['guess'],
    prompt: `Find number ${index}.`,
    hints: ['Halve the range.'],
    params: { low: index, high: index, maxGuesses: 3 },
    seed: `seed ${index}`,
    difficulty: 0.5,
    limits: {},
    split,
    tags: [],
    metadata: {},
  }
}
