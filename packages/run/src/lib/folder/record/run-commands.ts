import type { RunDetail } from '@episodic/report/view/run-entry'
import { commandLine, shownPath } from '../../base/console.ts'

export function commandsFor(folder: string): RunDetail['commands'] {
  const path = shownPath(folder)
  return {
    report: commandLine(['report', path]),
    replay: commandLine(['replay', path]),
    view: commandLine(['view', path]),
  }
}
