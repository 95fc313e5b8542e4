import type { Classic } from './classic.ts'
import { blackjack } from './environments/blackjack.ts'
import { cartPole } from './environments/cart-pole.ts'
import { cliffWalking } from './environments/cliff-walking.ts'
import { fiveLetters } from './environments/five-letters.ts'
import { frozenLake } from './environments/frozen-lake.ts'
import { mountainCar } from './environments/mountain-car.ts'
import { numberGuessing } from './environments/number-guessing.ts'
import { sokoban } from './environments/sokoban.ts'
import { taxi } from './environments/taxi.ts'

/** Every world of this package, in the order of their names. */
export const classics: readonly Classic[] = [
  blackjack,
  cartPole,
  cliffWalking,
  fiveLetters,
  frozenLake,
  mountainCar,
  numberGuessing,
  sokoban,
  taxi,
]
