import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import type { ServerFrame } from './http-conversation-frames.ts'

type FrameOf<Type extends ServerFrame['type']> = Extract<ServerFrame, { type: Type }>

/** Opens a conversation's WebSocket for the length of the test, with a token where there is one. */
export async function openTalker(url: string, { token, ...options }: ClientOptions & { token?: string } = {}) {
  const protocols = ['episodic', ...(token ? [`episodic.bearer.${encodeURIComponent(token)}`] : [])]
  const webSocket = new WebSocket(url.replace(/^http/, 'ws'), protocols, options)
  onTestFinished(() => webSocket.terminate())
  const frames: ServerFrame[] = []
  let changed = Promise.withResolvers<void>()
  const tell = () => {
    changed.resolve()
    changed = Promise.withResolvers<void>()
  }
  webSocket.on('message', (data) => {
    frames.push(JSON.parse(String(data)))
    tell()
  })
  let over = false
  const closed = once(webSocket, 'close').then(([code, reason]) => {
    over = true
    tell()
    return { code: code as number, reason: String(reason) }
  })
  // Who is not let in hears of it where they wait for the opening.
  closed.catch(() => {})
  await once(webSocket, 'open')

  /** The first frame that was not taken yet and is of one of these types. Rejects where none will come any more, and at an error that nobody asked for. */
  const next = async <Type extends ServerFrame['type']>(...types: Type[]): Promise<FrameOf<Type>> => {
    for (;;) {
      const at = frames.findIndex(({ type }) => types.includes(type as Type))
      if (at >= 0) return frames.splice(at, 1)[0] as FrameOf<Type>
      const refused = frames.find((frame) => frame.type === 'error')
      if (refused) throw new Error(`Instead of ${types.join(' or ')} came ${JSON.stringify(refused)}.`)
      if (over) throw new Error(`The socket closed, and no ${types.join(' or ')} came.`)
      await changed.promise
    }
  }
  const send = (frame: object | string) => webSocket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  let seq = 0
  return {
    webSocket,
    closed,
    next,
    send,
    async join(key?: string) {
      send({ type: 'join', key })
      return next('joined')
    },
    async resume(handle: string, since = 0) {
      send({ type: 'resume', handle, since })
      return next('joined')
    },
    /** Says something and gives the answer, and what it did to the conversation. */
    async say(text: string, as = seq) {
      send({ type: 'say', seq: as, text })
      seq = as + 1
      return next('answer')
    },
    /** Sends a frame that is to be refused, and gives the refusal. */
    async fail(frame: object | string) {
      send(frame)
      return next('error')
    },
  }
}
