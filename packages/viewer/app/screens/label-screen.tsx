import { findJudgeQuestions } from '@episodic/report/grades/judge-question'
import { useMemo, useState } from 'preact/hooks'
import { DownloadVerdicts } from '../label/download-verdicts.tsx'
import { parseScale } from '../label/label-scale.ts'
import { LabelStart } from '../label/label-start.tsx'
import { LabelView } from '../label/label-view.tsx'
import { keepWord, keptWord } from '../parts/kept-word.ts'
import { EmptyNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import type { Route } from '../route/route.ts'
import { useLoaded, useSource } from '../source/use-source.ts'

type LabelRoute = Route & { readonly screen: 'label' }

/** Where the name of the person is kept, in this browser. */
const WHO = 'episodic.label.who'

export function LabelScreen({ route: { run, grader, scale, rubric = '' } }: { readonly route: LabelRoute }) {
  const { can } = useSource()
  const [who, setWho] = useState(() => keptWord(WHO) ?? '')
  const question = useMemo(() => {
    const parsed = parseScale(scale)
    return grader !== '' && parsed ? { name: grader, version: '1', scale: parsed } : null
  }, [grader, scale])
  const asksQuestion = can.grade && !(question && who !== '')
  const judges = useLoaded(
    async (source) => {
      const runs = asksQuestion ? run.split(',') : []
      return findJudgeQuestions((await Promise.all(runs.map((id) => source.grades(id)))).flat())
    },
    [run, asksQuestion],
  )
  if (!can.grade)
    return (
      <>
        <h1>Label</h1>
        <EmptyNote title="Verdicts cannot be kept here.">
          <p>Open the run with `episodic view`, without --read-only.</p>
        </EmptyNote>
      </>
    )
  return (
    <>
      <h1>Label {question && <small>{plain(question.name)}</small>}</h1>
      {run.split(',').map((id) => (
        <DownloadVerdicts key={id} run={id} />
      ))}
      {question && who !== '' ? (
        <>
          {rubric && <p class="wrap small">{plain(rubric)}</p>}
          <LabelView run={run} question={question} who={who} />
        </>
      ) : (
        <LabelStart
          run={run}
          grader={grader}
          scale={scale}
          rubric={rubric}
          judges={judges.value ?? []}
          who={who}
          onWho={(name) => {
            keepWord(WHO, name)
            setWho(name)
          }}
        />
      )}
    </>
  )
}
