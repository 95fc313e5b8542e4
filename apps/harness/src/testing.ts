export { describeForks } from './lib/contracts/forks.contract.ts'
export { describeGolden } from './lib/contracts/golden.contract.ts'
