import { formatCount } from '@episodic/report/text/format'
import type { SearchField, SearchHit } from '@episodic/report/view/search-hit'
import { formatShare } from '../../parts/amounts.ts'
import { code, plain } from '../../parts/plain-text.tsx'
import { shortTask } from '../../parts/short-task.ts'
import { episodeHref, formatRoute } from '../../route/route.ts'
import type { FoundInRun } from './found.ts'

/** What a reader calls the places in which a text may stand. */
export const FIELD_NAMES: { readonly [field in SearchField]: string } = {
  prompt: 'prompt',
  text: 'said',
  reasoning: 'reasoning',
  call: 'call',
  answer: "world's answer",
  failure: 'failure',
}

interface HitListProps {
  readonly found: FoundInRun
  readonly name: string
  onOpen(): void
}

export function HitList({ found: { run, hits, count, bytes, totalBytes, done }, name, onOpen }: HitListProps) {
  return (
    <section class="hits">
      <h2>
        <a href={formatRoute({ screen: 'run', run, tab: 'overview' })}>{plain(name)}</a>{' '}
        <span class="muted">
          {formatCount(count)} {count === 1 ? 'place' : 'places'}
          {count > hits.length && `, the first ${formatCount(hits.length)} shown`}
          {!done && ` · ${formatShare(bytes, totalBytes)} searched, counting goes on`}
        </span>
      </h2>
      <ol class="frame">
        {hits.map((hit, i) => (
          <Hit key={`${hit.row} ${hit.step} ${hit.field} ${i}`} hit={hit} onOpen={onOpen} />
        ))}
      </ol>
    </section>
  )
}

function Hit({ hit, onOpen }: { readonly hit: SearchHit; onOpen(): void }) {
  const { run, task, attempt, try: number, step, field, before, match, after } = hit
  const href = episodeHref(run, task, attempt, { try: number || null, step })
  return (
    <li>
      <a class="hit" href={href} onClick={onOpen} data-hit>
        <span class="hit-place muted">
          {code(shortTask(task))} {attempt}
          {number > 0 && `.${number}`}
          {step !== null && ` · step ${step + 1}`}
        </span>
        <span class="muted">{FIELD_NAMES[field]}</span>
        <span class="hit-text">
          {plain(before)}
          <mark>{plain(match)}</mark>
          {plain(after)}
        </span>
      </a>
    </li>
  )
}
