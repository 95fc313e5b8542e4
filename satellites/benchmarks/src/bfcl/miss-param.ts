import { openBfcl } from '../lib/bfcl/bfcl-data.ts'

// The category miss_param of BFCL's tasks in several turns.

export const { environment, tasks, solver, policies, golden, goldenState } = openBfcl(
  'miss_param',
  new URL('../../golden/bfcl.jsonl', import.meta.url),
)
