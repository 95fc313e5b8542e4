import { plural } from '@episodic/report/text/format'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { useCallback, useRef } from 'preact/hooks'
import { LongText } from '../parts/long-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { VirtualList } from '../parts/virtual/virtual-list.tsx'
import { AnswerRows } from './answer-rows.tsx'
import type { EpisodeModel } from './episode-model.ts'
import { Row } from './message-view.tsx'
import { OpeningEntry } from './opening-entry.tsx'
import { StepEntry } from './step-entry.tsx'

interface TranscriptTabProps {
  readonly model: EpisodeModel
  readonly states: EpisodeStates | null
  readonly step: number | null
  /** The entry to scroll to: 0 is the start, and step 1 follows. */
  readonly shown: { readonly index: number } | null
  readonly onStep: (step: number) => void
}

export function TranscriptTab({ model, states, step, shown, onStep }: TranscriptTabProps) {
  const count = model.shown.steps.length + 2
  const choose = useRef(onStep)
  choose.current = onStep
  const render = useCallback(
    (entry: number) => {
      if (entry === 0) return <OpeningEntry model={model} />
      if (entry === count - 1) return <EndEntry model={model} />
      const index = entry - 1
      return (
        <StepEntry
          model={model}
          index={index}
          states={states}
          isChosen={index === step}
          onChoose={() => choose.current(index)}
        />
      )
    },
    [model, states, step, count],
  )
  return (
    <div class="transcript frame block">
      <VirtualList
        count={count}
        estimate={model.answers.length > 0 ? 240 : 120}
        label="Transcript"
        shown={shown}
        render={render}
      />
    </div>
  )
}

function EndEntry({ model }: { readonly model: EpisodeModel }) {
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
          return answer && <AnswerRows key={number} answer={answer} number={number} isLast={false} words={null} />
        })}
        <Row label="end" kind={result === 'failed' ? 'fault' : ''}>
          <ResultBadge result={result} ending={ending} />
          {message !== null && <LongText id="message:end" text={message} />}
        </Row>
      </div>
    </article>
  )
}
