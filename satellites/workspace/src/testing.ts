export { describeMachine } from './lib/machine/machine.contract.ts'
