import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ModelSettings } from '@episodic/models/model-options'
import { contentId } from '@episodic/protocol'
import type { GraderRef } from '@episodic/report/grades/grade-record'
import { type Grader, type GraderScale, graderRefOf, isGrader } from '@episodic/report/grades/grader'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { importModule } from '@episodic/run/base/import-module'
import { readOptionFile } from '@episodic/run/base/text-file'
import { hashModule } from '@episodic/run/folder/plan/content-hash'
import { readHackGrader } from './hacks/hack-grader.ts'
import { judgeGrader } from './judge-grader.ts'

const JUDGE = 'judge:'
const HACKS = 'hacks:'

export interface FoundGrader {
  readonly grader: Grader
  readonly ref: GraderRef
}

export interface GradedWorld {
  readonly url: string
  readonly graders: Readonly<Record<string, Grader>>
}

export interface FindGradersOptions {
  readonly loadWorld: () => Promise<GradedWorld>
  readonly judge: JudgeOptions
  /** In the place of the grader's own number. */
  readonly votes?: number | undefined
}

export interface JudgeOptions {
  readonly rubric?: string | undefined
  readonly scale: GraderScale
  readonly settings: Partial<ModelSettings>
}

export function isOwnGrader(reference: string): boolean {
  return reference.startsWith(JUDGE) || reference.startsWith(HACKS) || isPath(reference)
}

/**
 * Finds graders: `judge:<model>` asks a model by a rubric, `hacks:<folder>` looks for kept scripts, a path is of a
 * module that exports graders as `graders`, `grader` or its default, and any other name is of one of the world.
 *
 * Rejects with `grader-unknown`, and with `option-invalid` for options that do not fit the grader.
 */
export async function findGraders(reference: string, options: FindGradersOptions): Promise<FoundGrader[]> {
  const { votes } = options
  const found = await find(reference, options)
  return found.map(({ grader, ref }) => {
    if (votes === undefined || votes === grader.votes) return { grader, ref }
    if (!grader.withVotes)
      throw invalidOption(
        `--votes ${votes}: the grader ${grader.name} asks no model that could vote several times. Leave it out.`,
      )
    const changed = grader.withVotes(votes)
    return { grader: changed, ref: graderRefOf(changed) }
  })
}

async function find(reference: string, { loadWorld, judge }: FindGradersOptions): Promise<FoundGrader[]> {
  if (reference.startsWith(JUDGE)) return [withRef(judgeFor(reference.slice(JUDGE.length), judge))]
  if (reference.startsWith(HACKS)) return [withRef(readHackGrader(reference.slice(HACKS.length)))]
  if (isPath(reference)) return fromFile(resolve(reference))
  const world = await loadWorld()
  const grader = Object.hasOwn(world.graders, reference) ? world.graders[reference] : undefined
  // As one that is named by this file: it is the same.
  if (grader) return [withRef(grader, await hashModule(fileURLToPath(world.url)))]
  const names = Object.keys(world.graders)
  throw new HarnessError(
    'grader-unknown',
    `There is no grader "${reference}". ${names.length > 0 ? `The world exports: ${names.join(', ')}.` : 'The world exports none.'} Give one of these, a path to a module that exports graders, or judge:<model> with --rubric <file>.`,
  )
}

function judgeFor(model: string, { rubric, scale, settings }: JudgeOptions): Grader {
  if (model === '')
    throw new HarnessError('grader-unknown', 'judge: needs a model. Give judge:<model>, as its server names it.')
  if (rubric === undefined) throw invalidOption(`${JUDGE}${model} needs --rubric <file>: what to judge, and by what.`)
  const text = readOptionFile('--rubric', rubric)
  if (text.trim() === '') throw invalidOption(`--rubric ${rubric} is empty.`)
  // Named by the file of its rubric, so that people and other judges can answer the same question.
  const name = rubric.replace(/^.*[/\\]/, '').replace(/\.[^.]+$/, '')
  return judgeGrader({ name, rubric: text, model, scale, ...settings })
}

async function fromFile(file: string): Promise<FoundGrader[]> {
  const { graders, grader, default: own } = await importModule(file, 'grader-unknown')
  const listed = [graders, grader, own].find((exported) => exported !== undefined)
  const all = isGrader(listed) ? [listed] : Object.values((listed ?? {}) as Record<string, unknown>)
  if (all.length === 0 || !all.every(isGrader))
    throw new HarnessError(
      'grader-unknown',
      `${file} exports no graders made by defineGrader, as "graders", "grader" or its default.`,
    )
  const source = await hashModule(file)
  return all.map((each) => withRef(each, source))
}

/** The hash of a function covers its module too, since it may call other functions there. That of a model does not. */
function withRef(grader: Grader, source?: string): FoundGrader {
  const ref = graderRefOf(grader)
  const covered =
    source === undefined || grader.kind === 'model' ? ref : { ...ref, sha256: contentId(ref.sha256 + source) }
  return { grader, ref: covered }
}

function isPath(reference: string): boolean {
  return /[/\\]|\.[cm]?[jt]s$/.test(reference)
}
