import type { EpisodeModel } from './episode-model.ts'
import type { AnsweredRequest } from './requests.ts'

/** The texts of an entry of the transcript, in which a reader searches. Nothing that is private is among them. */
export function textsOfEntry(model: EpisodeModel, entry: number): string[] {
  const { shown, answers } = model
  if (entry === 0) return openingTexts(model)
  const step = shown.steps[entry - 1]
  if (!step) return [model.message ?? '', ...model.undecided.flatMap((number) => answerTexts(answers[number]))]
  const { action, observation, events = [] } = step
  return [
    ...(model.answersOfStep[entry - 1] ?? []).flatMap((number) => answerTexts(answers[number])),
    ...events.map(({ type, data, said }) => `${type} ${said ?? ''} ${JSON.stringify(data)}`),
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
