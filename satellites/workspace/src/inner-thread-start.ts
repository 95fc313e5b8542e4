// What threads of a shell begin with: virtual time and chance, and waits that do not end too early.
import { installSteadyWait } from './lib/clock/steady-wait.ts'
import { installVirtualClock } from './lib/clock/virtual-clock.ts'

installVirtualClock()
installSteadyWait()
