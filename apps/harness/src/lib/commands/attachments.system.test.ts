import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ChatRequest, type ChatServer, calling, startChatServer } from '@episodic/models/chat-server.fixture'
import { type EpisodeRecord, requestsOf } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorkshop, readEpisodes, type Workshop } from '../fixtures/episodic.fixture.ts'

const WORLD = fileURLToPath(new URL('../fixtures/tally.fixture.ts', import.meta.url))

let workshop: Workshop
let server: ChatServer
/** Whether the server refuses pictures. */
let isBlind = false
beforeAll(async () => {
  workshop = openWorkshop()
  // Asks for the picture twice, and then says what it sees: its width has two parts for each bar, and one.
  server = await startChatServer((request, _, response) => {
    const pictures = picturesIn(request)
    if (isBlind && pictures.length > 0) {
      response.statusCode = 400
      return { error: { message: 'Invalid content type. image_url is only supported by certain models.' } }
    }
    const asked = request.messages.filter(({ role }) => role === 'tool').length
    if (asked < 2) return calling('draw', {})
    const [url = ''] = pictures
    const width = url === '' ? 0 : Buffer.from(url.slice(url.indexOf(',') + 1), 'base64').readUInt32BE(16)
    return calling('count', { bars: width === 0 ? 0 : (width / 8 - 1) / 2 })
  })
})
afterAll(async () => {
  workshop[Symbol.dispose]()
  await server?.[Symbol.asyncDispose]()
})

/** The addresses of the pictures in a request. */
function picturesIn({ messages }: ChatRequest): string[] {
  return messages.flatMap(({ content }) => {
    const parts = Array.isArray(content) ? (content as { image_url?: { url: string } }[]) : []
    return parts.flatMap(({ image_url: image }) => image?.url ?? [])
  })
}

async function run(name: string, ...options: string[]): Promise<EpisodeRecord[]> {
  const args = ['run', WORLD, '--policy', 'llm:m', '--base-url', server.url, '--tasks', '2', '--concurrency', '1']
  const ended = await workshop.main([...args, '--out', name, ...options], { env: { OPENAI_API_KEY: 'none' } })
  expect(ended).toMatchObject({ status: 0 })
  return readEpisodes(join(workshop.folder, name))
}

const attached = ({ steps }: EpisodeRecord) => steps.flatMap(({ observation }) => observation.attachments ?? [])

describe('pictures that a world shows', () => {
  it('reach a model, and are in the line once with their hash; a replay shows the same', async () => {
    const episodes = await run('seen')
    for (const episode of episodes) {
      expect(episode.outcome).toMatchObject({ kind: 'finished', success: true })
      const [first, again] = attached(episode)
      const bytes = Buffer.from(first?.data ?? '', 'base64')
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      expect(first).toMatchObject({ type: 'image', mimeType: 'image/png', sha256, bytes: bytes.length })
      expect(again).toEqual({ type: 'image', mimeType: 'image/png', sha256, bytes: bytes.length })
      // What was sent has the hash in place of the picture.
      const sent = JSON.stringify(requestsOf(episode))
      expect(sent).toContain(`sha256:${sha256}`)
      expect(sent).not.toContain('base64,')
    }
    expect(picturesIn(server.requests.at(-1) as ChatRequest)).toHaveLength(2)
    const replay = await workshop.main(['replay', 'seen', '--world', WORLD, '--json'])
    expect(JSON.parse(replay.out)).toMatchObject({ replayed: 2, diverged: 0 })
  })

  it('are notes for a model that has refused them once, and for images: false', async () => {
    isBlind = true
    const before = server.requests.length
    const episodes = await run('refused')
    isBlind = false
    const asked = server.requests.slice(before)
    expect(asked.filter((request) => picturesIn(request).length > 0)).toHaveLength(1)
    expect(asked.at(-1)?.messages.at(-1)?.content).toMatch(/^\[image: image\/png, \d+ KB\]$/)
    expect(episodes.at(-1)?.steps.at(-1)?.completions?.at(-1)).toMatchObject({ leftOut: ['images'] })
    const start = server.requests.length
    await run('without', '--file', '{"images":false}')
    expect(server.requests.slice(start).flatMap(picturesIn)).toEqual([])
    expect(server.requests.at(-1)?.messages.at(-1)?.content).toMatch(/^\[image: /)
  })
})
