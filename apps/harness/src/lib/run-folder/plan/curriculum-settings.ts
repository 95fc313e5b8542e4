import { formatZodError } from '@episodic/protocol/base/internal'
import { z } from 'zod'
import { invalidOption } from '../../base/harness-error.ts'

export const CURRICULA = ['staged', 'adaptive'] as const

export const stageSchema = z.object({
  episodes: z.int().min(1),
  difficulty: z.tuple([z.number(), z.number()]),
})

const adaptiveShape = {
  draws: z.int().min(1).default(1_000),
  target: z.number().gt(0).lt(1).default(0.5),
  /** Tasks nearest the target that are drawn from. Default: a tenth of all. */
  focus: z.int().min(1).nullable().default(null),
  explore: z.number().min(0).max(1).default(0.1),
  /** A draw follows from the outcomes of the draws up to this many before it. */
  lag: z.int().min(1).default(64),
} as const

/** How the tasks of a run are drawn. */
export const curriculumSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('staged'),
    stages: z.array(stageSchema.extend({ name: z.string() })).min(1),
  }),
  z.strictObject({ kind: z.literal('adaptive'), ...adaptiveShape }),
])
export type CurriculumConfiguration = z.infer<typeof curriculumSchema>

interface AskedCurriculum {
  readonly curriculum?: (typeof CURRICULA)[number] | undefined
  readonly stages?: z.infer<typeof stageSchema>[] | undefined
  readonly adaptive?: Record<string, number> | undefined
}

/** Returns the curriculum that a run was asked for; `null` for none. Throws `option-invalid`. */
export function curriculumOf({ curriculum, stages, adaptive }: AskedCurriculum): CurriculumConfiguration | null {
  if (stages && curriculum !== 'staged')
    throw invalidOption('--stages is for --curriculum staged. Give both, or neither.')
  if (adaptive && curriculum !== 'adaptive')
    throw invalidOption('--adaptive is for --curriculum adaptive. Give both, or neither.')
  if (curriculum === undefined) return null
  if (curriculum === 'staged') {
    if (!stages)
      throw invalidOption('--curriculum staged needs its stages: give --stages too, for example 500@0..0.3,500@0.7..1.')
    const named = stages.map((stage, i) => ({ name: `${i + 1}: ${stage.difficulty.join(' to ')}`, ...stage }))
    return { kind: 'staged', stages: named }
  }
  const parsed = z.strictObject(adaptiveShape).safeParse(adaptive ?? {})
  if (parsed.success) return { kind: 'adaptive', ...parsed.data }
  throw invalidOption(`--adaptive has a wrong setting: ${formatZodError(parsed.error)}. See: episodic run --help`)
}

export function countDraws(curriculum: CurriculumConfiguration): number {
  return curriculum.kind === 'adaptive'
    ? curriculum.draws
    : curriculum.stages.reduce((sum, { episodes }) => sum + episodes, 0)
}

export function askFor({ kind, ...curriculum }: CurriculumConfiguration): AskedCurriculum {
  if ('stages' in curriculum) return { curriculum: kind, stages: curriculum.stages }
  const settings = Object.entries(curriculum).filter((setting): setting is [string, number] => setting[1] !== null)
  return { curriculum: kind, adaptive: Object.fromEntries(settings) }
}
