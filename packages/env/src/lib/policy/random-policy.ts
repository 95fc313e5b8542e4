import {
  type Action,
  canonicalJson,
  createRng,
  type Json,
  type JsonObject,
  type LegalActions,
  type Step,
} from '@episodic/protocol'
import { EnvError } from '../env-error.ts'
import { definePolicy, type EarlierStep, type Player, type Policy, type PolicyContext } from './policy.ts'
import { sampleJson } from './sample-json.ts'

/** How often one step is drawn anew, where what was drawn has been refused since the last accepted step. */
const MOST_REDRAWS = 32

/**
 * A policy that picks a tool and arguments at random: the floor that others are held against. What it draws is said at
 * {@link sampleJson}. An environment without tools fails with `option-invalid`.
 *
 * Where the world says which actions are legal, it draws from those alone, and nothing that it plays is refused. Elsewhere
 * it draws from the tools' schemas. A refused action is an answered step, after which it draws again: an action that was
 * refused since the last accepted step is drawn anew up to 32 times, as a refusal has changed nothing.
 */
export function randomPolicy(): Policy {
  return definePolicy({
    name: 'random',
    start: (context) => createPlayer(context, []),
    resume: createPlayer,
  })
}

interface Choice {
  readonly name: string
  readonly inputSchema: JsonObject
}

function createPlayer({ tools, seed }: PolicyContext, earlier: readonly EarlierStep[]): Player {
  if (tools.length === 0)
    throw new EnvError('option-invalid', 'The environment has no tools, so there is nothing to do in it.')
  // A stream of its own: a world that was given the same seed must not share its draws.
  const rng = createRng(seed).stream('policy')
  const refused = new Set<string>()
  let played: Action | null = null

  const draw = (choices: readonly Choice[]): Action => {
    const { name, inputSchema } = rng.pick(choices)
    return { tool: name, arguments: sampleJson(inputSchema, rng) as JsonObject }
  }
  const learn = (action: Action, { info }: Step) => {
    if (info.refused === null) refused.clear()
    else refused.add(keyOf(action))
  }
  const choose = (choices: readonly Choice[]): Action => {
    played = draw(choices)
    for (let redraws = 0; redraws < MOST_REDRAWS && refused.size > 0 && refused.has(keyOf(played)); redraws++)
      played = draw(choices)
    return played
  }

  for (const { action, step } of earlier) {
    // The action is not used: the draw advances the stream, so that a player that resumes with the seed of the earlier one does not
    // repeat its first draws.
    draw(tools)
    learn(action, step)
  }
  return (_, { last, legal }) => {
    if (played && last) learn(played, last)
    return legal ? legal().then((actions) => choose(legalChoices(actions) ?? tools)) : choose(tools)
  }
}

/** The tools that may be called; `null` where none may, so that what is played shows what the world makes of that. */
function legalChoices(actions: LegalActions): readonly Choice[] | null {
  const choices = Object.entries(actions).map(([name, inputSchema]) => ({ name, inputSchema }))
  return choices.length > 0 ? choices : null
}

function keyOf(action: Action): string {
  return canonicalJson(action as unknown as Json)
}
