import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Action, JsonObject } from '@episodic/protocol'
import {
  type EpisodeToPlay,
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
export const playSimpleAgent: PlayRollout = (setting, episode) => playWithTools(setting, episode, true)

/** Plays with the same calls, with a client that returns only the first cookie that it was given. */
export const playWithFirstCookie: PlayRollout = (setting, episode) => playWithTools(setting, episode, false)

function playWithTools(setting: RolloutSetting, episode: EpisodeToPlay, returnsCookies: boolean): Promise<Rollout> {
  return rollout(setting, async (receive): Promise<RolloutEnd> => {
    const client = new NemoGymClient(setting.url, returnsCookies)
    const { reward, mask_sample, failure_kind, steps, reward_components } = await runSimpleAgent(
      client,
      rowOf(episode),
      episode.calls,
      {
        onAnswer: (text) => receive({ text: observationIn(text), reward: null }),
        beforeVerdict: setting.beforeVerdict,
      },
    )
    if (mask_sample) return { kind: 'masked', reason: String(failure_kind ?? '') }
    const sum = Object.values(reward_components).reduce((all, one) => all + one, 0)
    if (steps !== episode.calls.length || sum !== reward)
      throw new Error(`verify says ${steps} steps and ${JSON.stringify(reward_components)} for a reward of ${reward}.`)
    return { kind: 'finished', total: reward }
  })
}

/** What `verify` answers, beside the items of the response that it was asked about. */
interface Verified {
  readonly reward: number
  readonly steps: number
  readonly reward_components: Readonly<Record<string, number>>
  readonly mask_sample?: boolean
  readonly failure_kind?: string | null
  readonly response: { readonly output: readonly JsonObject[] }
}

/** Makes the requests of `simple_agent` for a row, with a model that makes these calls. */
export async function runSimpleAgent(
  client: NemoGymClient,
  row: JsonObject,
  calls: readonly Action[],
  {
    onAnswer = () => {},
    beforeVerdict,
  }: { readonly onAnswer?: (text: string) => void; readonly beforeVerdict?: () => Promise<void> } = {},
): Promise<Verified> {
  raiseForStatus(await client.post('seed_session', row))
  const output: JsonObject[] = []
  for (const [place, call] of calls.entries()) {
    // What a server answers is shown to the model, whatever its status.
    const text = await (await client.post(call.tool, call.arguments)).text()
    output.push(functionCall(call, place), { type: 'function_call_output', call_id: `call-${place}`, output: text })
    onAnswer(text)
  }
  await beforeVerdict?.()
  const verified = await client.post('verify', { ...row, response: { output } })
  raiseForStatus(verified)
  return { ...JSON.parse(await verified.text()), response: { output } }
}

/** Plays as `gymnasium_agent`: a step for each turn of a model, of one call or two, and `close` in the end. */
export const playGymnasiumAgent: PlayRollout = (setting, episode) => playTurns(setting, episode, true)

/** Plays the same turns, with a client that returns only the first cookie that it was given. */
export const playTurnsWithFirstCookie: PlayRollout = (setting, episode) => playTurns(setting, episode, false)

function playTurns(setting: RolloutSetting, episode: EpisodeToPlay, returnsCookies: boolean): Promise<Rollout> {
  return rollout(setting, async (receive): Promise<RolloutEnd> => {
    const client = new NemoGymClient(setting.url, returnsCookies)
    const row = rowOf(episode)
    const reset = await client.post('reset', row)
    raiseForStatus(reset)
    await reset.text()
    const close = () => client.post('close', {}).then(raiseForStatus)
    let total = 0
    try {
      for (const calls of turnsOf(episode.calls)) {
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
export class NemoGymClient {
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

function rowOf({ environment, params }: EpisodeToPlay): JsonObject {
  return {
    responses_create_params: { input: [{ role: 'user', content: `Play ${environment}.` }] },
    episodic: { environment, params },
  }
}

function functionCall({ tool, arguments: input }: Action, place: number) {
  return { type: 'function_call', call_id: `call-${place}`, name: tool, arguments: JSON.stringify(input) }
}

/** Every third turn of a model has two calls, from the second one on. */
function turnsOf(calls: readonly Action[]): Action[][] {
  const turns: Action[][] = []
  for (let at = 0; at < calls.length; ) {
    const turn = calls.slice(at, at + (turns.length % 3 === 1 ? 2 : 1))
    turns.push(turn)
    at += turn.length
  }
  return turns
}
