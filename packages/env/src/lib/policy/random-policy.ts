import { type Action, canonicalJson, createRng, type Json, type JsonObject, type Step } from '@episodic/protocol'
import { optionInvalid } from '../env-error.ts'
import { definePolicy, type EarlierStep, type Player, type Policy, type PolicyContext } from './policy.ts'
import { sampleJson } from './sample-json.ts'

/** How often an action is drawn again, if it was refused since the last accepted step. */
const MOST_REDRAWS = 32

/**
 * Returns a policy that picks a tool and arguments at random, as a baseline for others. {@link sampleJson} draws the
 * arguments. An environment without tools fails with `option-invalid`.
 *
 * If the environment lists its legal actions, it draws only from those, and no action is refused. Otherwise it draws
 * from the schemas of the tools. An action that was refused since the last accepted step is drawn again, up to 32
 * times, because a refusal changes nothing.
 */
export function randomPolicy(): Policy {
  return definePolicy({ name: 'random', start: (context) => createPlayer(context, []), resume: createPlayer })
}

interface Choice {
  readonly name: string
  readonly inputSchema: JsonObject
}

function createPlayer({ tools, seed }: PolicyContext, earlier: readonly EarlierStep[]): Player {
  if (tools.length === 0) throw optionInvalid('The environment has no tools, so there is nothing to do in it.')
  // A separate stream, because the environment may have the same seed.
  const rng = createRng(seed).stream('policy')
  const refused = new Set<string>()
  let played: Action | null = null

  const draw = (choices: readonly Choice[]): Action => {
    const { name, inputSchema } = rng.pick(choices)
    return { tool: name, arguments: sampleJson(inputSchema, rng) as JsonObject }
  }
  const learn = (action: Action, { info }: Step) => {
    if (info.refused !== null) refused.add(toActionKey(action))
    else if (refused.size > 0) refused.clear()
  }
  const choose = (choices: readonly Choice[]): Action => {
    played = draw(choices)
    for (let redraws = 0; redraws < MOST_REDRAWS && refused.size > 0 && refused.has(toActionKey(played)); redraws++)
      played = draw(choices)
    return played
  }

  for (const { action, step } of earlier) {
    // The drawn action is not used. The draw advances the stream, so that a player with the seed of the earlier one
    // does not repeat its first draws.
    draw(tools)
    learn(action, step)
  }
  return (_, { last, legal, tools: offered = tools }) => {
    if (played && last) learn(played, last)
    if (!legal) return choose(offered)
    return legal().then((actions) => {
      const choices = Object.entries(actions).map(([name, inputSchema]) => ({ name, inputSchema }))
      // If none is legal, any is played, and the answer shows why.
      return choose(choices.length > 0 ? choices : offered)
    })
  }
}

function toActionKey(action: Action): string {
  return canonicalJson(action as unknown as Json)
}
