import { writtenDecision } from '@episodic/analysis/gate/decision'
import type { GateResult } from '@episodic/analysis/gate/gate-runs'
import { cleanText, plural } from '@episodic/report/text/format'
import { titleOf } from './format-gate.ts'

/** GitHub shows so many of each kind in a step. */
const MOST = 10

interface Annotation {
  readonly kind: 'error' | 'warning'
  readonly title: string
  readonly message: string
}

/**
 * Writes what did not pass as annotations of GitHub Actions, each a line: errors, and warnings for what is undecided
 * and may be. Of more than ten of a kind, the tenth says how many more there are.
 */
export function formatAnnotations(
  { runs }: GateResult,
  { undecided }: { readonly undecided: 'pass' | 'fail' },
): string {
  const found = runs.flatMap((run): Annotation[] => {
    const title = titleOf(run)
    return [
      ...(run.problem === null ? [] : [{ kind: 'error', title, message: `Not decided: ${run.problem}` } as const]),
      ...run.decisions.flatMap((decision): Annotation[] => {
        const { sentence, verdict, notes } = writtenDecision(decision)
        if (verdict === 'met') return []
        const kind = verdict === 'undecided' && undecided === 'pass' ? 'warning' : 'error'
        return [{ kind, title, message: [sentence, ...notes].join(' ') }]
      }),
    ]
  })
  return (['error', 'warning'] as const)
    .flatMap((kind) => atMost(found.filter((annotation) => annotation.kind === kind)))
    .map(
      ({ kind, title, message }) =>
        `::${kind} title=${escapeMessage(title).replaceAll(':', '%3A').replaceAll(',', '%2C')}::${escapeMessage(message)}\n`,
    )
    .join('')
}

function atMost(annotations: readonly Annotation[]): Annotation[] {
  if (annotations.length <= MOST) return [...annotations]
  const shown = annotations.slice(0, MOST - 1)
  const [{ kind } = { kind: 'error' as const }] = annotations
  const message = `${plural(annotations.length - shown.length, 'more condition')} did not pass: see the summary.`
  return [...shown, { kind, title: 'episodic gate', message }]
}

function escapeMessage(text: string): string {
  return cleanText(text).replaceAll('%', '%25')
}
