import { META, stepReportSchema } from '@episodic/protocol'
import { z } from 'zod'
import { toolAnswerSchema } from './reply.ts'

/** The answer to a step at the trainer endpoint. */
export const stepAnswerSchema = toolAnswerSchema.extend({
  _meta: z.looseObject({
    [META.step]: stepReportSchema,
    [META.replayed]: z.boolean().optional(),
    [META.took]: z.number().optional(),
  }),
})
