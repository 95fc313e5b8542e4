import { describeForks } from '@episodic/harness/testing'
import { environment } from './index.ts'

describeForks(environment)
