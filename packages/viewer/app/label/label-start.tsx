import type { JudgeQuestion } from '@episodic/report/grades/judge-question'
import { useState } from 'preact/hooks'
import { plain } from '../parts/plain-text.tsx'
import { openRoute } from '../route/use-route.ts'
import { parseScale } from './label-scale.ts'

interface LabelStartProps {
  readonly run: string
  readonly grader: string
  readonly scale: string
  readonly rubric: string
  readonly judges: readonly JudgeQuestion[]
  readonly who: string
  readonly onWho: (who: string) => void
}

export function LabelStart({ run, grader, scale, rubric, judges, who, onWho }: LabelStartProps) {
  const [name, setName] = useState(who)
  const [question, setQuestion] = useState(grader)
  const [answers, setAnswers] = useState(scale)
  const [shown, setShown] = useState(rubric)
  const isComplete = name.trim() !== '' && question.trim() !== '' && parseScale(answers) !== null
  return (
    <form
      class="label-start card"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isComplete) return
        onWho(name.trim())
        openRoute({ screen: 'label', run, grader: question.trim(), scale: answers, rubric: shown.trim() })
      }}
    >
      <p>
        You judge one episode after another, in a random order that is the same for everybody. Rewards, how it ended and
        who played are hidden, also after a verdict, until you ask for them. Verdicts never change a reward: they are
        kept beside the run, in <code>grades.jsonl</code>.
      </p>
      <label>
        Your name
        <input value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} autocomplete="name" />
      </label>
      {judges.length > 0 && (
        <p>
          Ask what a judge was asked, with its rubric:{' '}
          {judges.map((judge, i) => (
            <button
              key={i}
              type="button"
              class="button"
              onClick={() => {
                setQuestion(judge.name)
                setAnswers(judge.scale)
                setShown(judge.rubric)
              }}
            >
              {plain(judge.name)}
            </button>
          ))}
        </p>
      )}
      <label>
        Name of the question
        <input
          value={question}
          placeholder="polite"
          onInput={({ currentTarget }) => setQuestion(currentTarget.value)}
          aria-describedby="label-question-help"
        />
        <small class="muted" id="label-question-help">
          Under the name of a grader, your verdicts are compared with its own.
        </small>
      </label>
      <label>
        Answers
        <input
          value={answers}
          onInput={({ currentTarget }) => setAnswers(currentTarget.value)}
          aria-describedby="label-answers-help"
          aria-invalid={parseScale(answers) === null}
        />
        <small class="muted" id="label-answers-help">
          <code>boolean</code> for yes or no, <code>score</code> for 0 to 1, or two to nine labels:{' '}
          <code>rude,neutral,polite</code>
        </small>
      </label>
      <label>
        Rubric
        <textarea
          rows={4}
          value={shown}
          onInput={({ currentTarget }) => setShown(currentTarget.value)}
          aria-describedby="label-rubric-help"
        />
        <small class="muted" id="label-rubric-help">
          What to judge, and by what: shown above each episode, and a part of the link.
        </small>
      </label>
      <button type="submit" class="button primary" disabled={!isComplete}>
        Begin
      </button>
    </form>
  )
}
