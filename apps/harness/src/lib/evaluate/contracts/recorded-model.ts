import { basename, dirname, join } from 'node:path'
import type { Policy } from '@episodic/env'
import { type ChatModel, createChatModel } from '@episodic/models/chat-model'
import { type ModelOptions, modelOptionsSchema, recordingOf } from '@episodic/models/model-options'
import { createChatPolicy } from '@episodic/models/policy/llm-policy'
import {
  createTapedModel,
  type ModelTape,
  openTape,
  TAPE_MODES,
  type TapeMode,
} from '@episodic/models/record/model-tape'
import { contentId, type JsonObject } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'

/** How a model is asked, and where its answers are kept. */
export interface RecordedModelOptions
  extends Partial<
    Pick<
      ModelOptions,
      | 'baseUrl'
      | 'api'
      | 'apiKeyEnv'
      | 'systemPrompt'
      | 'temperature'
      | 'maxTokens'
      | 'tokenBudget'
      | 'parallelToolCalls'
      | 'modelOption'
      | 'prices'
    >
  > {
  /** Default: the environment variable `EPISODIC_RECORDINGS`, or else `strict` in CI and `auto` elsewhere. */
  readonly recordings?: TapeMode
  /**
   * The file of the answers. Default: a file for each test, in `__episodes__` beside the file of the tests. Give one
   * for tests that run at the same time.
   */
  readonly file?: string
}

export interface RunningTest {
  readonly testPath?: string | undefined
  readonly currentTestName?: string | undefined
}

/**
 * Returns a policy that asks a language model as `llm:<model>` does, and gives its recorded answers in tests: see
 * `TapeMode`. A model that is never asked needs neither a key nor a server.
 *
 * Throws `option-invalid` for options that cannot be. Its episodes fail with `not-recorded` for a request that has no
 * recorded answer, which `playEpisode` and `toPass` reject with.
 *
 * @param running - returns the test that is running.
 */
export function createRecordedModel(
  model: string,
  { recordings, file, ...given }: RecordedModelOptions,
  running: () => RunningTest,
): Policy {
  const parsed = modelOptionsSchema.safeParse(given)
  if (!parsed.success) throw invalidOption(`recordedModel of ${model}: ${parsed.error.issues[0]?.message}`)
  const settings = parsed.data
  const name = `llm:${model}`
  const mode = tapeMode(recordings)
  let live: ChatModel | null = null
  const ask = () => {
    live ??= createChatModel(model, settings)
    return live
  }
  if (mode === 'off') return createChatPolicy(name, ask(), settings)
  const tapes = new Map<string, ModelTape>()
  const tapeOf = (): ModelTape => {
    const path = file ?? fileOf(running())
    const tape = tapes.get(path) ?? openTape(path, model, mode)
    tapes.set(path, tape)
    return tape
  }
  const { temperature, maxTokens, modelOption } = settings
  const decisive = JSON.parse(JSON.stringify({ temperature, maxTokens, modelOption })) as JsonObject
  const chat = createTapedModel(mode, tapeOf, ask, decisive, recordingOf(settings).redact)
  return createChatPolicy(name, chat, settings)
}

function tapeMode(given: TapeMode | undefined): TapeMode {
  const { EPISODIC_RECORDINGS: set, CI } = process.env
  if (!set) return given ?? (CI && CI !== 'false' ? 'strict' : 'auto')
  const mode = TAPE_MODES.find((each) => each === set)
  if (mode) return mode
  throw invalidOption(`EPISODIC_RECORDINGS is "${set}", and is one of ${TAPE_MODES.join(', ')}.`)
}

/** Characters of the name of a file that come from the name of its test. */
const LONGEST_NAME = 80

function fileOf({ testPath, currentTestName }: RunningTest): string {
  if (!testPath || !currentTestName)
    throw invalidOption(
      'A recorded model is played outside of a test, so that its recording has no place. Give it a `file`.',
    )
  const words = currentTestName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, LONGEST_NAME)
  const name = `${words}-${contentId(currentTestName).slice(0, 6)}.json`
  return join(dirname(testPath), '__episodes__', basename(testPath), name)
}
