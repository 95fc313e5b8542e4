import type { UserSpeaker } from '../environment/user-speaker.ts'
import { createModelEndpoint, type ModelEndpoint } from './model-endpoint.ts'

export interface ModelSpeakerOptions extends ModelEndpoint {
  /** How users may talk; one is drawn for each episode, from its seed. Default: four, from curt to chatty. */
  readonly styles?: readonly string[]
}

const STYLES = [
  'curt: a few words at a time',
  'plain and polite',
  'chatty, in whole sentences, with a little small talk',
  'in a hurry, in lower case, with a typing error now and then',
]

/**
 * Creates a speaker that rewords a simulated user with a model at an OpenAI-compatible endpoint, from the user's goal
 * and style. The model is asked once for each turn. If it fails or is late, `speak` rejects, and the simulator's line
 * is used.
 *
 * Throws if the endpoint needs a key and none is set.
 */
export function createModelSpeaker(options: ModelSpeakerOptions): UserSpeaker {
  const { model, styles = STYLES } = options
  const ask = createModelEndpoint(options)
  return {
    name: `model ${model}`,
    styles,
    speak({ goal, style, dialogue, text, open, signal }) {
      const situation = {
        goal,
        dialogue: [...dialogue, { by: 'assistant', text }],
        screen: open.map(({ context, state, data }) => ({ context, state, data })),
      }
      return ask({ instructions: `${INSTRUCTIONS}\nYou talk like this: ${style}.`, situation, signal })
    },
  }
}

const INSTRUCTIONS = `You play a user who talks to an assistant. You get a JSON object:
"goal" is what you want; "dialogue" is what was said so far, the assistant's words last; "screen" is what the assistant has noted, as you see it.
Answer with what you say next and nothing else: no quotation marks, no stage directions.
Answer what the assistant asks, with what the goal says. Tell one or two things at a time, and do not read out the whole goal. Where the screen or the assistant has something wrong, correct it. Agree only to what the goal wants.
Say no name, number, date or place that is neither in the goal nor in the dialogue. Never say that you have a goal or are a model.`
