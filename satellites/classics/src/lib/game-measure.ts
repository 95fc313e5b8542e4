import { rehearse } from '@episodic/mcp-server'
import { canonicalJson, type JsonObject } from '@episodic/protocol'
import { type Strategy, strategyOf } from './classic.ts'
import type { ClassicGame } from './classic-game.ts'
import type { GameReference, NamedProfile } from './game-reference.ts'
import { countPositions } from './solve/count-positions.ts'
import { type GameTree, type Profile, treeOf } from './solved-policy.ts'

/** Measures a reference of a game. Throws a `RangeError` for a strategy that the game has not. */
export function measureGame(game: ClassicGame, { params, how }: GameReference): number | number[] {
  const { environment } = game
  const tree = () => treeOf(environment, params)
  switch (how.kind) {
    case 'information-sets':
      return environment.seats.map((seat) => tree().decisions.filter((decision) => decision.seat === seat).length)
    case 'ends':
      return tree().ends
    case 'game-value':
      return tree().value(profileOf(game, tree(), how.profile))[environment.seats[0] as string] as number
    case 'nash-conv':
      return tree().nashConv(profileOf(game, tree(), how.profile))
    case 'positions':
      return [...countPositions(environment, { params, plies: how.plies }).positions]
    case 'symmetric-positions':
      return [...countPositions(environment, { params, plies: how.plies, keyOf: symmetryOf(game) }).positions]
    case 'courses':
      return [...countPositions(environment, { params, plies: how.plies }).courses]
    case 'ending-courses':
      return byWinner(tree(), tree().uniform, ({ courses }) => courses)
    case 'ending-chances':
      return byWinner(tree(), profileOf(game, tree(), how.profile), ({ probability }) => probability)
    case 'match':
      return playMatch(game, params, how.strategies)
  }
}

function profileOf(game: ClassicGame, tree: GameTree, named: NamedProfile): Profile {
  if (named === 'uniform') return tree.uniform
  if (named === 'backward-induction') return tree.backwardInduction()
  if ('solver' in named) return tree[named.solver](named.iterations)
  if ('strategy' in named) return alwaysPlaying(strategyOf(game, named.strategy))
  const profiles = new Map(Object.entries(named.seats).map(([seat, of]) => [seat, profileOf(game, tree, of)]))
  return (decision) => (profiles.get(decision.seat) ?? tree.uniform)(decision)
}

function alwaysPlaying(strategy: Strategy): Profile {
  return ({ observation, actions }) => {
    const chosen = canonicalJson({ ...strategy(observation.structured ?? {}, 0) })
    return actions.map((action) => (canonicalJson({ ...action }) === chosen ? 1 : 0))
  }
}

/** Adds up endings by who has earned more: the first of two seats, the second, or neither. */
function byWinner(
  tree: GameTree,
  profile: Profile,
  weightOf: (ending: ReturnType<GameTree['endings']>[number]) => number,
): number[] {
  const sums = [0, 0, 0]
  for (const ending of tree.endings(profile)) {
    const [first = 0, second = 0] = ending.returns
    const winner = first > second ? 0 : first < second ? 1 : 2
    sums[winner] = (sums[winner] as number) + weightOf(ending)
  }
  return sums
}

function playMatch(game: ClassicGame, params: JsonObject, named: { readonly [seat: string]: string }): number[] {
  const { seats } = game.environment
  const strategies = seats.map((seat) => strategyOf(game, named[seat] ?? ''))
  const rehearsal = rehearse(game.environment, { params })
  const earned = seats.map(() => 0)
  for (let steps = 0; !rehearsal.end; steps++) {
    const [seat] = rehearsal.turn as [string]
    const strategy = strategies[seats.indexOf(seat)] as Strategy
    const { tool, arguments: args } = strategy(rehearsal.observe(seat).structured ?? {}, steps)
    const played = rehearsal.play(tool, args, { seat })
    for (const [at, name] of seats.entries()) {
      const terms = name === seat ? played.terms : (played.seats?.terms?.[name] ?? {})
      earned[at] = Object.values(terms).reduce((sum, term) => sum + term, earned[at] as number)
    }
  }
  return earned
}

function symmetryOf({ environment, symmetric }: ClassicGame) {
  if (!symmetric) throw new RangeError(`${environment.name} lists no symmetries.`)
  return (state: { readonly public: JsonObject }) => symmetric(state.public)
}
