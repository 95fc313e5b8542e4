import type { RunDetail } from '@episodic/report'
import { shownPath } from '../../base/console.ts'

/** Returns the commands that go on with a run, to copy, by what they do. */
export function commandsFor(folder: string): RunDetail['commands'] {
  const path = shownPath(folder)
  const name = /^[\w./:=@,+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
  return {
    report: `episodic report ${name}`,
    replay: `episodic replay ${name}`,
    view: `episodic view ${name}`,
  }
}
