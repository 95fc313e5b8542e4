import { environment } from '@episodic/classics/kuhn-poker'
import { oneHot, type World } from './world.ts'

const CARDS = ['J', 'Q', 'K']
/** The moves before a seat acts. They also say which seat it is, so one network plays both. */
const MOVES = ['', 'p', 'b', 'pb']

/** Kuhn poker. The input has 3 numbers for the own card and 4 for the moves so far. */
export const kuhnPoker: World = {
  environment,
  params: {},
  inputs: 7,
  actions: ['pass', 'bet'].map((move) => ({ tool: 'act', arguments: { move } })),
  encode({ structured }) {
    const { own, moves } = structured as { own: { card: string }; moves: string }
    return oneHot(7, CARDS.indexOf(own.card), 3 + MOVES.indexOf(moves))
  },
  isSuccess: () => false,
}
