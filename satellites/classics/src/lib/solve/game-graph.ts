import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { type Action, canonicalJson, type JsonObject, type Observation } from '@episodic/protocol'
import { type GamePosition, listGameOutcomes, listGameStarts } from './game-outcomes.ts'
import { listActions } from './listed-actions.ts'

/** An information set: what one seat knows when it has to act. */
export interface Decision {
  readonly seat: string
  /** What it is shown. Two information sets may show the same, after different answers before. */
  readonly observation: Observation
  readonly actions: readonly Action[]
}

/** Where an action may lead to. */
export interface GameBranch {
  readonly probability: number
  /** The rewards of the step, in the order of the seats. */
  readonly rewards: readonly number[]
  /** The index of the next node; `null` at the end. */
  readonly next: number | null
}

/** A position in which a seat has to act. */
export interface GameNode {
  /** The index of the seat. */
  readonly seat: number
  /** The index of the information set. */
  readonly decision: number
  /** By action, in the order of the information set's actions. */
  readonly outcomes: readonly (readonly GameBranch[])[]
}

/** A whole game. Each node comes after those that it leads to. */
export interface GameGraph {
  readonly seats: readonly string[]
  readonly nodes: readonly GameNode[]
  readonly decisions: readonly Decision[]
  readonly starts: readonly GameBranch[]
}

/**
 * Walks every course of a game by its served rules. An information set is what its seat has been shown and has done. A
 * state that hides nothing is one node, however it was reached, because what follows depends on nothing else.
 *
 * Throws `option-invalid` if the rules cannot be enumerated, several seats may act in any order, a game can go on for
 * ever, or there are more than `most` branches.
 */
export function walkGame(environment: EnvironmentDefinition, params: JsonObject, most: number): GameGraph {
  const seats = environment.present(params)
  const nodes: GameNode[] = []
  const decisions: Decision[] = []
  const decisionNumbers = new Map<string, number>()
  const openNumbers = new Map<string, number | 'unfinished'>()
  let visited = 0

  const visit = (position: GamePosition, known: Known): number => {
    const open = openKey(position)
    const number = open === null ? undefined : openNumbers.get(open)
    if (number === 'unfinished')
      throw new ServerError('option-invalid', `An episode of ${environment.name} can go on for ever.`)
    if (number !== undefined) return number
    if (open !== null) openNumbers.set(open, 'unfinished')
    const [seat] = position.turn as [string]
    const observation = environment.observe(position.state, params, seat)
    const key = canonicalJson([seat, open ?? known[seat] ?? [], { ...observation }])
    const decision = decisionNumbers.get(key) ?? decisions.length
    if (decision === decisions.length) {
      decisionNumbers.set(key, decision)
      decisions.push({ seat, observation, actions: listActions(environment, position.state, params, seat) })
    }
    const { actions } = decisions[decision] as Decision
    const before = open === null ? known : Object.fromEntries(seats.map((seat) => [seat, [open]]))
    const outcomes = actions.map((action) =>
      listGameOutcomes(environment, params, position, action).map(({ probability, value }) => {
        if (++visited > most)
          throw new ServerError('option-invalid', `${environment.name} has more than ${most} branches.`)
        const next = tell(before, { seat, observation, action, ...value })
        return {
          probability,
          rewards: seats.map((name) => value.rewards[name] ?? 0),
          next: value.next && visit(value.next, next),
        }
      }),
    )
    nodes.push({ seat: seats.indexOf(seat), decision, outcomes })
    if (open !== null) openNumbers.set(open, nodes.length - 1)
    return nodes.length - 1
  }

  const nothing = seats.map(() => 0)
  const starts = listGameStarts(environment, params, most).map(({ probability, value }) => ({
    probability,
    rewards: nothing,
    next: visit(value, {}),
  }))
  return { seats, nodes, decisions, starts }
}

/** What each seat has been shown and has done so far, as JSON. */
interface Known {
  readonly [seat: string]: readonly string[]
}

interface KnownStep {
  readonly seat: string
  readonly observation: Observation
  readonly action: Action
  readonly answer: Observation
  readonly messages: { readonly [seat: string]: readonly string[] }
}

function tell(known: Known, { seat, observation, action, answer, messages }: KnownStep): Known {
  const next = { ...known }
  for (const [name, texts] of Object.entries(messages)) next[name] = [...(next[name] ?? []), ...texts]
  const step = canonicalJson([{ ...observation }, { ...action }, { ...answer }])
  return { ...next, [seat]: [...(next[seat] ?? []), step] }
}

/** Returns the identity of a position that hides nothing; `null` for one that does. */
function openKey({ state, turn, seats }: GamePosition): string | null {
  const hidden = [state.private, ...Object.values(state.own ?? {})]
  if (hidden.some((part) => Object.keys(part).length > 0)) return null
  const left = Object.keys(seats).filter((seat) => seats[seat]?.end)
  return canonicalJson([state.public, [...turn], left])
}
