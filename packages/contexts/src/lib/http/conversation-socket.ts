import type { Duplex } from 'node:stream'
import type { Host, Look } from '@episodic/mcp-server'
import type { Visitor } from '@episodic/mcp-server/http'
import { type JsonObject, type OpenResult, WireError } from '@episodic/protocol'
import { randomText } from '@episodic/protocol/extend'
import type { WebSocket } from 'ws'
import type { ConversationEnvironment } from '../environment/conversation-environment.ts'
import type { ConversationState } from '../environment/conversation-state.ts'
import { type ClientFrame, readFrame, type ServerFrame } from './frames.ts'
import { refusalOf, type UnforeseenError } from './rejection.ts'
import { serverPushAfter } from './server-push.ts'

/** What the WebSockets of one conversation's path have in common. */
export interface SocketSetting {
  readonly host: Host
  /** What is opened for whoever joins. */
  readonly world: ConversationEnvironment
  /** Makes `socket` the one that has the conversation of a handle, and cuts off the one that had it. */
  readonly claim: (handle: string, socket: ConversationSocket) => void
  /** Gives a handle back, unless another has it by now. */
  readonly release: (handle: string, socket: ConversationSocket) => void
  readonly onOpened: (opened: OpenResult) => void
  readonly onError: (error: UnforeseenError) => void
}

/** What a socket has joined. */
interface Joined {
  readonly handle: string
  /** The last turn that the client was told of. */
  turn: number
  readonly unlisten: () => void
}

/** Frames that may wait before no more is read. */
const READ_AHEAD = 16
/** Characters of one frame: an utterance of a conversation is far shorter, and its bound answers in its own words. */
const FRAME_CHARACTERS = 65_536

/**
 * Messages that a conversation takes where its world sets no limit of its own: one in ten seconds for more than a day, and few
 * enough that the log of them stays small.
 */
const MAX_MESSAGES = 10_000

/** How a socket is closed for what the protocol of WebSockets has no code for. */
const TAKEN_OVER = 4_001

/**
 * One client that talks: its frames are answered in turn, and in between it is told what happens to its conversation.
 *
 * No frame waits to be sent: while a client reads slowly, nothing more is read of it, and of its conversation it is told once
 * it has caught up, all at once.
 */
export class ConversationSocket {
  readonly #webSocket: WebSocket
  readonly #stream: Duplex
  readonly #visitor: Visitor
  readonly #setting: SocketSetting
  #heard: string[] = []
  #joined: Joined | null = null
  /** The conversation has changed since its client was told of it. */
  #changed = false
  #working = false
  /** Resolves when what is being done is done. */
  #worked: Promise<void> = Promise.resolve()
  #leaving = false
  /** Looks that have passed without a sign of life, or without a conversation. */
  #silent = 0
  #idle = 0

  constructor(webSocket: WebSocket, stream: Duplex, visitor: Visitor, setting: SocketSetting) {
    this.#webSocket = webSocket
    this.#stream = stream
    this.#visitor = visitor
    this.#setting = setting
    webSocket.on('pong', () => {
      this.#silent = 0
    })
    webSocket.on('message', (data: Buffer, isBinary) => {
      this.#silent = 0
      if (this.#leaving) return
      if (isBinary) return webSocket.close(1003, 'Send text.')
      this.#heard.push(data.toString())
      if (this.#heard.length >= READ_AHEAD) webSocket.pause()
      this.#work()
    })
    // The socket is closed with a code of the protocol for what was wrong.
    webSocket.on('error', () => {})
    webSocket.on('close', () => this.#part())
  }

  /** Frames that were read and are not answered. */
  get count(): number {
    return this.#heard.length + (this.#working ? 1 : 0)
  }

  /** Looks after the client: cuts off who is gone, who may not stay, and who came for nothing. */
  async look(): Promise<void> {
    const webSocket = this.#webSocket
    if (!(await this.#visitor.isWelcome())) return webSocket.close(1008, 'The token counts no longer.')
    if (!this.#joined && this.#idle++ > 0) return webSocket.close(1008, 'Nothing was joined.')
    // Who is not read from cannot show that they live, and that does not last.
    if (this.#silent++ > 0 && !webSocket.isPaused) return webSocket.terminate()
    webSocket.ping()
  }

  /** Hangs up, because another connection goes on with the conversation. */
  giveWay(): void {
    this.#part()
    this.#webSocket.resume()
    this.#webSocket.close(TAKEN_OVER, 'Another connection goes on with this conversation.')
  }

  /** Reads no more, answers what was read, and resolves when it has hung up. */
  async leave(): Promise<void> {
    this.#leaving = true
    const webSocket = this.#webSocket
    const closed = new Promise((resolve) => webSocket.once('close', resolve))
    while (this.#working) await this.#worked
    if (webSocket.readyState === webSocket.CLOSED) return
    webSocket.resume()
    webSocket.close(1001, 'The server is stopping.')
    await closed
  }

  cut(): void {
    this.#webSocket.terminate()
  }

  /** Has nothing more to do with its conversation. */
  #part(): void {
    this.#leaving = true
    this.#heard = []
    this.#leaveConversation()
  }

  #leaveConversation(): void {
    if (!this.#joined) return
    this.#joined.unlisten()
    this.#setting.release(this.#joined.handle, this)
    this.#joined = null
  }

  #work(): void {
    if (this.#working) return
    this.#working = true
    this.#worked = this.#workOff()
  }

  async #workOff(): Promise<void> {
    while (this.#heard.length > 0 || this.#changed) {
      const text = this.#heard.shift()
      if (text !== undefined) this.#send(await this.#answer(text))
      if (this.#changed) await this.#tell()
      if (this.#stream.writableNeedDrain) await this.#drained()
      if (this.#heard.length < READ_AHEAD) this.#webSocket.resume()
    }
    // At once, so that nothing comes between the last look and this.
    this.#working = false
  }

  /** Tells what happened since the client was told last. */
  async #tell(): Promise<void> {
    this.#changed = false
    if (!this.#joined) return
    try {
      const look = await this.#setting.host.look(this.#joined.handle)
      if (!this.#joined) return
      const news = this.#serverPushAfter(look, this.#joined.turn)
      if (news.turn <= this.#joined.turn) return
      this.#joined.turn = news.turn
      this.#send({ type: 'news', ...news })
    } catch (error) {
      this.#send(refusalOf(error, null, this.#setting.onError))
    }
  }

  /** Answers one frame. Never rejects. */
  async #answer(text: string): Promise<ServerFrame> {
    let frame: ClientFrame | null = null
    try {
      const retryAfterSeconds = await this.#visitor.count(this.#joined?.handle ?? null)
      if (text.length > FRAME_CHARACTERS)
        throw new WireError(
          'too-large',
          `A frame of ${text.length} characters is too large. At most ${FRAME_CHARACTERS} are read.`,
        )
      const read = readFrame(text)
      if (typeof read === 'string') throw new WireError('invalid-request', read)
      frame = read
      if (retryAfterSeconds > 0)
        throw new WireError('rate-limited', `Too many frames. Send it again in ${retryAfterSeconds} s.`, {
          details: { retryAfterSeconds },
        })
      return await this.#take(frame)
    } catch (error) {
      return refusalOf(error, frame, this.#setting.onError)
    }
  }

  #take(frame: ClientFrame): Promise<ServerFrame> {
    switch (frame.type) {
      case 'join':
        return this.#join(frame.key)
      case 'resume':
        return this.#resume(frame)
      case 'say':
        return this.#act(frame.seq, { text: frame.text }, 'say')
      case 'act': {
        const { seq, intent, slots, context } = frame
        return this.#act(seq, { intent, slots, ...(context !== undefined && { context }) }, 'act')
      }
      case 'publish':
        return this.#publish(frame)
    }
  }

  async #join(key: string | undefined): Promise<ServerFrame> {
    const { host, world, onOpened } = this.#setting
    const opened = await host.open(this.#visitor.principal, {
      environment: world.name,
      params: world.person,
      limits: { steps: MAX_MESSAGES },
      requestKey: key ?? randomText(),
    })
    onOpened(opened)
    const [seat] = Object.values(opened.seats)
    if (!seat) throw new Error(`${world.name} was opened without a seat.`)
    return this.#begin(seat.capability, 0, opened.session)
  }

  async #resume({ handle, since }: ClientFrame & { type: 'resume' }): Promise<ServerFrame> {
    const { host, world } = this.#setting
    const { name } = await host.environmentOf(handle)
    if (name !== world.name)
      throw new WireError('invalid-params', `This handle is of a conversation of ${name}, not of ${world.name}.`)
    return this.#begin(handle, since)
  }

  async #begin(handle: string, since: number, control?: string): Promise<ServerFrame> {
    const { host, claim } = this.#setting
    this.#leaveConversation()
    const look = await host.look(handle)
    const news = this.#serverPushAfter(look, since)
    if (this.#webSocket.readyState !== this.#webSocket.OPEN)
      throw new WireError('invalid-request', 'The client has gone.')
    claim(handle, this)
    const unlisten = look.onChange(() => {
      this.#changed = true
      this.#work()
    })
    this.#joined = { handle, turn: news.turn, unlisten }
    // Whatever came between the look and the listening.
    this.#changed = true
    const { dialogue } = stateOf(look)
    const opening = news.turn === 0 ? dialogue.map(({ text }) => text) : []
    const { trainer: publishes } = this.#visitor
    return { type: 'joined', handle, publishes, ...(publishes && control && { control }), opening, ...news }
  }

  async #act(seq: number, input: JsonObject, tool: string): Promise<ServerFrame> {
    const { handle } = this.#inConversation()
    const { step, replayed, secrets } = await this.#setting.host.act(handle, {
      action: { tool, arguments: input },
      seq,
    })
    const { text: told, structured } = step.observation
    // What an agent observes follows in lines of its own.
    const refused = step.report.refused === null ? null : (told.split('\n', 1)[0] as string)
    const { replies, intent } = (refused === null && (structured as typeof NOTHING_ANSWERED | null)) || NOTHING_ANSWERED
    const text = JSON.stringify([replies, intent, refused])
    secrets.assertAbsent({ text, worldText: () => text, callerText: () => JSON.stringify(input) })
    return { type: 'answer', seq, replies, intent, refused, replayed }
  }

  async #publish({ id, event, data, to }: ClientFrame & { type: 'publish' }): Promise<ServerFrame> {
    const { handle } = this.#inConversation()
    if (!this.#visitor.trainer)
      throw new WireError('unauthorized', 'To publish events is for whoever came with a token of the trainer endpoint.')
    const told = { id, type: event, data: { data, to } }
    const { delivered } = await this.#setting.host.publishAt(this.#visitor.principal, handle, told)
    return { type: 'published', id, delivered }
  }

  #inConversation(): Joined {
    if (this.#joined) return this.#joined
    throw new WireError('invalid-request', 'Join a conversation first, or resume one by its handle.')
  }

  /** What has happened, with no secret of the session in it. */
  #serverPushAfter(look: Look, since: number) {
    const news = serverPushAfter(stateOf(look).conversation, since)
    const text = JSON.stringify(news)
    look.secrets.assertAbsent({
      text,
      worldText: () => text,
      callerText: () => news.turns.map((turn) => (turn.kind === 'event' ? '' : turn.text)).join('\n'),
    })
    return news
  }

  #send(frame: ServerFrame): void {
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.send(JSON.stringify(frame))
  }

  /** Resolves when the client has read what was sent, or is gone. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#stream.off('drain', done).off('close', done)
        resolve()
      }
      this.#stream.on('drain', done).on('close', done)
      if (this.#stream.destroyed) done()
    })
  }
}

/** What comes of a refused step. */
const NOTHING_ANSWERED: { readonly replies: readonly string[]; readonly intent: string | null } = {
  replies: [],
  intent: null,
}

function stateOf({ state }: Look): ConversationState['public'] {
  return state as unknown as ConversationState['public']
}
