import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { type Action, canonicalJson, type JsonObject, type Observation } from '@episodic/protocol'
import { mergeBranches } from './enumerate-draws.ts'
import { listActions } from './listed-actions.ts'
import { listOutcomes, listStarts, type Outcome, type Position } from './outcomes.ts'

/** An information set: what one seat knows when it has to act. */
export interface Decision {
  readonly seat: string
  /** What it is shown. Two information sets may show the same, after different answers before. */
  readonly observation: Observation
  readonly actions: readonly Action[]
}

/** A position in which a seat has to act, with where each of its actions may lead to. */
export interface GameNode {
  readonly decision: Decision
  readonly outcomes: readonly (readonly GameBranch[])[]
}

export interface GameBranch {
  readonly probability: number
  /** In the order of the seats. */
  readonly rewards: readonly number[]
  /** `null` at the end. */
  readonly next: GameNode | null
}

export interface GameGraph {
  readonly seats: readonly string[]
  /** Each comes after those that it leads to. */
  readonly nodes: readonly GameNode[]
  readonly decisions: readonly Decision[]
  readonly starts: readonly GameBranch[]
}

/** What each seat has been shown and has done so far, as JSON. */
interface Known {
  readonly [seat: string]: readonly string[]
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
  const decisions = new Map<string, Decision>()
  const open = new Map<string, GameNode | 'unfinished'>()
  let visited = 0
  const invalid = (what: string) => new ServerError('option-invalid', `${environment.name} ${what}.`)

  const visit = (position: Position, known: Known): GameNode => {
    const shared = openKey(position)
    const met = shared === null ? undefined : open.get(shared)
    if (met === 'unfinished') throw invalid('can go on for ever')
    if (met) return met
    if (shared !== null) open.set(shared, 'unfinished')
    const before = shared === null ? known : Object.fromEntries(seats.map((seat) => [seat, [shared]]))
    const [seat] = position.turn as [string]
    const observation = environment.observe(position.state, params, seat)
    const key = canonicalJson([seat, before[seat] ?? [], { ...observation }])
    const actions = () => listActions(environment, position.state, params, seat)
    const decision = decisions.get(key) ?? { seat, observation, actions: actions() }
    decisions.set(key, decision)
    const outcomes = decision.actions.map((action) =>
      mergeBranches(listOutcomes(environment, params, position, action)).map(({ probability, value }) => {
        if (++visited > most) throw invalid(`has more than ${most} branches`)
        const { rewards, next } = value
        return { probability, rewards, next: next && visit(next, tell(before, seat, [observation, action], value)) }
      }),
    )
    const node = { decision, outcomes }
    nodes.push(node)
    if (shared !== null) open.set(shared, node)
    return node
  }

  const rewards = seats.map(() => 0)
  const starts = mergeBranches(listStarts(environment, params, most)).map(({ probability, value }) => ({
    probability,
    rewards,
    next: visit(value, {}),
  }))
  return { seats, nodes, decisions: [...decisions.values()], starts }
}

/** Adds what an action shows each seat: the one that moved its view, action and answer, and others their messages. */
function tell(known: Known, seat: string, did: readonly object[], { answer, messages }: Outcome): Known {
  const next = { ...known }
  for (const [name, texts] of Object.entries(messages)) next[name] = [...(next[name] ?? []), ...texts]
  return { ...next, [seat]: [...(next[seat] ?? []), canonicalJson([...did, answer].map((part) => ({ ...part })))] }
}

/** Returns the identity of a position that hides nothing; `null` for one that does. */
function openKey({ state, turn, seats }: Position): string | null {
  const hidden = [state.private, ...Object.values(state.own ?? {})]
  if (hidden.some((part) => Object.keys(part).length > 0)) return null
  const left = Object.keys(seats).filter((seat) => seats[seat]?.end)
  return canonicalJson([state.public, [...turn], left])
}
