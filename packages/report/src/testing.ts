export { playRun } from './lib/fold/simulated-run.ts'
