import { formatCount } from '@episodic/report/text/format'
import { useMemo, useState } from 'preact/hooks'
import { countMatches } from '../parts/matches.ts'
import type { EpisodeModel } from './episode-model.ts'
import type { AnsweredRequest } from './requests.ts'

interface FindBarProps {
  readonly model: EpisodeModel
  readonly find: string
  readonly onFind: (find: string) => void
  readonly onEntry: (entry: number) => void
}

/** Finds a text in all entries of a transcript: those that are not rendered too, which the browser does not find. */
export function FindBar({ model, find, onFind, onEntry }: FindBarProps) {
  const [at, setAt] = useState(-1)
  const texts = useMemo(
    () => (find ? Array.from({ length: model.shown.steps.length + 2 }, (_, entry) => textsOfEntry(model, entry)) : []),
    [model, find !== ''],
  )
  const found = useMemo(() => {
    const counts = texts.map((some) => countMatches(some, find))
    return {
      entries: [...counts.keys()].filter((entry) => (counts[entry] ?? 0) > 0),
      count: counts.reduce((a, b) => a + b, 0),
    }
  }, [texts, find])
  const move = (by: number) => {
    const { entries } = found
    if (entries.length === 0) return
    const next = at < 0 ? (by > 0 ? 0 : entries.length - 1) : (at + by + entries.length) % entries.length
    setAt(next)
    onEntry(entries[next] as number)
  }
  return (
    <search class="find-bar flow mid tight">
      <input
        id="find-in-episode"
        type="search"
        placeholder="Find in the episode"
        aria-label="Find in the episode"
        autocomplete="off"
        spellcheck={false}
        value={find}
        onInput={({ currentTarget }) => {
          setAt(-1)
          onFind(currentTarget.value)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          move(event.shiftKey ? -1 : 1)
        }}
      />
      {find !== '' && (
        <>
          <span class="muted" role="status">
            {found.count === 0
              ? 'not found'
              : `${formatCount(found.count)} in ${formatCount(found.entries.length)} entries`}
          </span>
          <button type="button" class="button icon" aria-label="Previous match" onClick={() => move(-1)}>
            ↑
          </button>
          <button type="button" class="button icon" aria-label="Next match" onClick={() => move(1)}>
            ↓
          </button>
        </>
      )}
    </search>
  )
}

/** The texts of an entry of the transcript, in which a reader searches. Nothing that is private is among them. */
function textsOfEntry(model: EpisodeModel, entry: number): string[] {
  const { shown, answers } = model
  if (entry === 0) return openingTexts(model)
  const step = shown.steps[entry - 1]
  if (!step) return [model.message ?? '', ...model.undecided.flatMap((number) => answerTexts(answers[number]))]
  const { action, observation, events = [] } = step
  return [
    ...(model.answersOfStep[entry - 1] ?? []).flatMap((number) => answerTexts(answers[number])),
    ...events.map(({ type, data, said, sent }) => `${type} ${said ?? ''} ${JSON.stringify([data, sent])}`),
    `${action.tool} ${JSON.stringify(action.arguments)}`,
    observation.text,
    observation.structured ? JSON.stringify(observation.structured) : '',
  ]
}

function openingTexts({ record, shown, answers }: EpisodeModel): string[] {
  const said = answers[0]?.added ?? []
  const texts = said.map(({ message }) =>
    typeof message.content === 'string' ? message.content : JSON.stringify(message),
  )
  return [record.task.prompt, shown.start?.observation.text ?? '', ...texts]
}

function answerTexts(answer: AnsweredRequest | undefined): string[] {
  if (!answer) return []
  const { text, reasoning, calls = [] } = answer.completion
  const others = calls.filter(({ played }) => !played).map(({ name, arguments: args }) => `${name} ${args}`)
  return [reasoning ?? '', text ?? '', ...others]
}
