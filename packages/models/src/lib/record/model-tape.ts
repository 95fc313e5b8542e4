import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type JsonObject, jsonObjectSchema } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import { HarnessError } from '@episodic/run/base/harness-error'
import { makeFolder } from '@episodic/run/base/own-files'
import type { Recording } from '@episodic/run/folder/record/recording'
import { z } from 'zod'
import type { Answer } from '../answers/parse-answer.ts'
import type { ChatModel, Question } from '../chat-model.ts'
import { answerSchema, hashRequest } from '../journal/model-journal.ts'

/**
 * What becomes of a request to a model.
 *
 * - `off`: the model is asked, and nothing is read or written.
 * - `auto`: a recorded answer is given; what is not recorded is asked and recorded.
 * - `strict`: a recorded answer is given; what is not recorded is an error, and the model is never asked.
 * - `record`: the model is asked, and a new recording takes the place of the earlier one.
 */
export const TAPE_MODES = ['off', 'auto', 'strict', 'record'] as const
export type TapeMode = (typeof TAPE_MODES)[number]

const entrySchema = z.object({
  request: z.string(),
  /** The number of the earlier answer, from 0, whose messages come before these; left out for a first request. */
  after: z.int().min(0).optional(),
  messages: z.array(jsonObjectSchema),
  answer: answerSchema,
})
type TapeEntry = Omit<z.infer<typeof entrySchema>, 'answer'> & { readonly answer: Answer }

/** A file of recorded answers: JSON, written for people to read as well. */
const tapeSchema = z.object({ model: z.string(), answers: z.array(entrySchema) })

export interface ModelTape {
  readonly file: string
  readonly model: string
  readonly entries: TapeEntry[]
}

/**
 * Returns the tape of a file; an empty one if there is no file, or if it is to be recorded anew. Throws `run-invalid`
 * for a file that is none, and `not-recorded` for one of another model.
 */
export function openTape(file: string, model: string, mode: TapeMode): ModelTape {
  if (mode === 'record' || !existsSync(file)) return { file, model, entries: [] }
  const read = readTape(file)
  if (read.model === model) return { file, model, entries: read.answers }
  throw new HarnessError(
    'not-recorded',
    `${file} has the answers of ${read.model}, and ${model} is played. Record it anew with EPISODIC_RECORDINGS=record.`,
  )
}

function readTape(file: string): z.infer<typeof tapeSchema> {
  try {
    return tapeSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    throw new HarnessError(
      'run-invalid',
      `${file} is no recording of a model. Record it anew with EPISODIC_RECORDINGS=record.`,
      { cause },
    )
  }
}

/**
 * Returns a model that answers from tapes.
 *
 * A request is found by its content: all messages, the tools and the settings. So the same request has the same answer,
 * and one in which a single word has changed has none.
 *
 * @param tapeOf - the tape of the test that is running.
 * @param live - the model itself; called only if it has to be asked.
 * @param settings - what else decides an answer, such as the temperature.
 */
export function createTapedModel(
  mode: Exclude<TapeMode, 'off'>,
  tapeOf: () => ModelTape,
  live: () => ChatModel,
  settings: JsonObject,
  redact: Recording['redact'],
): ChatModel {
  return {
    async ask(question) {
      const tape = tapeOf()
      const { messages } = question
      const tools = question.tools.filter(({ speech }) => speech === undefined)
      const request = hashRequest(contentOf({ ...question, tools }, settings))
      const found = tape.entries.find((entry) => entry.request === request)
      if (found) return { ...found.answer, request: { messages: [...messages], tools } as never, isKept: true }
      if (mode === 'strict') throw notRecorded(tape, messages)
      const asked = await live().ask(question)
      const { request: _, isKept: __, ...answer } = asked
      const { time, tries, responseId, ...completion } = answer.completion
      addEntry(tape, { request, ...newMessages(tape, messages), answer: { ...answer, completion } }, redact)
      return asked
    },
  }
}

function contentOf({ messages, tools, seed, forcedTool, parallelCalls }: Question, settings: JsonObject): object {
  return { messages, tools, seed, forcedTool, parallelCalls, settings }
}

/** Throws `secret-found` for an answer that cannot be kept as it is: the requests after it repeat it. */
function addEntry(tape: ModelTape, entry: TapeEntry, redact: Recording['redact']): void {
  const said = JSON.stringify(entry.answer)
  if (redact(said) !== said)
    throw new HarnessError(
      'secret-found',
      `The model has said the value of an environment variable that is a secret, so its answer is not written to ${tape.file}. Keep the secret out of what it reads.`,
    )
  tape.entries.push({ ...entry, messages: JSON.parse(redact(JSON.stringify(entry.messages))) })
  makeFolder(dirname(tape.file))
  writeFileSync(tape.file, `${JSON.stringify({ model: tape.model, answers: tape.entries }, null, 2)}\n`)
}

function newMessages(tape: ModelTape, messages: Question['messages']): Pick<TapeEntry, 'after' | 'messages'> {
  const nearest = nearestOf(tape, messages)
  if (!nearest || nearest.shared < nearest.messages.length) return { messages: [...messages] }
  return { after: nearest.number, messages: messages.slice(nearest.shared) }
}

interface Nearest {
  readonly number: number
  readonly messages: readonly JsonObject[]
  readonly shared: number
}

function nearestOf({ entries }: ModelTape, messages: readonly object[]): Nearest | null {
  const whole: (readonly JsonObject[])[] = []
  let nearest: Nearest | null = null
  for (const [number, entry] of entries.entries()) {
    const recorded = [...(entry.after === undefined ? [] : (whole[entry.after] ?? [])), ...entry.messages]
    whole.push(recorded)
    let shared = 0
    while (shared < recorded.length && isDeepStrictEqual(recorded[shared], plain(messages[shared]))) shared += 1
    if (!nearest || shared > nearest.shared) nearest = { number, messages: recorded, shared }
  }
  return nearest
}

function plain(message: object | undefined): unknown {
  return message && JSON.parse(JSON.stringify(message))
}

function notRecorded(tape: ModelTape, messages: readonly object[]): HarnessError {
  const nearest = nearestOf(tape, messages)
  const advice = 'Record it anew with EPISODIC_RECORDINGS=record, where the model can be reached.'
  const found = !nearest
    ? 'Nothing is recorded there.'
    : nearest.shared < Math.max(nearest.messages.length, messages.length)
      ? `Message ${nearest.shared + 1} of ${messages.length} is ${quote(messages[nearest.shared])}, and ${quote(nearest.messages[nearest.shared])} was recorded.`
      : 'Its messages were recorded with other tools, settings or another seed.'
  return new HarnessError('not-recorded', `A request to ${tape.model} is not in ${tape.file}. ${found} ${advice}`)
}

function quote(message: object | undefined): string {
  return message ? shorten(JSON.stringify(message), 300) : 'none'
}
