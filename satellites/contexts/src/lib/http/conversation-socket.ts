import type { Duplex } from 'node:stream'
import type { Host, SessionRef } from '@episodic/mcp-server'
import { type ClientIdentity, FrameSocket } from '@episodic/mcp-server/http'
import type { StateView } from '@episodic/mcp-server/internal'
import { type JsonObject, type OpenResult, WireError } from '@episodic/protocol'
import { randomText } from '@episodic/protocol/internal'
import type { WebSocket } from 'ws'
import type { ConversationEnvironment } from '../environment/conversation-environment.ts'
import type { ConversationState } from '../environment/conversation-state.ts'
import { type ClientFrame, readFrame, type ServerFrame, type ServerPush, serverPushAfter } from './frames.ts'
import { type InternalError, rejectionOf } from './rejection.ts'

export interface SocketSetting {
  readonly host: Host
  readonly world: ConversationEnvironment
  readonly claim: (handle: string, socket: ConversationSocket) => void
  /** Releases a handle, unless another connection has it by now. */
  readonly release: (handle: string, socket: ConversationSocket) => void
  readonly onOpened: (opened: OpenResult) => void
  readonly onError: (error: InternalError) => void
}

interface Joined {
  readonly handle: string
  readonly session: SessionRef
  turn: number
  readonly unsubscribe: () => void
}

const MAX_FRAME_LENGTH = 65_536

/** The most messages where an environment sets no limit: one in ten seconds for a day, for a small step log. */
const MAX_MESSAGES = 10_000

/** A close code of our own: another connection has taken the conversation over. */
const TAKEN_OVER = 4_001

/** The conversation of one client: answers frames in order, and pushes changes between, at the client's pace. */
export class ConversationSocket {
  readonly frames: FrameSocket
  readonly #client: ClientIdentity
  readonly #setting: SocketSetting
  #joined: Joined | null = null
  #idle = 0

  constructor(webSocket: WebSocket, stream: Duplex, client: ClientIdentity, setting: SocketSetting) {
    this.#client = client
    this.#setting = setting
    this.frames = new FrameSocket(webSocket, stream, client, this)
    webSocket.on('close', () => this.#leaveConversation())
  }

  check(): string | null {
    return !this.#joined && this.#idle++ > 0 ? 'Nothing was joined.' : null
  }

  yield(): void {
    this.#leaveConversation()
    this.frames.close(TAKEN_OVER, 'Another connection has taken this conversation over.')
  }

  #leaveConversation(): void {
    if (!this.#joined) return
    this.#joined.unsubscribe()
    this.#setting.release(this.#joined.handle, this)
    this.#joined = null
  }

  async push(): Promise<string | null> {
    if (!this.#joined) return null
    try {
      const view = await this.#joined.session.view()
      if (!this.#joined) return null
      const push = this.#pushAfter(view, this.#joined.turn)
      if (push.turn <= this.#joined.turn) return null
      this.#joined.turn = push.turn
      return formatFrame({ type: 'news', ...push })
    } catch (error) {
      return formatFrame(rejectionOf(error, null, this.#setting.onError))
    }
  }

  async answer(text: string): Promise<string> {
    let frame: ClientFrame | null = null
    try {
      const retryAfterSeconds = await this.#client.count(this.#joined?.handle ?? null)
      if (text.length > MAX_FRAME_LENGTH)
        throw new WireError(
          'too-large',
          `A frame of ${text.length} characters is too large. At most ${MAX_FRAME_LENGTH} are read.`,
        )
      const read = readFrame(text)
      if (typeof read === 'string') throw new WireError('invalid-request', read)
      frame = read
      if (retryAfterSeconds > 0)
        throw new WireError('rate-limited', `Too many frames. Send it again in ${retryAfterSeconds} s.`, {
          details: { retryAfterSeconds },
        })
      return formatFrame(await this.#take(frame))
    } catch (error) {
      return formatFrame(rejectionOf(error, frame, this.#setting.onError))
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
    const opened = await host.open(this.#client.principal, {
      environment: world.name,
      params: world.person,
      limits: { steps: MAX_MESSAGES },
      requestKey: key ?? randomText(),
    })
    onOpened(opened)
    const [seat] = Object.values(opened.seats)
    if (!seat) throw new Error(`${world.name} was opened without a seat.`)
    return this.#attach(seat.capability, await this.#sessionOf(seat.capability), 0, opened.session)
  }

  async #resume({ handle, since }: ClientFrame & { type: 'resume' }): Promise<ServerFrame> {
    const { world } = this.#setting
    const session = await this.#sessionOf(handle)
    const { name } = await session.environment()
    if (name !== world.name)
      throw new WireError('invalid-params', `This handle is of a conversation of ${name}, not of ${world.name}.`)
    return this.#attach(handle, session, since)
  }

  #sessionOf(token: string): SessionRef | Promise<SessionRef> {
    return this.#setting.host.resolve(this.#client.principal, { by: 'capability', token })
  }

  async #attach(handle: string, session: SessionRef, since: number, control?: string): Promise<ServerFrame> {
    const { claim } = this.#setting
    this.#leaveConversation()
    const view = await session.view()
    const push = this.#pushAfter(view, since)
    if (!this.frames.isOpen) throw new WireError('invalid-request', 'The client has gone.')
    claim(handle, this)
    const unsubscribe = view.onChange(() => this.frames.wake())
    this.#joined = { handle, session, turn: push.turn, unsubscribe }
    // It may have changed between reading the view and subscribing.
    this.frames.wake()
    const { dialogue } = stateOf(view)
    const opening = push.turn === 0 ? dialogue.map(({ text }) => text) : []
    const { trainer: publishes } = this.#client
    return { type: 'joined', handle, publishes, ...(publishes && control && { control }), opening, ...push }
  }

  async #act(seq: number, input: JsonObject, tool: string): Promise<ServerFrame> {
    const { session } = this.#requireJoined()
    const { step, replayed, secrets } = await session.step({ action: { tool, arguments: input }, seq })
    const { text: observed, structured } = step.observation
    // The first line is the refusal; the observation follows.
    const refused = step.report.refused === null ? null : (observed.split('\n', 1)[0] as string)
    const { replies, intent } = (refused === null && (structured as typeof NO_ANSWER | null)) || NO_ANSWER
    const text = JSON.stringify([replies, intent, refused])
    secrets.assertAbsent({ text, worldText: () => text, callerText: () => JSON.stringify(input) })
    return { type: 'answer', seq, replies, intent, refused, replayed }
  }

  async #publish({ id, event, data, to }: ClientFrame & { type: 'publish' }): Promise<ServerFrame> {
    const { session } = this.#requireJoined()
    if (!this.#client.trainer)
      throw new WireError('unauthorized', 'Publishing events requires a token of the trainer endpoint.')
    const published = { id, type: event, data: { data, to } }
    const { delivered } = await session.publish(published)
    return { type: 'published', id, delivered }
  }

  #requireJoined(): Joined {
    if (this.#joined) return this.#joined
    throw new WireError('invalid-request', 'Join a conversation first, or resume one by its handle.')
  }

  #pushAfter(view: StateView, since: number): ServerPush {
    const push = serverPushAfter(stateOf(view).conversation, since)
    const text = JSON.stringify(push)
    view.secrets.assertAbsent({
      text,
      worldText: () => text,
      callerText: () => push.turns.map((turn) => (turn.kind === 'event' ? '' : turn.text)).join('\n'),
    })
    return push
  }
}

const NO_ANSWER: { readonly replies: readonly string[]; readonly intent: string | null } = { replies: [], intent: null }

function stateOf({ state }: StateView): ConversationState['public'] {
  return state as unknown as ConversationState['public']
}

function formatFrame(frame: ServerFrame): string {
  return JSON.stringify(frame)
}
