import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ClientFrame, ConversationTurn, ServerFrame } from '@episodic/contexts/http'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'

const CLI = fileURLToPath(new URL('../../../apps/harness/src/cli.ts', import.meta.url))
const WORLD = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'episodic-killed-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The operator's, and the same for every server. */
const TOKEN = 'a-token-of-the-operator-for-this-test'

const DIALOGUE = [
  'I want to book a flight',
  'From Lahore to Dubai',
  "What's the weather in Dubai?",
  'and the day after?',
  'on 2026-01-08',
  'one passenger',
]

/** Serves the world from a file of sessions, in a process of its own. */
async function serve(store: string): Promise<{ url: string; kill(): Promise<void> }> {
  const args = [
    CLI,
    'serve',
    WORLD,
    '--port',
    '0',
    '--json',
    '--log-level',
    'warn',
    '--store',
    `sqlite:${join(folder, store)}`,
  ]
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, EPISODIC_CONTROL_TOKEN: TOKEN, EPISODIC_HOME: folder },
  })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  const listening = once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')
  const first = await Promise.race([listening, exited.then(() => null)])
  if (first === null) throw new Error('The server did not start.')
  const [url] = JSON.parse(first[0]).conversationUrls as string[]
  return { url: (url as string).replace('http', 'ws'), kill }
}

/** A client that keeps its handle, its seq and the last turn that it has received. */
class Client {
  readonly turns: ConversationTurn[] = []
  readonly #frames: ServerFrame[] = []
  #socket: WebSocket | undefined
  #handle: string | undefined
  #nextFrame = Promise.withResolvers<void>()

  async connect(url: string): Promise<void> {
    const socket = new WebSocket(url, ['episodic', `episodic.bearer.${TOKEN}`])
    this.#socket = socket
    this.#frames.length = 0
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return
      const frame = JSON.parse(data as string) as ServerFrame
      if (frame.type === 'joined' || frame.type === 'news') {
        expect(frame.missed).toBe(false)
        this.turns.push(...frame.turns)
      }
      this.#frames.push(frame)
      this.#nextFrame.resolve()
      this.#nextFrame = Promise.withResolvers()
    }
    await new Promise((resolve, reject) => {
      socket.onopen = resolve
      socket.onerror = reject
    })
    const since = this.turns.at(-1)?.turn ?? 0
    const handle = this.#handle
    this.send(handle ? { type: 'resume', handle, since } : { type: 'join' })
    const joined = await this.next('joined')
    this.#handle = joined.handle
  }

  send(frame: ClientFrame | { type: 'join' }): void {
    this.#socket?.send(JSON.stringify(frame))
  }

  async say(seq: number): Promise<string> {
    this.send({ type: 'say', seq, text: DIALOGUE[seq] as string })
    return (await this.next('answer')).replies.join('\n')
  }

  async publish(event: ClientFrame & { type: 'publish' }): Promise<string> {
    this.send(event)
    return (await this.next('published')).delivered
  }

  /** Resolves once this many turns have been received. */
  async received(count: number): Promise<void> {
    while (this.turns.length < count) await this.#nextFrame.promise
  }

  async next<Type extends ServerFrame['type']>(type: Type): Promise<Extract<ServerFrame, { type: Type }>> {
    for (;;) {
      const at = this.#frames.findIndex((frame) => frame.type === type)
      if (at >= 0) return this.#frames.splice(at, 1)[0] as Extract<ServerFrame, { type: Type }>
      await this.#nextFrame.promise
    }
  }
}

describe('a conversation whose server is killed', () => {
  it('continues with no turn lost or repeated after a kill between any two messages', async () => {
    const straight = await serve('straight.db')
    const undisturbed = new Client()
    await undisturbed.connect(straight.url)
    const answers: string[] = []
    for (const seq of DIALOGUE.keys()) answers.push(await undisturbed.say(seq))
    await undisturbed.received(DIALOGUE.length)
    expect(answers[2]).toMatch(/^Dubai on .*\nBack to your booking, Lahore to Dubai\.\nOn which day\?$/)
    await straight.kill()

    const client = new Client()
    let server = await serve('killed.db')
    await client.connect(server.url)
    for (const [seq, answer] of answers.entries()) {
      const said = await client.say(seq)
      expect(said).toBe(answer)
      await server.kill()
      server = await serve('killed.db')
      await client.connect(server.url)
      // A client that was cut off does not know whether it was answered, so it sends the message again.
      expect(await client.say(seq)).toBe(answer)
    }
    expect(client.turns).toEqual(undisturbed.turns)
  })

  it('applies an event once, whether the server is killed before or after it', async () => {
    const client = new Client()
    let server = await serve('events.db')
    await client.connect(server.url)
    const again = async () => {
      await server.kill()
      server = await serve('events.db')
      await client.connect(server.url)
    }
    await client.say(0)
    const sold = { type: 'publish', event: 'sold-out', data: { flight: 'EP 139' }, to: { context: 'booking' } } as const
    expect(await client.publish({ ...sold, id: 'first' })).toBe('now')
    await again()
    expect(await client.publish({ ...sold, id: 'first' })).toBe('before')
    client.send({ ...sold, id: 'second' })
    await again()
    await client.publish({ ...sold, id: 'second' })
    await client.received(3)
    expect(client.turns.map(({ turn, kind }) => [turn, kind])).toEqual([
      [1, 'utterance'],
      [2, 'event'],
      [3, 'event'],
    ])
  })
})
