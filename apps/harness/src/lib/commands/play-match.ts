import { type Connection, definePolicy, type Match, type Policy, runMatch } from '@episodic/env'
import type { EnvironmentInfo, JsonObject } from '@episodic/protocol'
import { randomText } from '@episodic/protocol/extend'
import { type Console, colorsOf } from '../base/console.ts'
import { HarnessError } from '../base/harness-error.ts'
import { findPolicy } from '../worlds/policies.ts'
import type { World } from '../worlds/world.ts'
import { TerminalPlayer } from './terminal-player.ts'

/** The name of the policy that is a person in this terminal. */
const PERSON = 'person'

interface MatchOptions {
  readonly params: JsonObject
  readonly seed: string | undefined
  /** The names of policies by seat. A person plays the other seats. */
  readonly seats: Readonly<Record<string, string>>
  /** The world whose policies may be named. */
  readonly world: Pick<World, 'solver' | 'policies'>
}

/** Whether a person plays a seat, by the policy that is named for it, if one is. */
export function isPerson(policy: string | undefined): boolean {
  return (policy ?? PERSON) === PERSON
}

/**
 * Plays one episode of several seats: a person in the terminal, and policies. Throws `option-invalid` and
 * `policy-unknown`.
 */
export async function playMatch(
  connection: Connection,
  info: EnvironmentInfo,
  { params, seed, seats, world }: MatchOptions,
  console: Console,
): Promise<void> {
  const known = info.seats?.map(({ name }) => name) ?? []
  const unknown = Object.keys(seats).find((seat) => !known.includes(seat))
  if (unknown !== undefined)
    throw new HarnessError(
      'option-invalid',
      `${info.name} has no seat "${unknown}". Its seats are: ${known.join(', ')}. Write --seat ${known[0]}=random.`,
    )
  const persons = known.filter((seat) => isPerson(seats[seat]))
  using terminal = new TerminalPlayer(console)
  const person = createPerson(terminal, console)
  const policies: Record<string, Policy> = {}
  for (const seat of known)
    policies[seat] = persons.includes(seat) ? person : await findPolicy(seats[seat] as string, world)
  const match = await runMatch({
    createGame: () => connection.game(info.name),
    policies,
    task: { params },
    seed,
    policySeed: seed ?? randomText(),
  })
  if (match.kind === 'finished') console.out.write(describeMatch(match, persons, console))
  else if (match.cause !== QUIT) throw match.cause
}

/** Thrown by the person's player to leave the match. */
const QUIT = new Error('The person has quit.')

function createPerson(terminal: TerminalPlayer, console: Console): Policy {
  const { bold, dim } = colorsOf(console.out)
  return definePolicy({
    name: PERSON,
    start:
      ({ seat, tools }) =>
      async ({ text }, { last, signal }) => {
        // Another seat has failed, so nobody waits for this action.
        signal?.addEventListener('abort', () => terminal[Symbol.dispose](), { once: true })
        const reward = last && last.reward.total !== 0 ? `${dim(`reward ${last.reward.total.toFixed(3)}`)}\n` : ''
        const action = await terminal.ask(`${reward}${bold(String(seat))}  ${text}`, tools)
        if (action) return action
        throw QUIT
      },
  })
}

/** Returns what each person sees at the end, and what the episode was for each seat. */
function describeMatch(
  { steps, seats }: Match & { readonly kind: 'finished' },
  persons: readonly string[],
  console: Console,
): string {
  const { bold } = colorsOf(console.out)
  const last = steps.at(-1)
  const seen = persons.map((seat) => [
    seat,
    last?.seat === seat ? last.observation.text : last?.report.seats?.views[seat]?.text,
  ])
  return [
    ...seen.flatMap(([seat, text]) => (text === undefined ? [] : [`${bold(String(seat))}  ${text}`])),
    ...Object.entries(seats).map(
      ([seat, { end, return: earned }]) => `${bold(seat)}  ${end.kind}: ${end.reason}  return ${earned.toFixed(3)}`,
    ),
    '',
  ].join('\n')
}
