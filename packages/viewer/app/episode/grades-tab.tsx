import type { GradeRecord } from '@episodic/report/grades/grade-record'
import { formatCost, formatNumber, plural } from '@episodic/report/text/format'
import { formatTokens } from '../parts/amounts.ts'
import { EmptyNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'

interface GradesTabProps {
  readonly grades: readonly GradeRecord[]
  readonly onStep: (step: number) => void
}

export function GradesTab({ grades, onStep }: GradesTabProps) {
  if (grades.length === 0)
    return (
      <EmptyNote title="Nobody has graded this episode.">
        <p class="muted">
          <code>episodic grade &lt;run&gt; --grader &lt;name&gt;</code>
        </p>
      </EmptyNote>
    )
  return (
    <ul class="grades">
      {grades.map(({ grader, vote, revision, value, why, evidence, asked, at, drawn, seat }) => (
        <li key={`${grader.name}/${grader.sha256}/${grader.who}/${vote}/${seat}`} class="card">
          <h2>
            {plain(grader.name)} <GradeValue value={value} />
          </h2>
          <p class="muted flow small">
            <span>
              {grader.kind}
              {grader.who !== undefined && <>: {plain(grader.who)}</>}
            </span>
            <span>version {plain(grader.version)}</span>
            {seat !== undefined && <span>seat {plain(seat)}</span>}
            {vote > 0 && <span>vote {vote + 1}</span>}
            {revision > 0 && <span>{plural(revision, 'revision')}</span>}
            {drawn && <span>drawn at random</span>}
            {asked && (
              <span>
                {plain(asked.model)}, {formatTokens(asked.promptTokens + asked.completionTokens)} tokens, cost{' '}
                {formatCost(asked.cost)}
              </span>
            )}
            <time dateTime={at}>{new Date(at).toLocaleString()}</time>
          </p>
          {why !== '' && <p class="text wrap">{plain(why)}</p>}
          {evidence.length > 0 && (
            <ul class="block">
              {evidence.map(({ step, quote, found }, i) => (
                <li key={i}>
                  <button type="button" class="bare text-more" onClick={() => onStep(step)}>
                    step {step + 1}
                  </button>{' '}
                  <q>{plain(quote)}</q>
                  {!found && <span class="loss"> ✗ does not stand in the step</span>}
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  )
}

function GradeValue({ value }: { readonly value: GradeRecord['value'] }) {
  if (value === null) return <span class="muted">undecided</span>
  if (typeof value === 'boolean') return value ? <span class="gain">✓ yes</span> : <span class="loss">✗ no</span>
  return plain(typeof value === 'number' ? formatNumber(value) : value)
}
