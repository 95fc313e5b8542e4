import { exampleWorld } from './episodic.fixture.ts'

/**
 * The code of a policy that solves number-guessing. It plays some episodes at once; the others it holds after their first
 * step until the file `open` exists in the working folder, and writes a dot for each to the file `held`.
 */
export function gatedPolicy(playedAtOnce: number): string {
  return `
import { appendFileSync, existsSync } from 'node:fs'
import { solver } from '${new URL(`file://${exampleWorld('number-guessing')}/src/index.ts`)}'
let begun = 0
export const policy = {
  name: 'gated',
  async start(context) {
    const player = await solver.start(context)
    begun += 1
    if (begun <= ${playedAtOnce}) return player
    let moves = 0
    return async (observation, view) => {
      if (moves === 1) appendFileSync('held', '.')
      while (moves === 1 && !existsSync('open')) {
        view.signal?.throwIfAborted()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      moves += 1
      return player(observation, view)
    }
  },
}
`
}
