import { definePolicy } from '@episodic/env'

const CHECK = 'Please turn airplane mode off and mobile data on, and try to open a page. Does it work?'

const say = (text: string) => ({ tool: 'say', arguments: { text } })
const call = (tool: string, args: Record<string, string | boolean> = {}) => ({ tool, arguments: args })

/** Plays either seat by a script: the agent restores the line and asks for the settings, the customer does as asked. */
export const solver = definePolicy({
  name: 'script',
  start: ({ seat }) => (seat === 'agent' ? agent() : user()),
})

function agent() {
  let looked = false
  return ({ text }: { readonly text: string }) => {
    if (text.includes('It works')) return call('close_case')
    if (!looked) {
      looked = true
      return call('look_up_line')
    }
    return text.includes('suspended') ? call('restore_line') : say(CHECK)
  }
}

function user() {
  let tried = false
  return ({ text }: { readonly text: string }) => {
    if (text.includes('The page opens')) return say('It works now, thank you.')
    if (text.includes('The page does not open')) return say('It still does not work.')
    if (!text.includes('turn airplane mode off')) return tried ? say('Yes?') : begin()
    if (text.includes('airplane mode on')) return call('switch_setting', { setting: 'airplane-mode', on: false })
    if (text.includes('mobile data off')) return call('switch_setting', { setting: 'mobile-data', on: true })
    return call('open_page')
  }

  function begin() {
    tried = true
    return say('I have no mobile data.')
  }
}
