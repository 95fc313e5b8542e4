import { bubblewrap } from './bubblewrap.ts'
import { describeMachine } from './machine.contract.ts'

describeMachine('bubblewrap', () => bubblewrap())
