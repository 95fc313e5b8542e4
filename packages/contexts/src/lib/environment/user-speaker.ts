import type { Frame } from '../model/conversation-record.ts'
import type { Line } from './conversation-state.ts'

/**
 * Says what a simulated user says, in words of its own. A port beside the {@link UserSimulator}: left out, the agent hears the
 * simulator's own lines.
 *
 * The simulator still decides when the user leaves and why, by the record, so that ends and rewards depend on no model. What a
 * speaker says is recorded with the step, so that a replay does not ask it again. It may fail freely: the simulator's line is said then.
 */
export interface UserSpeaker {
  readonly name: string
  /** How users may talk, such as `curt` or `chatty, with typing errors`: one is drawn for each episode, from its seed. At least one. */
  readonly styles: readonly string[]
  speak(request: SpeakRequest): string | Promise<string>
}

/** The request to a speaker for one turn. Plain JSON but for `signal`. */
export interface SpeakRequest {
  /** What the user wants, in words: what `describe` of the environment's goal says. */
  readonly goal: string
  /** How the user talks: one of the speaker's styles. */
  readonly style: string
  /** What was said before, oldest first. Bounded. */
  readonly dialogue: readonly Line[]
  /** What the assistant says now. */
  readonly text: string
  /** Everything open, the active one last: what a user sees on a screen. */
  readonly open: readonly Frame[]
  /** When, in milliseconds since 1970 UTC. */
  readonly now: number
  /** Aborted when the words would come too late or are not wanted any more. */
  readonly signal: AbortSignal
}
