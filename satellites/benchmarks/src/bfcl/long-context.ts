import { openBfcl } from '../lib/bfcl/bfcl-data.ts'

// The category long_context of BFCL's tasks in several turns.

export const { environment, tasks, solver, policies, golden, goldenState } = openBfcl(
  'long_context',
  new URL('../../golden/bfcl.jsonl', import.meta.url),
)
