import { settingsOf } from '../check-context.ts'
import { leverWorld } from '../lever-world.fixture.ts'
import { turnsGame } from '../rewards/turns-game.fixture.ts'
import { rehearsedTarget } from './rehearsed-target.ts'
import { describeTarget } from './target-contract.fixture.ts'

const targetOf = (world: Parameters<typeof settingsOf>[0]) =>
  rehearsedTarget({ world, settings: settingsOf(world, '0'), seed: '0' }, 4)

describeTarget('of a world of one seat', () => targetOf(leverWorld()))
describeTarget('of a game', () =>
  targetOf({ environment: turnsGame({ last: 5, steps: 8, pays: (end) => end?.reason === 'counted' }) }),
)
