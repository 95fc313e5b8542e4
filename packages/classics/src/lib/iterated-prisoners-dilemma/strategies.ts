import type { JsonObject } from '@episodic/protocol'
import type { Strategy } from '../classic.ts'

type Move = 'C' | 'D'

/** What a strategy goes by: the moves of both sides so far. */
type Plan = (mine: string, theirs: string) => Move

const plans = {
  cooperate: () => 'C',
  defect: () => 'D',
  /** Cooperates first, then repeats the other's last move. */
  'tit-for-tat': (_, theirs) => (theirs.endsWith('D') ? 'D' : 'C'),
  /** Cooperates until the other has defected once. */
  grim: (_, theirs) => (theirs.includes('D') ? 'D' : 'C'),
  /** Cooperates and defects in turn. */
  alternate: (mine) => (mine.length % 2 === 0 ? 'C' : 'D'),
  /** Cooperates first; then repeats its own move while the other cooperates, and changes it when not. */
  'win-stay-lose-shift': (mine, theirs) => (theirs.endsWith('D') === mine.endsWith('D') ? 'C' : 'D'),
} satisfies { readonly [name: string]: Plan }

export const strategies: { readonly [Name in keyof typeof plans]: Strategy } & { readonly [name: string]: Strategy } =
  Object.fromEntries(
    Object.entries(plans as { readonly [name: string]: Plan }).map(([name, plan]) => [name, strategyOf(plan)]),
  ) as { readonly [Name in keyof typeof plans]: Strategy }

function strategyOf(plan: Plan): Strategy {
  return ({ seat, row, column }: JsonObject) => {
    const [mine, theirs] = seat === 'row' ? [row, column] : [column, row]
    const move = plan(String(mine), String(theirs)) === 'C' ? 'cooperate' : 'defect'
    return { tool: 'choose', arguments: { move } }
  }
}
