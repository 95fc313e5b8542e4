import { plural } from '@episodic/report'
import { LongText } from '../parts/long-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { AnswerRows } from './answer-rows.tsx'
import type { EpisodeModel } from './episode-model.ts'
import { Row } from './message-view.tsx'

export function EndEntry({ model }: { readonly model: EpisodeModel }) {
  const { undecided, answers, result, ending, message } = model
  return (
    <article class="entry end">
      <div class="entry-side">
        <span class="step-number">end</span>
      </div>
      <div class="entry-rows">
        {undecided.length > 0 && (
          <Row label="" kind="fault">
            ▲ {plural(undecided.length, 'answer')} that led to no step
          </Row>
        )}
        {undecided.map((number) => {
          const answer = answers[number]
          return answer && <AnswerRows key={number} answer={answer} number={number} isLast={false} />
        })}
        <Row label="end" kind={result === 'failed' ? 'fault' : ''}>
          <ResultBadge result={result} ending={ending} />
          {message !== null && <LongText id="message:end" text={message} />}
        </Row>
      </div>
    </article>
  )
}
