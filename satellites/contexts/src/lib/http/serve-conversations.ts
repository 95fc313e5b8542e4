import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { EnvironmentDefinition, Host } from '@episodic/mcp-server'
import { type ClientIdentity, type ExtraRoutes, rejectUpgrade, WebSockets } from '@episodic/mcp-server/http'
import type { OpenResult } from '@episodic/protocol'
import type { ConversationEnvironment } from '../environment/conversation-environment.ts'
import { ConversationSocket, type SocketSetting } from './conversation-socket.ts'
import { readPage, sendPage } from './page.ts'
import type { InternalError } from './rejection.ts'

export interface ConversationRoutesOptions {
  /**
   * Called for every conversation that is started, with its control handle, for publishing events from the server's own
   * code (`host.resolve`). Keep the handle: it is valid as long as the session, and this is not called for a `resume`.
   */
  readonly onOpened?: (opened: OpenResult) => void
  /** Called for every internal error, with the reference that the client received. */
  readonly onError?: (error: InternalError) => void
}

/** Bytes of a message: above the limit of a frame, so that a client that sends too much gets an error in words. */
const MESSAGE_BYTES = 4_194_304

/** Whether an environment is a conversation whose agent plays the user, so that a person can take that role. */
export function isConversation(environment: EnvironmentDefinition): environment is ConversationEnvironment {
  return 'conversation' in environment && 'agent' in environment && environment.agent === 'user'
}

/**
 * Creates the extra routes of `serveHttp` that serve conversations to people: each at `/conversations/<environment>`, a
 * WebSocket and a web page that connects to it.
 *
 * A conversation is a session of the host like any other. Its handle is a secret that grants the user's seat: a
 * connection that resumes with it takes the conversation over from the one before. Clients send `ClientFrame`s and
 * receive `ServerFrame`s.
 */
export function serveConversations(
  host: Host,
  conversations: readonly ConversationEnvironment[],
  { onOpened = () => {}, onError = () => {} }: ConversationRoutesOptions = {},
): ExtraRoutes {
  const page = readPage()
  const files = new Map([...page.files].map(([name, file]) => [`/conversations/${name}`, file]))
  const worlds = new Map(conversations.map((world) => [`/conversations/${world.name}`, world]))
  for (const [path, world] of worlds)
    files
      .set(path, page.document)
      .set(`${path}.json`, { type: 'application/json', body: Buffer.from(JSON.stringify(toPageInfo(world))) })
  const sockets = new WebSockets(MESSAGE_BYTES, ['episodic'])
  const holders = new Map<string, ConversationSocket>()

  const setting: Omit<SocketSetting, 'world'> = {
    host,
    onOpened,
    onError,
    claim(handle, socket) {
      const holder = holders.get(handle)
      holders.set(handle, socket)
      if (holder !== socket) holder?.yield()
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
    upgrade(request: IncomingMessage, stream: Duplex, head: Buffer, client: ClientIdentity): void {
      const world = worlds.get((request.url ?? '').split('?', 1)[0] as string)
      if (!world || sockets.draining) {
        rejectUpgrade(stream, world ? 503 : 404, {
          message: world ? 'This server is stopping.' : 'There is nothing here.',
        })
        return
      }
      sockets.upgrade(
        request,
        stream,
        head,
        (webSocket) => new ConversationSocket(webSocket, stream, client, { ...setting, world }).frames,
      )
    },
    drain: (signal) => sockets.drain(signal),
    end: () => sockets.end(),
  }
}

function toPageInfo({ name, description, conversation }: ConversationEnvironment) {
  return {
    name,
    description,
    characters: conversation.bounds.text,
    contexts: conversation.contexts.map(({ name: context, states, edges, machine }) => ({
      name: context,
      states,
      final: states.filter((state) => machine.states[state]?.final),
      edges,
    })),
  }
}
