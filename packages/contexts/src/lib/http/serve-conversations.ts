import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { EnvironmentDefinition, Host } from '@episodic/mcp-server'
import type { Annex, Visitor } from '@episodic/mcp-server/http'
import type { OpenResult } from '@episodic/protocol'
import { WebSocketServer } from 'ws'
import type { ConversationEnvironment } from '../environment/conversation-environment.ts'
import { ConversationSocket, type SocketSetting } from './conversation-socket.ts'
import { readPage, sendPage } from './page.ts'
import type { UnforeseenError } from './rejection.ts'

export interface ConversationRoutesOptions {
  /**
   * Hears of every conversation that somebody begins, with its control handle: what `host.publish` wants of the server's own
   * code. Keep it: it is good for as long as the session is, and nobody who resumes is told of here.
   */
  readonly onOpened?: (opened: OpenResult) => void
  /** Hears of what failed in a way that nobody foresaw, with the reference that the client was given. */
  readonly onError?: (error: UnforeseenError) => void
}

/** Milliseconds between two looks at every socket: who is silent for that long has to answer a ping until the next one. */
const HEART_BEAT = 15_000
/** A client that does not answer a close is cut off after two seconds. */
const SETTINGS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxFragments: 1_024,
  // Above what is read, so that whoever sends too much is told so.
  maxPayload: 4_194_304,
  closeTimeout: 2_000,
}

/** Whether an environment is a conversation whose user can be a person. */
export function isConversation(environment: EnvironmentDefinition): environment is ConversationEnvironment {
  return 'conversation' in environment && 'agent' in environment && environment.agent === 'user'
}

/**
 * Serves conversations to people, beside the doors of `serveHttp`: each at `/conversations/<world>`, which is a WebSocket, and a
 * web page that talks to it.
 *
 * A conversation is a session of the host like any other. Its handle is a secret that gives whoever has it the user's seat:
 * a connection that resumes with it takes the conversation over from the one before. What is sent is in `ClientFrame`, what comes
 * back in `ServerFrame`.
 */
export function serveConversations(
  host: Host,
  conversations: readonly ConversationEnvironment[],
  { onOpened = () => {}, onError = () => {} }: ConversationRoutesOptions = {},
): Annex {
  const page = readPage()
  const files = new Map([...page.files].map(([name, file]) => [`/conversations/${name}`, file]))
  const worlds = new Map(conversations.map((world) => [`/conversations/${world.name}`, world]))
  for (const [path, world] of worlds)
    files
      .set(path, page.document)
      .set(`${path}.json`, { type: 'application/json', body: Buffer.from(JSON.stringify(describe(world))) })
  const server = new WebSocketServer({
    ...SETTINGS,
    handleProtocols: (offered) => (offered.has('episodic') ? 'episodic' : false),
  })
  const open = new Set<ConversationSocket>()
  const holders = new Map<string, ConversationSocket>()
  const heartBeat = setInterval(() => {
    for (const socket of open) socket.look()
  }, HEART_BEAT).unref()
  let leaving = false

  const setting: Omit<SocketSetting, 'world'> = {
    host,
    onOpened,
    onError,
    claim(handle, socket) {
      const holder = holders.get(handle)
      holders.set(handle, socket)
      if (holder !== socket) holder?.giveWay()
    },
    release(handle, socket) {
      if (holders.get(handle) === socket) holders.delete(handle)
    },
  }

  return {
    owns: (path) => files.has(path),
    answer(request: IncomingMessage, response: ServerResponse, path: string): void {
      const file = files.get(path)
      if (file && (request.method === 'GET' || request.method === 'HEAD')) sendPage(response, file)
      else response.writeHead(405, { Allow: 'GET, HEAD' }).end()
    },
    upgrade(request: IncomingMessage, stream: Duplex, head: Buffer, visitor: Visitor): void {
      const world = worlds.get((request.url ?? '').split('?', 1)[0] as string)
      if (!world || leaving) {
        refuse(stream, world ? '503 Service Unavailable' : '404 Not Found')
        return
      }
      server.handleUpgrade(request, stream, head, (webSocket) => {
        const socket = new ConversationSocket(webSocket, stream, visitor, { ...setting, world })
        open.add(socket)
        webSocket.on('close', () => open.delete(socket))
      })
    },
    async drain(signal) {
      leaving = true
      const left = Promise.all([...open].map((socket) => socket.leave()))
      const { promise: aborted, resolve: abort } = Promise.withResolvers<void>()
      if (signal?.aborted) abort()
      signal?.addEventListener('abort', () => abort(), { once: true })
      await Promise.race([left, aborted])
      return [...open].reduce((sum, { count }) => sum + count, 0)
    },
    end() {
      leaving = true
      clearInterval(heartBeat)
      for (const socket of open) socket.cut()
    },
  }
}

/** What a page has to know of a conversation to draw it, and to fire its events. */
function describe({ name, version, description, conversation, eventInfos }: ConversationEnvironment) {
  return {
    name,
    version,
    description,
    characters: conversation.bounds.text,
    contexts: conversation.contexts.map(({ name: context, states, initial, edges, machine, events }) => ({
      name: context,
      states,
      initial,
      final: states.filter((state) => machine.states[state]?.final),
      edges,
      events: Object.keys(events),
    })),
    events: eventInfos,
  }
}

function refuse(stream: Duplex, status: string): void {
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => stream.destroy())
}
