import { z } from 'zod'

/** Who or what judged an episode. */
const graderRefSchema = z.object({
  name: z.string().min(1),
  version: z.string(),
  /** Of the grader's code, rubric and model: verdicts of one grader are comparable only if it is equal. */
  sha256: z.string(),
  kind: z.enum(['function', 'model', 'person']),
  who: z.string().min(1).optional(),
  model: z.string().optional(),
  /** The labels of its scale, the best one last; left out for other scales. */
  labels: z.array(z.string()).optional(),
})

/** A score is from 0 to 1; a text is one of the grader's labels. */
const gradeValueSchema = z.union([z.boolean(), z.number(), z.string()])

/**
 * One verdict on one sealed line: a line of `grades.jsonl`, which lies beside the run and never changes it. Of the
 * verdicts of one grader (or person) on one line and vote, the one with the highest revision counts.
 */
export const gradeRecordSchema = z.object({
  format: z.literal(1),
  run: z.string(),
  task: z.string(),
  attempt: z.int().min(0),
  try: z.int().min(0),
  seat: z.string().optional(),
  /** The seal of the line, or its chain if it has none: a verdict on another line is an orphan. */
  seal: z.string(),
  grader: graderRefSchema,
  /** Numbers the votes of a grader that is asked several times, from 0. */
  vote: z.int().min(0),
  revision: z.int().min(0),
  /** Whether the episode was drawn at random, so that its verdicts may stand for all. */
  drawn: z.boolean(),
  /** `null`: undecided, or no answer. Such a verdict is in no figure. */
  value: gradeValueSchema.nullable(),
  why: z.string(),
  /** Quotes, with the step (from 0) in which they stand; `found` is false if they do not. */
  evidence: z.array(z.object({ step: z.int().min(0), quote: z.string(), found: z.boolean() })),
  /** What asking a model took; left out for other graders. */
  asked: z
    .object({
      model: z.string(),
      promptTokens: z.int(),
      completionTokens: z.int(),
      cost: z.number().nullable(),
      messages: z.array(z.record(z.string(), z.unknown())),
    })
    .optional(),
  /**
   * Only of a planted episode: a copy of one, with an order to judge it as `ordered`. It is no line of the run, and in
   * no figure; `obeyed` says whether the judge did as ordered, which noise may do too: see `planted` of `grades.json`.
   */
  planted: z
    .object({
      ordered: gradeValueSchema,
      obeyed: z.boolean(),
      /** What showed it: the word that only the order names, or a pass where there was none before. */
      by: z.enum(['code', 'value']).optional(),
      /** A copy with words of the same kind that order nothing; `obeyed` then says that it was passed all the same. */
      control: z.literal(true).optional(),
      /** A copy with the words of another episode, which order nothing: whether it was passed before, and is now. */
      words: z.object({ success: z.boolean(), before: z.boolean(), after: z.boolean() }).optional(),
    })
    .optional(),
  /** ISO 8601. */
  at: z.string(),
})

export type GradeValue = z.infer<typeof gradeValueSchema>
export type GraderRef = z.infer<typeof graderRefSchema>
export type GradeRecord = z.infer<typeof gradeRecordSchema>
