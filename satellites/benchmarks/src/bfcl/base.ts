import { openBfcl } from '../lib/bfcl/bfcl-data.ts'

// The category base of BFCL's tasks in several turns.

export const { environment, tasks, solver, policies, golden, goldenState } = openBfcl(
  'base',
  new URL('../../golden/bfcl.jsonl', import.meta.url),
)
