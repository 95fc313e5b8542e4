import { z } from 'zod'
import { type AskOptions, askText } from '../model/ask-text.ts'
import { inventedFact } from '../model/fact-problem.ts'
import type { SpeakRequest, UserSpeaker } from './user-speaker.ts'

/** What a speaker said for a user, checked: plain JSON, recorded with the step. */
export interface Spoken {
  /** `null` where the simulator's own line is said. */
  readonly text: string | null
  /** Why the speaker's words are not used; `null` where they are. */
  readonly problem: string | null
}

/** Accepts {@link Spoken}. */
export const spokenSchema: z.ZodType<Spoken> = z.object({
  text: z.string().min(1).nullable(),
  problem: z.string().nullable(),
})

/**
 * Asks a speaker, and holds it to what the user wants: a name, code or number that is neither in the goal nor in the dialogue is
 * not said. Rejects only when `signal` is aborted.
 *
 * @param longest - the longest text that a user may say, in UTF-16 code units.
 */
export function speakForUser(
  speaker: UserSpeaker,
  request: Omit<SpeakRequest, 'signal'>,
  longest: number,
  options: AskOptions,
): Promise<Spoken> {
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
