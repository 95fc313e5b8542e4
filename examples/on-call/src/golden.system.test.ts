import { describeForks, describeGolden } from '@episodic/harness/testing'
import { environment, policies, tasks } from './golden.ts'

describeForks(environment)
describeGolden({
  environment,
  file: new URL(`../golden/${environment.version}.jsonl`, import.meta.url),
  tasks,
  policy: policies.golden,
  ends: ['damaged', 'restored', 'step-limit', 'time-limit', 'unresolved'],
  refusals: ['arguments', 'rules', 'time', 'tool'],
})
