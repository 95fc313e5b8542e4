import { blackjack } from './blackjack/classic.ts'
import { cartPole } from './cart-pole/classic.ts'
import type { Classic } from './classic.ts'
import { cliffWalking } from './cliff-walking/classic.ts'
import { fiveLetters } from './five-letters/classic.ts'
import { frozenLake } from './frozen-lake/classic.ts'
import { mountainCar } from './mountain-car/classic.ts'
import { sokoban } from './sokoban/classic.ts'
import { taxi } from './taxi/classic.ts'

/** Every world of this package, in the order of their names. */
export const classics: readonly Classic[] = [
  blackjack,
  cartPole,
  cliffWalking,
  fiveLetters,
  frozenLake,
  mountainCar,
  sokoban,
  taxi,
]
