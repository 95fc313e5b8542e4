export { describeForks } from './lib/contracts/forks.contract.ts'
export { describeGolden, type GoldenEpisodes } from './lib/contracts/golden.contract.ts'
