import { z } from 'zod'
import { difficultySchema } from '../../base/option-values.ts'

export const stageSchema = z.object({
  episodes: z.int().min(1).max(999_999_999),
  difficulty: difficultySchema,
})

export const curriculumSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('staged'), stages: z.array(stageSchema.extend({ name: z.string() })).min(1) }),
  /** Of runs whose tasks followed from outcomes. They can be read, and neither be played nor drawn again. */
  z.looseObject({ kind: z.literal('adaptive') }),
])
export type CurriculumConfiguration = z.infer<typeof curriculumSchema>
export type Stages = Extract<CurriculumConfiguration, { kind: 'staged' }>

/** Names the stages that a run was asked for. Their keys are in the order of a configuration that was kept. */
export function stagesOf(asked: readonly z.infer<typeof stageSchema>[]): Stages {
  return {
    kind: 'staged',
    stages: asked.map((stage, i) => ({ ...stage, name: `${i + 1}: ${stage.difficulty.join(' to ')}` })),
  }
}

export function countDraws({ stages }: Stages): number {
  return stages.reduce((sum, { episodes }) => sum + episodes, 0)
}
