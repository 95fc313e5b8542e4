import { once } from 'node:events'
import { WebSocket } from 'ws'
import { findNumber, type Player } from './player.ts'

interface Frame {
  readonly type: string
  readonly data: {
    readonly done: boolean
    readonly observation: { readonly result?: { readonly data: { readonly hint: string } } }
  }
}

/** A player of OpenEnv's WebSocket protocol, and what a player has to do before it plays. */
export interface OpenEnvPlayer extends Player {
  reset(seed: number): Promise<void>
  /** Plays the episode that `reset` began. */
  playOn(): Promise<number>
}

/** Connects a player of OpenEnv's WebSocket protocol. Its calls reject after `signal`. */
export async function connectOpenEnv(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<OpenEnvPlayer> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false })
  signal?.addEventListener('abort', () => socket.terminate(), { once: true })
  await once(socket, 'open')
  let waiting: PromiseWithResolvers<Frame> | null = null
  socket.on('message', (data) => waiting?.resolve(JSON.parse(String(data))))
  socket.on('error', (error) => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('The server closed the connection.')))
  const ask = async (frame: object): Promise<Frame['data']> => {
    waiting = Promise.withResolvers<Frame>()
    socket.send(JSON.stringify(frame))
    const { type, data } = await waiting.promise
    if (type !== 'observation') throw new Error(`Got ${type}: ${JSON.stringify(data)}`)
    return data
  }
  const player: OpenEnvPlayer = {
    async reset(seed) {
      await ask({ type: 'reset', data: { seed } })
    },
    playOn: () =>
      findNumber(async (value) => {
        const { observation } = await ask({
          type: 'step',
          data: { type: 'call_tool', tool_name: 'guess', arguments: { value } },
        })
        return observation.result?.data.hint ?? JSON.stringify(observation)
      }),
    async play(seed) {
      await player.reset(seed)
      return player.playOn()
    },
    close: () => socket.close(),
  }
  return player
}
