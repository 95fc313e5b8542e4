import { describeForks, describeGolden } from '@episodic/harness/testing'
import { environment, policies, tasks } from './golden.ts'

describeForks(environment)
describeGolden({
  environment,
  file: new URL(`../golden/${environment.version}.jsonl`, import.meta.url),
  tasks,
  policy: policies.golden,
  ends: ['rejected', 'repaired', 'step-limit', 'time-limit'],
  refusals: ['arguments', 'rules', 'time', 'tool'],
})
