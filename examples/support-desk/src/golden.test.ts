import { describeGolden } from '@episodic/harness/testing'
import { environment, policies, tasks } from './golden.ts'

// The law of forks compares whole snapshots, of 2.7 MB each. `episodic check` compares forks by their steps.
describeGolden({
  environment,
  file: new URL(`../golden/${environment.version}.jsonl`, import.meta.url),
  tasks,
  policy: policies.golden,
  ends: ['served', 'step-limit', 'time-limit', 'unserved'],
  refusals: ['arguments', 'rules', 'time', 'tool'],
})
