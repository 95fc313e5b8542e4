import type { Check } from '../check-parts.ts'
import { checkPromises } from './check-promises.ts'
import type { ImportedRun } from './play-run.ts'

/** Checks a run of OpenEnv's echo environment, which gives no reward and never ends. */
export function checkEcho(run: ImportedRun, check: Check): void {
  checkPromises(run, check)
  check('episodes', run.episodes.length, 8)
  check('the terminal says that there is no reward', run.printed.includes('no reward for any step'), true)
  check('the report says that there is no reward', run.report.includes('no reward for any step'), true)
  for (const { task, steps, outcome } of run.episodes) {
    const here = (what: string) => `task ${task.id}, ${what}`
    check(here('what is echoed'), steps[0]?.observation, { text: 'Hello.', structured: { result: 'Hello.' } })
    check(here('its length'), steps[1]?.observation.structured, { message: 'four', length: 4 })
    const refused = steps.map((step) => step.refused)
    check(here('what is refused'), refused, [null, null, 'arguments', 'tool'])
    const rewards = steps.map(({ reward }) => reward.terms)
    check(here('rewards'), rewards, [{}, {}, {}, {}])
    check(here('the end'), outcome, { kind: 'finished', end: { kind: 'truncated', reason: 'step-limit' } })
  }
}
