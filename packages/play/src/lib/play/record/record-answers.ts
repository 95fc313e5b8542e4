import type { ModelAnswer } from '@episodic/env'
import type { Completion, JsonObject, RecordedStep, Transcript } from '@episodic/protocol'
import { completionSchema, formatZodError, mapTexts, shortenMiddle } from '@episodic/protocol/internal'
import type { Recording } from '@episodic/run/folder/record/recording'
import { poolRequests } from './request-pool.ts'

const MOST_CHARACTERS = 256 * 1024
/** Most bytes of the steps of one seat with all that its model was sent and said, unless a replay needs more. */
export const MOST_BYTES = 8 * 1024 ** 2

/** Limits in characters, tried in turn until a line fits: first the reasoning is cut, then all texts, longest first. */
const LIMITS = [
  { reasoning: MOST_CHARACTERS, text: MOST_CHARACTERS },
  ...[65_536, 16_384, 4_096, 1_024].map((reasoning) => ({ reasoning, text: MOST_CHARACTERS })),
  ...[65_536, 16_384, 4_096, 1_024, 256].map((text) => ({ reasoning: Math.min(text, 1_024), text })),
]

/** What a line keeps of the answers of a language model, and of what it was sent. */
export interface RecordedAnswers {
  readonly completions: readonly Completion[]
  readonly transcript?: Transcript
}

/**
 * Returns what a line keeps: secrets are taken out, and texts are cut in their middle where they are too long. Nothing
 * that a replay needs is touched. Throws a `TypeError` for an answer that is none.
 *
 * @param answers - those of the steps in their order, then those that led to no step.
 * @param by - who recorded. Default: the harness.
 * @param mostBytes - of the steps, the answers and the transcript.
 */
export function recordAnswers(
  answers: readonly ModelAnswer[],
  steps: readonly RecordedStep[],
  { keep, redact }: Recording,
  { by = 'harness', mostBytes = MOST_BYTES }: { readonly by?: Transcript['by']; readonly mostBytes?: number } = {},
): RecordedAnswers {
  if (answers.length === 0) return { completions: [] }
  const requests = keep === 'full' && answers.some(({ request }) => request) ? poolRequests(answers, steps, by) : null
  const redacted = answers.map(({ request: _, prompt: __, ...answer }, i): Completion => {
    const prompt = requests?.prompts[i]
    const whole = withoutSecrets(checkedAnswer(answer), redact)
    return { ...(keep === 'none' ? withoutTexts(whole) : whole), ...(prompt && { prompt }) }
  })
  const transcript = requests && mapTranscript(requests.transcript, redact)
  const rest = bytesOf(steps.map(({ completions: _, ...step }) => step))
  let cut: RecordedAnswers = { completions: redacted, ...(transcript && { transcript }) }
  for (const limit of LIMITS) {
    cut = cutTo(redacted, transcript, limit)
    if (rest + bytesOf(cut) <= mostBytes) break
  }
  return cut
}

/** Returns an answer, which a policy may have reported in any shape. Throws a `TypeError` if no line can have it. */
function checkedAnswer(answer: Completion): Completion {
  const { success, data, error } = completionSchema.safeParse(answer)
  if (success) return data
  throw new TypeError(`an answer of a language model that is none: ${formatZodError(error, answer)}.`)
}

/** Returns steps with the recorded answers in the place of their own, and the answers that led to no step. */
export function placeAnswers<Step extends Pick<RecordedStep, 'completions'>>(
  steps: readonly Step[],
  completions: readonly Completion[],
  isOwn: (step: Step) => boolean = () => true,
): { readonly steps: Step[]; readonly undecided: readonly Completion[] } {
  const left = [...completions]
  const placed = steps.map((step) =>
    step.completions && isOwn(step) ? { ...step, completions: left.splice(0, step.completions.length) } : step,
  )
  return { steps: placed, undecided: left }
}

/**
 * Returns an answer without secrets. A server may repeat one in any text that it chooses. The name of a played call
 * stays: it is the tool of the step, which a replay needs.
 */
function withoutSecrets(answer: Completion, redact: Recording['redact']): Completion {
  const { model, policyVersion, asked, responseId, calls, finish } = answer
  return {
    ...mapAnswer(answer, redact),
    model: redact(model),
    ...(policyVersion !== undefined && { policyVersion: redact(policyVersion) }),
    ...(asked !== undefined && { asked: redact(asked) }),
    ...(responseId !== undefined && { responseId: redact(responseId) }),
    ...(calls && {
      calls: calls.map(({ id, name, arguments: args, played }) => ({
        id: redact(id),
        name: played ? name : redact(name),
        arguments: redact(args),
        played,
      })),
    }),
    ...(finish !== undefined && { finish: redact(finish) }),
  }
}

function withoutTexts({ reasoning: _, calls: __, ...answer }: Completion): Completion {
  return { ...answer, text: null }
}

function mapAnswer(answer: Completion, change: (text: string) => string, reasoningChange = change): Completion {
  const { text, reasoning, calls } = answer
  return {
    ...answer,
    text: text && change(text),
    ...(reasoning && { reasoning: reasoningChange(reasoning) }),
    ...(calls && { calls: calls.map((call) => ({ ...call, arguments: change(call.arguments) })) }),
  }
}

function mapTranscript(transcript: Transcript, change: (text: string) => string): Transcript {
  const { messages, tools } = transcript
  return {
    ...transcript,
    // References have no text of their own.
    messages: messages.map((message) => mapTexts(message as JsonObject, change)),
    tools: tools.map((tool) => mapTexts(tool, change)),
  }
}

function cutTo(
  completions: readonly Completion[],
  transcript: Transcript | null,
  limit: (typeof LIMITS)[number],
): RecordedAnswers {
  const cutCompletions = completions.map((completion) => {
    const { characters, cut } = counted()
    const shorter = mapAnswer(completion, cut(limit.text), cut(limit.reasoning))
    return { ...shorter, ...(characters() > 0 && { cut: characters() }) }
  })
  if (!transcript) return { completions: cutCompletions }
  const { characters, cut } = counted()
  const shorter = mapTranscript(transcript, cut(limit.text))
  return { completions: cutCompletions, transcript: { ...shorter, ...(characters() > 0 && { cut: characters() }) } }
}

/** Cuts texts in their middle, and counts the characters that were left out. */
function counted() {
  let left = 0
  const cut = (limit: number) => (text: string) => {
    const shorter = shortenMiddle(text, limit)
    left += shorter.missing
    return shorter.text
  }
  return { characters: () => left, cut }
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
