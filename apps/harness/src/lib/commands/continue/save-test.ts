import type { ContinueRequest } from '@episodic/continue/run/continue-run'
import type { Parent } from '@episodic/continue/run/parent'
import { type SavedTest, writeSavedTest } from '@episodic/continue/saved/write-saved-test'
import { type Console, shownPath } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import type { ContinueOptions } from './continue-options.ts'

/** Keeps the step of an episode as a test, and plays nothing. */
export async function saveTest(
  parent: Parent,
  { points, changes }: Pick<ContinueRequest, 'points' | 'changes'>,
  { save = '', holds, policy, system, seat }: ContinueOptions,
  { out }: Pick<Console, 'out'>,
): Promise<void> {
  const [point, ...more] = points
  if (!point || more.length > 0) throw invalidOption(`--save takes one episode, and ${points.length} match.`)
  if (seat) throw invalidOption('A test plays one seat. Leave --seat out.')
  const given = { file: save, parent, point, changes, holds: holdsOf(holds), policy, systemPrompt: system }
  const { test, fixture } = await writeSavedTest(given)
  out.write(
    `Saved ${shownPath(test)}, with what came before in ${shownPath(fixture)}.\nrun it: npx vitest run ${shownPath(test)}\n`,
  )
}

function holdsOf(text: string): SavedTest['holds'] {
  if (text === 'success') return undefined
  const [, grader, term, least] = /^(?:grader:(.+)|(.+)=(-?\d+(?:\.\d+)?))$/.exec(text) ?? []
  if (grader !== undefined) return { grader }
  if (term === undefined) throw invalidOption('--holds takes success, grader:<name>, return=<least> or <term>=<least>.')
  return { earns: Number(least), ...(term !== 'return' && { term }) }
}
