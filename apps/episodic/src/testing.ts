export { describeForks, describeGolden } from '@episodic/harness/testing'
