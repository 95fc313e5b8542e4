import type { EpisodeRecord } from '@episodic/protocol'
import { exampleWorld } from './episodic.fixture.ts'

/**
 * The code of a policy that solves number-guessing, and is directed by files in the working folder:
 *
 * - It holds the episodes of some seeds after their first step until the file `open` exists, and writes its process for each to
 *   the file `held`. While the file `busy` exists, a process that holds one does nothing else.
 * - An episode whose seed is in the file `deadly` ends the process that plays it; `all` in it is every episode.
 */
export const HELD_SEEDS_POLICY = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { solver } from '${new URL(`file://${exampleWorld('number-guessing')}/src/index.ts`)}'
const deadly = existsSync('deadly') ? readFileSync('deadly', 'utf8') : null
export const policy = {
  name: 'gated',
  async start(context) {
    const player = await solver.start(context)
    let moves = 0
    return async (observation, view) => {
      if (deadly === 'all' || (moves === 1 && deadly === context.seed)) process.kill(process.pid, 'SIGKILL')
      if (moves === 1 && /[0-3]$/.test(context.seed)) {
        appendFileSync('held', process.pid + '\\n')
        while (existsSync('busy'));
        while (!existsSync('open')) {
          view.signal?.throwIfAborted()
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      }
      moves += 1
      return player(observation, view)
    }
  },
}
`

/** Whether the policy holds an episode. */
export const isHeldSeed = ({ policy }: EpisodeRecord) => /[0-3]$/.test(policy.seed)
