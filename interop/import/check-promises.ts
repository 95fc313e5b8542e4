import type { Check } from '../check-parts.ts'
import type { ImportedRun } from './play-run.ts'

/** Checks what a run on any server of another system says: what is not promised, in the terminal and on the page. */
export function checkPromises({ printed, report, replayed, episodes }: ImportedRun, check: Check): void {
  const noReplay = 'Its episodes cannot be replayed'
  check('the terminal says that there is no replay', printed.includes(noReplay), true)
  check('the report says that there is no replay', report.includes(noReplay), true)
  check('a replay fails', replayed.status === 0, false)
  check('a replay says why', replayed.error.includes('a server of another system'), true)
  const hashes = episodes.flatMap(({ steps }) => steps.flatMap(({ stateHash }) => stateHash ?? []))
  check('no step has a hash', hashes, [])
}
