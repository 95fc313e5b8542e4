import type { TrainerSessionRef } from '@episodic/mcp-server'
import type { Action, Rng, ToolInfo } from '@episodic/protocol'
import type { Message } from './messages.ts'

export interface SeatAnswer {
  readonly message: Message
  readonly text: string
}

export interface SeatPlayerSetting {
  readonly seat: string
  readonly others: readonly string[]
  readonly tools: readonly ToolInfo[]
  readonly control: TrainerSessionRef
  /** Draws what is read. The same draws for the same course of an episode. */
  readonly rng: Rng
}

export interface SeatPlayer {
  readonly answers: readonly SeatAnswer[]
  begin(): Promise<void>
  /** Plays a move of the seat. It is committed when this resolves; its answer may be held. */
  move(action: Action): Promise<void>
  /** Notes an answer that had to come by now, and reads what may have changed by a step of any seat. */
  readAgain(): Promise<void>
  /** Notes what came last, once the session is closed. */
  finish(): Promise<void>
}
