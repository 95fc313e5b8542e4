// What threads of a shell begin with: virtual time and chance.
import { installVirtualClock } from './lib/clock/virtual-clock.ts'

installVirtualClock()
