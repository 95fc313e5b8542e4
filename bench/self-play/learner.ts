/** What a seat knows when it has to act, and what it has learned about it. */
export interface InformationSet {
  /** The last one before it, and the action that was taken there; `null` for a first one. */
  readonly before: Move | null
  readonly regrets: number[]
  /** The strategies so far, each weighted by how likely its own moves lead here. */
  readonly sums: number[]
  /** The mean of what has been earned after each action, which makes estimates less noisy. */
  readonly baselines: number[]
  readonly visits: number[]
}

export interface Move {
  readonly set: InformationSet
  readonly action: number
}

/** A move of an episode, with the probabilities that its action was drawn with. */
export interface DrawnMove extends Move {
  readonly drawnWith: readonly number[]
}

/** The share of moves that are drawn uniformly by a seat that learns. */
const EXPLORATION = 0.6
/** The least weight of a new return in a baseline. */
const LEAST_WEIGHT = 0.01

/**
 * A tabular learner for one seat that sees its own views, actions and returns alone: outcome-sampling counterfactual
 * regret minimization (Lanctot and others, 2009) with baselines (Schmid and others, 2019). While it learns, the others
 * have to play their strategies without exploring: then what they and chance do needs no correction. The average of its
 * strategies gets close to an equilibrium of a zero-sum game of two seats.
 */
export class Learner {
  readonly #actions: number
  readonly #sets = new Map<string, InformationSet>()

  constructor(actions: number) {
    this.#actions = actions
  }

  /**
   * Returns the information set with a key. A seat remembers its moves, so that what comes before is always the same.
   */
  setOf(key: string, before: Move | null): InformationSet {
    const zeros = () => new Array<number>(this.#actions).fill(0)
    const set = this.#sets.get(key) ?? {
      before,
      regrets: zeros(),
      sums: zeros(),
      baselines: zeros(),
      visits: zeros(),
    }
    this.#sets.set(key, set)
    return set
  }

  /** Returns the probabilities to draw an action with. */
  chancesOf(set: InformationSet, isLearning: boolean): number[] {
    const explored = isLearning ? EXPLORATION : 0
    return strategyOf(set).map((chance) => (1 - explored) * chance + explored / this.#actions)
  }

  /** Adds the present strategy to the average: once in each iteration, before anything is learned. */
  average(): void {
    for (const set of this.#sets.values()) {
      let reach = 1
      for (let move = set.before; move; move = move.set.before) reach *= strategyOf(move.set)[move.action] as number
      for (const [action, chance] of strategyOf(set).entries()) add(set.sums, action, reach * chance)
    }
  }

  /** Learns from the moves of one episode, in order, and what it earned in all. */
  learn(moves: readonly DrawnMove[], earned: number): void {
    const drawn = moves.map(({ action, drawnWith }) => drawnWith[action] as number)
    let value = earned
    for (let at = moves.length - 1; at >= 0; at--) {
      const { set, action: taken, drawnWith } = moves[at] as DrawnMove
      const { baselines, visits, regrets } = set
      const worth = baselines.map((base, action) =>
        action === taken ? base + (value - base) / (drawnWith[action] as number) : base,
      )
      const expected = strategyOf(set).reduce((sum, chance, action) => sum + chance * (worth[action] as number), 0)
      add(visits, taken, 1)
      const weight = Math.max(LEAST_WEIGHT, 1 / (visits[taken] as number))
      add(baselines, taken, weight * (value - (baselines[taken] as number)))
      const sampled = drawn.slice(0, at).reduce((product, chance) => product * chance, 1)
      for (const action of regrets.keys()) add(regrets, action, ((worth[action] as number) - expected) / sampled)
      value = expected
    }
  }

  /** Returns the average strategy, by the keys of the information sets. */
  averages(): Record<string, number[]> {
    return Object.fromEntries([...this.#sets].map(([key, { sums }]) => [key, normalized(sums)]))
  }
}

/** Regret matching: every action in proportion to its regret. */
function strategyOf({ regrets }: InformationSet): number[] {
  return normalized(regrets.map((regret) => Math.max(0, regret)))
}

/** Weights as probabilities; equal ones if there are no weights. */
function normalized(weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => (sum > 0 ? weight / sum : 1 / weights.length))
}

function add(numbers: number[], at: number, more: number): void {
  numbers[at] = (numbers[at] as number) + more
}
