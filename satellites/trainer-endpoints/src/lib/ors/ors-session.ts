import type { TrainerSessionRef } from '@episodic/mcp-server'
import { type Action, canonicalJson, DEFAULT_SEAT, type EnvironmentInfo, WireError } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import { createTurns } from '../episode/in-turn.ts'
import { leaveSession } from '../episode/leave-session.ts'
import { offeredInfo } from '../episode/offered-info.ts'
import { playStep, rewardOf } from '../episode/play-step.ts'
import { readSteps } from '../episode/read-steps.ts'
import type { RewardMode } from '../episode/reward-mode.ts'
import type { TextBlock } from './blocks.ts'
import { answerOf, type CallAnswer, episodeFinished, unknownTool } from './call-answer.ts'
import type { CallRequest } from './requests.ts'

export interface CallStream {
  /** Sends the id with which the client resumes this call. Resolves with false if the client has gone. */
  announce(taskId: string): Promise<boolean>
  deliver(answer: CallAnswer): Promise<boolean>
}

export interface OrsSessionSettings {
  readonly rewards: RewardMode
  /** Whether a call is played only once its client has repeated it with its id. */
  readonly confirmsCalls: boolean
}

/** A step whose client went before the whole answer was sent. */
interface Undelivered {
  readonly seq: number
  readonly action: string
}

/**
 * One session of a client. Its calls are played one after another.
 *
 * The id of a call names its step by the number of steps before it, which is the key under which the host applies a
 * step once. A resumed call therefore gets the stored answer, also after a restart of the server.
 */
export class OrsSession {
  readonly environment: EnvironmentInfo
  /** The blocks of the prompt; `null` if an earlier process of this server opened the session. */
  readonly prompt: readonly TextBlock[] | null
  readonly #session: TrainerSessionRef
  readonly #settings: OrsSessionSettings
  /** The sum of the raw rewards after each number of steps. */
  readonly #totals: number[] = [0]
  #undelivered: Undelivered | null = null
  readonly #inTurn = createTurns()

  private constructor(
    session: TrainerSessionRef,
    environment: EnvironmentInfo,
    settings: OrsSessionSettings,
    prompt: readonly TextBlock[] | null,
  ) {
    this.#session = session
    this.environment = environment
    this.#settings = settings
    this.prompt = prompt
  }

  static async open(
    session: TrainerSessionRef,
    settings: OrsSessionSettings,
    prompt: readonly TextBlock[] | null,
  ): Promise<OrsSession> {
    const opened = new OrsSession(session, await session.environment(), settings, prompt)
    const { seats } = await session.state()
    if (seats[DEFAULT_SEAT]?.seq)
      for (const step of await readSteps(session)) opened.#count(step.report.seq, rewardOf(step))
    return opened
  }

  /** Resolves with the environment, with the tools that the session offers now. */
  info(): Promise<EnvironmentInfo> {
    return offeredInfo(this.environment, this.#session)
  }

  get isPlayed(): boolean {
    return this.#seq > 0
  }

  async touch(): Promise<void> {
    await this.#session.state()
  }

  call(request: CallRequest, stream: CallStream): Promise<void> {
    return this.#inTurn(() => this.#take(request, stream))
  }

  async close(): Promise<void> {
    await leaveSession(this.#session)
  }

  get #seq(): number {
    return this.#totals.length - 1
  }

  async #take({ name, input, task_id }: CallRequest, stream: CallStream): Promise<void> {
    const action: Action = { tool: name, arguments: input }
    const text = canonicalJson({ tool: name, arguments: input })
    const { confirmsCalls } = this.#settings
    const isResumed = typeof task_id === 'string'
    const seq = isResumed ? this.#seqOf(task_id) : confirmsCalls ? this.#seq : this.#seqOfRepeated(text)
    if (!(await stream.announce(`step-${seq}`))) return
    // The stream ends here, and its client resumes it: then it is known to have the id.
    if (confirmsCalls && !isResumed) return
    const answer = await this.#answer(action, seq)
    this.#undelivered = (await stream.deliver(answer)) ? null : { seq, action: text }
  }

  #seqOf(taskId: string): number {
    const seq = Number(/^step-(\d{1,15})$/.exec(taskId)?.[1] ?? Number.NaN)
    if (seq <= this.#seq) return seq
    throw new WireError('invalid-params', `unknown task_id: this session has no call "${shorten(taskId)}".`)
  }

  /**
   * A client that lost the stream before it read the id repeats its call without one. If the last answer could not be
   * sent, the same call once more is that repetition, and not a second step.
   */
  #seqOfRepeated(action: string): number {
    return this.#undelivered?.action === action ? this.#undelivered.seq : this.#seq
  }

  async #answer(action: Action, seq: number): Promise<CallAnswer> {
    const known = this.environment.tools.map(({ name }) => name)
    // No step: a tool that does not exist is a mistake of the client's program, and not a move of its model.
    if (!known.includes(action.tool)) return unknownTool(action.tool, known)
    try {
      const step = await this.#step(action, seq)
      this.#count(step.report.seq, rewardOf(step))
      const total = this.#totals[step.report.seq] as number
      const held = step.report.end ? total : null
      return answerOf(step, { reward: this.#settings.rewards === 'steps' ? rewardOf(step) : held, total })
    } catch (error) {
      if (WireError.is(error, 'episode-ended')) return episodeFinished()
      throw error
    }
  }

  /** Plays a step, or returns the answer that it had. The host keeps the last one, and the log all of them. */
  async #step(action: Action, seq: number) {
    if (seq >= this.#seq - 1) return playStep(this.#session, action, seq)
    for (const step of await readSteps(this.#session)) if (step.report.seq === seq + 1) return step
    throw new WireError('state-lost', 'The answer of this call is not kept any more.')
  }

  #count(seq: number, reward: number): void {
    if (seq === this.#seq + 1) this.#totals.push((this.#totals[this.#seq] as number) + reward)
  }
}
