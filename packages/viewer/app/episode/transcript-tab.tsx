import type { EpisodeStates } from '@episodic/report'
import { useCallback, useRef } from 'preact/hooks'
import { VirtualList } from '../parts/virtual/virtual-list.tsx'
import { EndEntry } from './end-entry.tsx'
import type { EpisodeModel } from './episode-model.ts'
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
