import type { GradeRecord } from './grade-record.ts'

/** In the first message to a judge, its rubric is between these two. */
export const BEFORE_RUBRIC =
  'You judge one episode: what an agent did in an environment by calling its tools. Judge it by this rubric alone:\n\n'
export const AFTER_RUBRIC = '\n\nGive your verdict by calling '

export interface JudgeQuestion {
  readonly name: string
  readonly scale: string
  readonly rubric: string
}

/** Returns the questions that judges have answered, by the messages that they got: each once, in order. */
export function findJudgeQuestions(grades: readonly GradeRecord[]): readonly JudgeQuestion[] {
  const questions = new Map<string, JudgeQuestion>()
  for (const { grader, vote, value, asked } of grades) {
    // Further votes have the list of the rubric in another order.
    if (grader.kind !== 'model' || vote !== 0 || value === null) continue
    const content = asked?.messages[0]?.content
    if (typeof content !== 'string' || !content.startsWith(BEFORE_RUBRIC)) continue
    const end = content.lastIndexOf(AFTER_RUBRIC)
    if (end < 0) continue
    const rubric = content.slice(BEFORE_RUBRIC.length, end)
    const scale = grader.labels?.join(',') ?? (typeof value === 'boolean' ? 'boolean' : 'score')
    questions.set(`${grader.name}\n${scale}\n${rubric}`, { name: grader.name, scale, rubric })
  }
  return [...questions.values()]
}
