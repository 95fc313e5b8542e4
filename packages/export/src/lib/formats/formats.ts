import { sequences } from '../credit/sequences.ts'
import type { ExportFormat } from '../export-format.ts'
import { inspect } from '../inspect/inspect.ts'
import { atif } from './atif.ts'
import { csv } from './csv.ts'
import { otel } from './otel.ts'
import { trainingTrace } from './tokens.ts'
import { trl, trlPreference, trlSft } from './trl.ts'

export const EXPORT_FORMATS = {
  'trl-sft': trlSft,
  'trl-preference': trlPreference,
  trl,
  sequences,
  'training-trace': trainingTrace,
  inspect,
  atif,
  otel,
  csv,
} as const satisfies Record<string, ExportFormat>

export type ExportFormatName = keyof typeof EXPORT_FORMATS
