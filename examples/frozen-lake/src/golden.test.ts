import { describeGolden } from '@episodic/harness/testing'
import { environment, policies, tasks } from './golden.ts'

describeGolden({
  environment,
  file: new URL(`../golden/${environment.version}.jsonl`, import.meta.url),
  tasks,
  policy: policies.golden,
  ends: ['goal', 'hole', 'step-limit', 'time-limit'],
  refusals: ['arguments', 'time', 'tool'],
})
