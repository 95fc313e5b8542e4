import { setTimeout as pause } from 'node:timers/promises'
import { type PlayRollout, type RolloutEnd, RolloutError, rollout } from './rollout.ts'
import { isBroken, send, type TrainerReply } from './trainer-request.ts'

/** Milliseconds before a stream is asked for again; each further time, twice as many. */
const BACK_OFF = 500
/** Milliseconds before another request is repeated; each further time, twice as many. */
const REQUEST_BACK_OFF = 1_000
/** How often another request is sent. */
const ATTEMPTS = 3

/** Plays as `openreward` does, with `max_retries` as there. It has no total: a trainer adds the rewards up. */
export const playOrs: PlayRollout = (setting, { environment, params, calls }) =>
  rollout(setting, async (receive): Promise<RolloutEnd> => {
    const client = new OrsClient(setting.url, setting.token)
    await client.open({ task_spec: { params }, env_name: environment })
    let total = 0
    try {
      for (const { tool, arguments: input } of calls) {
        const { ok, reason, output } = await client.call(environment, { name: tool, input })
        // `ToolCallError`
        if (!ok) throw new RolloutError(`tool-call-error:${reason}`)
        total += output.reward
        receive({ text: output.blocks[0].text, reward: output.reward })
      }
    } finally {
      await client.delete()
    }
    return { kind: 'finished', total }
  })

class OrsClient {
  readonly #url: string
  readonly #headers: Record<string, string>

  constructor(url: string, token: string) {
    this.#url = url
    this.#headers = { 'x-api-key': token }
  }

  async open(creation: object): Promise<void> {
    const { taskId } = await this.#stream('/create_session', {}, 3)
    this.#headers['x-session-id'] = taskId as string
    await this.#request('/create', creation)
  }

  /**
   * Calls a tool. Before the id of the call has arrived, a broken stream has the whole call sent again, without an id.
   */
  async call(environment: string, body: object) {
    const { answer } = await this.#stream(`/${environment}/call`, body, 5)
    return JSON.parse(answer)
  }

  async delete(): Promise<void> {
    for (const path of ['/delete', '/delete_session']) await this.#request(path, {}).catch(() => {})
  }

  /** Reads a stream of events, and resumes it by the id in it. */
  async #stream(path: string, body: object, retries: number): Promise<{ taskId: string | null; answer: string }> {
    let taskId: string | null = null
    for (let attempt = 0; ; ) {
      try {
        const sent = { ...body, ...(taskId !== null && { task_id: taskId }) }
        const reply = await send(`${this.#url}${path}`, { headers: this.#headers, body: sent })
        raiseForStatus(reply)
        attempt = 0
        let answer = ''
        for await (const { event, data } of eventsOf(reply)) {
          if (event === 'error') throw new RolloutError('tool-failed', data)
          if (event === 'task_id') taskId = data
          else answer += data
          if (event === 'end') return { taskId, answer }
        }
      } catch (error) {
        if (!isBroken(error, 'connection-lost', 'payload-cut', 'http-502', 'http-503', 'http-504', 'http-429'))
          throw error
      }
      attempt += 1
      if (attempt > retries) throw new RolloutError('max-retries')
      await pause(Math.min(10_000, BACK_OFF * 2 ** (attempt - 1)))
    }
  }

  async #request(path: string, body: object): Promise<string> {
    for (let attempt = 1; ; attempt++)
      try {
        const reply = await send(`${this.#url}${path}`, { headers: this.#headers, body })
        raiseForStatus(reply)
        return await reply.text()
      } catch (error) {
        const repeats = isBroken(error, 'connection-lost', 'payload-cut', 'http-502', 'http-503', 'http-504')
        if (!repeats || attempt === ATTEMPTS) throw error
        await pause(REQUEST_BACK_OFF * 2 ** (attempt - 1))
      }
  }
}

function raiseForStatus({ status }: TrainerReply): void {
  if (status >= 400) throw new RolloutError(`http-${status}`)
}

/** Yields the events of a stream; one that is not whole is none. */
async function* eventsOf(reply: TrainerReply): AsyncGenerator<{ event: string; data: string }, void, undefined> {
  let text = ''
  for await (const chunk of reply.chunks()) {
    text += chunk
    const events = text.split('\n\n')
    text = events.pop() as string
    for (const one of events) {
      const [, event, data = ''] = /^event:\s*(.*)\ndata:\s*(.*)$/.exec(one) ?? []
      if (event) yield { event, data }
    }
  }
}
