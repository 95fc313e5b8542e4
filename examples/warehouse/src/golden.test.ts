import { describeGolden } from '@episodic/harness/testing'
import { environment, policies, tasks } from './golden.ts'

describeGolden({
  environment,
  file: new URL(`../golden/${environment.version}.jsonl`, import.meta.url),
  tasks,
  policy: policies.golden,
  ends: ['all-delivered', 'out-of-battery', 'step-limit', 'time-limit'],
  refusals: ['arguments', 'rules', 'time', 'tool'],
})
