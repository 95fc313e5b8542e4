// What threads of a shell begin with: virtual time and chance, texts of any bytes, waits that do not end too early.

import { installByteText } from './lib/bytes/byte-text.ts'
import { installSteadyWait } from './lib/clock/steady-wait.ts'
import { installVirtualClock } from './lib/clock/virtual-clock.ts'

installVirtualClock()
installByteText()
installSteadyWait()
