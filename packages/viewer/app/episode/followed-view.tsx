import { formatCount, formatDuration, plural } from '@episodic/report/text/format'
import type { FollowedEpisode } from '@episodic/report/view/run-entry'
import { formatTokens } from '../parts/amounts.ts'
import { FoldsContext, useFolds } from '../parts/folds.tsx'
import { LongText } from '../parts/long-text.tsx'
import { plain } from '../parts/plain-text.tsx'
import { Call, Row } from './message-view.tsx'

export function FollowedView({ episode: { shown, events, dropped } }: { readonly episode: FollowedEpisode }) {
  const folds = useFolds()
  const { task, attempt, steps, tokens, since } = shown
  return (
    <FoldsContext.Provider value={folds}>
      <h1>
        {plain(task.slice(0, 12))} · attempt {attempt}
      </h1>
      <p class="muted" role="status">
        Being played: {plural(steps, 'step')}, {formatTokens(tokens)} tokens, for {formatDuration(since)}. Nothing of it
        is sealed yet.
      </p>
      {events === null && (
        <p class="muted">
          The process that plays has not written its steps yet. It writes them within two seconds where it plays itself;
          those of --processes and --queue are shown once they are sealed.
        </p>
      )}
      {dropped > 0 && <p class="muted">{formatCount(dropped)} events before these are not shown.</p>}
      <article class="entry card">
        <div class="entry-side" />
        <div class="entry-rows">
          {events?.map((event, i) => {
            const number = dropped + i
            return event.kind === 'call' ? (
              <Row key={number} label="call" kind="played">
                <Call name={event.text} args={event.arguments ?? ''} />
              </Row>
            ) : (
              <Row key={number} label="world">
                <LongText id={`followed:${number}`} text={event.text} />
              </Row>
            )
          })}
        </div>
      </article>
    </FoldsContext.Provider>
  )
}
