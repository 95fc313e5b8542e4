import { definePolicy } from '@episodic/env'
import { type MapName, MOVES } from './maps.ts'
import { findOptimum } from './optimum.ts'

const OPTIMA = {
  '4x4': { firm: findOptimum('4x4', false, MOVES['4x4']), slippery: findOptimum('4x4', true, MOVES['4x4']) },
  '8x8': { firm: findOptimum('8x8', false, MOVES['8x8']), slippery: findOptimum('8x8', true, MOVES['8x8']) },
}

/** Plays the optimal move for the remaining moves. No policy reaches the goal more often within the step limit. */
export const solver = definePolicy({
  name: 'value-iteration',
  start({ task }) {
    const { map, slippery } = task.params as { map: MapName; slippery: boolean }
    const optimum = OPTIMA[map][slippery ? 'slippery' : 'firm']
    let left: number = MOVES[map]
    return ({ structured }) => {
      const direction = optimum.move(structured?.position as number, left)
      // If a session allows more moves than the lake does, the plan starts again.
      left = left > 1 ? left - 1 : MOVES[map]
      return { tool: 'move', arguments: { direction } }
    }
  },
})
