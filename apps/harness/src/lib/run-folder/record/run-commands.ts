import type { RunDetail } from '@episodic/report'
import { commandLine, shownPath } from '../../base/console.ts'

/** Returns the commands that go on with a run, to copy, by what they do. */
export function commandsFor(folder: string): RunDetail['commands'] {
  const path = shownPath(folder)
  return {
    report: commandLine(['report', path]),
    replay: commandLine(['replay', path]),
    view: commandLine(['view', path]),
  }
}
