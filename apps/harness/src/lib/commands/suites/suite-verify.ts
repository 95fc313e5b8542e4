import { cleanText, plural } from '@episodic/report'
import { z } from 'zod'
import { type Console, colorsOf, say, shownPath } from '../../base/console.ts'
import { HarnessError } from '../../base/harness-error.ts'
import { flag, option } from '../../base/options.ts'
import { type Finding, type VerifiedSubmission, verifySubmission } from '../../suites/suite/verify-submission.ts'
import { defineCommand } from '../define-command.ts'

const verifyOptions = z.object({
  suite: option('<suite>', 'the suite (default: the one that the result names)'),
  json: flag('print the findings as JSON'),
})
type VerifyOptions = z.infer<typeof verifyOptions>

export const verifySuiteCommand = defineCommand('verify', verifyOptions, {
  description: 'check the result of a suite: measure, replay and compute every figure again',
  argument: ['<folder>', 'folder of the result, with its runs'],
  help: `
Checks that the result is of the suite that is here, with all its lines, and the
same versions of its worlds; that each exact figure is measured again; that each
played figure is of the suite's tasks, and follows from its sealed episodes; and
that the rules reproduce these episodes. The exit status is 1 if there is a
finding. It does not show who chose the actions.`,
  run: verify,
})

async function verify(folder: string, { suite, json }: VerifyOptions, console: Console): Promise<void> {
  const { out } = console
  const { result, findings } = await checkResult(folder, suite, console)
  const { name, version } = result.suite
  const lines = result.worlds.flatMap((world) => world.lines)
  if (json)
    out.write(`${JSON.stringify({ suite: result.suite, policy: result.policy, lines: lines.length, findings })}\n`)
  else if (findings.length === 0)
    out.write(`${colorsOf(out).green('holds')}  ${cleanText(`${name} ${version}`)}: ${plural(lines.length, 'line')}\n`)
  else out.write(findings.map((finding) => `${formatFinding(finding)}\n`).join(''))
  if (findings.length > 0)
    throw new HarnessError(
      'submission-invalid',
      `${shownPath(folder)} does not hold: ${plural(findings.length, 'finding')}.`,
    )
}

/** Verifies a result, with its progress on a terminal. */
export function checkResult(folder: string, suite: string | undefined, { err }: Console): Promise<VerifiedSubmission> {
  return verifySubmission(folder, {
    suite,
    onLine: (world, line) => void (err.isTTY && say(err, `${folder}: ${world} ${line}`)),
  })
}

export function formatFinding({ world, line, what }: Finding): string {
  return cleanText([world, line, what].filter((part) => part !== null).join(' '))
}
