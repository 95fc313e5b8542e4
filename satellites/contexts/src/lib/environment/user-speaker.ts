import { type AskedText, type AskOptions, askText } from '../model/ask.ts'
import type { Frame } from '../model/conversation-record.ts'
import { inventedFact } from '../model/fact-problem.ts'
import type { DialogueLine } from './conversation-state.ts'

/**
 * Rewords the lines of a simulated user. A port beside the {@link UserSimulator}: left out, the agent reads the
 * simulator's lines unchanged.
 *
 * The simulator still decides from the record when the user leaves and why, so that ends and rewards depend on no
 * model. The speaker's text is recorded with the step, so that a replay does not ask it again. It may fail freely: the
 * simulator's line is used then.
 */
export interface UserSpeaker {
  readonly name: string
  /** How users may talk, such as `curt` or `with typing errors`: drawn for each episode from its seed. At least one. */
  readonly styles: readonly string[]
  speak(request: SpeakRequest): string | Promise<string>
}

/** The request to a speaker for one turn. Plain JSON but for `signal`. */
export interface SpeakRequest {
  /** What the user wants, in words: what `describe` of the environment's goal returns. */
  readonly goal: string
  /** How the user talks: one of the speaker's styles. */
  readonly style: string
  /** Earlier lines, oldest first. Bounded. */
  readonly dialogue: readonly DialogueLine[]
  /** What the assistant says now. */
  readonly text: string
  /** The open frames, the active one last: what a user sees on a screen. */
  readonly open: readonly Frame[]
  /** The time, in milliseconds since 1970 UTC. */
  readonly now: number
  /** Aborted when the text would come too late or is not needed any more. */
  readonly signal: AbortSignal
}

/**
 * Asks a speaker. A name, code or number that is neither in the goal nor in the dialogue is a `problem`. Rejects only
 * when `signal` is aborted.
 *
 * @param longest - the longest text that a user may say, in UTF-16 code units.
 */
export function speakForUser(
  speaker: UserSpeaker,
  request: Omit<SpeakRequest, 'signal'>,
  longest: number,
  options: AskOptions,
): Promise<AskedText> {
  const { goal, dialogue, text } = request
  const known = [goal, text, ...dialogue.map((line) => line.text)].join('\n')
  return askText(
    {
      who: `The speaker ${speaker.name}`,
      ask: (signal) => speaker.speak({ ...request, signal }),
      longest,
      problemOf: (said) => inventedFact(said, known, known),
    },
    options,
  )
}
