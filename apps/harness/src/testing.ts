export { describeForks } from './lib/evaluate/contracts/forks.contract.ts'
export { describeGolden } from './lib/evaluate/contracts/golden.contract.ts'
