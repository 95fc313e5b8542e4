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

export type OrsSession = Awaited<ReturnType<typeof openOrsSession>>

/**
 * One session of a client. Its calls are played one after another.
 *
 * The id of a call names its step by the number of steps before it, which is the key under which the host applies a
 * step once. A resumed call therefore gets the stored answer, also after a restart of the server.
 */
export async function openOrsSession(
  session: TrainerSessionRef,
  settings: OrsSessionSettings,
  prompt: readonly TextBlock[] | null,
) {
  const environment = await session.environment()
  const { seats } = await session.state()
  /** The sum of the raw rewards after each number of steps. */
  const totals: number[] = [0]
  let undelivered: Undelivered | null = null
  const inTurn = createTurns()
  if (seats[DEFAULT_SEAT]?.seq) for (const step of await readSteps(session)) count(step.report.seq, rewardOf(step))
  return {
    environment,
    /** The blocks of the prompt; `null` if an earlier process of this server opened the session. */
    prompt,
    /** Resolves with the environment, with the tools that the session offers now. */
    info(): Promise<EnvironmentInfo> {
      return offeredInfo(environment, session)
    },
    get isPlayed(): boolean {
      return played() > 0
    },
    async touch(): Promise<void> {
      await session.state()
    },
    call(request: CallRequest, stream: CallStream): Promise<void> {
      return inTurn(() => take(request, stream))
    },
    async close(): Promise<void> {
      await leaveSession(session)
    },
  }

  function played(): number {
    return totals.length - 1
  }

  async function take({ name, input, task_id }: CallRequest, stream: CallStream): Promise<void> {
    const action: Action = { tool: name, arguments: input }
    const text = canonicalJson({ tool: name, arguments: input })
    const { confirmsCalls } = settings
    const isResumed = typeof task_id === 'string'
    const seq = isResumed ? seqOf(task_id) : confirmsCalls ? played() : seqOfRepeated(text)
    if (!(await stream.announce(`step-${seq}`))) return
    // The stream ends here, and its client resumes it: then it is known to have the id.
    if (confirmsCalls && !isResumed) return
    const answer = await answerCall(action, seq)
    undelivered = (await stream.deliver(answer)) ? null : { seq, action: text }
  }

  function seqOf(taskId: string): number {
    const seq = Number(/^step-(\d{1,15})$/.exec(taskId)?.[1] ?? Number.NaN)
    if (seq <= played()) return seq
    throw new WireError('invalid-params', `unknown task_id: this session has no call "${shorten(taskId)}".`)
  }

  /**
   * A client that lost the stream before it read the id repeats its call without one. If the last answer could not be
   * sent, the same call once more is that repetition, and not a second step.
   */
  function seqOfRepeated(action: string): number {
    return undelivered?.action === action ? undelivered.seq : played()
  }

  async function answerCall(action: Action, seq: number): Promise<CallAnswer> {
    const known = environment.tools.map(({ name }) => name)
    // No step: a tool that does not exist is a mistake of the client's program, and not a move of its model.
    if (!known.includes(action.tool)) return unknownTool(action.tool, known)
    try {
      const step = await stepOnce(action, seq)
      count(step.report.seq, rewardOf(step))
      const total = totals[step.report.seq] as number
      const held = step.report.end ? total : null
      return answerOf(step, { reward: settings.rewards === 'steps' ? rewardOf(step) : held, total })
    } catch (error) {
      if (WireError.is(error, 'episode-ended')) return episodeFinished()
      throw error
    }
  }

  /** Plays a step, or returns the answer that it had. The host keeps the last one, and the log all of them. */
  async function stepOnce(action: Action, seq: number) {
    if (seq >= played() - 1) return playStep(session, action, seq)
    for (const step of await readSteps(session)) if (step.report.seq === seq + 1) return step
    throw new WireError('state-lost', 'The answer of this call is not kept any more.')
  }

  function count(seq: number, reward: number): void {
    if (seq === played() + 1) totals.push((totals[played()] as number) + reward)
  }
}
