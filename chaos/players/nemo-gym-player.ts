import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type PlayRollout,
  type Rollout,
  type RolloutEnd,
  RolloutError,
  type RolloutSetting,
  rollout,
} from './rollout.ts'
import { isBroken, send, type TrainerReply } from './trainer-request.ts'

/** Milliseconds before NeMo Gym's client repeats a request. */
const PAUSE = 500
/** Milliseconds after which this one no longer does, so that a server that never answers is noticed. */
const TIMEOUT = 120_000

/** Plays as `simple_agent`: a call of a tool for each step, and `verify` in the end. */
export const playSimpleAgent: PlayRollout = (setting, amounts) => playWithTools(setting, amounts, true)

/** Plays with the same calls, with a client that returns only the first cookie that it was given. */
export const playWithFirstCookie: PlayRollout = (setting, amounts) => playWithTools(setting, amounts, false)

function playWithTools(setting: RolloutSetting, amounts: readonly number[], returnsCookies: boolean): Promise<Rollout> {
  return rollout(amounts, setting, async (receive): Promise<RolloutEnd> => {
    const client = new NemoGymClient(setting.url, returnsCookies)
    const row = rowOf(amounts)
    raiseForStatus(await client.post('seed_session', row))
    const output: object[] = []
    for (const amount of amounts) {
      // What a server answers is shown to the model, whatever its status.
      const text = await (await client.post('add', { amount })).text()
      output.push(functionCall(amount), { type: 'function_call_output', call_id: 'call', output: text })
      receive({ text: observationIn(text), reward: null })
    }
    await setting.beforeVerdict()
    const verified = await client.post('verify', { ...row, response: { output } })
    raiseForStatus(verified)
    const { reward, mask_sample, failure_kind, steps, reward_components } = JSON.parse(await verified.text())
    if (mask_sample) return { kind: 'masked', reason: String(failure_kind ?? '') }
    if (steps !== amounts.length || reward_components.amount !== reward)
      throw new Error(`verify says ${steps} steps and ${JSON.stringify(reward_components)} for a reward of ${reward}.`)
    return { kind: 'finished', total: reward }
  })
}

/** Plays as `gymnasium_agent`: a step for each turn of a model, of one call or two, and `close` in the end. */
export const playGymnasiumAgent: PlayRollout = (setting, amounts) => playTurns(setting, amounts, true)

/** Plays the same turns, with a client that returns only the first cookie that it was given. */
export const playTurnsWithFirstCookie: PlayRollout = (setting, amounts) => playTurns(setting, amounts, false)

function playTurns(setting: RolloutSetting, amounts: readonly number[], returnsCookies: boolean): Promise<Rollout> {
  return rollout(amounts, setting, async (receive): Promise<RolloutEnd> => {
    const client = new NemoGymClient(setting.url, returnsCookies)
    const row = rowOf(amounts)
    const reset = await client.post('reset', row)
    raiseForStatus(reset)
    await reset.text()
    const close = () => client.post('close', {}).then(raiseForStatus)
    let total = 0
    try {
      for (const calls of turnsOf(amounts)) {
        const step = await client.post('step', {
          ...row,
          response: { output: calls.map(functionCall) },
          _ng_step_request_id: randomBytes(16).toString('hex'),
        })
        raiseForStatus(step)
        const { reward, info } = JSON.parse(await step.text())
        total += reward
        for (const [place, { output }] of info.tool_outputs.entries())
          receive({ text: observationIn(output), reward: place === calls.length - 1 ? reward : null })
      }
    } finally {
      await close().catch(() => {})
    }
    return { kind: 'finished', total }
  })
}

/** An HTTP client that repeats as that of NeMo Gym's agents, with the cookie of one rollout. */
class NemoGymClient {
  readonly #url: string
  /** Whether it returns each cookie, or only the first one. */
  readonly #returnsCookies: boolean
  #cookie = ''

  constructor(url: string, returnsCookies: boolean) {
    this.#url = url
    this.#returnsCookies = returnsCookies
  }

  /** Posts until a response begins, with nothing that names the call. A body that is cut is not asked for again. */
  async post(path: string, body: object): Promise<TrainerReply> {
    const headers = {
      'user-agent': this.#returnsCookies ? 'Python/3.13 aiohttp/3.12' : 'python-httpx/0.28',
      ...(this.#cookie && { cookie: this.#cookie }),
    }
    const began = performance.now()
    for (;;)
      try {
        const reply = await send(`${this.#url}/${path}`, { headers, body })
        const [cookie] = [reply.headers['set-cookie'] ?? []].flat()
        if (cookie && (this.#returnsCookies || !this.#cookie)) this.#cookie = cookie.split(';', 1)[0] as string
        return reply
      } catch (error) {
        if (!isBroken(error, 'connection-lost')) throw error
        if (performance.now() - began > TIMEOUT) throw new Error(`${path} is not answered.`, { cause: error })
        await pause(PAUSE)
      }
  }
}

function raiseForStatus({ status }: TrainerReply): void {
  if (status >= 400) throw new RolloutError(`http-${status}`)
}

/** The observation in what a model is shown of a step; all of it if there is none. */
function observationIn(output: string): string {
  return output.startsWith('{') ? (JSON.parse(output).observation ?? output) : output
}

function rowOf(amounts: readonly number[]) {
  return {
    responses_create_params: { input: [{ role: 'user', content: 'Add the amounts.' }] },
    episodic: { environment: 'ledger', params: { entries: amounts.length } },
  }
}

function functionCall(amount: number) {
  return { type: 'function_call', call_id: 'call', name: 'add', arguments: JSON.stringify({ amount }) }
}

/** Every third turn of a model calls the tool twice, from the second one on. */
function turnsOf(amounts: readonly number[]): number[][] {
  const turns: number[][] = []
  for (let at = 0; at < amounts.length; ) {
    const calls = amounts.slice(at, at + (turns.length % 3 === 1 ? 2 : 1))
    turns.push(calls)
    at += calls.length
  }
  return turns
}
