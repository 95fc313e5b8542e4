import { describeForks } from '@episodic/harness/testing'
import * as desk from './assistant.ts'
import { environment } from './index.ts'

describeForks(environment)
describeForks(desk.environment)
