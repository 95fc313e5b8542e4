import { environment } from '@episodic/classics/frozen-lake'
import { oneHot, type World } from './world.ts'

const DIRECTIONS = ['left', 'down', 'right', 'up'] as const

/** Slippery ice, 4 by 4. The input has a number for each tile. */
export const frozenLake: World = {
  environment,
  params: { map: '4x4', slippery: true },
  inputs: 16,
  actions: DIRECTIONS.map((direction) => ({ tool: 'move', arguments: { direction } })),
  encode: ({ structured }) => oneHot(16, Number(structured?.position)),
  isSuccess: (reason) => reason === 'goal',
}
