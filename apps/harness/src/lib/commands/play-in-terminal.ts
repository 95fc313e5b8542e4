import {
  type Connection,
  definePolicy,
  type Episode,
  type Match,
  type Policy,
  runEpisode,
  runMatch,
  withShaping,
} from '@episodic/env'
import type { EnvironmentInfo, EpisodeEnd, JsonObject, Step } from '@episodic/protocol'
import { type Console, colorsOf } from '../base/console.ts'
import { HarnessError } from '../base/harness-error.ts'
import { findPolicy } from '../worlds/policies.ts'
import type { World } from '../worlds/world.ts'
import { TerminalPlayer } from './terminal-player.ts'

/** The name of the policy that is a person in this terminal. */
const PERSON = 'person'

export interface TerminalOptions {
  readonly params: JsonObject
  readonly seed: string
  /** The names of policies by seat. A person plays the other seats, and the only seat. */
  readonly seats: Readonly<Record<string, string>>
  /** The world whose policies may be named. */
  readonly world: Pick<World, 'solver' | 'policies'>
}

/** Whether a person plays a seat, by the policy that is named for it, if one is. */
export function isPerson(policy: string | undefined): boolean {
  return (policy ?? PERSON) === PERSON
}

/**
 * Plays one episode, after its introduction: a person in the terminal and, in other seats, policies. Throws
 * `option-invalid`, `policy-unknown` and what failed the episode.
 */
export async function playInTerminal(
  connection: Connection,
  info: EnvironmentInfo,
  { params, seed, seats, world }: TerminalOptions,
  introduction: string,
  console: Console,
): Promise<void> {
  const known = info.seats?.map(({ name }) => name) ?? []
  const unknown = Object.keys(seats).find((seat) => !known.includes(seat))
  if (unknown !== undefined)
    throw new HarnessError(
      'option-invalid',
      info.seats
        ? `${info.name} has no seat "${unknown}". Its seats are: ${known.join(', ')}. Write --seat ${known[0]}=random.`
        : '--seat is for an environment of several seats. Leave it out.',
    )
  using terminal = new TerminalPlayer(console)
  const person = createPerson(terminal, console)
  const playing = { task: { params }, seed, policySeed: seed }
  const policies: Record<string, Policy> = {}
  for (const seat of known)
    policies[seat] = isPerson(seats[seat]) ? person : await findPolicy(seats[seat] as string, world)
  console.out.write(introduction)
  const played = info.seats
    ? await runMatch({ ...playing, createGame: () => connection.game(info.name), policies })
    : await runEpisode({
        ...playing,
        createEnvironment: () => shaped(connection.environment(info.name)),
        policy: person,
      })
  const persons = known.filter((seat) => isPerson(seats[seat]))
  if (played.kind === 'finished') console.out.write(formatEnd(played, persons, console))
  else if (played.cause !== QUIT) throw played.cause
}

function shaped(environment: ReturnType<Connection['environment']>): ReturnType<typeof withShaping> {
  return environment.info.potential ? withShaping(environment) : environment
}

/** Thrown by the person's player to leave the episode. */
const QUIT = new Error('The person has quit.')

function createPerson(terminal: TerminalPlayer, console: Console): Policy {
  const { bold } = colorsOf(console.out)
  return definePolicy({
    name: PERSON,
    start:
      ({ seat, tools }) =>
      async ({ text }, { last, signal }) => {
        // Another seat has failed, so nobody waits for this action.
        signal?.addEventListener('abort', () => terminal[Symbol.dispose](), { once: true })
        const shown = last ? formatStep(text, last, console) : text
        const action = await terminal.ask(seat === undefined ? shown : `${bold(seat)}  ${shown}`, tools)
        if (action) return action
        throw QUIT
      },
  })
}

/** Returns what a person reads after a step: a text, and what the step earned. */
function formatStep(text: string, { info, reward }: Step, console: Console): string {
  const { dim, red } = colorsOf(console.out)
  const parts = Object.entries({ ...reward.terms, ...(reward.shaping !== 0 && { shaping: reward.shaping }) })
  const earned = parts.map(([name, value]) => `${name} ${value.toFixed(3)}`).join(', ')
  const line = parts.length === 0 ? 'no reward' : `reward ${reward.total.toFixed(3)}  (${earned})`
  return `${info.refused ? red(text) : text}\n${dim(line)}`
}

/** Returns what each person sees at the end, and what the episode was for each seat. */
function formatEnd(
  played: (Episode | Match) & { readonly kind: 'finished' },
  persons: readonly string[],
  console: Console,
): string {
  const { bold, green } = colorsOf(console.out)
  const how = ({ kind, reason }: EpisodeEnd, earned: number) => {
    const shown = `${kind}: ${reason}`
    return `${bold(kind === 'terminated' ? green(shown) : shown)}  return ${earned.toFixed(3)}`
  }
  if ('end' in played) {
    const last = played.steps.at(-1)
    const earned = played.steps.reduce((sum, { reward }) => sum + reward.total, 0)
    const seen = last ? [formatStep(last.observation.text, last, console)] : []
    return [...seen, how(played.end, earned), ''].join('\n')
  }
  const last = played.steps.at(-1)
  const seen = persons.map((seat) => [
    seat,
    last?.seat === seat ? last.observation.text : last?.report.seats?.views[seat]?.text,
  ])
  return [
    ...seen.flatMap(([seat, text]) => (text === undefined ? [] : [`${bold(String(seat))}  ${text}`])),
    ...Object.entries(played.seats).map(([seat, { end, return: earned }]) => `${bold(seat)}  ${how(end, earned)}`),
    '',
  ].join('\n')
}
