import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { connect, runEpisode } from '@episodic/env'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { DEFAULT_OPTIONS, type ModelSettings } from '../model-options.ts'
import { createLlmPolicy } from './llm-policy.ts'

const PDF = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')
const NOTE = '[file: application/pdf, 15 bytes, notes:report.pdf]'

const library = defineEnvironment({
  name: 'library',
  version: '1.0.0',
  description: 'Read.',
  state: { public: z.object({ read: z.int() }), private: z.object({}) },
  start: () => ({ public: { read: 0 }, private: {} }),
  observe: () => 'Read the report.',
  tools: ({ tool }) => ({
    read: tool({
      description: 'Reads.',
      input: z.object({}),
      play({ state, attach, end, say }) {
        attach(PDF, 'application/pdf', 'notes:report.pdf')
        state.public.read += 1
        if (state.public.read === 3) end('read')
        return say('The report.')
      },
    }),
  }),
  rewards: {},
})

// biome-ignore lint/suspicious/noExplicitAny: what providers are sent is only looked at here.
type Body = any

/** Plays the library with a server that answers as `answer` says, and resolves with what it was sent. */
async function play(answer: (body: Body) => object, settings: Partial<ModelSettings> = {}) {
  const requests: Body[] = []
  const server = createServer(async (incoming, response) => {
    const body = await json(incoming)
    requests.push(body)
    const said = answer(body)
    response.writeHead('error' in said ? 400 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY']) vi.stubEnv(name, 'a-key')
  onTestFinished(() => void vi.unstubAllEnvs())
  await using host = createHost({ environments: [library] })
  await using connection = await connect(inProcess(host))
  const episode = await runEpisode({
    createEnvironment: () => connection.environment(),
    policy: createLlmPolicy('llm:m', 'm', { ...DEFAULT_OPTIONS, baseUrl, ...settings }),
  })
  expect(episode).toMatchObject({ kind: 'finished', end: { kind: 'terminated' } })
  return { requests, completions: episode.steps.flatMap(({ completions = [] }) => completions) }
}

const chatCall = (id: number) => ({
  choices: [
    {
      message: {
        role: 'assistant',
        tool_calls: [{ id: `call_${id}`, type: 'function', function: { name: 'read', arguments: '{}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
})

describe('a PDF that a world shows', () => {
  it('reaches a model as a file, and its hash the record', async () => {
    let id = 0
    const { requests, completions } = await play(() => chatCall(id++))
    const data = `data:application/pdf;base64,${PDF}`
    expect(requests[1].messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: NOTE },
        { type: 'file', file: { filename: 'file.pdf', file_data: data } },
      ],
    })
    expect(completions.at(-1)).not.toHaveProperty('leftOut')
    expect(JSON.stringify(completions)).not.toContain(PDF)
  })

  it.each([
    'Unknown part type: file',
    'invalid message format',
    "Invalid content type. Supported types are 'text' and 'image_url'.",
  ])('is a note for a model that has refused one once: %s', async (message) => {
    let id = 0
    const hasFile = ({ messages }: Body) => JSON.stringify(messages).includes('file_data')
    const { requests, completions } = await play((body) => (hasFile(body) ? { error: { message } } : chatCall(id++)))
    expect(requests.filter(hasFile)).toHaveLength(1)
    expect(requests.at(-1).messages.at(-1)).toEqual({ role: 'user', content: NOTE })
    expect(completions.at(-1)).toMatchObject({ leftOut: ['files'] })
  })

  it('is a note where pictures are not wanted', async () => {
    let id = 0
    const { requests } = await play(() => chatCall(id++), { images: false })
    expect(requests.at(-1).messages.at(-1)).toEqual({ role: 'user', content: NOTE })
  })

  it('is a document of Anthropic', async () => {
    let id = 0
    const { requests } = await play(
      () => ({
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'tool_use', id: `toolu_${id++}`, name: 'read', input: {} }],
        stop_reason: 'tool_use',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
      { api: 'anthropic' },
    )
    const source = { type: 'base64', media_type: 'application/pdf', data: PDF }
    const { content } = requests[1].messages.at(-1)
    expect(content).toContainEqual(expect.objectContaining({ type: 'document', source }))
    expect(content).toContainEqual({ type: 'text', text: NOTE })
  })

  it('is inline data of Google', async () => {
    const { requests } = await play(
      () => ({
        candidates: [
          { content: { role: 'model', parts: [{ functionCall: { name: 'read', args: {} } }] }, finishReason: 'STOP' },
        ],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
      }),
      { api: 'google' },
    )
    const parts = requests[1].contents.flatMap(({ parts }: Body) => parts)
    expect(parts).toContainEqual({ inlineData: { mimeType: 'application/pdf', data: PDF } })
  })
})
