import { type PlayRollout, type Received, type RolloutEnd, RolloutError, rollout } from './rollout.ts'
import { isBroken, send } from './trainer-request.ts'

/** Plays as `GenericEnvClient`: everything over one WebSocket. */
export const playGenericClient: PlayRollout = (setting, { environment, params, calls }) =>
  rollout(setting, async (receive): Promise<RolloutEnd> => {
    const base = `${setting.url}/openenv/token/${setting.token}/${environment}`
    const steps = calls.map(({ tool, arguments: input }) => ({
      type: 'step',
      data: { type: 'call_tool', tool_name: tool, arguments: input },
    }))
    using client = await EnvSocket.connect(`${base}/ws`)
    let total = 0
    try {
      await client.ask({ type: 'reset', data: params })
      for (const step of steps) {
        const { reward, observation } = await client.ask(step)
        total += reward
        receive({ text: observation.result.content[0].text, reward })
      }
    } catch (error) {
      if (isBroken(error, 'connection-lost')) await goOn(`${base}/ws`, steps.at(-1) as object)
      throw error
    }
    return { kind: 'finished', total }
  })

/** Plays as `MCPToolClient`: resets over a WebSocket, and calls tools over HTTP in the session of the same id. */
export const playToolClient: PlayRollout = (setting, { environment, params, calls }) =>
  rollout(setting, async (receive): Promise<RolloutEnd> => {
    const base = `${setting.url}/openenv/token/${setting.token}/${environment}`
    const { session_id } = await callMethod(base, 'openenv/session/create', {})
    let total = 0
    try {
      using client = await EnvSocket.connect(`${base}/ws?session_id=${session_id}`)
      await client.ask({ type: 'reset', data: params })
      for (const { tool, arguments: input } of calls) {
        const called = await callMethod(base, 'tools/call', { name: tool, arguments: input, session_id })
        total += called.reward
        receive({ text: called.result.content[0].text, reward: called.reward } satisfies Received)
      }
    } finally {
      await callMethod(base, 'openenv/session/close', { session_id }).catch(() => {})
    }
    return { kind: 'finished', total }
  })

/** After a lost connection a client connects again without saying so: its next step has to be an error. */
async function goOn(url: string, step: object): Promise<void> {
  try {
    using client = await EnvSocket.connect(url)
    const answer = await client.ask(step)
    throw new Error(`A step in a session that nobody has reset was answered: ${JSON.stringify(answer)}`)
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error
  }
}

/** Posts once: this client repeats nothing. */
async function callMethod(base: string, method: string, params: object) {
  const reply = await send(`${base}/mcp`, { body: { jsonrpc: '2.0', id: 1, method, params } })
  if (reply.status >= 400) throw new RolloutError(`http-${reply.status}`)
  const { result, error } = JSON.parse(await reply.text())
  if (error) throw new RolloutError(error.data.code, error.message)
  return result
}

/** A WebSocket with one question at a time. */
class EnvSocket {
  readonly #webSocket: WebSocket

  private constructor(webSocket: WebSocket) {
    this.#webSocket = webSocket
  }

  /** Rejects with `connection-lost`. */
  static async connect(url: string): Promise<EnvSocket> {
    const webSocket = new WebSocket(url.replace(/^http/, 'ws'))
    const opened = Promise.withResolvers<void>()
    webSocket.onopen = () => opened.resolve()
    webSocket.onerror = () => {}
    webSocket.onclose = () => opened.reject(new RolloutError('connection-lost'))
    await opened.promise
    return new EnvSocket(webSocket)
  }

  /**
   * Sends a frame, and resolves with the data of its answer. Rejects with `connection-lost`, and the code of an error
   * frame.
   */
  async ask(frame: object) {
    const webSocket = this.#webSocket
    const answered = Promise.withResolvers<string>()
    const lost = () => answered.reject(new RolloutError('connection-lost'))
    webSocket.onmessage = ({ data }) => answered.resolve(String(data))
    webSocket.onclose = lost
    if (webSocket.readyState === WebSocket.OPEN) webSocket.send(JSON.stringify(frame))
    else lost()
    const { type, data } = JSON.parse(await answered.promise)
    if (type === 'error') throw new RolloutError(`${data.code}:${data.error}`, data.message)
    return data
  }

  [Symbol.dispose](): void {
    const webSocket = this.#webSocket
    if (webSocket.readyState === WebSocket.OPEN) webSocket.send(JSON.stringify({ type: 'close' }))
    webSocket.close()
  }
}
